"""The client against a real database: every call, every error, and what a result says about itself."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall import (
    AsyncClient,
    Client,
    Conflict,
    ConnectionFailed,
    EmbeddingModel,
    EmbeddingUnavailable,
    InvalidInput,
    InvalidVector,
    MemoryFields,
    NewMemory,
    NotFound,
    PgrecallError,
    RecalledMemory,
    RecallResult,
    RevisableFields,
    SchemaMismatch,
    TooLarge,
    UnknownNamespace,
    embedding,
)
from pgrecall import client_sync as client_module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DIMENSION = 384
NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)


@pytest.fixture
def client(dsn: str) -> Iterator[Client]:
    with Client(dsn) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(new_database: Callable[..., str], template: str) -> Iterator[Client]:
    """A client of one database for all tests of what is refused: nothing is stored there."""
    with Client(new_database(template)) as opened:
        yield opened
        assert opened.status().memories == 0


def _vector(*leading: float) -> list[float]:
    return [*leading, *[0.0] * (DIMENSION - len(leading))]


# -- storing -----------------------------------------------------------------------------------------------


def test_remember_stores_every_field(client: Client) -> None:
    number = client.remember(
        "Priya prefers mountains to beaches.",
        title="Priya's holidays",
        category="preference",
        tags=["Priya", "vacation"],
        expanded_keywords=["alps"],
        importance=0.9,
        metadata={"mood": "glad", "nested": {"list": [1, 2.5, None, True]}},
        source="chat",
        session="s1",
        speaker="Me",
        position=3,
        language="english",
        occurred_at=NOON,
        created_at=NOON + timedelta(days=1),
        external_id="p-1",
    )
    (found,) = client.recall("mountains", embed=False)
    assert isinstance(found, RecalledMemory)
    assert found.id == number
    assert found.external_id == "p-1"
    assert found.title == "Priya's holidays"
    assert found.content == "Priya prefers mountains to beaches."
    assert found.category == "preference"
    assert found.tags == ("Priya", "vacation")
    assert found.importance == pytest.approx(0.9)
    assert found.metadata == {"mood": "glad", "nested": {"list": [1, 2.5, None, True]}}
    assert (found.source, found.session, found.speaker) == ("chat", "s1", "Me")
    assert found.occurred_at == NOON
    assert found.created_at == NOON + timedelta(days=1)
    assert found.is_sensitive is False
    assert found.lexical_rank == 1
    assert found.lexical_score is not None
    assert (found.dense_rank, found.similarity) == (None, None)
    assert found.score > 0


def test_a_time_without_a_zone_is_utc(client: Client) -> None:
    client.remember("one tea", occurred_at=datetime(2026, 5, 17, 12))  # noqa: DTZ001
    client.remember("two teas", occurred_at=NOON.astimezone(timezone(timedelta(hours=9))))
    assert {found.occurred_at for found in client.recall("tea", embed=False)} == {NOON}


def test_options_left_out_leave_the_defaults_to_the_database(client: Client) -> None:
    client.remember("plain tea", tags=None, importance=None, is_sensitive=None, namespace=None)
    (found,) = client.recall("tea", embed=False)
    assert (found.tags, found.metadata, found.importance) == ((), {}, 0.5)


def test_falsy_values_are_values(client: Client) -> None:
    client.remember("no weight at all", importance=0.0, position=0, metadata={}, tags=[])
    (found,) = client.recall("weight", embed=False)
    assert found.importance == 0.0


def test_an_unknown_option_is_refused_as_python_does(shared: Client) -> None:
    with pytest.raises(TypeError, match="contnet"):
        shared.remember("x", contnet="y")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="external_id"):
        shared.revise(1, external_id="y")  # type: ignore[call-arg]


def test_the_field_lists_agree() -> None:
    names = set(NewMemory.__dataclass_fields__)
    assert names == {"content", "namespace", *MemoryFields.__annotations__}
    assert set(RevisableFields.__annotations__) < set(MemoryFields.__annotations__)


def test_external_id_conflicts(client: Client) -> None:
    first = client.remember("Lea lives in Bern.", external_id="lea")
    assert client.remember("Lea lives in Bern.", external_id="lea") == first
    with pytest.raises(Conflict) as caught:
        client.remember("Lea lives in Basel.", external_id="lea")
    assert caught.value.sqlstate == "23505"
    assert caught.value.hint
    assert "Basel" not in str(caught.value)
    assert client.remember("Lea lives in Basel.", external_id="lea", on_conflict="keep") == first
    assert client.recall("Lea", embed=False)[0].content == "Lea lives in Bern."
    assert client.remember("Lea lives in Basel.", external_id="lea", on_conflict="revise") == first
    assert client.recall("Lea", embed=False)[0].content == "Lea lives in Basel."


def test_namespaces_are_made_only_when_asked_for(client: Client) -> None:
    with pytest.raises(UnknownNamespace) as caught:
        client.remember("x", namespace="new")
    assert caught.value.sqlstate == "42704"
    assert caught.value.hint
    client.remember("tea", namespace="new", create_namespace=True)
    assert len(client.recall("tea", namespace="new", embed=False)) == 1
    assert len(client.recall("tea", embed=False)) == 0
    assert len(client.recall("tea", namespace="nowhere", embed=False)) == 0


def test_the_clients_own_namespace(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(dsn, namespace="mine") as mine:
        mine.remember("tea", create_namespace=True)
        assert len(mine.recall("tea", embed=False)) == 1
        assert len(mine.recall("tea", namespace="default", embed=False)) == 0
    monkeypatch.setenv("PGRECALL_NAMESPACE", "mine")
    with Client(dsn) as from_environment:
        assert len(from_environment.recall("tea", embed=False)) == 1


def test_dsn_from_the_environment(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_DSN", dsn)
    with Client() as found:
        assert found.open().dsn == dsn
        assert found.status().memories == 0


@pytest.mark.parametrize("content", ["", "  \n\t "])
def test_blank_content(shared: Client, content: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        shared.remember(content)
    assert caught.value.sqlstate == "22023"
    assert caught.value.hint


def test_content_of_a_megabyte(shared: Client) -> None:
    with pytest.raises(TooLarge) as caught:
        shared.remember("secret " * 150_000)
    assert caught.value.sqlstate == "54000"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"content": "a\x00b"}, "content"),
        ({"title": "a\x00b"}, "title"),
        ({"tags": ["fine", "a\x00b"]}, r"tags\[1\]"),
        ({"metadata": {"k": ["a\x00b"]}}, "metadata"),
        ({"metadata": {"a\x00b": 1}}, "a key of metadata"),
        ({"external_id": "a\x00b"}, "external_id"),
        ({"speaker": "\ud83d"}, "speaker"),
    ],
)
def test_text_that_no_database_can_hold(shared: Client, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named) as caught:
        shared.remember(**{"content": "fine", **arguments})
    assert caught.value.sqlstate == "22021"
    assert caught.value.hint


@pytest.mark.parametrize("importance", [-0.1, 1.1, float("nan"), float("inf")])
def test_importance_out_of_range(shared: Client, importance: float) -> None:
    with pytest.raises(InvalidInput, match="importance") as caught:
        shared.remember("x", importance=importance)
    assert caught.value.sqlstate == "22023"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"content": 7}, "content"),
        ({"content": b"x"}, "content"),
        ({"tags": "abc"}, "tags"),
        ({"tags": [1]}, "tags"),
        ({"position": "3"}, "position"),
        ({"position": True}, "position"),
        ({"position": 2**31}, "position"),
        ({"importance": True}, "importance"),
        ({"importance": "high"}, "importance"),
        ({"is_sensitive": 1}, "is_sensitive"),
        ({"metadata": [1]}, "metadata"),
        ({"metadata": {"x": float("nan")}}, "metadata"),
        ({"metadata": {"x": 10**5000}}, "metadata"),
        ({"metadata": {"x": object()}}, "metadata"),
        ({"occurred_at": "2026-05-17"}, "occurred_at"),
    ],
)
def test_values_of_the_wrong_type(shared: Client, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named) as caught:
        shared.remember(**{"content": "fine", **arguments})
    assert caught.value.sqlstate == "22023"
    with pytest.raises(InvalidInput, match=f"memory 1: {named}"):
        shared.remember_many([{"content": "fine", **arguments}])


def test_a_time_beyond_the_calendar(shared: Client) -> None:
    early = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))
    with pytest.raises(InvalidInput, match="occurred_at") as caught:
        shared.remember("x", occurred_at=early)
    assert caught.value.sqlstate == "22008"


def test_metadata_nested_too_deeply(shared: Client) -> None:
    nested: dict[str, Any] = {}
    for _ in range(100_000):
        nested = {"x": nested}
    with pytest.raises(InvalidInput, match="metadata"):
        shared.remember("x", metadata=nested)
    while nested:  # taken apart by hand: the interpreter would do it by recursion
        nested = nested["x"]


def test_an_unknown_language(shared: Client) -> None:
    with pytest.raises(PgrecallError) as caught:
        shared.remember("x", language="klingon")
    assert caught.value.sqlstate == "42704"
    assert caught.value.hint


# -- storing many ------------------------------------------------------------------------------------------


def test_remember_many_takes_any_iterable_and_keeps_the_order(client: Client) -> None:
    def memories() -> Iterator[NewMemory | dict[str, Any]]:
        for number in range(7):
            if number % 2:
                yield NewMemory(content=f"fact {number}", external_id=f"f{number}", occurred_at=NOON)
            else:
                yield {"content": f"fact {number}", "external_id": f"f{number}", "metadata": {"n": number}}

    ids = client.remember_many(memories(), batch_size=3)
    assert len(ids) == len(set(ids)) == 7
    found = {memory.id: memory for memory in client.recall("fact", k=20, embed=False)}
    assert [found[number].content for number in ids] == [f"fact {number}" for number in range(7)]
    assert client.remember_many([]) == []


def test_remember_many_namespaces(client: Client) -> None:
    client.remember_many(
        [NewMemory(content="tea", namespace="a"), NewMemory(content="tea")],
        namespace="b",
        create_namespace=True,
    )
    assert [len(client.recall("tea", namespace=name, embed=False)) for name in ("a", "b", "default")] == [
        1,
        1,
        0,
    ]


def test_a_refused_batch_leaves_the_ones_before_it(client: Client) -> None:
    memories = [{"content": f"fact {number}"} for number in range(5)] + [{"content": " "}]
    with pytest.raises(InvalidInput, match="memory 6: content is blank") as caught:
        client.remember_many(memories, batch_size=2)
    assert len(caught.value.stored) == 4
    assert client.status().memories == 4


def test_a_batch_refused_by_the_server_is_stored_not_at_all(client: Client) -> None:
    client.remember("Lea lives in Bern.", external_id="lea")
    with pytest.raises(Conflict) as caught:
        client.remember_many([{"content": "a"}, {"content": "b", "external_id": "lea"}])
    assert caught.value.stored == ()
    assert client.status().memories == 1


def test_remember_many_refuses_what_is_no_memory(client: Client) -> None:
    with pytest.raises(InvalidInput, match="unknown field 'contnet'"):
        client.remember_many([{"content": "x", "contnet": "x"}])
    with pytest.raises(InvalidInput, match="memory 2: content is missing"):
        client.remember_many([{"content": "x"}, {"title": "x"}])
    with pytest.raises(InvalidInput, match="not str"):
        client.remember_many(["x"])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="batch_size"):
        client.remember_many([{"content": "x"}], batch_size=0)
    with pytest.raises(TooLarge, match="memory 1: content has"):
        client.remember_many([{"content": "x" * 300_000}])


def test_batches_end_by_size_too(client: Client) -> None:
    ids = client.remember_many({"content": f"{number} " + "x" * 200_000} for number in range(50))
    assert len(ids) == 50


# -- changing ----------------------------------------------------------------------------------------------


def test_revise(client: Client) -> None:
    number = client.remember("Lea lives in Bern.", title="Lea", tags=["lea"])
    assert client.revise(number, content="Lea lives in Basel.", importance=1.0) is True
    assert client.revise(number, importance=1.0) is False
    (found,) = client.recall("Basel", embed=False)
    assert (found.id, found.title, found.tags, found.importance) == (number, "Lea", ("lea",), 1.0)
    assert client.revise(number, title="", tags=[]) is True
    (found,) = client.recall("Basel", embed=False)
    assert (found.title, found.tags) == (None, ())
    with pytest.raises(NotFound) as caught:
        client.revise(number + 1_000, content="x")
    assert caught.value.sqlstate == "P0002"
    assert caught.value.hint
    with pytest.raises(InvalidInput, match="id"):
        client.revise(2**70, content="x")


def test_supersede_and_forget(client: Client) -> None:
    old = client.remember("Lea lives in Bern.", occurred_at=NOON)
    new = client.supersede(
        old, "Lea lives in Basel.", occurred_at=NOON + timedelta(days=9), metadata={"by": "me"}
    )
    assert new != old
    assert [memory.id for memory in client.recall("Lea", embed=False)] == [new]
    both = client.recall("Lea", embed=False, include_superseded=True)
    assert {memory.id for memory in both} == {old, new}
    other = client.remember("Lea lives in Chur.")
    assert client.supersede(new, successor=other) == other
    with pytest.raises(InvalidInput):
        client.supersede(other)
    with pytest.raises(NotFound):
        client.supersede(10**9, "x")
    assert client.forget(other) is True
    assert client.forget(other) is False
    assert len(client.recall("Lea", embed=False)) == 0


# -- recalling ---------------------------------------------------------------------------------------------


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
    assert list(plain) == columns
    assert len(columns) == 21
    assert plain["tags"] == ["x"]
    assert plain["occurred_at"] == "2026-05-17T12:00:00+00:00"


@pytest.mark.parametrize("k", [0, -1, 100_000, 10**12])
def test_k_out_of_range(shared: Client, k: int) -> None:
    with pytest.raises(InvalidInput, match="k ") as caught:
        shared.recall("tea", k=k, embed=False)
    assert caught.value.sqlstate == "22023"


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
        assert result.legs == ("lexical", "dense", "graph")
        assert result.notice is None


def test_tuning_holds_for_one_call(client: Client, dsn: str) -> None:
    with Client(dsn, pool_max=1) as single:
        single.remember("tea")
        scores = [
            single.recall("tea", embed=False, settings=settings)[0].score
            for settings in (None, {"pgrecall.rrf_k": 10}, {"pgrecall.rrf_k": "10"}, None)
        ]
        assert scores[0] == scores[3] == pytest.approx(1 / 61)
        assert scores[1] == scores[2] == pytest.approx(1 / 11)
        result = single.recall(
            "tea", vector=_vector(1.0), hnsw_ef_search=200, hnsw_iterative_scan="strict_order"
        )
        assert len(result) == 1
        with single._connection() as connection:
            row = connection.execute("SELECT current_setting('hnsw.ef_search') AS ef").fetchone()
            assert row is not None
            assert row["ef"] == "100"
            row = connection.execute("SHOW transaction_read_only").fetchone()
            assert row is not None
            assert row["transaction_read_only"] == "off"


def test_a_tuned_recall_is_read_only(client: Client, conn: psycopg.Connection[Any]) -> None:
    conn.execute("ALTER FUNCTION public.recall RENAME TO recall_before")
    conn.execute(
        "CREATE FUNCTION public.recall(query text, k int) RETURNS void LANGUAGE plpgsql AS"
        " 'BEGIN CREATE TABLE public.made (); END'"
    )
    with pytest.raises(PgrecallError) as caught:
        client.recall("tea", embed=False, settings={"pgrecall.rrf_k": 10})
    assert caught.value.sqlstate == "25006"


@pytest.mark.parametrize(
    "options",
    [
        {"settings": {"work_mem": "1GB"}},
        {"settings": {"pgrecall.rrf_k": "many"}},
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


# -- embedding the query -----------------------------------------------------------------------------------


def test_without_a_library_recall_goes_on_and_says_so(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_loaded", {})
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    client.remember("tea")
    result = client.recall("tea")
    assert len(result) == 1
    assert result.legs == ("lexical", "graph")
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
        "UPDATE pgrecall.memories SET embedding = %s, embedded_at = now(),"
        " embedding_model_id = (SELECT id FROM pgrecall.active_model())",
        (str(text),),
    )
    result = client.recall("Which self-help meeting did I attend?", embed=True)
    assert result.legs == ("lexical", "dense", "graph")
    assert result.notice is None
    assert result[0].id == number
    assert result[0].dense_rank == 1
    assert result[0].similarity is not None
    assert 0.2 < result[0].similarity < 1.0
    assert client.recall("Which self-help meeting did I attend?").legs == result.legs
    assert capfd.readouterr().err == ""
    with pytest.raises(EmbeddingUnavailable, match="dimensions"):
        embedding.embed_query(
            "x", EmbeddingModel(name=model.name, dimension=3, provider=model.provider, query_prompt=""), None
        )


def test_the_prompt_comes_before_the_query() -> None:
    embedder = embedding.LocalEmbedder("sentence-transformers/all-MiniLM-L6-v2")
    assert embedder.embed_query("tea", "") != embedder.embed_query("tea", "query: ")
    assert embedder.embed_query("tea", "query: ") == embedder.embed_query("query: tea", "")


# -- connections -------------------------------------------------------------------------------------------


def test_status_and_health(client: Client) -> None:
    client.remember("tea")
    status = client.status()
    assert (status.memories, status.embedded, status.pending, status.dimension) == (1, 0, 1, DIMENSION)
    assert status.oldest_pending is not None
    assert status.as_dict()["oldest_pending"] >= 0
    assert all(check.status in ("ok", "warn", "fail") for check in client.health())
    client.analyze()
    assert client.last_memory_id() > 0


def test_a_server_that_is_not_there() -> None:
    with (
        Client("host=/nonexistent connect_timeout=2", pool_timeout=2) as lost,
        pytest.raises(ConnectionFailed) as caught,
    ):
        lost.status()
    assert caught.value.sqlstate == "08006"
    assert caught.value.hint
    assert isinstance(caught.value.__cause__, psycopg.OperationalError)


def test_a_connection_string_that_is_none() -> None:
    with Client("no connection string") as wrong, pytest.raises(PgrecallError):
        wrong.status()


def test_an_unmigrated_database(new_database: Callable[..., str]) -> None:
    with Client(new_database()) as client, pytest.raises(SchemaMismatch) as caught:
        client.recall("tea")
    assert caught.value.sqlstate == "55000"
    assert "pgrecall migrate" in str(caught.value.hint)


def test_a_database_of_another_version(dsn: str, conn: psycopg.Connection[Any]) -> None:
    conn.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
    with Client(dsn) as client, pytest.raises(SchemaMismatch) as caught:
        client.recall("tea")
    assert caught.value.sqlstate == "55000"
    assert "migrate" in str(caught.value.hint)
    conn.execute("UPDATE pgrecall.installation SET bundle_hash = NULL")
    with Client(dsn) as client, pytest.raises(SchemaMismatch):
        client.recall("tea")


def test_connections_that_died_are_replaced(client: Client, conn: psycopg.Connection[Any]) -> None:
    client.remember("tea")
    conn.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    assert len(client.recall("tea", embed=False)) == 1


def test_a_closed_client_says_so(dsn: str) -> None:
    client = Client(dsn)
    client.close()
    client.close()
    with pytest.raises(ConnectionFailed, match="closed"):
        client.status()
    with Client(dsn) as opened:
        opened.status()
    with pytest.raises(ConnectionFailed, match="closed"):
        opened.status()


def test_it_connects_only_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Client("host=/nonexistent"):
        pass


def test_no_connection_is_held_while_the_query_is_embedded(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(dsn, pool_max=1) as client:

        def embed(*_: object, **__: object) -> list[float]:
            client.remember("meanwhile")  # would wait for ever if the only connection were taken
            return _vector(1.0)

        monkeypatch.setattr(client_module, "embed_query", embed)
        assert client.recall("meanwhile", embed=True).legs == ("lexical", "dense", "graph")


def test_threads_share_a_client(client: Client) -> None:
    client.remember("tea")
    found: list[int] = []

    def work() -> None:
        found.extend(len(client.recall("tea", embed=False)) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 40


def test_the_asynchronous_client(dsn: str) -> None:
    async def work() -> None:
        async with AsyncClient(dsn) as memory:
            number = await memory.remember("Priya prefers mountains.", tags=["Priya"])
            ids = await memory.remember_many({"content": f"tea {n}"} for n in range(3))
            results = await asyncio.gather(*(memory.recall("tea", embed=False) for _ in range(8)))
            assert [len(result) for result in results] == [3] * 8
            assert {found.id for found in results[0]} == set(ids)
            assert await memory.revise(number, title="Priya") is True
            assert await memory.forget(number) is True
            assert (await memory.status()).memories == 3
            tuned = await memory.recall("tea", embed=False, settings={"pgrecall.rrf_k": 10})
            assert tuned[0].score == pytest.approx(1 / 11)
            with pytest.raises(InvalidInput):
                await memory.recall("tea", k=0, embed=False)
            assert (await memory.recall("tea", embed=True)).legs == ("lexical", "dense", "graph")
        with pytest.raises(ConnectionFailed, match="closed"):
            await memory.status()

    asyncio.run(work())
