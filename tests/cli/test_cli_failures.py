"""`pgrecall failures` and `pgrecall status` against a real database: what they print, and that it can be undone."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import Client, Failure, InvalidInput, Status
from pgrecall.cli import main
from pgrecall.formatting import SECTIONS, format_bytes
from support.operations import VECTOR, WORKER, beat, fail_for_good, remember, switch
from support.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

    Cli = Callable[..., tuple[int, str, str]]

CANARY = "xyzzy-canary-4711"


@pytest.fixture
def cli(dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("PGRECALL_DSN", dsn)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        captured = capsys.readouterr()
        return int(caught.value.code or 0), captured.out, captured.err

    return run


def failed(conn: Connection[Any]) -> list[int]:
    """Three memories that were given up, the last of them last, and one that waits."""
    numbers = remember(conn, *(f"{CANARY} {number}" for number in range(4)))
    for number, cause in zip(numbers[:3], ("input_refused", "error", "input_refused"), strict=True):
        fail_for_good(conn, number, cause, error=f"BadRequestError of {cause}")
    return numbers[:3]


def test_nothing_was_given_up(cli: Cli, conn: Connection[Any]) -> None:
    remember(conn, "tea")
    assert cli("failures") == (0, "", "no failures\n")
    assert cli("failures", "--json")[1] == "[]\n"
    assert cli("failures", "retry")[1] == "0 memories will be retried\n"


def test_the_list_has_what_one_needs_and_no_content(cli: Cli, conn: Connection[Any]) -> None:
    first, second, third = failed(conn)
    code, out, err = cli("failures")
    assert code == 0
    assert err == "retry them with: pgrecall failures retry\n"
    rows = [re.split(r"  +", line.strip()) for line in out.splitlines()[3:] if line.strip()]
    assert [row[0] for row in rows] == [str(third), str(second), str(first)]
    assert [rows[0][place] for place in (1, 2, 4, 5, 6, 7)] == [
        "1",
        "5",
        "default",
        "input_refused",
        "embedding",
        "BadRequestError of input_refused",
    ]
    _, out, _ = cli("failures", "--cause", "error", "--json")
    (row,) = json.loads(out)
    assert set(row) == {field.name for field in fields(Failure)}
    assert (row["memory_id"], row["attempts"], row["cause"]) == (second, 5, "error")
    _, out, err = cli("failures", "-k", "1", "--json")
    assert [row["memory_id"] for row in json.loads(out)] == [third]
    assert "-k 10" in cli("failures", "-k", "1")[2]
    for arguments in (["failures"], ["failures", "--json"], ["doctor"], ["status"], ["status", "--json"]):
        assert CANARY not in "".join(map(str, cli(*arguments)))


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ([], []),
        (["--cause", "input_refused"], [1]),
        (["--id", "{0}"], [1, 2]),
        (["--id", "{0}", "--cause", "error"], [0, 1, 2]),
    ],
)
def test_retry(cli: Cli, conn: Connection[Any], arguments: list[str], left: list[int]) -> None:
    numbers = failed(conn)
    conn.execute("LISTEN pgrecall_embed")
    code, out, _ = cli("failures", "retry", *(word.format(*numbers) for word in arguments))
    freed = 3 - len(left)
    assert (code, out) == (0, f"{freed} {'memory' if freed == 1 else 'memories'} will be retried\n")
    with Client(conn.info.dsn) as client:
        assert {failure.memory_id for failure in client.admin.failures()} == {
            numbers[place] for place in left
        }
    claimed = {row[0] for row in conn.execute("SELECT memory_id FROM pgrecall.claim(%s)", (WORKER,))}
    assert claimed & set(numbers) == {number for place, number in enumerate(numbers) if place not in left}
    assert len(list(conn.notifies(timeout=PATIENCE if freed else 0.1, stop_after=1))) == (1 if freed else 0)


def test_arguments_of_the_client(client: Client) -> None:
    assert client.admin.failures("error", k=1) == []
    with pytest.raises(InvalidInput):
        client.admin.failures(k="many")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        client.admin.retry_failures(id="one")  # type: ignore[arg-type]


def test_status_prints_every_attribute_once() -> None:
    printed = [name for names in SECTIONS.values() for name in names]
    assert sorted(printed) == sorted(field.name for field in fields(Status))


def test_status(cli: Cli, conn: Connection[Any]) -> None:
    failed(conn)
    pauses = [{"model": "minilm", "cause": "rate_limit", "until": "2026-11-22T12:00:00+00:00"}]
    beat(conn, generations=[1], per_second=0.5, pauses=pauses)
    _, out, _ = cli("status")
    for line in (
        r"memories +4",
        r"pending +4",
        r"failed +3",
        r"failures by cause +1 error, 2 input_refused",
        r"per second +0\.5",
        r"eta +2 s",
        r"dense index valid +yes",
        r"oldest pending +\d+ s",
        r"memories size +\d+\.\d KiB",
    ):
        assert re.search(rf"^  {line} *$", out, re.MULTILINE), line
    assert re.search(r"^ host:17 +model +1 +0 +0\.5 +\d+ s +minilm: rate_limit", out, re.MULTILINE)
    assert re.search(r"^ memories_\w+ +\w+ +\d+\.\d KiB +yes", out, re.MULTILINE)
    assert "building" not in out


def test_status_of_two_generations(cli: Cli, conn: Connection[Any]) -> None:
    remember(conn, "tea", "milk")
    claimed = conn.execute("SELECT memory_id, content_hash FROM pgrecall.claim(%s, 1)", (WORKER,)).fetchall()
    (number, digest) = claimed[0]
    conn.execute("SELECT pgrecall.complete(%s, %s, %s, %s)", (WORKER, [number], [digest], [VECTOR]))
    conn.execute("SELECT pgrecall.add_generation('next', 8)")
    _, out, _ = cli("status")
    assert re.search(r"^ 1 +active +\S+/all-MiniLM-L6-v2 +1 +1 +0 ", out, re.MULTILINE)
    assert re.search(r"^ 2 +building +next +0 +2 +0 ", out, re.MULTILINE)
    switch(conn)
    plain = json.loads(cli("status", "--json")[1])
    assert [row["state"] for row in plain["generations"]] == ["active", "retired"]
    assert (plain["generation"], plain["other_state"], plain["daemons"]) == (2, "retired", [])
    assert {"index_name", "bytes", "is_valid"} <= set(plain["indexes"][0])


def test_rows_are_plain_json(conn: Connection[Any], client: Client) -> None:
    failed(conn)
    beat(conn, generations=[1], per_second=0.5)
    (worker,) = client.admin.workers()
    assert json.loads(json.dumps(worker.as_dict()))["worker"] == WORKER
    (generation,) = client.admin.generations()
    assert json.loads(json.dumps(generation.as_dict()))["eta"] == 2
    assert json.loads(json.dumps(client.admin.status().as_dict()))["failures_by_cause"] == {
        "error": 1,
        "input_refused": 2,
    }


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, "-"),
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (2**20, "1.0 MiB"),
        (3 * 2**30, "3.0 GiB"),
    ],
)
def test_sizes(count: int | None, text: str) -> None:
    assert format_bytes(count) == text
