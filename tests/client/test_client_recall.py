"""Recall through the client: filters, vectors, tuning, the query's embedding, and what a result says."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import (
    Client,
    EmbeddingModel,
    EmbeddingUnavailable,
    InvalidInput,
    InvalidVector,
    NewMemory,
    PgrecallError,
    RecallResult,
    TooLarge,
)
from pgrecall.query import embedding
from pgrecall.query.legs import LEGS
from support.legs import WITHOUT_VECTOR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg

DIMENSION = 384
NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)


def _vector(*leading: float) -> list[float]:
    return [*leading, *[0.0] * (DIMENSION - len(leading))]


# -- recalling


def test_filters(client: Client) -> None:
    client.remember_many(
        [
            NewMemory(
                content="tea one", category="a", tags=["x"], occurred_at=NOON, metadata={"p": {"q": 1}}
            ),
            NewMemory(content="tea two", category="b", tags=["x", "y"], occurred_at=NOON + timedelta(days=1)),
            NewMemory(content="tea three", category="c", tags=["y"], occurred_at=NOON + timedelta(days=2)),
        ]
    )

    def found(**filters: Any) -> set[str]:
        return {memory.content.split()[1] for memory in client.recall("tea", embed=False, **filters)}

    assert found() == {"one", "two", "three"}
    assert found(categories=["a", "c"]) == {"one", "three"}
    assert found(tags_any=["x"]) == {"one", "two"}
    assert found(tags_all=("x", "y")) == {"two"}
    assert found(metadata_contains={"p": {"q": 1}}) == {"one"}
    assert found(since=NOON + timedelta(days=1)) == {"two", "three"}
    assert found(until=datetime(2026, 5, 18)) == {"one"}  # noqa: DTZ001
    assert len(client.recall("tea", k=2, embed=False)) == 2


def test_a_result_is_a_sequence(client: Client) -> None:
    client.remember_many({"content": f"tea {number}"} for number in range(4))
    result = client.recall("tea", embed=False)
    assert isinstance(result, RecallResult)
    assert result.query == "tea"
    assert len(result) == 4
    assert result[0] in result
    assert list(result) == list(result.memories)
    assert result[1:3] == result.memories[1:3]
    assert [memory.id for memory in reversed(result)] == [memory.id for memory in result][::-1]
    assert not client.recall("nothing like that", embed=False)
    with pytest.raises(AttributeError):
        result.query = "other"  # type: ignore[misc]


def test_as_dict_is_json_in_the_order_of_the_columns(client: Client, conn: psycopg.Connection[Any]) -> None:
    client.remember("tea", tags=["x"], occurred_at=NOON)
    columns = [column.name for column in conn.execute("SELECT * FROM recall('tea')").description or ()]
    plain = client.recall("tea", embed=False)[0].as_dict()
    assert list(plain) == [*columns, "rerank_score"]
    assert len(columns) == 27
    assert plain["tags"] == ["x"]
    assert plain["occurred_at"] == "2026-05-17T12:00:00+00:00"


@pytest.mark.parametrize("k", [0, -1, 100_000, 10**12])
def test_k_out_of_range(shared: Client, k: int) -> None:
    with pytest.raises(InvalidInput, match="k ") as caught:
        shared.recall("tea", k=k, embed=False)
    assert caught.value.sqlstate == "22023"


HUGE = 10**400  # more than any float
NO_NUMBER = (HUGE, -HUGE, float("nan"), float("inf"), Decimal("NaN"), True, "1")


@pytest.mark.parametrize("name", ["min_score", "min_similarity", "mmr_lambda", "embed_timeout"])
@pytest.mark.parametrize("value", NO_NUMBER, ids=lambda one: str(one)[:9])
def test_what_is_no_number(shared: Client, name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=name) as caught:
        shared.recall("tea", **{name: value})
    assert (caught.value.sqlstate, bool(caught.value.hint)) == ("22023", True)
    with pytest.raises(InvalidInput, match="importance"):
        shared.remember("tea", importance=value)


NOT_WHOLE = (*NO_NUMBER[:-1], 2.5, None, 10**5000, "ten")


@pytest.mark.parametrize("value", NOT_WHOLE, ids=lambda one: type(one).__name__)
def test_a_setting_that_is_no_number(shared: Client, value: Any) -> None:
    for name, reranker in (("k", Unmoved()), ("k", None), ("mmr_lambda", None)):
        with pytest.raises(InvalidInput) as caught:
            shared.recall("tea", embed=False, settings={name: value}, rerank=reranker)
        assert (caught.value.sqlstate, bool(caught.value.hint)) == ("22023", True)
    if value is not None:
        with pytest.raises(InvalidInput):
            shared.admin.set_setting("k", value)


def test_a_value_of_another_type_is_no_lack_of_a_function(shared: Client) -> None:
    """PostgreSQL looks for a function that takes it; the advice was to migrate."""
    anything: Any = shared
    calls: list[Callable[[], object]] = [
        lambda: anything.admin.set_retention("default", 90),
        lambda: anything.admin.create_namespace(5),
        lambda: anything.admin.rename_namespace("default", 5),
        lambda: anything.admin.set_secrets("default", 1),
        lambda: anything.admin.set_setting(5, "x"),
        lambda: anything.admin.scan_secrets(dry_run=1),
        lambda: anything.learning.feedback("tea", 1, 1, embed=False),
    ]
    for call in calls:
        with pytest.raises(InvalidInput, match="must be") as caught:
            call()
        assert caught.value.hint


class Unmoved:
    """Leaves the order as it is."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:  # noqa: ARG002
        return [0.0] * len(texts)


@pytest.mark.parametrize("seconds", [HUGE, float("nan"), 0, -1, "3", True], ids=lambda one: str(one)[:9])
def test_a_time_to_wait_that_is_none(seconds: Any) -> None:
    with pytest.raises(InvalidInput, match="pool_timeout"):
        Client(pool_timeout=seconds)


def test_the_longest_time_to_wait_is_none(dsn: str) -> None:
    with Client(dsn, pool_timeout=1e300) as client:
        assert client.count() == 0
        assert client.recall("tea", embed="daemon", embed_timeout=60).notice


def test_a_query_of_100_kilobytes(shared: Client) -> None:
    with pytest.raises(TooLarge) as caught:
        shared.recall("tea " * 25_000, embed=False)
    assert caught.value.sqlstate == "54000"
    assert caught.value.hint


@pytest.mark.parametrize(
    "query", ["the of and", "a & | ! ( :* <->", "🎉🎊", "'; DROP TABLE x; --", "%s %(x)s", "\\"]
)
def test_odd_queries_are_only_words(shared: Client, query: str) -> None:
    assert len(shared.recall(query, embed=False)) == 0


def test_a_query_with_nul(shared: Client) -> None:
    with pytest.raises(InvalidInput, match="query") as caught:
        shared.recall("a\x00b", embed=False)
    assert caught.value.sqlstate == "22021"


def test_nothing_to_recall_by(shared: Client) -> None:
    with pytest.raises(InvalidInput) as caught:
        shared.recall(" ", embed=False)
    assert caught.value.hint


@pytest.mark.parametrize(
    "vector",
    [
        [],
        [float("nan")] * DIMENSION,
        _vector(float("inf")),
        ["x"] * DIMENSION,
        [[1.0]],
        "[1,2]",
        3.0,
        {"a": 1.0},
        [10**400] * DIMENSION,
        [Decimal("NaN")] * DIMENSION,
    ],
)
def test_vectors_that_are_none(shared: Client, vector: Any) -> None:
    with pytest.raises(InvalidVector) as caught:
        shared.recall("tea", vector=vector)
    assert caught.value.sqlstate == "22023"
    assert caught.value.hint


@pytest.mark.parametrize("vector", [[1.0, 2.0], _vector(0.0), _vector(1e9)])
def test_vectors_the_server_refuses(shared: Client, vector: list[float]) -> None:
    with pytest.raises(InvalidInput) as caught:
        shared.recall("tea", vector=vector)
    assert caught.value.sqlstate is not None
    assert caught.value.sqlstate.startswith("22")


def test_a_vector_takes_part_as_the_dense_leg(client: Client) -> None:
    numpy = pytest.importorskip("numpy")
    client.remember("tea")
    for vector in (_vector(1.0, 2.0), tuple(_vector(1.0)), numpy.array(_vector(1.0), dtype="float32")):
        result = client.recall("tea", vector=vector)
        assert result.legs == LEGS
        assert result.notice is None


def test_tuning_holds_for_one_call(client: Client, dsn: str) -> None:
    with Client(dsn, pool_max=1) as single:
        single.remember("tea")
        reciprocal: list[dict[str, str | float]] = [{"fusion": "rrf", "rrf_k": value} for value in (20, "20")]
        scores = [
            single.recall("tea", embed=False, settings=settings)[0].score
            for settings in (None, *reciprocal, None)
        ]
        assert scores[0] == scores[3] == pytest.approx(1)
        assert scores[1] == scores[2] == pytest.approx(1 / 21)
        result = single.recall(
            "tea", vector=_vector(1.0), hnsw_ef_search=200, hnsw_iterative_scan="strict_order"
        )
        assert len(result) == 1
        with single._database.connection() as connection:
            row = connection.execute("SELECT current_setting('hnsw.ef_search') AS ef").fetchone()
            assert row is not None
            assert row["ef"] == "100"
            row = connection.execute("SHOW transaction_read_only").fetchone()
            assert row is not None
            assert row["transaction_read_only"] == "off"


def test_a_tuned_recall_is_read_only(client: Client, conn: psycopg.Connection[Any]) -> None:
    conn.execute("ALTER FUNCTION public.recall RENAME TO recall_before")
    conn.execute(
        "CREATE FUNCTION public.recall(query text) RETURNS void LANGUAGE plpgsql AS"
        " 'BEGIN CREATE TABLE public.made (); END'"
    )
    with pytest.raises(PgrecallError) as caught:
        client.recall("tea", embed=False, hnsw_ef_search=100)
    assert caught.value.sqlstate == "25006"


@pytest.mark.parametrize(
    "options",
    [
        {"settings": {"work_mem": "1GB"}},
        {"settings": {"rrf_k": "many"}},
        {"hnsw_ef_search": 0},
        {"hnsw_ef_search": 1001},
        {"hnsw_ef_search": True},
        {"hnsw_iterative_scan": "sometimes"},
    ],
)
def test_bad_tuning(shared: Client, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        shared.recall("tea", embed=False, **options)
    assert caught.value.sqlstate == "22023"


@pytest.mark.parametrize("name", ["rrf_kk", "rrf-k", "pgrecall.rrf_k", "RRF_KK"])
def test_an_unknown_setting_is_refused_with_the_nearest_names(shared: Client, name: str) -> None:
    for ask in (shared.recall, shared.explain):
        with pytest.raises(InvalidInput, match="there is no setting") as caught:
            ask("tea", embed=False, settings={name: 10})
        assert caught.value.sqlstate == "22023"
        assert "rrf_k" in str(caught.value.hint)


# -- embedding the query


def test_without_a_library_recall_goes_on_and_says_so(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_loaded", {})
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    client.remember("tea")
    result = client.recall("tea")
    assert len(result) == 1
    assert result.legs == WITHOUT_VECTOR
    assert result.notice == "no embedding model available: recalled by words and concepts only"
    with pytest.raises(EmbeddingUnavailable) as caught:
        client.recall("tea", embed=True)
    assert caught.value.hint
    assert client.recall("tea", embed=False).notice is None


def test_another_model_than_the_databases_is_not_used(dsn: str) -> None:
    with Client(dsn, model="some/other") as other:
        assert "some/other" in str(other.recall("tea").notice)
        with pytest.raises(EmbeddingUnavailable):
            other.recall("tea", embed=True)


def test_a_model_that_is_not_on_this_machine() -> None:
    model = EmbeddingModel(
        name="nobody/has-this", dimension=DIMENSION, provider=embedding.PROVIDER, query_prompt=""
    )
    with pytest.raises(EmbeddingUnavailable, match="not on this machine"):
        embedding.embed_query("tea", model, None)
    for unusable in (None, EmbeddingModel(name="x", dimension=3, provider="voyage", query_prompt="")):
        with pytest.raises(EmbeddingUnavailable):
            embedding.embed_query("tea", unusable, None)


def test_the_bundled_model_embeds_the_query(
    client: Client, conn: psycopg.Connection[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    number = client.remember("I went to a support group yesterday.")
    model = client.active_model()
    assert model is not None
    text = embedding.embed_query("I went to a support group yesterday.", model, None)
    conn.execute(
        "UPDATE pgrecall.memories SET embedding = %s",
        (str(text),),
    )
    result = client.recall("Which self-help meeting did I attend?", embed=True)
    assert result.legs == LEGS
    assert result.notice is None
    assert result[0].id == number
    assert result[0].dense_rank == 1
    assert result[0].similarity is not None
    assert 0.2 < result[0].similarity < 1.0
    assert client.recall("Which self-help meeting did I attend?").legs == result.legs
    assert capfd.readouterr().err == ""
    for dimension in (100, 385):
        other = EmbeddingModel(name=model.name, dimension=dimension, provider=model.provider, query_prompt="")
        if dimension > model.dimension:
            with pytest.raises(EmbeddingUnavailable, match="gives 384 dimensions, the database has 385"):
                embedding.embed_query("x", other, None)
        else:
            cut = embedding.embed_query("x", other, None)
            whole = embedding.embed_query("x", model, None)[:dimension]
            assert cut == pytest.approx([number / math.hypot(*whole) for number in whole], abs=1e-5)


def test_the_prompt_comes_before_the_query() -> None:
    embedder = embedding.LocalEmbedder("sentence-transformers/all-MiniLM-L6-v2")
    assert embedder.embed_query("tea", "") != embedder.embed_query("tea", "query: ")
    assert embedder.embed_query("tea", "query: ") == embedder.embed_query("query: tea", "")


def test_an_empty_query_is_refused_though_a_model_could_embed_it(client: Client) -> None:
    for query in ("", "  "):
        with pytest.raises(InvalidInput, match="the query is empty and there is no vector") as caught:
            client.recall(query)
        assert caught.value.hint


def test_of_a_long_text_its_questions_are_embedded(dsn: str, conn: psycopg.Connection[Any]) -> None:
    prose = "We walked along the canal until the lamps came on. " * 30
    question = "Who keeps the dog of the neighbours?"
    with Client(dsn) as memory:
        number = memory.remember("she keeps a dog by the canal")
        conn.execute(
            "UPDATE pgrecall.memories SET embedding = array_fill(0.5::real, ARRAY[384])::halfvec WHERE id = %s",
            (number,),
        )
        alone, after, without = (
            memory.recall(text)[0].similarity for text in (question, prose + question, prose)
        )
    assert alone is not None
    assert after == pytest.approx(alone)
    assert without != pytest.approx(alone)
