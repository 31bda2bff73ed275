"""recall_explain(): what speaks for and against each memory, the parts of its confidence."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from support.memories import remember

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

DIMENSION = 384


def explained(
    conn: Connection[Any], query: str, **named: Any
) -> list[tuple[int, int | None, float | None, dict[str, float] | None]]:
    given = "".join(f", {name} => %({name})s" for name in named)
    statement = f"SELECT id, place, confidence, confidence_parts FROM recall_explain(%(query)s{given})"
    return conn.execute(statement.encode(), {"query": query, **named}).fetchall()


def first(conn: Connection[Any], query: str, **named: Any) -> tuple[float, dict[str, float]]:
    _, place, confidence, parts = explained(conn, query, **named)[0]
    assert place == 1
    assert confidence is not None
    assert parts is not None
    assert set(parts) == {"base", "share", "evidence", "lead", "contradiction"}
    assert 1 / (1 + math.exp(-sum(parts.values()))) == pytest.approx(confidence)
    return confidence, parts


def _fill(conn: Connection[Any]) -> None:
    for number in range(12):
        remember(conn, f"a submarine of the year {1950 + number}")
    remember(conn, "the yellow submarine, which is yellow")


def test_the_confidence_is_that_of_recall(conn: Connection[Any]) -> None:
    _fill(conn)
    query = "which submarine is yellow?"
    told = explained(conn, query, k=5)
    recalled = conn.execute("SELECT id, confidence FROM recall(%s, k => 5)", (query,)).fetchall()
    assert [(id, confidence) for id, _, confidence, _ in told] == recalled
    for _, _, confidence, parts in told:
        assert confidence is not None
        assert parts is not None
        assert 1 / (1 + math.exp(-sum(parts.values()))) == pytest.approx(confidence)


def test_each_part_is_what_the_page_says(conn: Connection[Any]) -> None:
    remember(conn, "the yellow submarine")
    _, parts = first(conn, "yellow submarine")
    # Alone, and with all the words: nothing is behind it, so its lead is its relevance, the highest possible one.
    assert parts["base"] == -5.6
    assert parts["share"] == pytest.approx(1.5, abs=0.1)
    assert 0 < parts["evidence"] < 0.2
    assert parts["lead"] == pytest.approx(6.7)
    assert parts["contradiction"] == 0
    _, with_vector = first(conn, "yellow submarine", query_vec=str([1.0] * DIMENSION))
    assert with_vector["base"] == -4


def test_a_memory_behind_others_has_a_lead_against_it(conn: Connection[Any]) -> None:
    _fill(conn)
    rows = explained(conn, "which submarine is yellow?")
    leads = [parts["lead"] for *_, parts in rows if parts is not None]
    assert leads[0] > 1 > leads[1]
    unfound = remember(conn, "a bicycle")
    [(_, place, confidence, parts)] = explained(conn, "which submarine is yellow?", ids=[unfound], k=1)
    assert place is None
    assert confidence is not None
    assert parts is not None
    assert parts["share"] == parts["evidence"] == 0
    assert parts["lead"] < 0


def test_pronouns_are_no_share(conn: Connection[Any]) -> None:
    remember(conn, "My bicycle has a flat tyre")
    remember(conn, "We meet the landlord on Tuesday")
    _, parts = first(conn, "my dog")
    assert parts["share"] == pytest.approx(0, abs=1e-6)
    assert parts["evidence"] == pytest.approx(0, abs=1e-6)


def test_another_version_speaks_against(conn: Connection[Any]) -> None:
    remember(conn, "The production database runs PostgreSQL 17.2")
    remember(conn, "We meet the landlord on Tuesday")
    assert first(conn, "PostgreSQL 16.4")[1]["contradiction"] == -4
    assert first(conn, "PostgreSQL 17.2")[1]["contradiction"] == 0
    assert first(conn, "PostgreSQL in 2024")[1]["contradiction"] == 0


def test_fusion_by_ranks_and_unknown_memories_have_none(conn: Connection[Any]) -> None:
    _fill(conn)
    assert {row[2:] for row in explained(conn, "yellow", fusion="rrf")} == {(None, None)}
    assert explained(conn, "yellow", ids=[10**12]) == [(10**12, None, None, None)]


def test_a_memory_whose_text_is_withheld_has_none(conn: Connection[Any]) -> None:
    """The parts tell what is in the text: whether it has the words, and numbers other than the version asked for."""
    forgotten = remember(conn, "the yellow submarine 16.5")
    conn.execute("SELECT forget(%s)", (forgotten,))
    expired = remember(conn, "the yellow submarine 16.6", expires_at="2020-01-01")
    sensitive = remember(conn, "the yellow submarine 16.7", is_sensitive=True)
    elsewhere = remember(conn, "the yellow submarine 16.8", session="elsewhere")
    rows = conn.execute(
        "SELECT id, reason IS NOT NULL, content, confidence, confidence_parts FROM recall_explain("
        "'yellow submarine 16.4', ids => %s, include_sensitive => false, sessions => '{here}')",
        ([forgotten, expired, sensitive, elsewhere],),
    ).fetchall()
    assert len(rows) == 4
    for id, has_reason, content, confidence, parts in rows:
        assert has_reason
        # What a filter leaves out may be read all the same; it has the confidence that it would have.
        assert (content is not None) == (confidence is not None) == (parts is not None) == (id == elsewhere)
