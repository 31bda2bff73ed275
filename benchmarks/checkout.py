"""The revision that was measured."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

__all__ = ["revision"]

_ROOT = Path(__file__).parents[1]


def revision(*paths: str) -> dict[str, Any]:
    """Return the checkout's revision, and whether any of `paths` was changed since; None outside git."""
    changed = _git("status", "--porcelain", "--", *paths)
    return {"revision": _git("rev-parse", "HEAD"), "modified": None if changed is None else bool(changed)}


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(_ROOT), *arguments], capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
