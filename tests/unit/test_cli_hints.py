"""Hints on the command line name its options, whatever function's argument the client's hint names."""

import ast
import re
from pathlib import Path

import pytest

import pgrecall
from pgrecall.cli.hints import command_line_hint
from pgrecall.errors import Conflict, EmbeddingUnavailable, UnknownNamespace

ARGUMENT = re.compile(r"\b[a-z_]+(=| => )")


def client_hints() -> list[str]:
    """The hints of a query's embedding, which `pgrecall recall` prints."""
    file = Path(pgrecall.__file__).parent / "query" / "embedding.py"
    calls = (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.keyword))
    parts = (ast.walk(call.value) for call in calls if call.arg == "hint")
    return [
        node.value
        for part in parts
        for node in part
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "pip install" not in node.value
    ]


def test_no_hint_of_the_client_keeps_a_python_argument() -> None:
    defaults = [str(kind.default_hint) for kind in (Conflict, EmbeddingUnavailable, UnknownNamespace)]
    hints = [*client_hints(), *defaults]
    assert sum(bool(ARGUMENT.search(hint)) for hint in hints) >= 6
    assert [hint for hint in map(command_line_hint, hints) if ARGUMENT.search(hint)] == []


@pytest.mark.parametrize(
    ("hint", "printed"),
    [
        ("on_conflict => 'update' changes that memory.", "--on-conflict update changes that memory."),
        ("Pass embed=True once to download it, or pass vector=.", "Pass --embed once to download it."),
        ("Check the name.", "Check the name."),
    ],
)
def test_options_take_the_place_of_arguments(hint: str, printed: str) -> None:
    assert command_line_hint(hint) == printed
