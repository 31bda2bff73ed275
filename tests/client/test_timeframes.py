"""Timeframes through the client and the command line: phrases, periods, other languages, and what is refused."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import AsyncClient, Client, InvalidInput, NewMemory, TimelineResult
from pgrecall.cli import main
from pgrecall.installing import install_command
from pgrecall.query.timeframe import format_period, parse_with_dateparser

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = timedelta(days=1)
NOW = datetime(2026, 5, 13, 15, 30, tzinfo=timezone(timedelta(hours=2)))


@pytest.fixture
def diary(client: Client) -> Client:
    """Memories of today, eight days ago, and March 2024, and one that speaks of March 2024."""
    now = datetime.now(UTC)
    client.remember_many(
        [
            NewMemory(content="tea now", occurred_at=now, session="b"),
            NewMemory(content="tea before", occurred_at=now - 8 * DAY, session="a", speaker="Ann"),
            NewMemory(content="tea then", occurred_at=datetime(2024, 3, 5, 12, tzinfo=UTC), session="a"),
            NewMemory(content="tea told of March 2024", occurred_at=now - 100 * DAY),
        ]
    )
    return client


def found(client: Client, timeframe: Any) -> set[str]:
    return {memory.content.split()[1] for memory in client.recall("tea", embed=False, timeframe=timeframe)}


def test_phrases_and_periods(diary: Client) -> None:
    assert found(diary, None) == {"now", "before", "then", "told"}
    assert found(diary, "last 3 days") == {"now"}
    assert found(diary, "past 9 days") == {"now", "before"}
    assert found(diary, "in March 2024") == {"then", "told"}
    assert found(diary, "before 2025") == {"then", "told"}
    assert found(diary, (datetime(2024, 3, 5, tzinfo=UTC), datetime(2024, 3, 6, tzinfo=UTC))) == {
        "then",
        "told",
    }
    assert found(diary, (None, datetime(2024, 3, 5))) == {"told"}  # noqa: DTZ001
    assert found(diary, (datetime.now(UTC) - DAY, None)) == {"now"}
    assert found(diary, (None, None)) == {"now", "before", "then", "told"}


def test_what_the_database_does_not_understand_goes_to_dateparser(diary: Client) -> None:
    assert found(diary, "März 2024") == {"then", "told"}
    assert found(diary, "le 5 mars 2024") == {"then", "told"}
    assert found(diary, "vor acht Tagen") == {"before"}


def test_the_days_are_those_of_the_connections_zone(dsn: str) -> None:
    for zone, day in (("Pacific/Kiritimati", 6), ("Pacific/Pago_Pago", 5)):  # UTC+14, UTC-11
        with Client(make_conninfo(dsn, options=f"-c timezone={zone}")) as client:
            number = client.remember(f"tea {day}", occurred_at=datetime(2024, 3, 5, 12, tzinfo=UTC))
            for phrase in (f"2024-03-0{day}", f"{day}. März 2024"):
                ids = {memory.id for memory in client.recall("tea", embed=False, timeframe=phrase)}
                assert number in ids
            assert not client.recall("tea", embed=False, timeframe=f"2024-03-0{11 - day}")


@pytest.mark.parametrize(
    ("timeframe", "message"),
    [
        ("whenever it was", "'whenever it was' is not understood"),
        ("", "'' is not understood"),
        ("x" * 201, "201 characters"),
        ("yester\x00day", "NUL"),
        (7, "not int"),
        ((None,), "not tuple"),
        (("last Friday", None), "is not a time"),
        ((NOW, NOW - DAY), "ends before it begins"),
    ],
)
def test_what_is_refused(shared: Client, timeframe: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message.replace("(", r"\(")) as caught:
        shared.recall("tea", embed=False, timeframe=timeframe)
    assert caught.value.sqlstate in {"22023", "22021"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vor drei Tagen", "[2026-05-09T22:00:00+00:00,2026-05-10T22:00:00+00:00)"),
        ("letzte Woche", "[2026-05-03T22:00:00+00:00,2026-05-10T22:00:00+00:00)"),
        ("mars 2024", "[2024-02-29T22:00:00+00:00,2024-03-31T22:00:00+00:00)"),
        ("May 5th at 3pm", "[2026-05-05T13:00:00+00:00,2026-05-05T13:01:00+00:00)"),
        ("May 5th at 3pm UTC", "[2026-05-05T15:00:00+00:00,2026-05-05T15:01:00+00:00)"),
        ("hace un año", "[2024-12-31T22:00:00+00:00,2025-12-31T22:00:00+00:00)"),
        ("před 3 dny", "[2026-05-09T22:00:00+00:00,2026-05-10T22:00:00+00:00)"),
    ],
)
def test_what_dateparser_reads(text: str, expected: str) -> None:
    assert parse_with_dateparser(text, NOW) == expected


@pytest.mark.parametrize(
    "text", ["3/4", "on 3/4", "3/4/24", "3-4-2024", "24/7", "v16.12", "16.13.", "16.4.2", "32.12.", "20."]
)
def test_numbers_that_are_two_days_or_none_are_not_guessed(shared: Client, text: str) -> None:
    with pytest.raises(InvalidInput, match="may be two days, or none"):
        parse_with_dateparser(text, NOW)
    with pytest.raises(InvalidInput, match="may be two days, or none"):
        shared.recall("tea", embed=False, timeframe=text)


def test_without_dateparser(shared: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dateparser.date", None)
    assert len(shared.recall("tea", embed=False, timeframe="last week")) == 0
    # Czech: the database reads none of it, dateparser does.
    with pytest.raises(InvalidInput, match="'před 3 dny' is not understood") as caught:
        shared.recall("tea", embed=False, timeframe="před 3 dny")
    assert caught.value.hint is not None
    assert install_command("nlp") in caught.value.hint


def test_periods_as_text() -> None:
    assert format_period((None, None)) == "[,)"
    assert format_period([NOW, None]) == "[2026-05-13T13:30:00+00:00,)"


def test_as_of_and_sensitive_memories(client: Client) -> None:
    old = client.remember("tea in Rome")
    recorded = client.recall("tea", embed=False)[0].created_at
    new = client.supersede(old, "tea in Oslo")
    secret = client.remember("tea secret", is_sensitive=True)

    def ids(**filters: Any) -> set[int]:
        return {memory.id for memory in client.recall("tea", embed=False, **filters)}

    assert ids(as_of=recorded) == {old}
    assert ids() == ids(as_of=datetime.now(UTC)) == {new, secret}
    assert ids(include_sensitive=False) == {new}
    assert {memory.id for memory in client.timeline("tea", embed=False, as_of=recorded)} == {old}


def test_timeline(diary: Client) -> None:
    result = diary.timeline("tea", embed=False)
    assert isinstance(result, TimelineResult)
    assert [memory.content.split()[1] for memory in result] == ["then", "told", "before", "now"]
    assert [memory.is_new_session for memory in result] == [True, True, True, True]
    assert result[0].gap is None
    assert result[3].gap == 8 * DAY
    assert (len(result), result.topic, result.notice) == (4, "tea", None)
    assert [memory.speaker for memory in result[2:]] == ["Ann", None]
    assert result[3].as_dict()["gap"] == 8 * 86400
    some = diary.timeline("tea", k=1, embed=False, timeframe="past 9 days", tags_any=None)
    assert len(some) == 1
    assert not diary.timeline("tea", embed=False, namespace="nowhere")
    assert len(diary.timeline("tea", vector=[1.0] * 384)) == 4
    with pytest.raises(TypeError, match="colour"):
        diary.timeline("tea", colour="red")  # type: ignore[call-arg]


def test_the_asynchronous_client(diary: Client, dsn: str) -> None:
    async def ask() -> tuple[int, int]:
        async with AsyncClient(dsn) as memory:
            hits = await memory.recall("tea", embed=False, timeframe="März 2024")
            return len(hits), len(await memory.timeline("tea", embed=False, timeframe="March 2024"))

    assert asyncio.run(ask()) == (2, 2)


# -- the command line


@pytest.fixture
def cli(
    diary: Client, dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[object, str, str]]:
    """Run a command over the diary; return its exit code, and what it printed and said."""
    monkeypatch.setenv("PGRECALL_DSN", dsn)

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        captured = capsys.readouterr()
        return caught.value.code or 0, captured.out, captured.err

    return run


def test_recall_with_a_timeframe(cli: Any) -> None:
    code, out, _ = cli("recall", "tea", "--no-embed", "--json", "--timeframe", "in March 2024")
    assert code == 0
    assert {memory["content"].split()[1] for memory in json.loads(out)} == {"then", "told"}
    assert cli("recall", "tea", "--no-embed", "--json", "--as-of", "2024-01-01")[1].strip() == "[]"
    code, _, err = cli("recall", "tea", "--no-embed", "--timeframe", "whenever")
    assert (code, "'whenever' is not understood" in err) == (1, True)


def test_timeline_command(cli: Any) -> None:
    code, out, _ = cli("timeline", "tea")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "--- a"
    assert re.fullmatch(r"2024-03-05 \d\d:00  \[agent\] tea then", lines[1])
    assert "--- b" in lines
    assert any(line.endswith(("Ann: [agent] tea before", "[agent] Ann: tea before")) for line in lines)
    assert lines[-1].endswith("(+8 d)  [agent] tea now")
    code, out, _ = cli("timeline", "tea", "--json", "--timeframe", "March 2024", "-k", "1")
    assert len(json.loads(out)) == 1
    code, out, err = cli("timeline", "tea", "--as-of", "2024-01-01")
    assert (code, out, "nothing found" in err) == (0, "", True)
