"""The client against a real database: what it stores, what it changes, and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import (
    Client,
    Conflict,
    InvalidInput,
    MemoryFields,
    NewMemory,
    NotFound,
    PgrecallError,
    RecalledMemory,
    TooLarge,
    UnknownNamespace,
    UpdatableFields,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)


# -- storing


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
        shared.update(1, external_id="y")  # type: ignore[call-arg]


def test_the_field_lists_agree() -> None:
    names = set(NewMemory.__dataclass_fields__)
    assert names == {"content", "namespace", *MemoryFields.__annotations__}
    assert set(UpdatableFields.__annotations__) < set(MemoryFields.__annotations__)


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
    assert client.remember("Lea lives in Basel.", external_id="lea", on_conflict="update") == first
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


def test_an_unknown_namespace_is_named(client: Client, dsn: str) -> None:
    client.remember("tea", namespace="kitchen", create_namespace=True)
    for ask in (client.recall, client.timeline, client.recall_facts, client.explain):
        notice = ask("tea", namespace="kitchn", embed=False).notice
        assert notice == "there is no namespace 'kitchn'. Did you mean kitchen?"
    nothing = client.recall("wombat", namespace="kitchen", embed=False)
    assert (len(nothing), nothing.notice) == (0, None)
    assert (client.list(namespace="kitchn"), client.count(namespace="kitchn")) == ((), 0)
    with Client(dsn, namespace="kitchn", strict=True) as strict:
        for refused in (
            lambda: strict.recall("tea", embed=False),
            strict.list,
            strict.count,
            strict.sessions,
        ):
            with pytest.raises(UnknownNamespace, match="'kitchn'") as caught:
                refused()
            assert caught.value.hint == "Did you mean kitchen?"
        assert strict.remember("tea", create_namespace=True) > 0
        assert strict.count() == 1
        assert strict.recall("wombat", embed=False).memories == ()


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
        assert found.admin.status().memories == 0


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
        ({"occurred_at": "the 17th"}, "occurred_at"),
    ],
)
def test_values_of_the_wrong_type(shared: Client, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named) as caught:
        shared.remember(**{"content": "fine", **arguments})
    assert caught.value.sqlstate == "22023"
    with pytest.raises(InvalidInput, match=f"^memory: {named}"):
        shared.remember_many([{"content": "fine", **arguments}])


def test_none_is_no_text(shared: Client) -> None:
    calls: list[Any] = [shared.recall, shared.explain, shared.timeline, shared.recall_facts, shared.remember]
    for call in calls:
        with pytest.raises(TypeError, match="must be text, not None"):
            call(None)


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


# -- storing many


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
    with pytest.raises(InvalidInput, match="memory 6 of 6: content is blank") as caught:
        client.remember_many(memories, batch_size=2)
    assert len(caught.value.stored) == 4
    assert client.admin.status().memories == 4


def test_a_batch_refused_by_the_server_is_stored_not_at_all(client: Client) -> None:
    client.remember("Lea lives in Bern.", external_id="lea")
    with pytest.raises(Conflict) as caught:
        client.remember_many([{"content": "a"}, {"content": "b", "external_id": "lea"}])
    assert caught.value.stored == ()
    assert client.admin.status().memories == 1


def test_remember_many_refuses_what_is_no_memory(client: Client) -> None:
    with pytest.raises(InvalidInput, match="unknown field 'contnet'"):
        client.remember_many([{"content": "x", "contnet": "x"}])
    with pytest.raises(InvalidInput, match="memory 2 of 2: content is missing"):
        client.remember_many([{"content": "x"}, {"title": "x"}])
    with pytest.raises(InvalidInput, match="not str"):
        client.remember_many(["x"])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="batch_size"):
        client.remember_many([{"content": "x"}], batch_size=0)
    with pytest.raises(TooLarge, match=r"^memory: content has"):
        client.remember_many([{"content": "x" * 300_000}])


def test_batches_end_by_size_too(client: Client) -> None:
    ids = client.remember_many({"content": f"{number} " + "x" * 200_000} for number in range(50))
    assert len(ids) == 50


# -- changing


def test_revise(client: Client) -> None:
    number = client.remember("Lea lives in Bern.", title="Lea", tags=["lea"])
    assert client.update(number, content="Lea lives in Basel.", importance=1.0) is True
    assert client.update(number, importance=1.0) is False
    (found,) = client.recall("Basel", embed=False)
    assert (found.id, found.title, found.tags, found.importance) == (number, "Lea", ("lea",), 1.0)
    assert client.update(number, title="", tags=[]) is True
    (found,) = client.recall("Basel", embed=False)
    assert (found.title, found.tags) == (None, ())
    with pytest.raises(NotFound) as caught:
        client.update(number + 1_000, content="x")
    assert caught.value.sqlstate == "P0002"
    assert caught.value.hint
    with pytest.raises(InvalidInput, match="id"):
        client.update(2**70, content="x")


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


@pytest.mark.parametrize("name", ["forget", "restore", "supersede", "update", "erase", "history"])
def test_no_id_is_told_from_an_older_database(client: Client, name: str) -> None:
    """None is what `RecallResult` of nothing may leave; a call without its id would name a function that is not there."""
    content = {"content": "tea"} if name in {"supersede", "update"} else {}
    with pytest.raises(InvalidInput, match="id must be a whole number, not NoneType"):
        getattr(client, name)(None, **content)
