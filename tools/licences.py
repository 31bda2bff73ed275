"""Write docs/licences.md: the licence of every locked package, as its own metadata names it."""

from __future__ import annotations

import argparse
import re
import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.lock import ROOT, pins

PAGE = ROOT / "docs" / "licences.md"
_UNKNOWN = {"", "UNKNOWN", "Dual License"}
_LONGEST = 60


def licence(package: str) -> str | None:
    """Return what a package's metadata says of its licence; None if the package is not installed.

    Args:
        package: Its name.
    """
    try:
        found = metadata(package)
    except PackageNotFoundError:
        return None
    text = (found["License-Expression"] or found["License"] or "").strip()
    if text in _UNKNOWN or len(text) > _LONGEST or "\n" in text:
        classifiers = [line for line in found.get_all("Classifier") or [] if line.startswith("License ::")]
        text = ", ".join(line.rpartition(" :: ")[2] for line in classifiers) or text.partition("\n")[0]
    return re.sub(r"\s+", " ", text)[:_LONGEST] or "not stated"


def page() -> str:
    """Return the page as it should be."""
    at_run_time = pins("runtime")
    lines = [
        "# Licences",
        "",
        "What `make setup` installs and the licence that each package's metadata names. Packages for other",
        "platforms are left out. No package under the GPL or the AGPL is installed with pgrecall. psycopg is",
        "under the LGPL and used unchanged, as a library ([SECURITY.md](../SECURITY.md)).",
        "`make generate` writes this page.",
        "",
        "| package | licence | installed with |",
        "|---|---|---|",
    ]
    for package in sorted(pins("dev") | at_run_time):
        found = licence(package)
        if found is not None:
            lines.append(
                f"| {package} | {found} | {'pgrecall' if package in at_run_time else 'development'} |"
            )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write or check the page; returns the exit code."""
    parser = argparse.ArgumentParser(description="List the licences of the locked packages.")
    parser.add_argument("--check", action="store_true", help="only check that the page is up to date")
    wanted = page()
    if parser.parse_args().check:
        if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == wanted:
            return 0
        print("docs/licences.md is not up to date: run `make generate`", file=sys.stderr)
        return 1
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
