"""Attacks on the background of a model, which every namespace with few embeddings is measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.attack import said
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


# One value for each type of the arguments beside the vectors; an array has one element for each vector.
BESIDE = {
    "bigint": 1, "integer": 1, "text": "x", "bytea": b"x", "boolean": False, "jsonb": None,
    "uuid": "00000000-0000-0000-0000-000000000001",
}  # fmt: skip


@pytest.mark.parametrize("wrong", ["[quagga]", "[1,quagga", "quagga", "[1e9,31415926]", "[NaN,31415926]"])
def test_no_function_quotes_a_vector_that_it_refuses(conn: Connection[Any], wrong: str) -> None:
    functions = conn.execute(
        """
        SELECT p.proname::text, p.proargnames, ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) t)
        FROM pg_proc p
        WHERE p.pronamespace = 'pgrecall'::regnamespace AND 'embeddings' = ANY (p.proargnames)
        ORDER BY 1
        """
    ).fetchall()
    told = {}
    for name, arguments, types in functions:
        values: list[Any] = []
        for argument, kind in zip(arguments, types, strict=False):
            one = BESIDE[kind.removesuffix("[]")]
            array = [wrong if argument == "embeddings" else one] * 30
            values.append(array if kind.endswith("[]") else model(conn) if argument == "model_id" else one)
        places = ", ".join(f"%s::{kind}" for kind in types)
        try:
            with conn.transaction(force_rollback=True):
                conn.execute(f"SELECT pgrecall.{name}({places})".encode(), values)
        except psycopg.Error as error:
            told[name] = said(error)
    for name, text in told.items():
        assert text.startswith("22023"), name
        assert "quagga" not in text, name
        assert "31415926" not in text, name
    # A claim that there is not stores nothing.
    assert {name for name, _, _ in functions} - told.keys() == {"complete_claimed"}
