"""Attacks on the background of a model, which every namespace with few embeddings is measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import scalar
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

STATE = "SELECT pgrecall.state_background(%s, %s::text[])"
STATED = (
    "SELECT (background_mean::text, background_deviation)::text FROM pgrecall.embedding_models WHERE id = %s"
)


def model(conn: Connection[Any]) -> int:
    return int(scalar(conn, "SELECT id FROM pgrecall.active_model()"))


def vectors(count: int, shift: int = 0, number: str = "1") -> list[str]:
    """Vectors of which each has another place set."""
    return [
        "[" + ",".join(number if place == at + shift else "0" for place in range(384)) + "]"
        for at in range(count)
    ]


@pytest.mark.parametrize("who", ["pgrecall_reader", "pgrecall_writer"])
def test_a_tenant_neither_states_nor_asks(conn: Connection[Any], who: str) -> None:
    number = model(conn)
    with role(conn, who):
        for statement, values in (
            (STATE, (number, vectors(20))),
            ("SELECT pgrecall.lacks_background(%s)", (number,)),
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(statement.encode(), values)
    assert scalar(conn, STATED, number) == "(,)"


def test_a_second_embedder_does_not_move_the_scores_of_others(conn: Connection[Any]) -> None:
    number = model(conn)
    with role(conn, "pgrecall_embedder"):
        assert scalar(conn, STATE, number, vectors(30)) is True
    stated = scalar(conn, STATED, number)
    with role(conn, "pgrecall_embedder"):
        assert scalar(conn, STATE, number, vectors(30, 100)) is False
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("UPDATE pgrecall.embedding_models SET background_mean = NULL")
    assert scalar(conn, STATED, number) == stated


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e9", "x", "'); DROP TABLE pgrecall.memories; --"])
def test_what_is_no_number_is_refused_and_stores_nothing(conn: Connection[Any], number: str) -> None:
    which = model(conn)
    with role(conn, "pgrecall_embedder"), pytest.raises(psycopg.DataError):
        conn.execute(STATE.encode(), (which, vectors(20, number=number)))
    assert scalar(conn, STATED, which) == "(,)"
