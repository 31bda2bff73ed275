"""The daemon's sparse terms: what is claimed, stored and given back, and when a model is loaded."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any, cast

import psycopg
import pytest

from pgrecall.errors import EmbeddingUnavailable
from pgrecall_embedder.jobs.reading import Claimed
from pgrecall_embedder.jobs.setup import Setup
from pgrecall_embedder.jobs.sparse import SparseJob, SparseQueue, sparse_model
from pgrecall_embedder.jobs.sparse import job as sparse_job
from pgrecall_embedder.logger import make_logger
from support.embedder import CANARY
from support.sparse import document
from support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pgrecall_embedder.connection import Connection
    from pgrecall_extract.base import Document


def setup(model: str | None = "m", fingerprint: str = "f") -> Setup:
    return Setup(fingerprint, {} if model is None else {"extract_sparse": model}, ())


class Queue:
    """A queue of texts, in the place of the database's."""

    def __init__(self, *texts: str) -> None:
        self.waiting = [
            Claimed(document(text, number=number), 100 + number) for number, text in enumerate(texts)
        ]
        self.leased: list[Claimed] = []
        self.stored: dict[int, tuple[str, Mapping[str, float]]] = {}
        self.failed: dict[int, str] = {}
        self.stale: set[int] = set()
        self.postponed: set[int] = set()
        self.poison: int | None = None
        self.claims = self.releases = 0
        self.connections = 1

    async def claim(self, limit: int) -> list[Claimed]:
        self.claims += 1
        claimed, self.waiting = self.waiting[:limit], self.waiting[limit:]
        self.leased += claimed
        return claimed

    async def complete_sparse(self, version: str, read: Sequence[tuple[Claimed, Mapping[str, float]]]) -> int:
        numbers = [one.document.memory_id for one, _ in read]
        if self.poison in numbers:
            raise psycopg.DataError
        landed = [number for number in numbers if number not in self.stale and number not in self.stored]
        for one, terms in read:
            if one.document.memory_id in landed:
                self.stored[one.document.memory_id] = version, terms
                self.leased.remove(one)
        return len(landed)

    async def fail(self, claimed: Claimed, error: str) -> None:
        self.failed[claimed.document.memory_id] = error
        self.leased.remove(claimed)

    async def settle(self, tickets: Iterable[int], *, is_complete: bool) -> None:
        if not is_complete:
            self.postponed |= set(tickets) & {one.ticket for one in self.leased}

    async def release(self) -> int:
        self.releases += 1
        self.waiting, self.leased = [*self.leased, *self.waiting], []
        return len(self.waiting)


class Model:
    """Finds the words of a text; breaks on one that is poisoned, and can be held."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.batches: list[int] = []
        self.entered, self.free = threading.Event(), threading.Event()
        self.free.set()

    def read(self, documents: Sequence[Document]) -> list[dict[str, float]]:
        self.batches.append(len(documents))
        self.entered.set()
        assert self.free.wait(PATIENCE)
        if any(CANARY in one.content for one in documents):
            raise ValueError(f"cannot read {[one.content for one in documents]}")
        return [dict.fromkeys(one.content.split(), 1.0) for one in documents]


def make(queue: Queue, model: str | None = "m", **options: Any) -> SparseJob:
    given = {"drain": True, "is_last": lambda: True, "poll_seconds": 0.01, "load": Model} | options
    return SparseJob(
        cast("SparseQueue", queue), setup(model), log=make_logger(as_json=True), **cast("Any", given)
    )


def run(job: SparseJob, meanwhile: Callable[[], Any] | None = None) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            running = asyncio.create_task(job.run())
            if meanwhile is not None:
                await asyncio.to_thread(meanwhile)
                job.stop()
            await running

    asyncio.run(bounded())


def events(capsys: pytest.CaptureFixture[str], event: str) -> list[dict[str, Any]]:
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    return [line for line in logged if line["event"] == event]


def test_what_waits_is_read_and_stored_once() -> None:
    queue = Queue(*(f"text {number}" for number in range(70)))
    job = make(queue)
    run(job)
    assert queue.stored[69] == ("m", {"text": 1.0, "69": 1.0})
    assert (job.counts.read, job.counts.stale, job.counts.failed) == (70, 0, 0)
    assert (len(queue.stored), queue.leased, queue.failed) == (70, [], {})


@pytest.mark.parametrize("model", ["", None])
def test_nothing_is_done_without_a_model(model: str | None) -> None:
    """None: the database is of a version before the setting."""

    def load(name: str) -> Model:
        raise AssertionError(name)

    queue = Queue("tea")
    run(make(queue, model, load=load))
    run(make(queue, model, load=load, drain=False), lambda: threading.Event().wait(0.05))
    assert queue.claims == 0
    assert sparse_model(setup(model)) == ""


def test_a_model_is_loaded_for_the_first_memory() -> None:
    loaded: list[str] = []

    def load(name: str) -> Model:
        loaded.append(threading.current_thread().name)
        return Model(name)

    run(make(Queue(), load=load))
    assert loaded == []
    run(make(Queue(*"abcdefghi" * 8), load=load))
    assert len(loaded) == 1
    assert loaded[0].startswith("sparse")


def test_a_drain_waits_for_the_last_memory() -> None:
    queue = Queue()
    is_done = threading.Event()
    job = make(queue, is_last=is_done.is_set)

    def later() -> None:
        until(lambda: queue.claims > 2)
        queue.waiting.append(Claimed(document("late", number=7), 1))
        is_done.set()
        until(lambda: 7 in queue.stored)

    run(job, later)
    assert job.counts.read == 1


def test_a_text_that_breaks_the_model_fails_alone(capsys: pytest.CaptureFixture[str]) -> None:
    queue = Queue("tea", CANARY, "milk")
    job = make(queue)
    run(job)
    assert queue.stored.keys() == {0, 2}
    assert queue.failed.keys() == {1}
    assert (job.counts.read, job.counts.failed) == (2, 1)
    [told] = events(capsys, "memory cannot be read by the sparse model")
    assert told["memory_id"] == 1
    assert CANARY not in json.dumps(told) + queue.failed[1]


def test_terms_that_the_database_refuses_fail_alone() -> None:
    queue = Queue("tea", "coffee", "milk")
    queue.poison = 1
    job = make(queue)
    run(job)
    assert queue.stored.keys() == {0, 2}
    assert queue.failed.keys() == {1}
    assert (job.counts.read, job.counts.stale, job.counts.failed) == (2, 0, 1)


def test_an_edited_memory_counts_as_stale() -> None:
    queue = Queue("tea", "milk")
    queue.stale = {0}
    job = make(queue)
    run(job)
    assert queue.stored.keys() == {1}
    assert (job.counts.read, job.counts.stale, job.counts.failed) == (1, 1, 0)
    assert queue.postponed == {100}


def test_without_a_model_to_load_a_drain_ends_and_gives_back_its_leases(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def load(name: str) -> Model:
        raise EmbeddingUnavailable(f"no {name}", hint="Install it.")

    queue = Queue("tea")
    run(make(queue, load=load, is_last=lambda: False))
    assert (len(queue.waiting), queue.leased, queue.failed) == (1, [], {})
    [told] = events(capsys, "sparse model cannot be loaded, retrying")
    assert (told["level"], told["model"], told["error"], told["hint"]) == (
        "warning", "m", "no m", "Install it.",
    )  # fmt: skip


def test_a_model_is_tried_again_and_told_of_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse_job, "_PAUSE_SECONDS", 0.02)
    tries: list[str] = []

    def load(name: str) -> Model:
        tries.append(name)
        if len(tries) < 4:
            raise KeyError(CANARY)
        return Model(name)

    queue = Queue("tea")
    job = make(queue, load=load, drain=False)
    run(job, lambda: until(lambda: bool(queue.stored)))
    assert len(tries) == 4
    assert queue.releases == 3
    [told] = events(capsys, "sparse model cannot be loaded, retrying")
    assert told["error"].startswith("KeyError at ")
    assert CANARY not in json.dumps(told)


def test_a_paused_model_costs_no_claim() -> None:
    def load(_name: str) -> Model:
        raise EmbeddingUnavailable("none")

    queue = Queue("tea")
    run(make(queue, load=load, drain=False), lambda: threading.Event().wait(0.2))
    assert queue.claims == 1


def test_a_change_of_the_setting_takes_the_other_model() -> None:
    queue = Queue("tea")
    job = make(queue, drain=False, poll_seconds=60.0)

    async def scenario() -> None:
        async with asyncio.timeout(PATIENCE):
            running = asyncio.create_task(job.run())
            await asyncio.to_thread(until, lambda: 0 in queue.stored)
            for number, model in enumerate(("other", "", "m"), start=1):
                queue.waiting.append(Claimed(document("milk", number=number), 1))
                job.change(setup(model, model))
                if model:
                    await asyncio.to_thread(until, lambda: number in queue.stored)  # noqa: B023
                else:
                    claims = queue.claims
                    job.wake()
                    await asyncio.sleep(0.05)
                    assert queue.claims == claims
            job.stop()
            await running

    asyncio.run(scenario())
    assert [queue.stored[number][0] for number in range(4)] == ["m", "other", "m", "m"]


def test_what_is_being_read_when_the_setting_changes_has_the_version_that_read_it() -> None:
    queue = Queue("tea")
    model = Model("m")
    model.free.clear()
    job = make(queue, load=lambda _name: model)

    async def scenario() -> None:
        async with asyncio.timeout(PATIENCE):
            running = asyncio.create_task(job.run())
            await asyncio.to_thread(model.entered.wait, PATIENCE)
            job.change(setup("", "off"))
            model.free.set()
            await running

    asyncio.run(scenario())
    assert queue.stored[0][0] == "m"


def test_it_stops_while_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_job, "_STOP_SECONDS", 0.05)
    queue = Queue("tea")
    model = Model("m")
    model.free.clear()
    job = make(queue, load=lambda _name: model, drain=False)
    try:
        run(job, lambda: model.entered.wait(PATIENCE))
    finally:
        model.free.set()
    # The daemon gives back what it holds.
    assert (queue.stored, len(queue.leased)) == ({}, 1)


def test_a_lost_claim_is_given_back() -> None:
    queue = Queue("tea")
    job = make(queue, drain=False)

    def lose() -> None:
        until(lambda: 0 in queue.stored)
        queue.connections += 1
        until(lambda: queue.releases == 1)

    run(job, lose)


class Calls:
    """A connection that notes what is called, and says that one memory was stored."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[Any]]] = []

    async def fetch(self, query: str, arguments: list[Any]) -> list[tuple[int]]:
        self.calls.append((query, arguments))
        return [(1,)]


def test_the_queue_calls_the_function_of_the_database() -> None:
    calls = Calls()
    connection = cast("Connection", calls)
    queue = SparseQueue(connection, connection, 300.0)
    read = [(Claimed(document("x", number=3), 7), {"tea": 1.0}), (Claimed(document("y", number=4), 8), {})]
    assert asyncio.run(queue.complete_sparse("m", read)) == 1
    [(query, [version, items])] = calls.calls
    assert "pgrecall.complete_sparse(" in query
    assert version == "m"
    assert json.loads(items) == [
        {"memory_id": 3, "ticket": 7, "terms": {"tea": 1.0}},
        {"memory_id": 4, "ticket": 8, "terms": {}},
    ]
