"""Check that no Python file of the packages has more than 400 lines: past that, it is two things.

python tools/check_length.py   exit 1 with every file that is longer
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("pyclient", "embedder", "benchmarks")
MOST_LINES = 400


def too_long(root: Path) -> Iterator[str]:
    """Yield the files that are too long.

    Args:
        root: The checkout.
    """
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            # The translation of a module differs from it by its first line and by how its lines break.
            if lines > MOST_LINES and "_sync" not in path.parts:
                yield f"{path.relative_to(root)}: {lines} lines, over {MOST_LINES}: split it by subject"


def main() -> int:
    """Check; returns the exit code."""
    found = list(too_long(ROOT))
    sys.stderr.writelines(f"{problem}\n" for problem in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
