"""Curation in the background: by rules, by a language model, after a crash, by two daemons, and not at all."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.curation import LIVES, MOVED, count, embed_as
from support.embedder import Recorder, make_daemon, running
from support.embedding_queue import jobs
from support.extractor import make_reader, read_all, start_reading, store, without_spacy
from support.llm import CANARY, KEY, completion, failure, served
from support.memories import call, scalar, stored
from support.waiting import PATIENCE, eventually, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.llm import Asked, Reply, Server

PAIRS = 40
DAEMONS = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND application_name = 'pgrecall-embedder'"
)


def switch(conn: psycopg.Connection[Any], decider: str) -> None:
    without_spacy(conn)
    conn.execute("SELECT pgrecall.set_setting('curate', %s)", [decider])


def embedded(conn: psycopg.Connection[Any], *contents: str) -> list[int]:
    """Memories with embeddings that are near each other."""
    ids = store(conn, contents)
    for place, memory in enumerate(ids):
        embed_as(conn, memory, 1.0, place / 1000)
    return ids


def decisions(conn: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    return conn.execute(
        "SELECT memory_id, decision, other_id, decider FROM pgrecall.curations ORDER BY memory_id"
    ).fetchall()


# --- By rules ---


def test_new_memories_are_curated_once_they_are_embedded(dsn: str, conn: psycopg.Connection[Any]) -> None:
    switch(conn, "rules")
    old, new = store(conn, [LIVES, MOVED])
    read_all(dsn)
    assert (count(conn, "curations"), len(jobs(conn, "curation"))) == (0, 2)
    for memory in (old, new):
        embed_as(conn, memory, 1.0)
    assert read_all(dsn)["curated"] == 2
    assert decisions(conn) == [(old, "ADD", None, "rules.1"), (new, "SUPERSEDE", old, "rules.1")]
    assert stored(conn, old)["superseded_by"] == new
    assert len(jobs(conn, "curation")) == 0
    # What is read again is not curated again.
    conn.execute("SELECT pgrecall.reextract()")
    assert "curated" not in read_all(dsn)


def test_one_daemon_embeds_reads_and_curates(dsn: str, conn: psycopg.Connection[Any]) -> None:
    """What it is curated for comes last: the drain waits for that, though nothing tells it that it is there."""
    switch(conn, "rules")
    old, new = store(conn, [LIVES, MOVED])
    daemon = make_daemon(dsn, Recorder(), only=None, drain=True)
    asyncio.run(daemon.run())
    assert daemon.sums()["curated"] == 2
    assert stored(conn, old)["superseded_by"] == new
    assert scalar(conn, "SELECT evidence ? 'cosine' FROM pgrecall.curations WHERE memory_id = %s", new)


def test_switched_on_while_a_daemon_runs(dsn: str, conn: psycopg.Connection[Any]) -> None:
    async def run() -> None:
        async with running(make_daemon(dsn, Recorder(), only=None, poll_seconds=0.2, heartbeat_seconds=0.2)):
            await eventually(lambda: scalar(conn, "SELECT count(*) FROM pgrecall.workers") == 1)
            switch(conn, "rules")
            store(conn, [LIVES, MOVED])
            await eventually(lambda: count(conn, "curations") == 2)

    asyncio.run(run())
    assert len(jobs(conn, "curation")) == 0


def test_switched_off_it_leaves_no_trace(dsn: str, conn: psycopg.Connection[Any]) -> None:
    embedded(conn, LIVES, MOVED)
    without_spacy(conn)
    assert "curated" not in read_all(dsn)
    assert (count(conn, "curations"), len(jobs(conn, "curation"))) == (0, 0)
    # What was there before it was switched on is left to `pgrecall curate`.
    switch(conn, "rules")
    conn.execute("SELECT pgrecall.reextract()")
    read_all(dsn)
    assert (count(conn, "curations"), len(jobs(conn, "curation"))) == (0, 0)


def test_a_writer_does_nothing_for_it(conn: psycopg.Connection[Any]) -> None:
    """No trigger of curation but one, whose condition is looked at where a memory may have become sensitive."""
    query = """
        SELECT t.tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
        WHERE t.tgrelid = 'pgrecall.memories'::regclass AND p.prosrc ~ 'curation'
    """
    [(name, definition)] = conn.execute(query).fetchall()
    assert name == "memories_80_curation"
    assert "WHEN ((new.is_sensitive AND (NOT old.is_sensitive)))" in definition


def test_what_waits_stays_while_it_is_switched_off(dsn: str, conn: psycopg.Connection[Any]) -> None:
    switch(conn, "rules")
    _, new = embedded(conn, LIVES, MOVED)
    conn.execute("SELECT pgrecall.set_setting('curate', NULL)")
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'curation', namespace_id FROM pgrecall.memories WHERE id = %s",
        [new],
    )
    [(memory, ticket)] = conn.execute("SELECT * FROM pgrecall.claim_curations(gen_random_uuid())").fetchall()
    assert call(conn, "pgrecall.curate_claimed", memory, ticket) is None
    assert (count(conn, "curations"), len(jobs(conn, "curation"))) == (0, 1)


def test_a_ticket_counts_once(conn: psycopg.Connection[Any]) -> None:
    switch(conn, "rules")
    _, new = embedded(conn, LIVES, MOVED)
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'curation', namespace_id FROM pgrecall.memories WHERE id = %s",
        [new],
    )
    claim = "SELECT ticket FROM pgrecall.claim_curations(gen_random_uuid())"
    [(first,)] = conn.execute(claim).fetchall()
    assert conn.execute(claim).fetchall() == []
    conn.execute("UPDATE pgrecall.jobs SET lease_expires_at = now() WHERE kind = 'curation'")
    [(second,)] = conn.execute(claim).fetchall()
    assert call(conn, "pgrecall.curate_claimed", new, first) is None
    assert call(conn, "pgrecall.curate_claimed", new, second) is not None
    assert (count(conn, "curations"), len(jobs(conn, "curation"))) == (1, 0)


def test_what_kills_its_worker_is_left_alone_in_the_end(conn: psycopg.Connection[Any]) -> None:
    switch(conn, "rules")
    [memory] = embedded(conn, LIVES)
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'curation', namespace_id FROM pgrecall.memories WHERE id = %s",
        [memory],
    )
    claim = "SELECT * FROM pgrecall.claim_curations(gen_random_uuid(), lease => '0 seconds')"
    assert [len(conn.execute(claim).fetchall()) for _ in range(6)] == [1, 1, 1, 1, 1, 0]


def test_without_a_model_words_decide(dsn: str, conn: psycopg.Connection[Any]) -> None:
    switch(conn, "rules")
    conn.execute("UPDATE pgrecall.generations SET model_id = NULL")
    old, new = store(conn, [LIVES, MOVED])
    assert read_all(dsn)["curated"] == 2
    assert stored(conn, old)["superseded_by"] == new


def test_what_is_gone_leaves_the_queue(dsn: str, conn: psycopg.Connection[Any]) -> None:
    switch(conn, "rules")
    forgotten, secret, over, other = store(conn, ["one", "two", "three", "four"])
    read_all(dsn)
    assert len(jobs(conn, "curation")) == 4
    call(conn, "forget", forgotten)
    call(conn, "update_memory", secret, is_sensitive=True)
    call(conn, "supersede", over, successor=other)
    assert len(jobs(conn, "curation")) == 2
    for memory in (over, other):
        embed_as(conn, memory, 1.0)
    read_all(dsn)
    assert len(jobs(conn, "curation")) == 0
    assert [row[0] for row in decisions(conn)] == [other]


def choirs(conn: psycopg.Connection[Any]) -> list[int]:
    """Pairs of memories, each of a choir of its own; the later of each pair says what the earlier one says."""
    texts = [f"The choir{number % PAIRS} of town{number % PAIRS} has singers." for number in range(2 * PAIRS)]
    ids = store(conn, texts)
    for place, memory in enumerate(ids):
        embed_as(conn, memory, 1.0, *[0.0] * (place % PAIRS), 1.0)
    return ids


def assert_curated(conn: psycopg.Connection[Any], ids: list[int]) -> None:
    """Each is decided about once, and the later of each pair stands behind the earlier."""
    made = decisions(conn)
    assert [row[0] for row in made] == ids
    assert [row[1] for row in made] == ["ADD"] * PAIRS + ["NOOP"] * PAIRS
    successors = [stored(conn, memory)["superseded_by"] for memory in ids]
    assert successors == [None] * PAIRS + ids[:PAIRS]
    assert len(jobs(conn, "curation")) == 0


@pytest.mark.slow
def test_killed_it_curates_nothing_twice_and_leaves_nothing(dsn: str, conn: psycopg.Connection[Any]) -> None:
    switch(conn, "rules")
    ids = choirs(conn)
    # Slower, so that the kill meets it at work.
    conn.execute(
        "CREATE FUNCTION pgrecall.slow() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(0.02); RETURN NEW; END $$"
    )
    conn.execute(
        "CREATE TRIGGER slow BEFORE INSERT ON pgrecall.curations FOR EACH ROW EXECUTE FUNCTION pgrecall.slow()"
    )
    process = start_reading(dsn)
    until(lambda: count(conn, "curations") > 0)
    process.kill()
    process.communicate(timeout=PATIENCE)
    until(lambda: scalar(conn, DAEMONS) == 0)
    assert 0 < count(conn, "curations") < 2 * PAIRS, "the kill did not come while it was curating"
    assert len(jobs(conn, "curation")) > 0
    conn.execute(
        "UPDATE pgrecall.jobs SET lease_expires_at = now() WHERE kind = 'curation' AND lease_expires_at IS NOT NULL"
    )
    conn.execute("DROP TRIGGER slow ON pgrecall.curations")
    read_all(dsn)
    assert_curated(conn, ids)


def test_two_daemons_share_the_work(dsn: str, conn: psycopg.Connection[Any]) -> None:
    switch(conn, "rules")
    ids = choirs(conn)

    async def both() -> list[dict[str, int]]:
        daemons = [make_reader(dsn, drain=True) for _ in range(2)]
        await asyncio.gather(*(daemon.run() for daemon in daemons))
        return [daemon.sums() for daemon in daemons]

    sums = asyncio.run(both())
    # One may end while the other still reads; whatever is left is the next one's.
    read_all(dsn)
    assert sum(one.get("curated", 0) for one in sums) <= 2 * PAIRS
    assert_curated(conn, ids)


def test_the_embedder_supersedes_in_no_other_way(conn: psycopg.Connection[Any]) -> None:
    switch(conn, "rules")
    old, new = embedded(conn, LIVES, MOVED)
    conn.execute("SET ROLE pgrecall_embedder")
    for statement in (
        f"UPDATE pgrecall.memories SET superseded_by = {new} WHERE id = {old}",
        f"SELECT pgrecall.curate({new})",
        f"SELECT pgrecall.apply_curation({new}, {old}, 'NOOP', 'x', '{{}}', '', '')",
        "SELECT * FROM pgrecall.curations",
        "SELECT public.undo_curation(1)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute(statement.encode())


# --- By a language model ---


@pytest.fixture
def llm(conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A language model that curates; it says NOOP of the first memory it is given."""
    monkeypatch.setenv("PGRECALL_LLM_API_KEY", KEY)
    switch(conn, "llm")
    with served() as server:
        server.script = lambda asked: answer(asked, "NOOP")
        monkeypatch.setenv("PGRECALL_LLM_URL", server.url)
        conn.execute("SELECT pgrecall.set_setting('llm_model', 'm')")
        yield server


def answer(asked: Asked, decision: object, given: object = None) -> Reply:
    return completion({"decision": decision, "id": asked.rows["older"][0]["id"] if given is None else given})


def test_a_model_decides_by_what_it_is_shown(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    old, new = embedded(conn, LIVES, "Ayesha's home is in Leicester.")
    assert read_all(dsn)["curated"] == 2
    assert decisions(conn) == [(old, "ADD", None, "m.p1"), (new, "NOOP", old, "m.p1")]
    # The first had nothing near it: nobody was asked.
    [asked] = llm.asked
    assert asked.rows["new"]["text"] == "Ayesha's home is in Leicester."
    assert [one["text"] for one in asked.rows["older"]] == [LIVES]
    assert asked.rows["older"][0]["id"] != str(old)
    evidence = scalar(conn, "SELECT evidence FROM pgrecall.curations WHERE memory_id = %s", new)
    assert evidence == {"candidates": 1, "cosine": 1.0}
    assert scalar(conn, "SELECT sum(requests) FROM pgrecall.llm_usage") == 1


def test_what_a_model_says_is_not_believed(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    """Ids that it was not given, decisions there are none of, and whatever else is no answer: nothing changes."""
    bad: list[Any] = [
        {"decision": "SUPERSEDE", "id": "1"},
        {"decision": "DELETE", "id": None},
        {"decision": ["NOOP"], "id": None},
        {"decision": "UPDATE"},
        ["NOOP"],
        "forget everything",
        {"decision": "NOOP", "id": {"a": 1}},
    ]
    ids = embedded(conn, *(f"Gate {number} is locked." for number in range(len(bad) + 1)))
    replies = iter(bad)
    llm.script = lambda _: completion(next(replies))
    assert read_all(dsn)["curated"] == len(ids)
    assert [row[1] for row in decisions(conn)] == ["ADD"] * len(ids)
    assert next(replies, None) is None
    assert scalar(
        conn, "SELECT count(*) FROM pgrecall.curations WHERE evidence ->> 'is_usable' = 'false'"
    ) == len(bad)


def test_a_sensitive_memory_is_never_sent(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    memories = [
        {"content": f"{CANARY} lives in Leicester.", "is_sensitive": True},
        {"content": "Ayesha lives in Leicester."},
    ]
    conn.execute("SELECT * FROM remember_many(%s)", [json.dumps(memories)])
    late, new = embedded(conn, f"{CANARY} has moved to Leeds.", "Ayesha has moved to Leeds.")
    conn.execute("SELECT update_memory(%s, is_sensitive => true)", [late])
    embed_as(conn, new - 2, 1.0)
    read_all(dsn)
    assert llm.asked
    assert CANARY not in "".join(asked.body.decode() for asked in llm.asked)
    assert late not in [row[0] for row in decisions(conn)]


def test_turns_of_a_conversation_are_left_alone(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    turns = [{"content": "Yes, at the gate.", "session": "s", "position": place} for place in range(2)]
    rows = conn.execute("SELECT * FROM remember_many(%s)", [json.dumps(turns)]).fetchall()
    for (memory,) in rows:
        embed_as(conn, memory, 1.0)
    assert read_all(dsn)["curated"] == 2
    assert {row[1] for row in decisions(conn)} == {"ADD"}
    assert llm.asked == []


def test_what_changed_while_it_was_asked_is_asked_again(
    dsn: str, conn: psycopg.Connection[Any], llm: Server
) -> None:
    old, new = embedded(conn, LIVES, "Ayesha's home is in Leicester.")

    def meanwhile(asked: Asked) -> Reply:
        if len(llm.asked) == 1:
            with psycopg.connect(dsn) as other:
                other.execute("SELECT update_memory(%s, content => 'Ayesha lives in Leeds.')", [old])
                # As the daemon that embeds would.
                other.execute(
                    "UPDATE pgrecall.memories SET embedding = (SELECT embedding FROM pgrecall.memories WHERE id = %s) "
                    "WHERE id = %s",
                    [new, old],
                )
        return answer(asked, "NOOP")

    llm.script = meanwhile
    read_all(dsn)
    assert [asked.rows["older"][0]["text"] for asked in llm.asked] == [LIVES, "Ayesha lives in Leeds."]
    assert decisions(conn)[-1][:3] == (new, "NOOP", old)


def test_while_the_model_is_away_memories_wait(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    embedded(conn, LIVES, MOVED)
    llm.first = [failure(401)]
    read_all(dsn)
    assert (count(conn, "curations"), len(jobs(conn, "curation"))) == (1, 1)
    assert scalar(conn, "SELECT attempts FROM pgrecall.jobs WHERE kind = 'curation'") == 0
    assert read_all(dsn)["curated"] == 1
    assert len(jobs(conn, "curation")) == 0
