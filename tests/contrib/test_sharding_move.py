"""Namespaces move between shards while they are used: nothing is lost, nothing is there twice."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import psycopg
import pytest
from typer.testing import CliRunner

from pgrecall import Client
from pgrecall.admin.migrate import migrate
from pgrecall.cli import app
from pgrecall.contrib.sharding import add, check, init, move, placements
from pgrecall.errors import (
    Conflict,
    ConnectionFailed,
    InvalidInput,
    NotFound,
    PgrecallError,
    SchemaMismatch,
    UnknownNamespace,
)
from support.sharding import RANGE, Cluster, asked, cluster_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.server_extras

VECTOR = str([1.0] + [0.0] * 383)
STEPS = ["prepare", "copy 1", "copy 2", "seal", "compare", "open", "switch", "wait", "delete", "forget"]
# Ends as kill -9 would, before the given step.
_KILLED = """
import os, sys
from pgrecall.contrib.sharding import move
move(sys.argv[1], sys.argv[2], int(sys.argv[3]), progress=lambda step: os._exit(9) if step == sys.argv[4] else None)
"""


@pytest.fixture(scope="module")
def cluster(public_dir: Path) -> Iterator[Cluster]:
    with cluster_in(public_dir / "move") as made:
        yield made


@pytest.fixture
def own_cluster(public_dir: Path) -> Iterator[Cluster]:
    """For a test that leaves the cluster with another number of shards."""
    with cluster_in(public_dir / "own") as made:
        yield made


def filled(cluster: Cluster, namespace: str) -> tuple[int, dict[int, str]]:
    """Fill a namespace with everything a namespace can have; return its shard and its memories."""
    with Client(cluster.router, namespace=namespace) as client:
        ids = client.remember_many(
            (
                {
                    "title": f"Trip {day}",
                    "content": f"Priya met Bob in Oslo on day {day}",
                    "external_id": f"trip-{day}",
                }
                for day in range(40)
            ),
            create_namespace=True,
        )
        client.supersede(ids[0], "Priya met Ann in Oslo")
        client.forget(ids[1])
    shard = ids[0] // RANGE
    cluster.on(shard, "UPDATE pgrecall.memories SET embedding = %s WHERE id = ANY (%s)", VECTOR, ids[2:20])
    cluster.on(
        shard,
        "SELECT pgrecall.judge(%s, 'Where did they meet?', query_vec => NULL, relevant => %s, namespace => %s)",
        "q1",
        ids[2:4],
        namespace,
    )
    cluster.on(shard, "CALL pgrecall.rebuild_all_postings(%s)", namespace)
    return shard, contents(cluster, namespace)


def contents(cluster: Cluster, namespace: str) -> dict[int, str]:
    """Every memory of a namespace, on all shards, forgotten ones included; none may be there twice."""
    query = (
        "SELECT m.id, m.content FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id "
        "WHERE n.name = %s"
    )
    rows = [row for shard in range(len(cluster.shards)) for row in cluster.on(shard, query, namespace)]
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def no_traces(cluster: Cluster) -> None:
    for shard in range(len(cluster.shards)):
        assert cluster.on(
            shard, "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'a\\_move%%' AND %s", True
        ) == [(0,)]
        assert cluster.on(shard, "SELECT * FROM pgrecall_shard.moves") == []


def test_a_moved_namespace_answers_as_before(cluster: Cluster) -> None:
    source, before = filled(cluster, "whole")
    target = (source + 1) % 3
    with Client(cluster.router, namespace="whole") as client:
        answers = client.recall("Where did Priya meet Ann?", vector=[1.0] + [0.0] * 383, k=50)
        assert any(memory.lexical_rank for memory in answers)
        assert any(memory.dense_rank for memory in answers)
        report = move(cluster.router, "whole", target)
        assert report is not None
        assert (report.source, report.target, report.rows["memories"]) == (source, target, len(before))
        assert report.rows["judgements"] == 2
        assert report.rows["postings"] > 0
        assert contents(cluster, "whole") == before
        assert cluster.holders("whole") == [target]
        assert client.recall("Where did Priya meet Ann?", vector=[1.0] + [0.0] * 383, k=50) == answers
        # Old ids are found where they are now; new ones are from the range of their shard.
        for id in (min(before), max(before)):
            assert client.update(id, category="moved") is True
        assert client.remember("Priya is back") // RANGE == target
        again = client.remember("Priya met Bob in Oslo on day 7", title="Trip 7", external_id="trip-7")
        assert before[again] == "Priya met Bob in Oslo on day 7"
        # And on: to a third shard, and home again.
        for to in ((source + 2) % 3, source):
            assert move(cluster.router, "whole", to) is not None
            assert client.update(max(before), category=f"moved to {to}")
            assert client.forget(client.remember("for a moment")) is True
    assert contents(cluster, "whole").keys() > before.keys()
    assert move(cluster.router, "whole", source) is None
    no_traces(cluster)
    assert check(cluster.router) == []


def test_it_is_read_and_written_meanwhile(cluster: Cluster) -> None:
    source, before = filled(cluster, "busy")
    stop = threading.Event()
    stored: list[int] = []
    wrong: list[object] = []

    def write() -> None:
        with Client(cluster.router, namespace="busy") as client:
            while not stop.is_set():
                try:
                    stored.append(client.remember(f"note {len(stored)}"))
                    if not client.update(max(before), category=str(len(stored))):
                        wrong.append("not updated")
                except PgrecallError as error:
                    wrong.append(error)

    def read() -> None:
        with Client(cluster.router, namespace="busy") as client:
            while not stop.is_set():
                found = client.recall("Priya Oslo", k=10, embed=False)
                if len(found) != 10:
                    wrong.append(len(found))

    threads = [threading.Thread(target=one) for one in (write, write, read)]
    for thread in threads:
        thread.start()
    try:
        for to in ((source + 1) % 3, (source + 2) % 3):
            count = len(stored)
            assert move(cluster.router, "busy", to) is not None
            while len(stored) < count + 5 and not wrong:
                stop.wait(0.01)
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert wrong == []
    assert len(set(stored)) == len(stored)
    assert contents(cluster, "busy").keys() == before.keys() | set(stored)
    no_traces(cluster)


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_the_next_run_goes_on(cluster: Cluster, step: str) -> None:
    namespace = f"killed before {step}"
    source, before = filled(cluster, namespace)
    target = (source + 1) % 3
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, cluster.router, namespace, str(target), step], check=False
    )
    assert done.returncode == 9
    with Client(cluster.router, namespace=namespace) as client:
        assert len(client.recall("Priya Oslo", k=50, embed=False)) == len(before) - 2
        if step in {"compare", "open", "switch"}:
            # Sealed: writes are refused rather than lost.
            with pytest.raises(PgrecallError, match="moving to another shard") as raised:
                client.remember("too late")
            assert raised.value.sqlstate == "40001"
            # An embedder finds nothing to do in it and goes on with others; where it arrives too, until it is open.
            claimed = (
                "SELECT memory_id FROM pgrecall.claim(gen_random_uuid(), 500) WHERE memory_id = ANY (%s)"
            )
            assert cluster.on(source, claimed, list(before)) == []
            assert step == "switch" or cluster.on(target, claimed, list(before)) == []
            assert any(namespace in problem for problem in check(cluster.router))
        else:
            late = client.remember("in time")
            before[late] = "in time"
        assert move(cluster.router, namespace, target) is not None
        assert contents(cluster, namespace) == before
        assert cluster.holders(namespace) == [target]
        assert client.update(max(before), category="after") is True
    no_traces(cluster)


def test_a_move_is_given_up_by_the_shard_it_comes_from(cluster: Cluster) -> None:
    source, before = filled(cluster, "undecided")
    target = (source + 1) % 3
    subprocess.run(
        [sys.executable, "-c", _KILLED, cluster.router, "undecided", str(target), "switch"], check=False
    )
    with pytest.raises(InvalidInput, match=f"on its way to shard {target}"):
        move(cluster.router, "undecided", (source + 2) % 3)
    assert move(cluster.router, "undecided", source) is None
    assert contents(cluster, "undecided") == before
    assert cluster.holders("undecided") == [source]
    with Client(cluster.router, namespace="undecided") as client:
        assert client.remember("stays") // RANGE == source
    no_traces(cluster)


def test_an_old_transaction_is_waited_for(cluster: Cluster) -> None:
    source, before = filled(cluster, "watched")
    target = (source + 1) % 3
    with psycopg.connect(cluster.router) as session:
        session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        query = "SELECT count(*) FROM recall('Priya Oslo', k => 50, namespace => 'watched')"
        seen = session.execute(query).fetchone()
        with pytest.raises(PgrecallError, match="older transactions") as raised:
            move(cluster.router, "watched", target, patience=0.1)
        assert raised.value.sqlstate == "55006"
        # It still looks where the namespace was, and finds all of it.
        assert session.execute(query).fetchone() == seen
    assert sorted(cluster.holders("watched")) == sorted([source, target])
    assert move(cluster.router, "watched") is not None
    assert contents(cluster, "watched") == before
    no_traces(cluster)


def test_rows_that_a_move_left_behind_are_not_taken_for_the_namespace(cluster: Cluster) -> None:
    """It has moved on since, and was written: the first shard's rows are of the past."""
    source, before = filled(cluster, "twice")
    second, third = (source + 1) % 3, (source + 2) % 3
    subprocess.run(
        [sys.executable, "-c", _KILLED, cluster.router, "twice", str(second), "delete"], check=False
    )
    assert sorted(cluster.holders("twice")) == sorted([source, second])
    # A new move asks every shard whether an earlier one is unfinished.
    cluster.servers[source].down()
    try:
        with pytest.raises(ConnectionFailed, match=f"shard {source} cannot be reached"):
            move(cluster.router, "twice", third)
    finally:
        cluster.servers[source].up()
    # As if that had been missed: the note and the rows of the first move are older than where it is now.
    [noted] = cluster.on(source, "SELECT namespace_id, namespace, target, state FROM pgrecall_shard.moves")
    cluster.on(source, "DELETE FROM pgrecall_shard.moves")
    assert move(cluster.router, "twice", third) is not None
    with Client(cluster.router, namespace="twice") as client:
        written = client.remember("written on the third shard")
    cluster.on(
        source,
        "INSERT INTO pgrecall_shard.moves (namespace_id, namespace, target, state) VALUES (%s, %s, %s, %s)",
        *noted,
    )
    report = move(cluster.router, "twice")
    assert report is not None
    assert report.target == third
    assert cluster.holders("twice") == [third]
    assert contents(cluster, "twice") == before | {written: "written on the third shard"}
    no_traces(cluster)


def test_a_renamed_namespace_moves_on_and_back(cluster: Cluster) -> None:
    source, before = filled(cluster, "former")
    targets = [(source + 1) % 3, (source + 2) % 3, source]
    here = source
    for number, target in enumerate(targets):
        # The ids of moved memories are noted at the router: by the namespace, whatever its name.
        old, new = ("former", "latter") if number % 2 == 0 else ("latter", "former")
        cluster.on(here, "SELECT pgrecall.rename_namespace(%s, %s)", old, new)
        init(cluster.router)
        assert move(cluster.router, new, target) is not None
        here = target
        with Client(cluster.router) as client:
            for id in (min(before), max(before)):
                assert client.update(id, category=f"moved {number}") is True
        other, _ = filled(cluster, f"new {old} {number}")
        cluster.on(other, "SELECT pgrecall.rename_namespace(%s, %s)", f"new {old} {number}", old)
        init(cluster.router)
        assert move(cluster.router, old, (other + 1) % 3) is not None
        with Client(cluster.router) as client:
            assert client.update(max(before), category="still found") is True
            client.erase_namespace(old)
    assert contents(cluster, "latter") == before
    no_traces(cluster)


def test_a_decision_is_undone_where_its_namespace_has_moved(cluster: Cluster) -> None:
    source, _ = filled(cluster, "curated")
    with Client(cluster.router, namespace="curated") as client:
        client.remember("Priya likes green tea")
        again = client.remember("Priya likes green tea!")
        [(decision,)] = cluster.on(source, "SELECT pgrecall.curate(%s)", again)
        assert move(cluster.router, "curated", (source + 1) % 3) is not None
        assert isinstance(client.curation.undo(decision), bool)
        with pytest.raises(NotFound, match="no curation"):
            client.curation.undo(decision + 1000)


def test_what_cannot_be_moved_is_refused(cluster: Cluster) -> None:
    source, _ = filled(cluster, "refused")
    target = (source + 1) % 3
    with pytest.raises(UnknownNamespace):
        move(cluster.router, "never heard of", target if source else 1)
    with pytest.raises(InvalidInput, match="there is no shard 7"):
        move(cluster.router, "refused", 7)
    cluster.on(target, "INSERT INTO pgrecall.namespaces (name) VALUES ('refused')")
    with pytest.raises(Conflict, match="another namespace"):
        move(cluster.router, "refused", target)
    assert check(cluster.router) == [
        f"namespace refused is on shard {target} too, and is looked for on shard {source}"
    ]
    cluster.on(target, "DELETE FROM pgrecall.namespaces WHERE name = 'refused'")
    cluster.on(target, "UPDATE pgrecall.embedding_models SET name = 'other'")
    try:
        with pytest.raises(SchemaMismatch, match="generations"):
            move(cluster.router, "refused", target)
    finally:
        cluster.on(
            target, "UPDATE pgrecall.embedding_models SET name = 'sentence-transformers/all-MiniLM-L6-v2'"
        )
    no_traces(cluster)


def test_a_new_shard_changes_no_namespace_and_takes_its_share(own_cluster: Cluster) -> None:
    with Client(own_cluster.router) as client:
        for name in ("ida", "leo", "mia", "tom"):
            client.remember("sunflowers", namespace=name, create_namespace=True)
    before = {one.namespace: one.shard for one in placements(own_cluster.router)}
    asked(own_cluster.servers[0].dsn("postgres"), "CREATE DATABASE fourth")
    fourth = own_cluster.servers[0].dsn("fourth")
    migrate(fourth)
    assert add(own_cluster.router, fourth) == 3
    after = placements(own_cluster.router)
    assert {one.namespace: one.shard for one in after} == before
    assert check(own_cluster.router) == []
    # By the hash of their names these two belong there: one that is old, and one that is new.
    assert {one.hashed for one in after if one.namespace in {"ida", "tom"}} == {3}
    with Client(own_cluster.router) as client:
        [found] = client.recall("sunflowers", namespace="tom", embed=False)
        assert client.remember("new", namespace="new 0", create_namespace=True) // RANGE == 3
        done = CliRunner().invoke(app, ["shard", "move", "tom", "--dsn", own_cluster.router])
        assert done.exit_code == 0, done.output
        assert f"moved tom from shard {before['tom']} to shard 3" in done.output
        [moved] = client.recall("sunflowers", namespace="tom", embed=False)
        assert moved == found
        assert client.admin.status().namespaces == len(before) + 1
    with pytest.raises(InvalidInput, match="already"):
        add(own_cluster.router, fourth)
