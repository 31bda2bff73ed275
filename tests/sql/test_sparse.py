"""Terms of a learned sparse model: what is stored of them, and what they count in a recall."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.memories import call, embed, refused, remember, rows, scalar
from support.notes import queue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import Connection

WORKER = UUID(int=7)


@pytest.fixture(autouse=True)
def _on(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_setting", "extract_sparse", "a-model")


def claim(conn: Connection[Any]) -> dict[int, int]:
    """Have what waits read, and claim it for the sparse model; return the tickets."""
    queue(conn)
    return {row[0]: row[1] for row in rows(conn, "pgrecall.claim_extractions", WORKER, "sparse")}


def complete(conn: Connection[Any], terms: Mapping[int, Mapping[str, float]]) -> int:
    tickets = claim(conn)
    items = [{"memory_id": i, "ticket": tickets[i], "terms": dict(t)} for i, t in terms.items()]
    return int(call(conn, "pgrecall.complete_sparse", "a-model", json.dumps(items)))


def weights(conn: Connection[Any], memory_id: int, *words: str) -> list[float]:
    """Return the stored weight of each lexeme; 0 for one that is not there."""
    return [
        scalar(
            conn,
            "SELECT COALESCE((SELECT score FROM _pgrecall.sparse_score(%s, _pgrecall.sparse_vector(ARRAY[%s], ARRAY[1.0]))), 0)",
            memory_id,
            word,
        )
        for word in words
    ]


def explained(conn: Connection[Any], question: str, **settings: Any) -> list[dict[str, Any]]:
    found = rows(conn, "recall_explain", question, settings=Jsonb(settings))
    names = [
        column.name for column in conn.execute("SELECT * FROM recall_explain('x') LIMIT 0").description or ()
    ]
    return [dict(zip(names, row, strict=True)) for row in found]


def test_a_word_that_the_memory_does_not_hold_finds_it_first(conn: Connection[Any]) -> None:
    boat = remember(conn, "We hired the dinghy again, from the harbour")
    report = remember(conn, "We signed the boat insurance again, for the office")
    complete(conn, {boat: {"dinghy": 1, "harbour": 0.9, "boat": 0.8}, report: {"insurance": 1, "boat": 0.2}})
    assert [row["id"] for row in explained(conn, "boat harbour", sparse_share=0.9)] == [boat, report]


def test_terms_are_analysed_as_the_words_of_the_memory_are(conn: Connection[Any]) -> None:
    one = remember(conn, "Lots of boats")
    assert complete(conn, {one: {"boats": 0.5, "boat": 0.75, "v17.2": 1, "the": 2, "Café": 0.5}}) == 1
    assert weights(conn, one, "boat", "17.2", "cafe", "the") == pytest.approx([0.75, 1, 0.5, 0], abs=1e-6)


def test_the_terms_with_the_highest_weights_are_kept(conn: Connection[Any]) -> None:
    one = remember(conn, "Many words")
    complete(conn, {one: {f"word{n}": n / 100 for n in range(1, 201)}})
    assert (
        scalar(conn, "SELECT cardinality(string_to_array(weights::text, ',')) FROM pgrecall.sparse_terms")
        == 128
    )
    assert weights(conn, one, "word200", "word73", "word72") == pytest.approx([2, 0.73, 0], abs=1e-6)


def test_a_memory_without_terms_counts_by_its_words(conn: Connection[Any]) -> None:
    with_terms, without = remember(conn, "The red boat is fast"), remember(conn, "The red boat is slow")
    complete(conn, {with_terms: {"red": 1, "boat": 1, "fast": 0.5}, without: {}})
    by_id = {row["id"]: row for row in explained(conn, "red boat")}
    one = by_id[without]
    assert one["sparse_weight"] == pytest.approx(0.5 * (one["lexical_weight"] + one["sparse_weight"]))
    assert one["sparse_part"] / one["sparse_weight"] == pytest.approx(
        one["lexical_part"] / one["lexical_weight"]
    )
    assert "sparse" in one["arithmetic"]


@pytest.mark.parametrize("settings", [{"sparse_share": 0}, {"fusion": "rrf"}, {"strategy": "fulltext"}])
def test_the_terms_can_be_left_out(conn: Connection[Any], settings: dict[str, Any]) -> None:
    one = remember(conn, "The red boat is fast")
    before = explained(conn, "red boat", **settings)
    complete(conn, {one: {"boat": 1}})
    assert explained(conn, "red boat", **settings)[0]["score"] == before[0]["score"]
    assert explained(conn, "red boat", **settings)[0]["sparse_weight"] == 0


def test_a_query_none_of_whose_words_is_stored_is_scored_by_the_terms(conn: Connection[Any]) -> None:
    ids = [remember(conn, text) for text in ("Our physician said so", "The tenant paid", "It rained")]
    complete(conn, {ids[0]: {"doctor": 1, "physician": 1}, ids[1]: {"rent": 1}, ids[2]: {"weather": 1}})
    for one in ids:
        embed(conn, one)
    vector = str([1.0] * 384)
    found = {
        row[0]: row[1:]
        for row in conn.execute(
            "SELECT id, lexical_weight, sparse_part, sparse_weight FROM recall_explain('doctor', %s::halfvec, ids => %s)",
            [vector, ids],
        )
    }
    assert found[ids[0]] == pytest.approx((0, 0.225 / 0.775, 0.225))
    assert found[ids[1]][1] == 0


def sparse_weights(conn: Connection[Any], question: str, vector: str, ids: list[int]) -> set[float]:
    query = "SELECT DISTINCT sparse_weight FROM recall_explain(%s, %s::halfvec, ids => %s)"
    return {weight for (weight,) in conn.execute(query, (question, vector, ids))}


def test_terms_that_say_nothing_take_no_weight(conn: Connection[Any]) -> None:
    ids = [remember(conn, text) for text in ("Our physician said so", "The tenant paid")]
    complete(conn, {ids[0]: {"doctor": 1, "physician": 1}})
    for one in ids:
        embed(conn, one)
    vector = str([1.0] * 384)
    for question in ("qqqzz wwwxx", "tenant", "天气"):
        assert sparse_weights(conn, question, vector, ids) == {0}
    [weight] = sparse_weights(conn, "doctor", vector, ids)
    assert weight == pytest.approx(0.225)


def test_a_long_query_without_spaces_is_answered(conn: Connection[Any]) -> None:
    one = remember(conn, "The red boat is fast")
    complete(conn, {one: {"boat": 1}})
    question = "boat " + "".join(chr(19968 + 7 * n % 20000) for n in range(10000))
    assert [row["id"] for row in explained(conn, question)] == [one]


@pytest.mark.parametrize("share", [0.5, 1])
def test_the_words_find_candidates_whatever_the_terms_have_of_their_weight(
    conn: Connection[Any], share: float
) -> None:
    one = remember(conn, "The red boat is fast")
    complete(conn, {one: {"boat": 1}})
    assert [row["id"] for row in explained(conn, "red", sparse_share=share)] == [one]


def test_a_namespace_without_terms_is_ranked_as_without_the_feature(conn: Connection[Any]) -> None:
    one = remember(conn, "The red boat is fast")
    complete(conn, {one: {"boat": 1}})
    call(conn, "pgrecall.create_namespace", "other")
    remember(conn, "The red boat is fast", namespace="other")
    found = conn.execute(
        "SELECT sparse_weight FROM recall_explain('red boat', namespace => 'other')"
    ).fetchall()
    assert found == [(0,)]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE pgrecall.memories SET content = 'It is blue' WHERE id = %s",
        "UPDATE pgrecall.memories SET title = 'A boat' WHERE id = %s",
        "UPDATE pgrecall.memories SET language = 'german' WHERE id = %s",
        "SELECT forget(%s)",
        "UPDATE pgrecall.memories SET is_sensitive = true WHERE id = %s",
    ],
)
def test_no_term_outlives_its_text(conn: Connection[Any], change: str) -> None:
    one = remember(conn, "The red boat is fast")
    complete(conn, {one: {"boat": 1}})
    conn.execute(change.encode(), [one])
    assert scalar(conn, "SELECT count(*) FROM pgrecall.sparse_terms") == 0
    if "is_sensitive" in change or "forget" in change:
        assert claim(conn) == {}
        assert scalar(conn, "SELECT count(*) FROM pgrecall.jobs") == 0
    else:
        assert complete(conn, {one: {"boat": 1}}) == 1


def test_terms_of_an_earlier_text_are_dropped(conn: Connection[Any]) -> None:
    one = remember(conn, "The red boat is fast")
    tickets = claim(conn)
    conn.execute("UPDATE pgrecall.memories SET content = 'It is blue' WHERE id = %s", [one])
    items = [{"memory_id": one, "ticket": tickets[one], "terms": {"boat": 1}}]
    assert call(conn, "pgrecall.complete_sparse", "a-model", json.dumps(items)) == 0
    assert scalar(conn, "SELECT count(*) FROM pgrecall.sparse_terms") == 0


def test_a_new_model_reads_the_memories_again(conn: Connection[Any]) -> None:
    one = remember(conn, "The red boat is fast")
    complete(conn, {one: {"boat": 1}})
    assert claim(conn) == {}
    assert call(conn, "pgrecall.reextract", None, "a-model", "sparse") == 0
    assert call(conn, "pgrecall.reextract", None, "another", "sparse") == 1
    assert complete(conn, {one: {"ship": 1}}) == 1
    assert weights(conn, one, "ship", "boat") == pytest.approx([1, 0])


def test_nothing_is_read_while_no_model_is_named(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_setting", "extract_sparse", "")
    remember(conn, "The red boat is fast")
    assert claim(conn) == {}
    assert scalar(conn, "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'sparse'") == 0


def test_weights_too_small_to_count_are_left_out(conn: Connection[Any]) -> None:
    one = remember(conn, "The red boat is fast")
    [(number, ticket)] = claim(conn).items()
    items = f'[{{"memory_id": {number}, "ticket": {ticket}, "terms": {{"boat": 1, "ship": 1e-60, "tar": 1e-400}}}}]'
    assert call(conn, "pgrecall.complete_sparse", "a-model", items) == 1
    assert weights(conn, one, "boat", "ship", "tar") == pytest.approx([1, 0, 0])


def test_an_item_with_a_wrong_ticket_is_not_stored_with_a_right_one(conn: Connection[Any]) -> None:
    one = remember(conn, "The red boat is fast")
    [(number, ticket)] = claim(conn).items()
    items = [
        {"memory_id": number, "ticket": ticket + 1, "terms": {"evil": 1}},
        {"memory_id": number, "ticket": ticket, "terms": {"boat": 1}},
    ]
    assert call(conn, "pgrecall.complete_sparse", "a-model", json.dumps(items)) == 1
    assert weights(conn, one, "boat", "evil") == pytest.approx([1, 0])


def test_nothing_waits_for_a_writer_for_long(conn: Connection[Any], dsn: str) -> None:
    one = remember(conn, "The red boat is fast")
    tickets = claim(conn)
    items = json.dumps([{"memory_id": one, "ticket": tickets[one], "terms": {"boat": 1}}])
    with psycopg.connect(dsn) as other:
        other.execute("SELECT FROM pgrecall.namespaces FOR UPDATE")
        assert call(conn, "pgrecall.complete_sparse", "a-model", items) == 0
    assert call(conn, "pgrecall.complete_sparse", "a-model", items) == 1


@pytest.mark.parametrize(
    ("terms", "sqlstate"),
    [
        ({"boat": 4}, "22023"),
        ({"boat": -1}, "22023"),
        ({"boat": "1"}, "22023"),
        ({"b" * 201: 1}, "22023"),
        (["boat"], "22023"),
        (None, "22023"),
        ({f"word{n}": 1 for n in range(501)}, "54000"),
    ],
)
def test_wrong_terms_are_refused(conn: Connection[Any], terms: Any, sqlstate: str) -> None:
    one = remember(conn, "The red boat is fast")
    tickets = claim(conn)
    with refused(conn, sqlstate):
        items = [{"memory_id": one, "ticket": tickets[one], "terms": terms}]
        call(conn, "pgrecall.complete_sparse", "a-model", json.dumps(items))


def test_words_share_no_dimension(conn: Connection[Any]) -> None:
    """28 bits: of 20,000 words a pair at most."""
    pairs = scalar(
        conn,
        "SELECT count(*) - count(DISTINCT _pgrecall.term_dimension('word' || n)) FROM generate_series(1, 20000) n",
    )
    assert pairs <= 3


FOREIGN = {
    "sparse_terms": "INSERT INTO pgrecall.sparse_terms SELECT -n, %s, '{1:1}/268435456' FROM generate_series(1, 5000) n",
    "passages": (
        "INSERT INTO pgrecall.passages (memory_id, generation_id, number, namespace_id, starts_at, ends_at, embedding) "
        "SELECT -n, 1, 1, %s, 0, 1, '[1]' FROM generate_series(1, 5000) n"
    ),
}


@pytest.mark.parametrize("table", FOREIGN)
@pytest.mark.parametrize("name", ["a", "z"])
def test_a_namespace_without_them_reads_none_of_another(conn: Connection[Any], table: str, name: str) -> None:
    """By equality the planner may read a table from its beginning, if few namespaces have rows in it."""
    for namespace in ("a", "m", "z"):
        call(conn, "pgrecall.create_namespace", namespace)
    remember(conn, "The red boat", namespace=name)
    conn.execute("SET session_replication_role = replica")
    conn.execute("DROP INDEX IF EXISTS pgrecall.passages_embedding_idx")
    conn.execute(FOREIGN[table].encode(), [scalar(conn, "SELECT pgrecall.namespace_id('m')")])
    conn.execute("RESET session_replication_role")
    conn.execute(f"VACUUM ANALYZE pgrecall.{table}".encode())
    read = f"SELECT pg_stat_get_xact_tuples_returned('pgrecall.{table}'::regclass)"
    with conn.transaction():
        for _ in range(8):
            assert len(rows(conn, "recall", "red boat", str([1.0] * 384), namespace=name)) == 1
        assert scalar(conn, read) == 0
