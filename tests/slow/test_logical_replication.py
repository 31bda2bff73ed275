"""Logical replication to another server, by the recipes of docs/backup.md: the copy answers alike, and takes over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from pgrecall import Client
from pgrecall.server import EmbeddedServer
from support.backup import answers, fill, findings, recipe, rights, shell, wheel
from support.memories import scalar
from support.postings import problems
from support.servers import FAST
from support.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


def test_a_database_moves_while_it_is_written(public_dir: Path, tmp_path: Path) -> None:
    source = EmbeddedServer(public_dir / "source", settings={**FAST, "wal_level": "logical"})
    target = EmbeddedServer(public_dir / "target", settings=FAST)
    try:
        fill(source.up())
        target.up()
        with psycopg.connect(target.dsn("postgres"), autocommit=True) as conn:
            conn.execute("CREATE DATABASE copy TEMPLATE template0")
        place = {
            "FROM": source.dsn(),
            "TO": target.dsn("copy"),
            "TO_SERVER": target.dsn("postgres"),
            "ROLES": str(tmp_path / "roles.sql"),
            "LOG": str(tmp_path / "log"),
        }
        shell(recipe("needed roles"), wheel(), place)
        shell(recipe("replicate"), wheel(), place)
        with (
            psycopg.connect(source.dsn(), autocommit=True) as there,
            psycopg.connect(target.dsn("copy"), autocommit=True) as here,
        ):
            there.execute("SET pgrecall.namespace = 'lea'")
            ids = [scalar(there, "SELECT remember(%s)", f"Lea paddelt {n} mal") for n in range(80)]
            there.execute("SELECT pgrecall.flush_pending_postings(1)")
            for id_ in ids[:20]:
                there.execute("SELECT update_memory(%s, content => 'Lea segelt')", (id_,))
                there.execute("SELECT forget(%s)", (id_ + 20,))
            there.execute("SELECT FROM erase(%s)", (ids[-1],))
            there.execute("SELECT pgrecall.set_retention('lea', '9 years')")
            there.execute("SELECT pgrecall.set_retention('lea', '10 years')")
            there.execute("SELECT pgrecall.flush_pending_postings(1)")
            _arrived(there, here)
            assert problems(here) == {}
        assert answers(target.dsn("copy")) == answers(source.dsn())
        assert rights(target.dsn("copy")) == rights(source.dsn())
        report = shell(recipe("switch"), wheel(), place)
        assert "repaired: memories_id_seq was behind its table" in report
        assert findings(target.dsn("copy")) == findings(source.dsn())
        with Client(target.dsn("copy"), namespace="lea") as client:
            assert client.remember("Lea rudert") == ids[-1] + 1
            assert client.update(ids[50], content="Lea schwimmt")
            assert client.forget(ids[51])
    finally:
        target.down()
        source.down()


def _arrived(there: psycopg.Connection[Any], here: psycopg.Connection[Any]) -> None:
    """Wait until the tables are copied and what was written since has come."""
    ends = scalar(there, "SELECT pg_current_wal_lsn()")
    query = """
        SELECT (SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)
           AND (SELECT latest_end_lsn FROM pg_stat_subscription WHERE relid IS NULL) >= %s
    """
    until(lambda: scalar(here, query, ends))
