"""Hints on the command line name its options, whatever function's argument the client's hint names."""

import ast
import re
import traceback
from operator import attrgetter
from pathlib import Path

import pytest
from typer.main import get_command

import pgrecall
from pgrecall.cli import app
from pgrecall.command_line_hints import command_line_hint
from pgrecall.contrib.mcp.error_texts import agents_notice
from pgrecall.errors import Conflict, EmbeddingUnavailable, UnknownNamespace
from pgrecall.server_hints import _FUNCTIONS, client_hint
from support.command import commands

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


def test_a_method_that_stands_in_for_a_function_exists() -> None:
    client = pgrecall.Client("host=nowhere")
    named = {name for _, text in _FUNCTIONS for name in re.findall(r"\bclient\.([a-z_.]+)\(", text)}
    assert len(named) > 5
    for name in named:
        assert callable(attrgetter(name)(client)), name


@pytest.mark.parametrize(
    ("hint", "printed"),
    [
        ("on_conflict => 'update' changes that memory.", "--on-conflict update changes that memory."),
        ("Pass embed=True once to download it, or pass vector=.", "Pass --embed once to download it."),
        ("Check the name.", "Check the name."),
        (
            client_hint("Pass create_namespace => true, or make it with pgrecall.create_namespace()."),
            "Pass --create-namespace, or make it with `pgrecall namespace create`.",
        ),
        (
            client_hint("on_conflict => 'update' makes it so, 'keep' leaves it as it is."),
            "--on-conflict update makes it so, keep leaves it as it is.",
        ),
        (
            client_hint("SELECT name, effect FROM pgrecall.settings_reference lists all settings."),
            "`pgrecall config` lists all settings.",
        ),
    ],
)
def test_options_take_the_place_of_arguments(hint: str, printed: str) -> None:
    assert command_line_hint(hint) == printed


SQL_WORDS = re.compile(r"query_vec|after_id|\bARRAY\b|SET, RESET|=\[|vector=|create_namespace=")


def test_no_hint_on_the_command_line_names_what_only_sql_or_python_has() -> None:
    """`recall ''` told to pass a query_vec, `list --after` to leave after_id out, `config set` to use RESET."""
    reached = [hint for hint in server_hints() if "get_memories(" not in hint]  # a command needs its ids
    printed = [command_line_hint(client_hint(hint) or "") for hint in reached]
    assert [hint for hint in printed if SQL_WORDS.search(hint)] == []
    assert client_hint("Use SET, RESET or pgrecall.set_setting().") == "Use client.admin.set_setting()."


def test_a_hint_names_commands_that_exist() -> None:
    known = {name for name, _ in commands(get_command(app))}
    hints = [command_line_hint(client_hint(hint) or "") for hint in server_hints()]
    named = {name for hint in hints for name in re.findall(r"`pgrecall ([a-z]+(?: [a-z]+)?)", hint)}
    assert len(named) >= 8
    assert {name for name in named if name not in known and name.split()[0] not in known} == set()


def test_no_hint_of_the_server_reaches_an_agent_as_sql() -> None:
    agents = [agents_notice(client_hint(hint)) or "" for hint in server_hints()]
    assert [hint for hint in agents if SQL_WORDS.search(hint) or "SELECT" in hint or "NULL" in hint] == []


def server_hints() -> list[str]:
    """The hints of the SQL functions."""
    sql = Path(__file__).parents[2] / "sql"
    texts = (file.read_text() for file in sql.rglob("*.sql"))
    found = (hint for text in texts for hint in re.findall(r"HINT = (?:format\()?'((?:[^']|'')*)'", text))
    return [hint.replace("''", "'") for hint in found]


def test_no_hint_of_the_server_reaches_python_as_sql() -> None:
    hints = server_hints()
    assert len(hints) > 100
    kept = [
        hint for hint in map(client_hint, hints) if hint is not None and (" => " in hint or " => t" in hint)
    ]
    assert kept == []
    assert client_hint("Wait, or pass force => true.") == "Wait, or pass force=True."
    assert client_hint(None) is None


def test_a_traceback_shows_the_hint() -> None:
    error = Conflict("no", hint="Pass another id.")
    assert "".join(traceback.format_exception(error)).endswith("Conflict: no\nhint: Pass another id.\n")
