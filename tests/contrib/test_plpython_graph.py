"""graph_ppr() by scipy: its scores, that no snapshot sees another's graph, and whose memories come out."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import IsolationLevel

from benchmarks.quality.graph.pagerank import Bipartite, Start
from support.memories import share
from support.plpython import tagged, use_modules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psycopg import Connection

pytestmark = pytest.mark.server_extras

EDGES = """
SELECT memory_id, concept_id, bool_or(is_about) FROM pgrecall.mentions WHERE namespace_id = pgrecall.namespace_id(NULL)
GROUP BY 1, 2 ORDER BY 1, 2
"""


@pytest.fixture
def session(python_dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(python_dsn, autocommit=True) as conn:
        use_modules(conn, "scipy.sparse")
        yield conn


@pytest.fixture
def other(python_dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(python_dsn, autocommit=True) as conn:
        yield conn


def ranked(conn: Connection[Any], seeds: list[int], **options: Any) -> dict[int, float]:
    given = "".join(f", {name} => %({name})s" for name in options)
    rows = conn.execute(
        f"SELECT id, score FROM graph_ppr(%(seeds)s::bigint[]{given})".encode(), {"seeds": seeds, **options}
    ).fetchall()
    assert [score for _, score in rows] == sorted((score for _, score in rows), reverse=True)
    return dict(rows)


def recomputed(conn: Connection[Any], seeds: list[int]) -> dict[int, float]:
    """What a session finds that has kept nothing."""
    with psycopg.connect(conn.info.dsn, autocommit=True) as fresh:
        return ranked(fresh, seeds)


def concepts(conn: Connection[Any], *names: str) -> list[int]:
    rows = conn.execute("SELECT id FROM pgrecall.concepts WHERE key = ANY (%s) ORDER BY id", [list(names)])
    return [row[0] for row in rows]


def test_the_scores_are_those_of_pagerank(session: Connection[Any]) -> None:
    chance = random.Random(7)
    names = [f"thing{number}" for number in range(25)]
    memories = [
        tagged(session, f"memory {number}", chance.sample(names, chance.randint(1, 5)))
        for number in range(60)
    ]
    session.execute("UPDATE pgrecall.mentions SET is_about = memory_id % 3 = 0")
    graph = Bipartite(memories, session.execute(EDGES.encode()).fetchall())
    named = concepts(session, "thing3", "thing4")
    for restart, seeds, weights in ((0.15, memories[:3], [1.0, 0.5, 0.25]), (0.5, memories[5:6], [2.0])):
        expected = graph.scores(
            [Start(dict(zip(seeds, weights, strict=True)), named)], 1 - restart, arriving=True
        )[0]
        found = ranked(session, seeds, weights=weights, concepts=named, restart=restart, k=1000)
        largest = max(found.values())
        for memory, score in zip(graph.memories.tolist(), expected.tolist(), strict=True):
            assert found.get(memory, 0.0) / largest == pytest.approx(score, abs=1e-6)
        best = ranked(session, seeds, weights=weights, concepts=named, restart=restart, k=7)
        assert list(best) == list(found)[:7]


def test_two_memories_and_what_links_them(session: Connection[Any]) -> None:
    one, two, alone = (
        tagged(session, "a", ["trip", "rome"]),
        tagged(session, "b", ["trip"]),
        tagged(session, "c", ["dog"]),
    )
    # Of the walks from the seed half restart at each step, the others are spread evenly over its neighbours.
    found = ranked(session, [one], restart=0.5)
    assert set(found) == {one, two}
    # At the seed x, at the concept c, at the other y: c = (x + y) / 2, x = c / 4 + 1 / 2, y = c / 4.
    assert found[one] == pytest.approx(1 / 12, abs=1e-6)
    assert found[two] == pytest.approx(1 / 12, abs=1e-6)
    assert ranked(session, [alone]) == {}
    assert ranked(session, []) == {}
    assert ranked(session, [one, one, alone, 987654]) == ranked(session, [one])
    assert set(ranked(session, [], concepts=concepts(session, "trip"))) == {one, two}


def test_what_others_commit_is_seen_at_once(session: Connection[Any], other: Connection[Any]) -> None:
    one = tagged(other, "a", ["trip"])
    two = tagged(other, "b", ["trip"])
    assert set(ranked(session, [one])) == {one, two}
    three = tagged(other, "c", ["trip"])
    assert set(ranked(session, [one])) == {one, two, three}
    other.execute("SELECT forget(%s)", [two])
    assert set(ranked(session, [one])) == {one, three}
    other.execute("DELETE FROM pgrecall.memories WHERE id = %s", [three])
    assert ranked(session, [one]) == {}
    four = tagged(other, "d", ["trip"])
    assert set(ranked(session, [one])) == {one, four}
    other.execute("TRUNCATE pgrecall.memories CASCADE")
    assert ranked(session, [one]) == {}


def test_what_is_taken_back_was_never_there(session: Connection[Any], other: Connection[Any]) -> None:
    one, two = tagged(session, "a", ["trip"]), tagged(session, "b", ["trip"])
    with session.transaction(force_rollback=True):
        three = tagged(session, "c", ["trip"])
        assert set(ranked(session, [one])) == {one, two, three}
        with session.transaction(force_rollback=True):
            four = tagged(session, "d", ["trip"])
            assert four in ranked(session, [one])
        assert set(ranked(session, [one])) == {one, two, three}
        assert set(ranked(other, [one])) == {one, two}
    # As many changes as were taken back, by somebody else.
    five, six = tagged(other, "e", ["trip"]), tagged(other, "f", ["trip"])
    assert set(ranked(session, [one])) == {one, two, five, six}


def test_a_snapshot_keeps_its_graph(session: Connection[Any], other: Connection[Any]) -> None:
    one, two = tagged(other, "a", ["trip"]), tagged(other, "b", ["trip"])
    session.isolation_level = IsolationLevel.REPEATABLE_READ
    with session.transaction():
        assert set(ranked(session, [one])) == {one, two}
        three = tagged(other, "c", ["trip"])
        assert set(ranked(session, [one])) == {one, two}
    assert set(ranked(session, [one])) == {one, two, three}


def test_it_is_never_out_of_date(session: Connection[Any], other: Connection[Any]) -> None:
    """Two writers with open transactions, merges, retags and what is taken back: kept or rebuilt, the same graph."""
    chance = random.Random(11)
    names = ["ada", "bob", "cy", "dora", "eve"]
    memories = [tagged(other, f"m{number}", chance.sample(names, 2)) for number in range(8)]
    with psycopg.connect(session.info.dsn) as writer:
        for step in range(72):
            conn = chance.choice([writer, other])
            match chance.randrange(5):
                case 0 | 1:
                    memories.append(tagged(conn, f"n{len(memories)}", chance.sample(names, 2)))
                case 2 if conn is other:
                    conn.execute(
                        "UPDATE pgrecall.memories SET tags = %s WHERE id = %s",
                        [chance.sample(names, 2), chance.choice(memories[:8])],
                    )
                case 3:
                    writer.commit()
                case 4:
                    writer.rollback()
            seeds = chance.sample(memories, 3)
            found = ranked(session, seeds)
            if step % 4 == 0:  # a new session has to load scipy
                assert found == pytest.approx(recomputed(session, seeds))


def test_the_log_of_changes_stays_short(session: Connection[Any], other: Connection[Any]) -> None:
    one, two = tagged(other, "a", ["trip"]), tagged(other, "b", ["trip"])
    other.execute("SELECT pgrecall.create_namespace('elsewhere')")
    assert set(ranked(session, [one])) == {one, two}
    for number in range(300):
        other.execute(
            "UPDATE pgrecall.memories SET tags = %s WHERE id = %s", [["trip", f"stop{number % 3}"], two]
        )
    row = other.execute(
        "SELECT count(*), count(DISTINCT namespace_id) FROM pgrecall.graph_changes"
    ).fetchone()
    assert row is not None
    assert row[0] < 520
    assert row[1] == 1
    assert ranked(session, [one]) == pytest.approx(recomputed(session, [one]))


def test_nothing_is_kept_while_nobody_logs(session: Connection[Any], other: Connection[Any]) -> None:
    one, two = tagged(other, "a", ["trip"]), tagged(other, "b", ["trip"])
    assert set(ranked(session, [one])) == {one, two}
    other.execute("ALTER TABLE pgrecall.mentions DISABLE TRIGGER mentions_change_insert")
    three = tagged(other, "c", ["trip"])
    assert set(ranked(session, [one])) == {one, two, three}
    four = tagged(other, "d", ["trip"])
    assert set(ranked(session, [one])) == {one, two, three, four}


def test_only_what_the_caller_may_see_comes_out(session: Connection[Any], other: Connection[Any]) -> None:
    one, two, three = (tagged(other, text, ["trip"]) for text in "abc")
    assert set(ranked(session, [one])) == {one, two, three}
    share(other)
    other.execute(
        f"CREATE POLICY hidden ON pgrecall.memories AS RESTRICTIVE TO pgrecall_gate USING (id <> {two})"
    )
    session.execute("SET ROLE pgrecall_reader")
    assert set(ranked(session, [one], k=2)) == {one, three}
    # The same session, the graph kept: what may be seen is asked every time.
    other.execute(f"ALTER POLICY hidden ON pgrecall.memories USING (id <> {three})")
    assert set(ranked(session, [one], k=2)) == {one, two}
    other.execute("CREATE ROLE nobody_at_all")
    try:
        session.execute("RESET ROLE")
        session.execute("SET ROLE nobody_at_all")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ranked(session, [one])
    finally:
        session.execute("RESET ROLE")
        other.execute("DROP ROLE nobody_at_all")


@pytest.mark.parametrize(
    ("options", "sqlstate"),
    [
        ({"k": 0}, "22023"),
        ({"k": 1001}, "22023"),
        ({"restart": 0}, "22023"),
        ({"restart": 1.1}, "22023"),
        ({"restart": float("nan")}, "22023"),
        ({"weights": [1.0, 2.0]}, "22023"),
        ({"weights": [-1.0]}, "22023"),
        ({"weights": [float("inf")]}, "22023"),
        ({"namespace": "nowhere"}, "42704"),
    ],
)
def test_what_is_refused(session: Connection[Any], options: dict[str, Any], sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        ranked(session, [1], **options)
    assert caught.value.sqlstate == sqlstate
    assert caught.value.diag.message_hint


def missing(conn: Connection[Any], venv: str | Path) -> tuple[str, str]:
    """What a session that has loaded nothing says of a virtual environment; it must not have scipy without."""
    conn.execute("SELECT pgrecall.set_setting('python_venv', %s)", [str(venv)])
    with psycopg.connect(conn.info.dsn, autocommit=True) as fresh:
        # What a session SETs does not count: it would load anybody's code into the server.
        fresh.execute("SET pgrecall.python_venv = '/tmp'")
        if fresh.execute("SELECT problem FROM pgrecall.python_module('scipy.sparse')").fetchone() == (None,):
            pytest.skip("the server's own Python has scipy")
        with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
            ranked(fresh, [1])
    return caught.value.diag.message_primary or "", caught.value.diag.message_hint or ""


def test_what_is_missing_is_said(session: Connection[Any], public_dir: Path) -> None:
    row = session.execute("SELECT pgrecall.python_module('scipy.sparse')").fetchone()
    assert row is not None
    message, hint = missing(session, "")
    assert "no module scipy" in message
    assert "-m venv" in hint
    assert "set_setting('python_venv'" in hint

    venv = public_dir / "venv"
    assert missing(session, venv)[0].endswith(f"that the server's user cannot read: {venv}")
    (venv / "lib" / "python3.5" / "site-packages").mkdir(parents=True)
    message, hint = missing(session, venv)
    assert "of python3.5" in message
    assert "--clear" in hint

    own = message.split("the server's Python is ")[1].split(":")[0]
    packages = venv / "lib" / f"python{own}" / "site-packages"
    packages.mkdir(parents=True)
    packages.chmod(0o777)
    message, hint = missing(session, venv)
    assert "not safe to load code from" in message
    assert "chmod" in hint
    packages.chmod(0o755)
    message, hint = missing(session, venv)
    assert f"cannot be loaded from {packages}" in message
    assert hint.endswith(f"{venv}/bin/pip install scipy")


def test_only_what_is_needed_is_imported(session: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        session.execute("SELECT pgrecall.python_module('antigravity')")
