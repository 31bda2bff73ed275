"""Numbers that a limit cannot be are refused before anything is done: of NaN no comparison holds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from pgrecall import InvalidInput
from pgrecall.admin.reembed import reembed
from pgrecall.cli import app
from pgrecall.contrib.importers.jsonl import jsonl_source
from pgrecall.contrib.importers.sqlite import sqlite_source
from pgrecall.contrib.importers.table import table_source
from pgrecall.contrib.offline import connect, connect_async
from pgrecall.contrib.sharding import move
from pgrecall_embedder.llm import LlmClient

if TYPE_CHECKING:
    from pathlib import Path

# Whoever connects to it raises ConnectionFailed.
NOWHERE = "host=/nonexistent"
NO_NUMBERS: list[Any] = [math.nan, math.inf, -math.inf, -0.5, "1", True]


@pytest.mark.parametrize("value", [*NO_NUMBERS, 1.5])
@pytest.mark.parametrize("name", ["min_overlap", "max_loss"])
def test_the_limits_of_a_switch(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        reembed(NOWHERE, model="sentence-transformers/all-MiniLM-L6-v2", **{name: value})


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_the_patience_of_a_move(value: Any) -> None:
    with pytest.raises(InvalidInput, match="patience"):
        move(NOWHERE, "default", patience=value)


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize("make", [connect, connect_async])
def test_the_patience_of_a_client_with_a_copy(tmp_path: Path, make: Any, value: Any) -> None:
    with pytest.raises(InvalidInput, match="patience"):
        make(NOWHERE, offline=tmp_path / "copy.db", patience=value)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0])
def test_the_highest_importance_of_a_source(tmp_path: Path, value: Any) -> None:
    for opened in (
        jsonl_source(tmp_path / "x.jsonl", most=value),
        sqlite_source(tmp_path / "x.db", most=value),
        table_source(NOWHERE, "memories", most=value),
    ):
        with pytest.raises(InvalidInput, match="the highest importance"), opened:
            pass


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.5])
@pytest.mark.parametrize("name", ["timeout", "max_wait", "backoff"])
def test_the_limits_of_a_language_model(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match="out of range"):
        LlmClient("http://127.0.0.1/v1", "m", **{name: value})


@pytest.mark.parametrize(
    "words",
    [
        ["reembed", "--model", "sentence-transformers/all-MiniLM-L6-v2", "--min-overlap"],
        ["reembed", "--model", "sentence-transformers/all-MiniLM-L6-v2", "--max-loss"],
        ["shard", "move", "default", "--patience"],
        ["import", "jsonl", "x.jsonl", "--importance-max"],
        ["ui", "--no-open", "--timeout"],
        ["briefing", "tea", "--timeout"],
        ["remember", "tea", "--importance"],
        ["duplicates", "--similarity"],
        ["embedder", "--drain", "--lease"],
    ],
)
def test_no_option_takes_it(words: list[str]) -> None:
    """Whether the command line or what it calls refuses it."""
    done = CliRunner().invoke(app, [*words, "nan", "--dsn", NOWHERE])
    assert done.exit_code != 0
    said = " ".join(f"{done.output} {done.exception}".replace("│", " ").split())
    assert words[-1] in said or "must" in said
