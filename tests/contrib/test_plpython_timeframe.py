"""parse_timeframe() with dateparser: English as without it, other languages too, and no module is no error."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from support.phrases import ANCHOR, FORMS, check, parse
from support.plpython import notices, use_modules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

pytestmark = pytest.mark.server_extras


@pytest.fixture(scope="module")
def reading(python_database: Callable[..., str], python_template: str) -> Iterator[Connection[Any]]:
    """A connection that the tests share."""
    with psycopg.connect(python_database(python_template), autocommit=True) as conn:
        use_modules(conn, "dateparser.date")
        conn.execute("SET TimeZone = 'UTC'")
        yield conn


def test_english_is_read_as_without_it(reading: Connection[Any]) -> None:
    for text, expected in FORMS.items():
        check(reading, text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("la semaine dernière", "2026-05-04 2026-05-11"),
        ("vor 3 Tagen", "2026-05-10 2026-05-11"),
        ("ayer", "2026-05-12 2026-05-13"),
        ("3 Mai 2024", "2024-05-03 2024-05-04"),
        ("в прошлом году", "2025-01-01 2026-01-01"),
    ],
)
def test_other_languages_are_read(reading: Connection[Any], text: str, expected: str) -> None:
    check(reading, text, expected)


def test_days_are_those_of_the_zone(reading: Connection[Any]) -> None:
    check(reading, "vor 3 Tagen", "2026-05-11 2026-05-12", "2026-05-14 00:30", "Asia/Tokyo")
    reading.execute("SET TimeZone = 'America/New_York'")
    found = reading.execute("SELECT parse_timeframe('hier', '2026-05-14 02:00+00')").fetchone()
    reading.execute("SET TimeZone = 'UTC'")
    assert found is not None
    assert found[0].lower == datetime(2026, 5, 12, tzinfo=ZoneInfo("America/New_York"))


def test_what_is_no_time_is_an_error(reading: Connection[Any]) -> None:
    for text in (
        "the quick brown fox of my uncle",
        "",
        "日本語の文章です",
        "'; DROP TABLE x; --",
        None,
        "3/4",
        "v16.12",
        "x" * 5000,
    ):
        assert parse(reading, text) is None
    assert parse(reading, "vor 3 Tagen", None) is None
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        reading.execute("SELECT parse_timeframe('vor 3 Tagen', now(), 'Mars/Olympus')")


def test_recall_understands_it(reading: Connection[Any]) -> None:
    reading.execute("SELECT remember('Spaziergang am See', occurred_at => now() - interval '3 days')")
    reading.execute("SELECT remember('Spaziergang im Wald', occurred_at => now() - interval '30 days')")
    found = reading.execute(
        "SELECT content FROM recall('Spaziergang', timeframe => parse_timeframe('vor 3 Tagen'))"
    )
    assert found.fetchall() == [("Spaziergang am See",)]


def test_no_plan_that_is_parallel_breaks(reading: Connection[Any]) -> None:
    """Before PostgreSQL 17 a query in Python cannot run while any part of its plan is parallel."""
    with psycopg.connect(reading.info.dsn, autocommit=True) as conn:
        for name, value in (
            ("parallel_setup_cost", "0"),
            ("parallel_tuple_cost", "0"),
            ("min_parallel_table_scan_size", "0"),
            ("debug_parallel_query" if conn.info.server_version >= 160000 else "force_parallel_mode", "on"),
        ):
            conn.execute(f"SET {name} = {value}".encode())
        conn.execute("SELECT remember('ayer')")
        for call in ("parse_timeframe(m.content)", "recall_embed(m.content)"):
            conn.execute(
                f"SELECT count(*) FROM pgrecall.memories m WHERE m.content = 'ayer' AND {call} IS NULL".encode()
            )
        conn.execute("SELECT count(*) FROM pgrecall.memories m, LATERAL graph_ppr(ARRAY[m.id])")


def test_without_the_module_it_reads_english(reading: Connection[Any]) -> None:
    with psycopg.connect(reading.info.dsn, autocommit=True) as conn:
        set_to = conn.execute("SELECT pgrecall.stored_setting('python_venv')").fetchone()
        assert set_to is not None
        conn.execute("SELECT pgrecall.set_setting('python_venv', NULL)")
        heard = notices(conn)
        try:
            if parse(conn, "vor 3 Tagen") is not None:
                pytest.skip("the server's own Python has dateparser")
            assert parse(conn, "ayer") is None
            check(conn, "last week", FORMS["last week"], ANCHOR)
        finally:
            conn.execute("SELECT pgrecall.set_setting('python_venv', %s)", [set_to[0]])
    assert len(heard) == 1
    assert "no module dateparser" in heard[0]
