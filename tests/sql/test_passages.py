"""Passages of long memories: how a text is divided, what is stored, and what recall finds by them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.embedding_queue import ONE, claim, complete, table, vector
from support.memories import call, remember, rows, scalar, share, stored

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

SENTENCE = "The ferry to the island leaves at nine and comes back before the fog. "
LONG = SENTENCE * 20


def bounds(conn: Connection[Any], content: str) -> list[tuple[int, int]]:
    """Return where the passages of a text start and end; fails unless they are numbered from 1."""
    found = rows(conn, "_pgrecall.passage_bounds", content)
    assert [number for number, *_ in found] == list(range(1, len(found) + 1))
    return [(start, end) for _, start, end in found]


def embed(conn: Connection[Any], number: int, whole: str, passages: list[str | None]) -> None:
    """Store the embedding of a memory and of its passages."""
    assert complete(conn, [number], embedding=whole, passages=json.dumps([passages])) == 1


@pytest.mark.parametrize("content", ["tea", "word " * 150, "茶" * 300, "x" * 250_000])
def test_a_short_text_has_none(conn: Connection[Any], content: str) -> None:
    if len(content) > 1000:
        content = content[: 40 * 150]
    assert bounds(conn, content) == []


@settings(max_examples=100)
@given(
    st.lists(
        st.text("ab. !?\n。茶道\u00e9\u0301", min_size=1, max_size=60)
        | st.sampled_from([SENTENCE, "x" * 90]),
        min_size=1,
        max_size=80,
    )
)
def test_they_cover_the_text_without_a_gap(conn: Connection[Any], parts: list[str]) -> None:
    content = "".join(parts)
    found = bounds(conn, content)
    if found:
        assert found[0][0] == 0
        assert found[-1][1] == len(content)
        assert [end for _, end in found[:-1]] == [start for start, _ in found[1:]]


@pytest.mark.parametrize(
    ("content", "words"),
    [(LONG, 14), ("word " * 1000, 1), ("茶を飲みながら話した。" * 100, 5.5), ("a line\n" * 200, 2)],
)
def test_they_end_with_a_sentence_after_75_to_125_words(
    conn: Connection[Any], content: str, words: float
) -> None:
    found = bounds(conn, content)
    unit = len(content) / (content.count(SENTENCE) or content.count("\n") or content.count("。") or 1000)
    for start, end in found[:-1]:
        assert 75 <= (end - start) / unit * words <= 126
        assert content[:end].endswith((". ", "。", "\n", "word "))
    start, end = found[-1]
    assert 37 <= (end - start) / unit * words <= 163


def test_a_claim_gives_their_texts_after_the_title(conn: Connection[Any]) -> None:
    remember(conn, LONG, title="Ferry")
    remember(conn, "short")
    claimed = {row[2]: row[5] for row in rows(conn, "pgrecall.claim", ONE)}
    assert claimed["short"] is None
    texts = claimed[f"Ferry\n{LONG}"]
    assert all(text.startswith("Ferry\nThe ferry") for text in texts)
    assert "".join(text.removeprefix("Ferry\n") for text in texts) == LONG


def test_they_are_stored_and_replaced(conn: Connection[Any]) -> None:
    number = remember(conn, LONG)
    count = len(bounds(conn, LONG))
    assert claim(conn) == [number]
    embed(conn, number, vector(384, 1.0), [vector(384, 0, 1.0), None, *[vector(384, 1.0)] * (count - 2)])
    found = table(conn, "passages")
    assert [row["number"] for row in found] == [1, *range(3, count + 1)]
    assert LONG[found[0]["starts_at"] : found[0]["ends_at"]] == LONG[slice(*bounds(conn, LONG)[0])]
    assert conn.execute("SELECT * FROM pgrecall.show_passages(%s)", [number]).fetchall() == [
        (row["number"], row["starts_at"], row["ends_at"]) for row in found
    ]
    conn.execute("UPDATE pgrecall.memories SET embedding = NULL")
    assert complete(conn, [number]) == 1
    assert len(table(conn, "passages")) == count - 1, "a writer who knows none leaves them"


def test_they_are_shown_to_readers_of_the_namespace_alone(conn: Connection[Any]) -> None:
    number = remember(conn, LONG)
    count = len(bounds(conn, LONG))
    embed(conn, number, vector(384, 1.0), [vector(384, 1.0)] * count)
    shown = "SELECT count(*) FROM pgrecall.show_passages(%s)"
    conn.execute("SET ROLE pgrecall_reader")
    assert scalar(conn, shown, number) == 0
    conn.execute("RESET ROLE")
    share(conn, "default", "read")
    conn.execute("SET ROLE pgrecall_reader")
    assert scalar(conn, shown, number) == count
    conn.execute("RESET ROLE")


@pytest.mark.parametrize(
    "passages",
    [
        "{}",
        "[]",
        '["x"]',
        "[[1]]",
        "[[]]",
        json.dumps([[vector(384, 1.0)]]),
        json.dumps([[vector(8, 1.0)] * 3]),
        json.dumps([[vector(384)] * 3]),
        '[["nonsense", "[1]", "[1]"]]',
    ],
)
def test_others_are_refused_and_nothing_is_stored(conn: Connection[Any], passages: str) -> None:
    number = remember(conn, LONG)
    with pytest.raises(psycopg.Error) as refused, conn.transaction():
        complete(conn, [number], passages=passages)
    assert refused.value.sqlstate == "22023"
    assert refused.value.diag.message_hint
    assert stored(conn, number)["embedding"] is None


@pytest.mark.parametrize("change", ["content", "sensitive", "forget", "erase"])
def test_they_go_with_the_text(conn: Connection[Any], change: str) -> None:
    number = remember(conn, LONG)
    embed(conn, number, vector(384, 1.0), [vector(384, 1.0)] * len(bounds(conn, LONG)))
    assert table(conn, "passages")
    if change == "content":
        conn.execute("UPDATE pgrecall.memories SET content = content || '!'")
    elif change == "sensitive":
        conn.execute("UPDATE pgrecall.memories SET is_sensitive = true")
    else:
        call(conn, change, number)
    assert table(conn, "passages") == []


@pytest.mark.parametrize("hides", ["forget", "expire", "update"])
def test_they_come_back_with_the_memory(conn: Connection[Any], hides: str) -> None:
    long = remember(conn, LONG, external_id="long")
    short = remember(conn, "tea", external_id="short")
    embed(conn, long, vector(384, 1.0), [vector(384, 1.0)] * len(bounds(conn, LONG)))
    complete(conn, [short], embedding=vector(384, 1.0))
    for number, text in ((long, LONG), (short, "tea")):
        if hides == "expire":
            conn.execute(
                "UPDATE pgrecall.memories SET deleted_at = now(), expires_at = now() WHERE id = %s", (number,)
            )
        else:
            call(conn, "forget", number)
        if hides == "update":
            remember(conn, text, external_id=stored(conn, number)["external_id"], on_conflict="update")
        else:
            call(conn, "restore", number)
    # Pending again, with the passages: nothing else would tell that they are missing.
    assert stored(conn, long)["embedding"] is None
    assert stored(conn, short)["embedding"] is not None
    embed(conn, long, vector(384, 1.0), [vector(384, 1.0)] * len(bounds(conn, LONG)))
    assert len(table(conn, "passages")) == len(bounds(conn, LONG))


@pytest.mark.parametrize("exact_rows", [5000, 0])
def test_a_passage_finds_its_memory(conn: Connection[Any], exact_rows: int) -> None:
    number = remember(conn, LONG)
    count = len(bounds(conn, LONG))
    random = np.random.default_rng(1).normal(size=(40 + count + 2, 384)).tolist()
    for place in range(40):
        complete(conn, [remember(conn, f"short {place}")], embedding=str(random[place]))
    query_vec = str(random[-1])
    embed(conn, number, str(random[-2]), [*map(str, random[40 : 40 + count - 1]), query_vec])
    options = json.dumps({"leg_depth": 5, "dense_exact_rows": exact_rows, "graph_weight": 0})
    query = "SELECT id, passage, dense_rank, similarity FROM recall('', %s, k => 3, settings => %s)"
    found = conn.execute(query, (query_vec, options)).fetchall()
    assert found[0][0] == number
    assert (found[0][1].lower, found[0][1].upper) == bounds(conn, LONG)[-1]
    assert found[0][2:] == (1, pytest.approx(1, abs=1e-3))
    assert all(passage is None for _, passage, *_ in found[1:])
    query = "SELECT passage FROM recall_explain('', %s, settings => %s) WHERE id = %s"
    assert conn.execute(query, (query_vec, options, number)).fetchone() == (found[0][1],)


def test_the_best_of_many_counts_less_than_one_alone(conn: Connection[Any]) -> None:
    """By chance one of many passages is near any query."""
    long, short = remember(conn, LONG), remember(conn, "short")
    for place in range(30):
        direction = [0.0] * (place + 2)
        direction[place + 1] = 1.0
        complete(conn, [remember(conn, f"other {place}")], embedding=vector(384, *direction))
    near = vector(384, 0.3, *[0.0] * 50, 1.0)
    complete(conn, [short], embedding=near)
    embed(conn, long, vector(384, *[0.0] * 60, 1.0), [near] * len(bounds(conn, LONG)))
    query = "SELECT id, dense_part FROM recall_explain('', %s, k => 2, settings => %s)"
    for penalty, factor in ((0, 1), (0.25, None)):
        found = dict(
            conn.execute(query, (vector(384, 1.0), json.dumps({"passage_penalty": penalty}))).fetchall()
        )
        if factor:
            assert found[long] == pytest.approx(found[short])
        else:
            assert 0 < found[long] < found[short]


def test_an_export_carries_them(conn: Connection[Any]) -> None:
    number = remember(conn, LONG)
    count = len(bounds(conn, LONG))
    embed(conn, number, vector(384, 1.0), [None, *[vector(384, 0, 1.0)] * (count - 1)])
    before = [(row["number"], row["starts_at"], str(row["embedding"])) for row in table(conn, "passages")]
    lines = [json.loads(line) for line in rows(conn, "pgrecall.export_memories")]
    call(conn, "erase", number)
    assert table(conn, "passages") == []
    conn.execute("SELECT * FROM pgrecall.import_memories(%s)", (json.dumps(lines),))
    after = [(row["number"], row["starts_at"], str(row["embedding"])) for row in table(conn, "passages")]
    assert after == before


def test_an_import_keeps_them_for_what_was_superseded(conn: Connection[Any]) -> None:
    old, new = remember(conn, LONG), remember(conn, "The ferry is no more")
    count = len(bounds(conn, LONG))
    embed(conn, old, vector(384, 1.0), [vector(384, 0, 1.0)] * count)
    call(conn, "supersede", old, successor=new)
    lines = [json.loads(line) for line in rows(conn, "pgrecall.export_memories")]
    rows(conn, "erase_namespace", "default")
    call(conn, "pgrecall.create_namespace", "default")
    stored_now = conn.execute(
        "SELECT m.place, m.id FROM pgrecall.import_memories(%s) m ORDER BY m.place",
        (json.dumps(lines),),
    ).fetchall()
    ids = {json.dumps(line["content"]): number for line, (_, number) in zip(lines, stored_now, strict=True)}
    link = {"id": ids[json.dumps(LONG)], "superseded_by": ids[json.dumps("The ferry is no more")]}
    call(conn, "pgrecall.link_imported_memories", json.dumps([link]))
    assert stored(conn, link["id"])["embedding"] is not None
    assert len(table(conn, "passages")) == count


def test_a_briefing_quotes_the_passage(conn: Connection[Any]) -> None:
    content = SENTENCE * 20 + "The lighthouse keeper sells honey on Sundays."
    number = remember(conn, content)
    count = len(bounds(conn, content))
    embed(
        conn,
        number,
        vector(384, 0, 1.0),
        [*[vector(384, 0, 0, 1.0)] * (count - 1), vector(384, 1.0)],
    )
    start, _ = bounds(conn, content)[-1]
    text = scalar(conn, "SELECT recall_briefing('', %s, per_item => 400)", vector(384, 1.0))
    assert f">…{content[start : start + 20]}" in text


def test_only_the_first_256_count(conn: Connection[Any]) -> None:
    """An embedder has so many texts of one memory in hand, and no more."""
    content = "word " * 52_000
    found = bounds(conn, content)
    assert len(found) == 256
    assert found[-1][1] < len(content)
