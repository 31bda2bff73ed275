"""The options of the filters: every command that filters has those of all conditions, and they filter."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from pgrecall import Client, Filter
from pgrecall.arguments import as_bool, as_datetime, json_object
from pgrecall.cli import app
from support.command import commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.command import Outcome

LACKING = {
    "recall": (), "timeline": (), "explain": (), "briefing": (), "list": (), "count": (),
    "forget": ("as_of", "include_superseded"), "erase": ("as_of", "include_superseded"),
    "offline recall": ("metadata_where", "timeframe"),
}  # fmt: skip
"""The conditions that a command has no option for."""


def options() -> dict[str, Any]:
    """Every option of the command line, by condition."""
    return {one.name: one for one in fields(Filter) if one.metadata["option"]}


def test_every_command_that_filters_has_all_options_in_one_order() -> None:
    for name, command in commands(get_command(app)):
        given = [parameter.name for parameter in command.params if parameter.name in options()]
        if "tags_any" not in given:
            assert name not in LACKING
            continue
        assert given == [one for one in options() if one not in LACKING[name]], name
        for parameter in command.params:
            if parameter.name in given:
                declared = options()[parameter.name].metadata
                assert parameter.opts == [declared["option"]]
                assert parameter.help == declared["help"]


def test_every_option_filters(dsn: str, cli: Callable[..., Outcome]) -> None:
    with Client(dsn) as client:
        client.remember("tea")
    for name, one in options().items():
        check = one.metadata["check"]
        if check is as_bool:
            assert cli("count", one.metadata["option"]).out == "1\n"
            continue
        value = {as_datetime: "2020-01-01", json_object: '{"u": "x"}'}.get(
            check, {"timeframe": "2020-01-01", "min_trust": "user"}.get(name, "no such text")
        )
        expected = "1\n" if name == "since" else "0\n"
        assert cli("count", one.metadata["option"], value).out == expected, name
        found = json.loads(cli("recall", "tea", "--no-embed", "--json", one.metadata["option"], value).out)
        assert len(found) == int(expected), name


@pytest.mark.parametrize("command", ["forget", "erase"])
def test_what_deletes_takes_the_filters_and_refuses_none(
    dsn: str, cli: Callable[..., Outcome], command: str
) -> None:
    with Client(dsn) as client:
        client.remember("tea", speaker="Priya", occurred_at="2024-03-05")
        assert cli(command, "--yes").code == 2
        assert cli(command, "--yes", "--namespace", "default").code == 2
        assert cli(command, "--yes", "--timeframe", "in 2020").code == 0
        assert client.count() == 1
        assert cli(command, "--yes", "--timeframe", "in March 2024", "--speaker", "Priya").code == 0
        assert client.count() == 0
