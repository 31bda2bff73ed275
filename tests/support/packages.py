"""Packages that single tests get from the package index."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 600


def pip(*arguments: str | Path) -> None:
    """Run pip, or skip the test where there is no index. CI needs it."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode != 0 and not os.environ.get("PGRECALL_REQUIRE_DATA"):
        pytest.skip("there is no package index to download from")
    assert done.returncode == 0, done.stderr


def install(folder: Path, *packages: str) -> None:
    """Install packages into a folder, or skip the test; what is imported of them is compiled then."""
    pip("install", "--no-compile", "--target", folder, *packages)


def run_pytest(*arguments: str, folder: Path, paths: list[Path], **environment: str) -> str:
    """Run pytest in a process of its own, which must pass; return its output.

    Args:
        *arguments: Of pytest.
        folder: The working folder.
        paths: Folders to import from, besides those of this process.
        **environment: Further environment variables.
    """
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-q",
            "-rs",
            "--rootdir",
            str(folder),
            *arguments,
        ],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*map(str, paths), *sys.path]),
            "PYTEST_ADDOPTS": "",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    return done.stdout
