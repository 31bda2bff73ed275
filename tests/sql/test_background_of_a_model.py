"""The background of a model: what cosines are measured against in a namespace with too few embeddings."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import remember, scalar

if TYPE_CHECKING:
    from psycopg import Connection

DIMENSION = 384


def _vectors(count: int, seed: int = 1) -> list[str]:
    """Vectors as an encoder's whose unrelated texts have a cosine near 0.8."""
    draw = random.Random(seed)
    return [f"[{','.join(f'{2 + draw.gauss(0, 1):.4f}' for _ in range(DIMENSION))}]" for _ in range(count)]


def _model(conn: Connection[Any]) -> int:
    return int(scalar(conn, "SELECT id FROM pgrecall.active_model()"))


def _state(conn: Connection[Any], vectors: list[str]) -> bool:
    return bool(scalar(conn, "SELECT pgrecall.state_background(%s, %s::text[])", _model(conn), vectors))


def test_it_is_stated_once(conn: Connection[Any]) -> None:
    lacks = "SELECT pgrecall.lacks_background(%s)"
    assert scalar(conn, lacks, _model(conn)) is True
    assert _state(conn, _vectors(30)) is True
    assert scalar(conn, lacks, _model(conn)) is False
    before = scalar(conn, "SELECT background_deviation FROM pgrecall.embedding_models")
    assert _state(conn, _vectors(30, 2)) is False
    assert scalar(conn, "SELECT background_deviation FROM pgrecall.embedding_models") == before


def test_it_counts_while_a_namespace_has_none(conn: Connection[Any]) -> None:
    memory = remember(conn, "tea")
    stored, asked = _vectors(2, 3)
    conn.execute("UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", (stored, memory))
    score = "SELECT score FROM recall('coffee', %s)"
    # From 0: the cosine of unrelated texts.
    assert scalar(conn, score, asked) > 0.7
    _state(conn, _vectors(30))
    assert scalar(conn, score, asked) < 0.3
    assert scalar(conn, score, stored) > 0.9


@pytest.mark.parametrize(
    "vectors", [_vectors(19), ["[1,2,3]"] * 20, _vectors(1) * 20, [], _vectors(1) * 1001]
)
def test_what_is_no_background_is_refused(conn: Connection[Any], vectors: list[str]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        _state(conn, vectors)


def test_a_model_that_is_not_there(conn: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.UndefinedObject):
        conn.execute("SELECT pgrecall.state_background(99, %s::text[])", (_vectors(20),))


@pytest.mark.parametrize("role", ["pgrecall_reader", "pgrecall_writer"])
def test_only_an_embedder_may_state_it(conn: Connection[Any], role: str) -> None:
    conn.execute(f"SET ROLE {role}".encode())
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("SELECT pgrecall.state_background(1, %s::text[])", (_vectors(20),))
