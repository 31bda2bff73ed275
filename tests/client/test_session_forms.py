"""Databases whose settings write values, or read literals, in another way than PostgreSQL's own defaults."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from pgrecall import AsyncClient, Client, Filter
from pgrecall.admin.migrate import migrate
from pgrecall.connecting import open_connection
from support import pgbouncer
from support.memories import call, rows

if TYPE_CHECKING:
    from pathlib import Path

FORMS = [
    ("DateStyle", "SQL, DMY"),
    ("DateStyle", "German"),
    ("DateStyle", "Postgres, MDY"),
    ("IntervalStyle", "sql_standard"),
    ("IntervalStyle", "postgres_verbose"),
    ("IntervalStyle", "iso_8601"),
    ("standard_conforming_strings", "off"),
    ("bytea_output", "escape"),
    ("array_nulls", "off"),
    ("transform_null_equals", "on"),
    ("extra_float_digits", "0"),
    ("quote_all_identifiers", "on"),
    ("xmloption", "document"),
]
REPORTED = [
    form for form in FORMS if form[0] in {"DateStyle", "IntervalStyle", "standard_conforming_strings"}
]
TEXTS = [
    "Ana lives in Bern since 3 May 2024.",
    "Ana's shares are in C:\\data\\5, her phone is +41 31 555 01 02.",
    "Ana drinks tea.",
]


STYLES = [value for name, value in FORMS if name == "IntervalStyle"]


def settle(dsn: str, name: str, value: str) -> None:
    """Set what sessions of the database begin with."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        command = sql.SQL("ALTER DATABASE {} SET {} = {}")
        admin.execute(
            command.format(sql.Identifier(admin.info.dbname), sql.Identifier(name), sql.Literal(value))
        )


def answers(memory: Client) -> list[Any]:
    """Return what the functions say that read times, spans and patterns."""
    found = memory.recall("What is Ana's phone?", embed=False)
    told = memory.timeline("Ana", embed=False)
    return [
        [(one.content, one.created_at.utcoffset() is not None, round(one.score, 4)) for one in found],
        [(one.content, one.gap is None, one.happened_at.tzinfo is not None) for one in told],
        memory.briefing("Ana", embed=False),
        sorted(one.content for one in memory.list(filter=Filter(tags_any=[]))),
        [one.content for one in memory.recall("tea", since="2026-01-02", embed=False)],
    ]


def test_answers_are_the_same_under_every_setting(dsn: str) -> None:
    with Client(dsn) as memory:
        memory.remember_many({"content": text, "session": f"s{place}"} for place, text in enumerate(TEXTS))
        expected = answers(memory)
    assert [len(part) for part in expected] == [3, 3, len(expected[2]), 3, 1]
    for name, value in FORMS:
        settle(dsn, name, value)
        with Client(dsn) as memory:
            assert answers(memory) == expected, (name, value)
            number = memory.remember("Priya moved on 5 June 2025.", speaker="Priya")
            assert "Priya moved on 5 June 2025." in [one.content for one in memory.list()]
            memory.erase(number)


@pytest.mark.parametrize("autocommit", [True, False])
def test_an_application_keeps_its_settings(dsn: str, autocommit: bool) -> None:
    with Client(dsn) as memory:
        memory.remember_many({"content": text, "session": f"s{place}"} for place, text in enumerate(TEXTS))
        expected = answers(memory)
    for name, value in REPORTED:
        settle(dsn, name, value)
        with psycopg.connect(dsn, autocommit=autocommit) as connection:
            before = connection.info.parameter_status(name)
            assert answers(Client.on(connection)) == expected, (name, value)
            assert connection.info.parameter_status(name) == before


def test_an_asynchronous_client_reads_them(dsn: str) -> None:
    settle(dsn, "DateStyle", "German")

    async def told() -> tuple[int, object]:
        async with AsyncClient(dsn) as memory:
            await memory.remember("Ana drinks tea.")
            found = len((await memory.timeline("Ana", embed=False)).memories)
        async with await open_connection(psycopg.AsyncConnection, dsn, autocommit=False) as connection:
            await connection.rollback()
            [row] = await (await connection.execute("SELECT now()")).fetchall()
            return found, row[0].tzinfo is not None

    assert asyncio.run(told()) == (1, True)


@pytest.mark.parametrize(("name", "value"), REPORTED)
def test_functions_are_read_by_one_rule_in_every_session(dsn: str, name: str, value: str) -> None:
    session = make_conninfo(dsn, options=f"-c {name}={value.replace(' ', '')}")
    with psycopg.connect(session, autocommit=True) as connection:
        for text in TEXTS:
            connection.execute("SELECT remember(%s)", (text,))
        for query in ("Ana's phone", "tea last year", "C:\\data since May 2024", '"lives in" -tea'):
            for function in ("recall", "recall_briefing", "recall_explain"):
                connection.execute(
                    sql.SQL("SELECT to_jsonb(f) FROM {}(%s) f").format(sql.Identifier(function)), (query,)
                )
        for call in (
            "count_memories(filter => '{\"tags_any\": []}', since => '2024-01-02')",
            'list_memories(filter => \'{"since": "2024-01-02T00:00:00Z"}\')',
            'list_memories(metadata_where => \'{"day": {"$gte": "2024-01-02"}}\')',
            "parse_timeframe('between 3 and 5 May 2024')",
        ):
            connection.execute(f"SELECT {call}".encode())


@pytest.mark.skipif(pgbouncer.PROGRAM is None, reason="there is no pgbouncer here")
@pytest.mark.parametrize(("name", "value"), REPORTED)
def test_a_pooler_may_be_between(dsn: str, public_dir: Path, name: str, value: str) -> None:
    settle(dsn, name, value)
    with pgbouncer.pooled(dsn, public_dir) as front, Client(front) as memory:
        memory.remember("Ana lives in Bern.")
        memory.remember("Ana drinks tea.", session="later")
        told = [memory.timeline("Ana", embed=False) for _ in range(4)]
        assert [len(one.memories) for one in told] == [2] * 4
        with open_connection(psycopg.Connection, front) as connection:
            connection.execute("SELECT now()").fetchall()


@pytest.mark.parametrize(
    ("name", "value"),
    [("standard_conforming_strings", "off"), ("quote_all_identifiers", "on"), ("DateStyle", "German")],
)
@pytest.mark.parametrize("is_lent", [False, True])
def test_a_migration_reads_its_own_sql(server_dsn: str, name: str, value: str, is_lent: bool) -> None:
    database = f"hy_{name.lower()}"
    with psycopg.connect(server_dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        try:
            target = make_conninfo(server_dsn, dbname=database)
            settle(target, name, value)
            if is_lent:
                with psycopg.connect(target, autocommit=True) as connection:
                    migrate(connection)
                    assert connection.execute(f"SHOW {name}".encode()).fetchall()[0][0].startswith(value)
            else:
                migrate(target)
            with Client(target) as memory:
                memory.remember("Ana drinks tea.")
                assert len(memory.timeline("Ana", embed=False).memories) == 1
        finally:
            admin.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(database)))


@pytest.mark.parametrize("style", STYLES)
def test_a_retention_rule_is_the_same_line_under_every_style(
    conn: psycopg.Connection[Any], style: str
) -> None:
    """How long it keeps is a text in an export, and compared as one."""
    call(conn, "pgrecall.set_retention", "default", "1 year 2 mons 90 days")
    lines = rows(conn, "pgrecall.export_records")
    assert '"keep": "1 year 2 mons 90 days"' in "".join(lines)
    conn.execute(sql.SQL("SET IntervalStyle = {}").format(sql.Literal(style)))
    assert rows(conn, "pgrecall.export_records") == lines
    found = rows(conn, "pgrecall.import_records", Jsonb([json.loads(line) for line in lines[1:]]))
    assert {outcome for _, outcome in found} == {"present"}
