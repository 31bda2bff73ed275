"""Facts through the client, synchronous and asynchronous, and through the command line."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import AsyncClient, FactHit, FactsResult
from pgrecall.cli import main
from pgrecall.errors import InvalidInput, InvalidVector
from support.facts import day, fact, lives, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

    from pgrecall import Client


@pytest.fixture
def known(conn: Connection[Any]) -> list[int]:
    """Ids of two memories that state where Ana lives, the second otherwise than the first."""
    return [
        told(conn, "Ana rents", lives("Ana", "Oslo"), fact("Ana", "knows", "Bo"), created_at=day(1)),
        told(
            conn,
            "Ana bought a house",
            lives("Ana", "Rome", valid_from=day(3), statement="Ana\nmoved to Rome"),
            created_at=day(4),
        ),
    ]


def test_facts(client: Client, known: list[int]) -> None:
    result = client.recall_facts("where does Ana live?", embed=False)
    assert isinstance(result, FactsResult)
    assert (result.query, result.notice, len(result)) == ("where does Ana live?", None, 2)
    best = result[0]
    assert isinstance(best, FactHit)
    assert (best.subject, best.label, best.object) == ("Ana", "lives in", "Rome")
    assert (best.valid_from, best.valid_to, best.recorded_at) == (day(3), None, day(4))
    assert best.evidence == (known[1],)
    assert best.weight == pytest.approx(0.8)
    assert result[1].object == "Bo"
    assert json.loads(json.dumps(best.as_dict())) == {
        **{name: getattr(best, name) for name in ("id", "subject", "label", "object", "statement", "score", "weight")},
        "valid_from": "2026-03-01T00:00:00+00:00", "valid_to": None, "recorded_at": "2026-04-01T00:00:00+00:00",
        "evidence": [known[1]], "origin": "agent", "namespace_name": "default",
    }  # fmt: skip


def test_what_narrows(client: Client, known: list[int]) -> None:
    def objects(**options: Any) -> list[str]:
        return sorted(hit.object for hit in client.recall_facts("Ana", embed=False, **options))

    assert objects(as_of=day(2)) == ["Bo", "Oslo"]
    assert objects(as_of=datetime(2025, 1, 1, tzinfo=UTC)) == []
    assert objects(labels=["lives in"]) == ["Rome"]
    assert objects(concepts=("bo", "nobody")) == ["Bo"]
    assert objects(include_superseded=True) == ["Bo", "Oslo", "Rome"]
    assert len(objects(k=1)) == 1
    assert objects(namespace="nowhere") == []
    assert len(client.recall_facts("unheard", vector=[1.0] * 384)) == 0


def test_what_is_refused(shared: Client) -> None:
    with pytest.raises(InvalidInput):
        shared.recall_facts("x", embed=False, k=0)
    with pytest.raises(InvalidInput):
        shared.recall_facts("", embed=False)
    with pytest.raises(InvalidInput, match="labels"):
        shared.recall_facts("x", embed=False, labels="lives in")
    with pytest.raises(InvalidVector):
        shared.recall_facts("x", vector=[])


def test_the_asynchronous_client(dsn: str, known: list[int]) -> None:
    async def ask() -> list[int]:
        async with AsyncClient(dsn) as memory:
            return [hit.evidence[0] for hit in await memory.recall_facts("Ana lives", embed=False, k=1)]

    assert asyncio.run(ask()) == [known[1]]


@pytest.fixture
def cli(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[object, str, str]]:
    """Run a command; return its exit code, and what it printed and said."""
    monkeypatch.setenv("PGRECALL_DSN", dsn)

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        captured = capsys.readouterr()
        return caught.value.code or 0, captured.out, captured.err

    return run


def test_the_command(cli: Any, known: list[int]) -> None:
    code, out, _ = cli("facts", "where does Ana live?", "--no-embed")
    lines = out.splitlines()
    assert (code, len(lines)) == (0, 2)
    assert lines[0].endswith(f"  [agent] Ana moved to Rome  (since 2026-03-01)  [{known[1]}]")
    assert lines[1].endswith(f"  [agent] Ana knows Bo  [{known[0]}]")
    code, out, _ = cli(
        "facts", "Ana", "--no-embed", "--json", "-k", "1", "--label", "knows", "--concept", "bo"
    )
    (found,) = json.loads(out)
    assert (code, found["object"], found["evidence"]) == (0, "Bo", [known[0]])
    code, out, _ = cli("facts", "Ana", "--no-embed", "--label", "lives in", "--include-superseded")
    assert "Ana lives in Oslo  (until 2026-03-01)" in out
    assert "Oslo" in cli("facts", "Ana", "--no-embed", "--as-of", "2026-02-01")[1]
    code, out, err = cli("facts", "nobody", "--no-embed")
    assert (code, out, "nothing found" in err) == (0, "", True)
