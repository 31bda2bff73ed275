"""Attacks on the names that a language model is asked about: no tenant reads them, and none merges another's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import call, remember, rows, scalar
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback


@pytest.fixture
def doubted(conn: Connection[Any]) -> Connection[Any]:
    """Two namespaces with names that differ by a letter, and a pair within the first one."""
    conn.execute("SELECT pgrecall.set_setting('extract_llm', 'on'), pgrecall.set_setting('llm_model', 'm')")
    for namespace in ("bakery", "rival"):
        call(conn, "pgrecall.create_namespace", namespace)
    remember(conn, tags=["macaron", "macaroon"], namespace="bakery")
    remember(conn, tags=["macaroon"], namespace="rival")
    call(conn, "pgrecall.resolve_concepts")
    return conn


@pytest.mark.parametrize("who", ["pgrecall_reader", "pgrecall_writer"])
def test_a_tenant_neither_reads_nor_settles(doubted: Connection[Any], who: str) -> None:
    [(number, name, ids, candidates)] = rows(doubted, "pgrecall.doubtful_names")
    with role(doubted, who):
        for statement, values in (
            ("SELECT * FROM pgrecall.doubtful_names()", ()),
            ("SELECT pgrecall.settle_names(%s, %s, %s, %s)", (number, ids, ids[0], [name, candidates[0]])),
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                doubted.execute(statement.encode(), values)
    assert scalar(doubted, "SELECT count(*) FROM pgrecall.concept_merges") == 0


def test_names_of_two_namespaces_are_never_merged(doubted: Connection[Any]) -> None:
    [(number, name, ids, _)] = rows(doubted, "pgrecall.doubtful_names")
    [(foreign,)] = doubted.execute(
        "SELECT id FROM pgrecall.concepts WHERE namespace_id = pgrecall.namespace_id('rival')"
    ).fetchall()
    with role(doubted, "pgrecall_embedder"):
        settled = call(doubted, "pgrecall.settle_names", number, [*ids, foreign], foreign, [name, "macaroon"])
    assert settled is False
    assert scalar(doubted, "SELECT count(*) FROM pgrecall.concept_merges") == 0
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        doubted.execute(
            "INSERT INTO pgrecall.name_doubts (namespace_id, concept_id, other_id) "
            "VALUES (pgrecall.namespace_id('bakery'), least(%s, %s), greatest(%s, %s))",
            (number, foreign, number, foreign),
        )
