"""What a call does not say, the settings say: on the command line as in the client; and which legs take part."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import InvalidInput
from pgrecall.cli import main
from pgrecall.cli.explain import explain
from pgrecall.cli.search import recall
from pgrecall.query.legs import LEGS
from support.legs import legs_but
from support.ranking import NORTH

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from pgrecall import Client


@pytest.fixture
def many(dsn: str, client: Client) -> Client:
    client.remember_many({"content": f"tea number {number}"} for number in range(12))
    return client


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert not end.value.code
    return len(json.loads(capsys.readouterr().out))


def test_a_command_has_no_default_where_the_database_has_a_setting(conn: psycopg.Connection[Any]) -> None:
    names = {name for (name,) in conn.execute("SELECT name FROM pgrecall.setting_definitions")}
    for command in (recall, explain):
        defaults = {
            name: one.default for name, one in inspect.signature(command).parameters.items() if name in names
        }
        assert {name: default for name, default in defaults.items() if default is not None} == {}


@pytest.mark.parametrize("command", ["recall", "explain"])
def test_k_is_the_settings(
    dsn: str,
    many: Client,
    conn: psycopg.Connection[Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    ask = (command, "tea", "--json", "--no-embed", "--dsn", dsn)
    assert _printed(capsys, *ask) == 10
    assert _printed(capsys, *ask, "--set", "k=2") == 2
    conn.execute("SELECT pgrecall.set_setting('k', '3')")
    assert _printed(capsys, *ask) == 3
    monkeypatch.setenv("PGRECALL_K", "4")
    assert _printed(capsys, *ask) == 4
    assert _printed(capsys, *ask, "-k", "5") == 5


@pytest.mark.parametrize(
    ("options", "legs"),
    [
        ({}, LEGS),
        ({"strategy": "vector"}, ("dense",)),
        ({"strategy": "fulltext"}, ("lexical",)),
        ({"strategy": "prefilter"}, ("lexical", "dense")),
        ({"settings": {"strategy": "vector"}}, ("dense",)),
        ({"settings": {"graph_weight": 0}}, legs_but("graph")),
        ({"settings": {"lexical_weight": "0"}}, legs_but("lexical")),
        ({"settings": {"dense_weight": 0, "graph_weight": 0}}, legs_but("dense", "graph")),
    ],
)
def test_the_legs_are_those_that_took_part(
    many: Client, options: dict[str, Any], legs: tuple[str, ...]
) -> None:
    vector = [float(number) for number in str(NORTH).strip("[]").split(",")]
    assert many.recall("tea", vector=vector, **options).legs == legs
    without = tuple(leg for leg in legs if leg != "dense")
    if options.get("strategy") != "vector" and options.get("settings", {}).get("strategy") != "vector":
        assert many.recall("tea", embed=False, **options).legs == without


@pytest.mark.parametrize(
    "ask", [lambda one: one.recall, lambda one: one.timeline], ids=["recall", "timeline"]
)
@pytest.mark.parametrize("phrase", ["the other day", "recently", "1/2/2026"])
def test_a_phrase_that_is_not_understood_is_no_lack_of_a_filter(
    many: Client, ask: Callable[[Client], Any], phrase: str
) -> None:
    with pytest.raises(InvalidInput, match="not understood"):
        ask(many)("tea", embed=False, timeframe=phrase)


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo", "Pacific/Kiritimati"])
def test_a_day_is_that_of_the_caller(dsn: str, conn: psycopg.Connection[Any], zone: str) -> None:
    conn.execute("SELECT set_config('TimeZone', %s, false)", [zone])
    for hour in range(-30, 31):
        conn.execute(
            "SELECT remember('tea ' || %s::text, occurred_at => date_trunc('day', now()) + make_interval(hours => %s))",
            [hour, hour],
        )

    def ids(*arguments: str) -> set[int]:
        done = subprocess.run(
            [sys.executable, "-m", "pgrecall", *arguments, "--json"],
            env={name: value for name, value in os.environ.items() if name != "PGTZ"}
            | {"TZ": zone, "PGRECALL_DSN": dsn},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return {row["id"] for row in json.loads(done.stdout)}

    listed = ids("list", "--since", "yesterday", "--until", "today", "-k", "100")
    recalled = ids("recall", "tea", "--timeframe", "yesterday", "--no-embed", "-k", "100")
    assert len(listed) == 24
    assert recalled == listed
