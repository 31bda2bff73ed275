"""`pgrecall erase` by filters, and empty filters of the commands that delete."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import Client
from pgrecall.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("PGRECALL_DSN", dsn)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        captured = capsys.readouterr()
        return int(caught.value.code or 0), captured.out, captured.err

    return run


def test_erase_by_filter_shows_and_then_erases(dsn: str, cli: Cli) -> None:
    with Client(dsn) as client:
        first = client.remember("I moved to Kochi", speaker="Priya")
        client.forget(first)
        second = client.remember("I sold my boat", metadata={"user_id": "priya"})
        other = client.remember("Tea is ready", speaker="Anna")
    assert cli("erase", "--speaker", "Priya", "--dry-run", "--json")[0] == 0
    code, out, _ = cli("erase", "--speaker", "Priya", "--yes", "--json")
    assert (code, [one["memory_id"] for one in json.loads(out)]) == (0, [first])
    code, out, _ = cli("erase", "--where", '{"user_id": "priya"}', "--yes")
    assert code == 0
    assert f"memory {second}" in out
    code, _, err = cli("erase", "--where", '{"user_id": "priya"}', "--yes")
    assert (code, "no memory passes" in err) == (0, True)
    with Client(dsn) as client:
        assert [one.id for one in client.get_many([first, second, other], include_forgotten=True)] == [other]


@pytest.mark.parametrize("command", ["forget", "erase"])
@pytest.mark.parametrize(
    "empty", [("--metadata", "{}"), ("--where", "{}"), ("--external-id-prefix", ""), ("--where", '{"u": {"$nin": []}}'), ()],
    ids=str,
)  # fmt: skip
def test_a_command_that_deletes_refuses_an_empty_filter(
    dsn: str, cli: Cli, command: str, empty: tuple[str, ...]
) -> None:
    with Client(dsn) as client:
        client.remember("Tea is ready", external_id="e", metadata={"u": 1})
        given: dict[str, Any]
        for given in ({"tags_any": []}, {"metadata_where": {}}, {"external_id_prefix": ""}, {}):
            with pytest.raises(Exception, match=r"fit every memory|needs a filter"):
                getattr(client, f"{command}_many")(**given)
    code, _, err = cli(command, *empty, "--yes")
    assert code != 0
    assert "empty" in err or "filters" in err
    with Client(dsn) as client:
        assert client.count() == 1
