"""The second stage: order, places, time limit, and what never reaches a reranker.

What order is good is not tested: only that the reranker's is taken, or the fused one.
"""

from __future__ import annotations

import asyncio
import math
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import AsyncClient, Client, InvalidInput, PgrecallError, RecallResult
from pgrecall.query.reranking import MAX_CHARACTERS
from support.reranking import (
    CANARY,
    KEY,
    NOT_COUNTED,
    Answers,
    Lengths,
    growing,
    ids,
    recalled,
    remember_tea,
    result_of,
    stage_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


# -- order


def test_the_rerankers_order_is_taken() -> None:
    given = result_of(*growing(4))
    reranked = stage_of(Lengths()).apply(given, 3)
    assert ids(reranked) == [4, 3, 2]
    assert [memory.rerank_score for memory in reranked] == [16.0, 12.0, 8.0]
    assert [memory.score for memory in reranked] == [1 / 4, 1 / 3, 1 / 2]
    assert reranked.notice is None
    assert reranked.query == given.query
    assert reranked.legs == given.legs
    assert reranked[0].as_dict()["rerank_score"] == 16.0
    assert given[0].as_dict()["rerank_score"] is None


def test_what_is_below_the_top_stays_below() -> None:
    reranker = Lengths()
    reranked = stage_of(reranker, top=2).apply(result_of(*growing(4)), 4)
    assert ids(reranked) == [2, 1, 3, 4]
    assert [memory.rerank_score for memory in reranked] == [8.0, 4.0, None, None]
    assert [len(texts) for _, texts in reranker.asked] == [2]


def test_equal_scores_stay_in_the_fused_order() -> None:
    reranked = stage_of(Answers([1.0, 2.0, 1.0, 2.0])).apply(result_of(*growing(4)), 4)
    assert ids(reranked) == [2, 4, 1, 3]


def test_sensitive_memories_keep_their_places_and_are_not_given() -> None:
    memories = growing(5)
    for place in (0, 2):
        memories[place] = replace(memories[place], content=f"{CANARY} {place} " * 50, is_sensitive=True)
    reranker = Lengths()
    reranked = stage_of(reranker).apply(result_of(*memories), 5)
    assert ids(reranked) == [1, 5, 3, 4, 2]
    assert [memory.rerank_score is None for memory in reranked] == [True, False, True, False, False]
    assert CANARY not in str(reranker.asked)


def test_nothing_to_rerank() -> None:
    reranker = Lengths()
    assert ids(stage_of(reranker).apply(result_of(), 5)) == []
    only = recalled(1, CANARY, is_sensitive=True)
    assert stage_of(reranker).apply(result_of(only), 5).memories == (only,)
    assert reranker.asked == []


def test_the_texts_a_reranker_is_given() -> None:
    reranker = Lengths()
    long = recalled(3, "x" * (MAX_CHARACTERS + 10))
    stage_of(reranker).apply(result_of(recalled(1, "green"), recalled(2, "black", title="Tea"), long), 3)
    assert reranker.asked == [("what tea do I like", ["green", "Tea\nblack", "x" * MAX_CHARACTERS])]


def test_scores_of_any_kind_of_number() -> None:
    numpy = pytest.importorskip("numpy")
    for scores in ([1, 2], (1.5, -2), numpy.array([0.5, 1.0], dtype="float32")):
        reranked = stage_of(Answers(scores)).apply(result_of(*growing(2)), 2)
        assert reranked.notice is None
        assert all(type(memory.rerank_score) is float for memory in reranked)


# -- a reranker that fails, or takes too long


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([1.0], "1 scores for 3 memories"),
        ([], "0 scores"),
        ([1.0, 2.0, 3.0, 4.0], "4 scores"),
        ([1.0, math.nan, 2.0], "not finite"),
        ([1.0, -math.inf, 2.0], "not finite"),
        ([1.0, "2", 3.0], "not a number"),
        ([1.0, True, 3.0], "not a number"),
        ([1.0, None, 3.0], "TypeError"),
        (None, "TypeError"),
        (ValueError(f"{CANARY} {KEY}"), "ValueError"),
        (PgrecallError("my own reason"), "my own reason"),
    ],
)
def test_on_failure_the_fused_order_is_returned(answer: Any, said: str) -> None:
    reranked = stage_of(Answers(answer)).apply(result_of(*growing(3), notice="no model"), 2)
    assert ids(reranked) == [1, 2]
    assert [memory.rerank_score for memory in reranked] == [None, None]
    assert reranked.notice is not None
    assert reranked.notice.startswith("no model; ")
    assert reranked.notice.endswith(NOT_COUNTED)
    assert said in reranked.notice
    assert CANARY not in reranked.notice
    assert KEY not in reranked.notice


def test_a_reranker_that_never_answers_is_left_to_itself() -> None:
    released = threading.Event()
    reranked = stage_of(Answers(lambda _: released.wait(60)), timeout=0.05).apply(result_of(*growing(3)), 3)
    released.set()
    assert ids(reranked) == [1, 2, 3]
    assert reranked.notice == f"the reranker took longer than 0.05 s: {NOT_COUNTED}"


@pytest.mark.parametrize(
    "options",
    [
        {"rerank": "a-model"},
        {"rerank": Lengths(), "rerank_top": 0},
        {"rerank": Lengths(), "rerank_top": 1001},
        {"rerank": Lengths(), "rerank_top": 2.5},
        {"rerank": Lengths(), "rerank_timeout": 0},
        {"rerank": Lengths(), "rerank_timeout": -1.0},
        {"rerank": Lengths(), "rerank_timeout": math.nan},
        {"rerank": Lengths(), "rerank_timeout": math.inf},
        {"rerank": Lengths(), "rerank_timeout": "2"},
        {"rerank": Lengths(), "k": 0},
        {"rerank": Lengths(), "k": 100_000},
        {"rerank": Lengths(), "k": "3"},
    ],
)
def test_bad_arguments(shared: Client, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        shared.recall("tea", embed=False, **options)
    assert caught.value.sqlstate == "22023"
    assert caught.value.hint


# -- the client


def test_recall_asks_for_enough_and_returns_k(client: Client) -> None:
    remember_tea(client, 12)
    reranker = Lengths()
    fused = client.recall("tea", k=12, embed=False)
    found = client.recall("tea", k=3, embed=False, rerank=reranker)
    assert [memory.content.count("green") for memory in found] == [11, 10, 9]
    assert len(reranker.asked[0][1]) == 12
    few = client.recall("tea", k=5, embed=False, rerank=reranker, rerank_top=2)
    assert set(ids(few)[:2]) == set(ids(fused)[:2])
    assert ids(few)[2:] == ids(fused)[2:5]
    failed = client.recall("tea", k=3, embed=False, rerank=Answers(ValueError()))
    assert failed.memories == fused[:3]
    assert NOT_COUNTED in str(failed.notice)


def test_the_asynchronous_client_reranks_too(client: Client, dsn: str) -> None:
    remember_tea(client, 5)

    async def work() -> tuple[RecallResult, RecallResult]:
        async with AsyncClient(dsn) as memory:
            found = await memory.recall("tea", k=2, embed=False, rerank=Lengths())
            late = await memory.recall(
                "tea", k=2, embed=False, rerank=Answers(lambda _: released.wait(60)), rerank_timeout=0.05
            )
            return found, late

    released = threading.Event()
    found, late = asyncio.run(work())
    released.set()
    assert [memory.content.count("green") for memory in found] == [4, 3]
    assert len(late) == 2
    assert NOT_COUNTED in str(late.notice)


def test_no_connection_is_held_meanwhile(dsn: str) -> None:
    with Client(dsn, pool_max=1, pool_timeout=5) as client:
        remember_tea(client, 3)

        def counted(texts: Sequence[str]) -> list[float]:
            # The pool's only connection is free, or this fails and so does the order.
            return [float(client.admin.status().memories)] * len(texts)

        found = client.recall("tea", embed=False, rerank=Answers(counted), rerank_timeout=30)
        assert found.notice is None
        assert [memory.rerank_score for memory in found] == [3.0] * 3
