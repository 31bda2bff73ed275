"""Recall reads few rows and returns the same with and without statistics, however the server keeps its plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from pgrecall.admin.migrate import migrate
from support import pgbouncer
from support.corpus import fill
from support.plans import LARGE, SIZES, assert_stable, questions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def filled(new_database: Callable[..., str]) -> str:
    dsn = new_database()
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        fill(conn, SIZES)
    return dsn


def test_with_fresh_statistics(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as conn:
        assert_stable(conn, questions(conn), rows=LARGE // 6)


@pytest.mark.skipif(pgbouncer.PROGRAM is None, reason="there is no pgbouncer here")
def test_behind_a_pooler(filled: str, public_dir: Path) -> None:
    with psycopg.connect(filled, autocommit=True) as conn:
        asked = questions(conn)
    with (
        pgbouncer.pooled(filled, public_dir) as pooled,
        psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as conn,
    ):
        assert_stable(conn, asked, rows=LARGE // 6, prepare=False)


def test_in_a_database_just_restored(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        fill(conn, SIZES, analyzed=False)
        # The planner takes a namespace for small, and reads it in each leg rather than the index on tags.
        assert_stable(conn, questions(conn), rows=LARGE // 6, rows_of_a_tag=3 * LARGE)
