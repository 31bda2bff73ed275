"""Recall returns the same for the same live memories, whatever happened to them before."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from support.bm25 import VOCABULARY
from support.memories import call, remember, remember_many, rows, scalar
from support.postings import assert_same_as_rebuilt, fold, noted, problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

LIVE = """
    SELECT m.external_id, m.content, m.tags, m.category, m.valid_to, m.expires_at
    FROM pgrecall.memories m
    WHERE m.namespace_id = pgrecall.namespace_id('default') AND m.deleted_at IS NULL AND m.superseded_by IS NULL
      AND coalesce(least(m.valid_to, m.expires_at) > now(), true)
    ORDER BY m.id
"""
HISTORY = [
    "remember", "remember", "remember many", "update", "update", "supersede", "supersede", "supersede by another", "forget",
    "restore", "erase", "end", "end later", "expire later", "reopen", "flush", "compact",
]  # fmt: skip


class Life:
    """A namespace that is written to at random."""

    def __init__(self, conn: Connection[Any], seed: int) -> None:
        self.conn = conn
        self.chance = random.Random(seed)
        self.number = 0

    def text(self) -> str:
        words = [
            VOCABULARY[int(len(VOCABULARY) ** self.chance.random()) - 1]
            for _ in range(self.chance.choice([3, 8, 15]))
        ]
        self.number += 1
        return " ".join([*words, f"only{self.number}"])

    def memory(self) -> dict[str, Any]:
        return {"content": self.text(), "tags": self.chance.sample(VOCABULARY[:9], self.chance.randrange(3))}

    def one(self, condition: str) -> int | None:
        """The id of any memory that meets a condition."""
        found = self.conn.execute(f"SELECT id FROM pgrecall.memories WHERE {condition} ORDER BY id".encode())
        ids = [number for (number,) in found]
        return self.chance.choice(ids) if ids else None

    def change(self, what: str) -> None:
        live = "deleted_at IS NULL AND superseded_by IS NULL"
        if what == "remember":
            remember(self.conn, **self.memory())
        elif what == "remember many":
            count = self.chance.choice([5, 300])
            remember_many(self.conn, [self.memory() for _ in range(count)])
        elif what == "flush":
            fold(self.conn)
        elif what == "compact":
            compact(self.conn)
        elif what == "restore":
            if (number := self.one("deleted_at IS NOT NULL")) is not None:
                call(self.conn, "restore", number)
        elif what == "reopen":
            if (number := self.one("deleted_at IS NULL AND superseded_by IS NOT NULL")) is not None:
                self.conn.execute(
                    "UPDATE pgrecall.memories SET superseded_by = NULL, superseded_at = NULL, valid_to = NULL WHERE id = %s", (number,)
                )  # fmt: skip
        elif (number := self.one(live)) is None:
            return
        elif what == "update":
            call(self.conn, "update_memory", number, content=self.text())
        elif what == "supersede":
            call(self.conn, "supersede", number, content=self.text())
        elif what == "supersede by another":
            if (other := self.one(f"{live} AND id <> {number}")) is not None:
                call(self.conn, "supersede", number, successor=other)
        elif what == "forget":
            call(self.conn, "forget", number)
        elif what == "erase":
            call(self.conn, "erase", number)
        else:
            # "later": it has come when the history is over, without a write.
            column, moment = {
                "end": ("valid_to", "now() - interval '1 day'"),
                "end later": ("valid_to", "clock_timestamp() + interval '1.5 seconds'"),
                "expire later": ("expires_at", "clock_timestamp() + interval '1.5 seconds'"),
            }[what]
            self.conn.execute(
                f"UPDATE pgrecall.memories SET valid_from = NULL, {column} = {moment} WHERE id = %s".encode(), (number,)
            )  # fmt: skip


SCATTERED = """
    SELECT b.term, b.is_past, count(*)
    FROM (
        SELECT p.*, lag(p.impacts[cardinality(p.impacts)]) OVER (PARTITION BY term, is_past ORDER BY top_impact DESC, memory_ids[1]) < p.top_impact AS overlaps
        FROM pgrecall.postings p
    ) b
    GROUP BY 1, 2
    HAVING count(*) > 4 + 1.25 * ceil(sum(cardinality(b.memory_ids)) / 128.0) OR count(*) > 16 AND bool_or(b.overlaps)
"""


def compact(conn: Connection[Any]) -> None:
    while call(conn, "pgrecall.compact_postings", 50):
        pass


def make_anew(conn: Connection[Any]) -> None:
    """Store what is live in another namespace, as if nothing else had ever been."""
    conn.execute("SELECT pgrecall.create_namespace('fresh')")
    conn.execute("UPDATE pgrecall.memories SET external_id = 'n' || id")
    found = conn.execute(LIVE.encode()).fetchall()
    names = ("external_id", "content", "tags", "category", "valid_to", "expires_at")
    memories = [
        {name: str(value) if name.endswith(("_to", "_at")) else value for name, value in zip(names, row, strict=True) if value is not None}
        for row in found
    ]  # fmt: skip
    remember_many(conn, memories, namespace="fresh")


def answers(
    conn: Connection[Any], query: str, namespace: str, **options: Any
) -> list[tuple[str, float, float]]:
    found = conn.execute(
        "SELECT external_id, score, lexical_score FROM recall(%s, k => 20, namespace => %s, include_superseded => %s)",
        (query, namespace, options.get("include_superseded", False)),
    )
    return [(name, round(score, 9), round(lexical or 0, 9)) for name, score, lexical in found]


@pytest.mark.parametrize("seed", range(4))
def test_what_is_recalled_depends_on_the_live_memories_alone(conn: Connection[Any], seed: int) -> None:
    life = Life(conn, seed)
    for _ in range(70):
        life.change(life.chance.choice(HISTORY))
    if seed % 2:
        fold(conn)
    conn.execute("SELECT pg_sleep(1.6)")
    assert problems(conn) == {}
    make_anew(conn)
    live = len(conn.execute(LIVE.encode()).fetchall())
    assert live > 20
    conn.execute("SET pgrecall.graph_weight = 0")
    for turn in range(30):
        # A budget that common words exceed, and the default.
        conn.execute("SELECT set_config('pgrecall.bm25_max_postings', %s, false)", (("10", "500")[turn % 2],))
        words = life.chance.sample(VOCABULARY, life.chance.choice([1, 2, 5]))
        query = " ".join([*words, f"only{life.chance.randrange(1, life.number)}"])
        fresh = answers(conn, query, "fresh")
        assert fresh
        aged = answers(conn, query, "default")
        assert [score for _, *score in aged] == [score for _, *score in fresh]
        assert sorted(aged) == sorted(fresh) or aged[-1][1] == aged[-2][1]
    compact(conn)
    assert_same_as_rebuilt(conn)


def test_superseded_memories_do_not_use_up_the_postings_of_a_word(conn: Connection[Any]) -> None:
    # The superseded are shorter: they have the best impacts.
    old = remember_many(conn, [{"content": "harbour crane"} for _ in range(600)])
    new = remember(conn, "the harbour has a new crane since the old one fell into the water last winter")
    for number in old:
        call(conn, "supersede", number, successor=new)
    conn.execute("SELECT set_config('pgrecall.bm25_max_postings', '10', false)")
    for _ in range(2):
        assert [row[0] for row in rows(conn, "recall", "harbour crane")] == [new]
        assert len(rows(conn, "recall", "harbour crane", include_superseded=True, k=1000)) == 601
        fold(conn)
    assert scalar(conn, "SELECT documents FROM pgrecall.term_stats WHERE term = 'crane' AND NOT is_past") == 1
    assert problems(conn) == {}


def test_a_word_that_only_the_past_holds_is_found_there(conn: Connection[Any]) -> None:
    number = remember(conn, "the password of the boat is zanzibar")
    before = scalar(conn, "SELECT clock_timestamp()")
    call(conn, "supersede", number, content="the boat has no password")
    for _ in range(2):
        assert rows(conn, "recall", "zanzibar") == []
        assert [row[0] for row in rows(conn, "recall", "zanzibar", include_superseded=True)] == [number]
        assert [row[0] for row in rows(conn, "recall", "zanzibar", as_of=before)] == [number]
        fold(conn)


@pytest.mark.parametrize("column", ["valid_to", "expires_at"])
def test_a_memory_whose_time_has_come_counts_no_more_without_a_write(
    conn: Connection[Any], column: str
) -> None:
    remember(conn, "harbour")
    number = remember(conn, "harbour crane")
    conn.execute(
        f"UPDATE pgrecall.memories SET {column} = clock_timestamp() + interval '4 seconds' WHERE id = %s".encode(), (number,)
    )  # fmt: skip
    fold(conn)
    weights = "SELECT term, documents FROM _pgrecall.query_term_weights(pgrecall.namespace_id('default'), '{harbour,crane}', 9)"
    assert dict(conn.execute(weights).fetchall()) == {"harbour": 2, "crane": 1}
    conn.execute("SELECT pg_sleep(4.1)")
    assert dict(conn.execute(weights).fetchall()) == {"harbour": 1}
    assert noted(conn) == []
    compact(conn)
    assert conn.execute("SELECT term, documents FROM pgrecall.term_stats WHERE is_past ORDER BY 1").fetchall() == [
        ("", 1), ("crane", 1), ("harbour", 1),
    ]  # fmt: skip
    assert dict(conn.execute(weights).fetchall()) == {"harbour": 1}
    assert problems(conn) == {}


@pytest.mark.parametrize("way", ["one by one", "in bulk", "thinned out"])
def test_compacting_leaves_no_list_scattered(conn: Connection[Any], way: str) -> None:
    life = Life(conn, 1)
    for _ in range(5):
        remember_many(conn, [life.memory() for _ in range(300)])
    if way == "one by one":
        for place in range(600):
            remember(conn, life.text())
            if place % 20 == 0:
                fold(conn)
    elif way == "thinned out":
        conn.execute("DELETE FROM pgrecall.memories WHERE id % 3 <> 0")
    fold(conn)
    assert problems(conn) == {}
    blocks = "SELECT count(*) FROM pgrecall.postings"
    scattered = scalar(conn, blocks)
    compact(conn)
    assert problems(conn) == {}
    assert scalar(conn, blocks) <= scattered
    assert conn.execute(SCATTERED).fetchall() == []
    assert call(conn, "pgrecall.compact_postings") == 0


@pytest.mark.slow
def test_what_a_rebuild_makes_in_rounds_is_put_in_order(conn: Connection[Any]) -> None:
    """Each round of 10,000 memories makes blocks of its own, and recall would read those of every round."""
    conn.execute(
        """
        INSERT INTO pgrecall.memories (namespace_id, content, language, content_hash, search_vector)
        SELECT pgrecall.namespace_id('default'), 'harbour ' || repeat('crane ', i % 7) || repeat('x' || i % 3 || ' ', i % 40),
               'english', sha256(i::text::bytea), ''
        FROM generate_series(1, 11000) i
        """
    )
    while call(conn, "pgrecall.flush_pending_postings", 10000):
        pass
    compact(conn)
    conn.execute("CALL pgrecall.rebuild_all_postings('default')")
    assert conn.execute(SCATTERED).fetchall() != []
    compact(conn)
    assert conn.execute(SCATTERED).fetchall() == []
    assert problems(conn) == {}


def test_namespaces_of_before_are_separated_later_and_answer_meanwhile(
    conn: Connection[Any], as_before: Callable[[Connection[Any]], None]
) -> None:
    old = [remember(conn, f"harbour crane {place}") for place in range(5)]
    for number in old[:3]:
        call(conn, "supersede", number, content="harbour")
    remember(conn, "harbour", namespace="other", create_namespace=True)
    fold(conn)
    as_before(conn)
    assert problems(conn) == {}
    found = {row[0] for row in rows(conn, "recall", "crane")}
    assert found == set(old[3:])
    call(conn, "supersede", old[3], content="milk")
    call(conn, "forget", old[1])
    fold(conn)
    assert problems(conn) == {}
    compact(conn)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.posting_states WHERE separated_at IS NULL") == 0
    assert scalar(conn, "SELECT documents FROM pgrecall.term_stats WHERE term = 'crane' AND NOT is_past") == 1
    assert [row[0] for row in rows(conn, "recall", "crane")] == [old[4]]
    assert_same_as_rebuilt(conn)


@pytest.fixture
def as_before() -> Callable[[Connection[Any]], None]:
    """Put all postings together, as an upgrade leaves them."""

    def together(conn: Connection[Any]) -> None:
        with conn.transaction():
            conn.execute("UPDATE pgrecall.posting_states SET separated_at = NULL")
            conn.execute("UPDATE pgrecall.postings SET is_past = false")
            conn.execute("UPDATE pgrecall.pending_postings SET indexed_past = false")
            conn.execute("CREATE TEMP TABLE counted ON COMMIT DROP AS SELECT * FROM pgrecall.term_stats")
            conn.execute("DELETE FROM pgrecall.term_stats")
            conn.execute(
                "INSERT INTO pgrecall.term_stats (namespace_id, term, documents, small_blocks) "
                "SELECT namespace_id, term, sum(documents), sum(small_blocks) FROM counted GROUP BY 1, 2"
            )

    return together


def test_a_block_that_keeps_its_best_posting_is_updated_in_place(conn: Connection[Any]) -> None:
    numbers = remember_many(conn, [{"content": f"harbour {'crane ' * (place % 7)}"} for place in range(300)])
    updates = "SELECT n_tup_hot_upd, n_tup_upd FROM pg_stat_xact_all_tables WHERE relid = 'pgrecall.postings'::regclass"
    hot = every = 0
    for place in range(3, 63):
        with conn.transaction():
            call(conn, "forget", numbers[place])
            fold(conn)
            counts = conn.execute(updates).fetchone() or (0, 0)
        hot, every = hot + counts[0], every + counts[1]
    assert every >= 60
    assert hot >= every / 2
    assert problems(conn) == {}


def test_an_erased_word_is_not_where_the_compaction_stopped(conn: Connection[Any]) -> None:
    number = remember(conn, "harbour zanzibar")
    fold(conn)
    conn.execute("UPDATE pgrecall.posting_states SET changes = 5000")
    assert call(conn, "pgrecall.compact_postings", 2) == 2
    assert scalar(conn, "SELECT compacted_to FROM pgrecall.posting_states") == "zanzibar"
    call(conn, "erase", number)
    assert scalar(conn, "SELECT compacted_to FROM pgrecall.posting_states") == ""
    compact(conn)
    assert scalar(conn, "SELECT compacted_to FROM pgrecall.posting_states") is None
