"""docs/operations.md names events that the daemon logs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _strings(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_event_of_the_page_is_logged() -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    table = page.split("| event | level | when |\n")[1].split("\n\n")[0]
    named = {name for row in table.splitlines()[1:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    logged = set().union(*map(_strings, (ROOT / "embedder" / "pgrecall_embedder").rglob("*.py")))
    assert len(named) > 10
    assert named <= logged
