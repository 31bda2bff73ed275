"""tools/server_binaries.sh: what it refuses, and that it keeps what is there. CI gets both versions with `make test-versions`."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "server_binaries.sh"
BINDIR = Path("postgresql-17", "usr", "lib", "postgresql", "17", "bin")


def get(version: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run the tool with another folder for what it gets; it could download nothing."""
    script = 'source "$1"; folder=$2; cache() { echo "$folder"; }; ask_next() { fail "nothing is downloaded here" ""; }; main "$3"'
    return subprocess.run(
        ["bash", "-c", script, "bash", TOOL, cache, version], capture_output=True, text=True, check=False
    )


def pretend(cache: Path, version: str) -> Path:
    """Put programs of a version where those of PostgreSQL 17 are kept."""
    program = cache / BINDIR / "postgres"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n")
    program.chmod(0o755)
    return program.parent


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    bindir = pretend(tmp_path, "17.1")
    done = get("17", tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{bindir}\n")


def test_another_version_in_the_folder_is_refused(tmp_path: Path) -> None:
    pretend(tmp_path, "15.17")
    done = get("17", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{tmp_path}/postgresql-17 is not PostgreSQL 17" in done.stderr


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    done = get("17", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing is downloaded here" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_version_is_refused() -> None:
    done = subprocess.run([TOOL, "14"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no such version: '14'" in done.stderr
