"""What a query asks for is decided from its arguments alone: no database, no model."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from pgrecall import AsyncClient, EmbeddingModel, EmbeddingUnavailable, InvalidInput, InvalidVector
from pgrecall.argument_types import ARGUMENT_TYPES
from pgrecall.arguments import as_vector, checked_arguments
from pgrecall.filters import Filter, ListFilters
from pgrecall.models import NewMemory
from pgrecall.options import MemoryFields, RecallOptions
from pgrecall.query.embedding import EmbedderAnswer, QueryVector, VectorRequest
from pgrecall.query.preparing import AskEmbedder, AskModel, EmbedHere, Step, prepare, query_vector
from pgrecall.query.unreadable import UnreadableText

MODEL = EmbeddingModel(name="some/model", dimension=3, provider="sentence-transformers", query_prompt="")
UNAVAILABLE = EmbeddingUnavailable("no model here")
ANSWERED = EmbedderAnswer(QueryVector("[1,2,3]", "some/model", "daemon"))
LATE = EmbedderAnswer(reason="the embedder did not answer")


def _decide(query: str, request: VectorRequest, *answers: Any) -> tuple[list[Step], QueryVector]:
    """Return what is asked for, and the decision after these answers."""
    steps, asked = query_vector(query, request), []
    given: Any = None
    for answer in (*answers, None):
        try:
            asked.append(steps.send(given))
        except StopIteration as end:
            return asked, end.value
        given = answer
    raise AssertionError(f"{asked[-1]} is not answered")


def test_a_vector_an_empty_query_and_no_embedding_ask_for_nothing() -> None:
    assert _decide("tea", VectorRequest.of([1.0, 2.0])) == (
        [],
        QueryVector(as_vector([1, 2]), source="given"),
    )
    assert _decide("tea", VectorRequest.of([1], "daemon", True)) == (
        [],
        QueryVector(as_vector([1]), source="given"),
    )
    for query, embed in (("tea", False), ("", None), (" \n", True), ("", "daemon")):
        assert _decide(query, VectorRequest.of(embed=embed)) == ([], QueryVector())  # type: ignore[arg-type]


def test_a_private_query_never_asks_an_embedder() -> None:
    asked, decided = _decide("tea", VectorRequest.of(embed="daemon", private=True))
    assert asked == []
    assert "private" in str(decided.notice)
    asked, decided = _decide("tea", VectorRequest.of(private=True), MODEL, [1.0, 2.0, 3.0])
    assert asked == [AskModel(), EmbedHere(MODEL, download=False)]
    assert decided == QueryVector(as_vector([1, 2, 3]), "some/model", "local")


def test_only_an_embedder_is_asked_for_daemon() -> None:
    assert _decide("tea", VectorRequest.of(embed="daemon"), ANSWERED) == ([AskEmbedder()], ANSWERED.vector)
    asked, decided = _decide("tea", VectorRequest.of(embed="daemon"), LATE)
    assert (asked, decided.vector) == ([AskEmbedder()], None)
    assert LATE.reason in str(decided.notice)


def test_an_embedder_is_asked_before_this_process_loads_the_model() -> None:
    assert _decide("tea", VectorRequest(), MODEL, ANSWERED) == ([AskModel(), AskEmbedder()], ANSWERED.vector)
    asked, decided = _decide("tea", VectorRequest(), MODEL, LATE, UNAVAILABLE)
    assert asked == [AskModel(), AskEmbedder(), EmbedHere(MODEL, download=False)]
    assert decided.vector is None
    assert (
        decided.notice
        == "no model here, and the embedder did not answer: recalled by words and concepts only"
    )


def test_a_language_that_the_model_does_not_know_loads_no_model() -> None:
    unread = EmbedderAnswer(reason=str(UnreadableText()))
    asked, decided = _decide("妹は何歳ですか？", VectorRequest(), MODEL, unread)
    assert asked == [AskModel(), AskEmbedder()]
    assert decided.vector is None
    assert (
        decided.notice
        == "the model does not know the language of the text: recalled by words and concepts only"
    )


def test_without_a_model_no_embedder_is_asked() -> None:
    asked, decided = _decide("tea", VectorRequest(), None, UNAVAILABLE)
    assert asked == [AskModel(), EmbedHere(None, download=False)]
    assert decided.notice == "no model here: recalled by words and concepts only"


def test_true_downloads_the_model_or_fails() -> None:
    asked, _ = _decide("tea", VectorRequest.of(embed=True), MODEL, [1.0])
    assert asked == [AskModel(), EmbedHere(MODEL, download=True)]
    with pytest.raises(EmbeddingUnavailable, match="no model here"):
        _decide("tea", VectorRequest.of(embed=True), MODEL, UNAVAILABLE)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"embed": "yes"}, InvalidInput),
        ({"embed": 1}, InvalidInput),
        ({"private": "no"}, InvalidInput),
        ({"embed_timeout": 0}, InvalidInput),
        ({"embed_timeout": 61}, InvalidInput),
        ({"vector": []}, InvalidVector),
        ({"vector": [float("nan")]}, InvalidVector),
        ({"vector": "[1,2]"}, InvalidVector),
        ({"vector": b"12"}, InvalidVector),
        ({"vector": [[1.0]]}, InvalidVector),
        ({"vector": [65520.0]}, InvalidVector),
        ({"vector": [1.0] * 16_001}, InvalidVector),
    ],
)
def test_a_bad_request_for_a_vector_is_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        VectorRequest.of(**arguments)


def test_a_call_carries_what_was_found_out_meanwhile() -> None:
    query = prepare(
        "public.recall",
        "tea",
        {"query": "tea", "k": 3, "title": None},
        VectorRequest(),
        settings={"rrf_k": 10},
    )
    found = QueryVector("[1]", "some/model", "local")
    assert query.call(
        namespace="home", filter={"filter": {"tags_any": ["a"]}}, expand="aliases", vector=found
    ) == (
        {
            "query": "tea",
            "k": 3,
            "namespace": "home",
            "filter": {"tags_any": ["a"]},
            "query_vec": "[1]",
            "settings": {"rrf_k": "10", "expand": "aliases", "query_model": "some/model"},
        },
        {},
    )
    assert query.call(namespace=None, filter={}, expand=None, vector=QueryVector()) == (
        {"query": "tea", "k": 3, "settings": {"rrf_k": "10"}},
        {},
    )


def test_a_function_without_settings_gets_the_model_as_a_setting_of_its_transaction() -> None:
    query = prepare("public.recall_timeline", "tea", {"topic": "tea"}, VectorRequest())
    assert query.call(namespace=None, filter={}, expand=None, vector=QueryVector("[1]", "m")) == (
        {"topic": "tea", "query_vec": "[1]"},
        {"pgrecall.query_model": "m"},
    )


def test_the_filter_is_kept_and_checked_at_once() -> None:
    asked = Filter(tags_any=["tea"], timeframe="last week")
    query = prepare("public.recall", "tea", {}, VectorRequest(), filter=asked)
    assert (query.filter, "filter" in query.arguments) == (asked, False)
    assert prepare("public.recall", "tea", {}, VectorRequest()).filter == Filter()
    with pytest.raises(InvalidInput):
        prepare("public.recall", "tea", {}, VectorRequest(), filter=Filter(tags_any="tea"))


def test_every_argument_of_the_options_has_a_type() -> None:
    """A field that no function takes could not be checked by its type."""
    names = {
        name for options in (MemoryFields, RecallOptions, ListFilters) for name in options.__annotations__
    }
    names |= set(inspect.signature(NewMemory).parameters)
    # POSITION is a keyword of PostgreSQL; min_trust is a condition of the argument filter alone.
    assert (names - {"position", "min_trust"}) | {"session_position"} <= ARGUMENT_TYPES.keys()


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": 3},
        {"tags": "tea"},
        {"k": True},
        {"id": "7"},
        {"ids": [1.5]},
        {"is_sensitive": 1},
        {"metadata": []},
        {"occurred_at": 20260501},
        {"occurred_at": "infinity"},
        {"min_score": float("inf")},
        {"importance": 2},
        {"position": 2**31},
    ],
)
def test_a_value_that_its_sql_type_cannot_hold_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        checked_arguments(**wrong)


def test_the_end_of_a_validity_may_be_infinity() -> None:
    assert checked_arguments(valid_to="infinity", expires_at="infinity", title=None) == {
        "valid_to": "infinity",
        "expires_at": "infinity",
    }


def test_the_methods_that_take_a_vector_take_the_same_arguments() -> None:
    spelled = {"vector", "embed", "private", "embed_timeout"}
    for name in ("recall", "timeline", "recall_facts", "briefing", "explain"):
        assert spelled <= inspect.signature(getattr(AsyncClient, name)).parameters.keys(), name
