"""recall(): fusion, legs, filters, namespaces, settings, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psycopg import Connection

pytestmark = pytest.mark.rollback

COLUMNS = (
    "id, external_id, title, content, score, lexical_rank, dense_rank, graph_rank, lexical_score, similarity, "
    "graph_score, category, tags, metadata, importance, speaker, session, source, occurred_at, created_at, is_sensitive, "
    "chosen_strategy, duplicates, passage, confidence, origin, namespace_name"
)


def remember(conn: Connection[Any], content: str, embedding: str | None = None, **options: object) -> int:
    names = ", ".join(f'"{name}" => %({name})s' for name in options)
    query = f"SELECT remember(%(content)s{', ' + names if names else ''})"
    (number,) = conn.execute(query.encode(), {"content": content, **options}).fetchone() or (0,)
    if embedding is not None:
        conn.execute("UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", (embedding, number))
    return int(number)


def recall(conn: Connection[Any], query: str | None, columns: str = "id", **options: object) -> list[Any]:
    names = "".join(f", {name} => %({name})s" for name in options)
    text = f"SELECT {columns} FROM recall(%(query)s{names})"
    rows = conn.execute(text.encode(), {"query": query, **options}).fetchall()
    return [row[0] for row in rows] if "," not in columns else rows


def unit(*places: int) -> str:
    """A 384-dimensional vector with ones at some places, as text."""
    return str([1.0 if place in places else 0.0 for place in range(384)])


def blend(first: int, second: int, share: float) -> str:
    """A vector between two unit vectors: the larger the share, the nearer to the second."""
    return str([1 - share if p == first else share if p == second else 0.0 for p in range(384)])


def test_returns_the_promised_columns(conn: Connection[Any]) -> None:
    remember(conn, "tea with milk")
    cursor = conn.execute("SELECT * FROM recall('tea')")
    assert cursor.description is not None
    assert [column.name for column in cursor.description] == COLUMNS.split(", ")


def test_is_stable_and_runs_in_a_read_only_transaction(conn: Connection[Any]) -> None:
    number = remember(conn, "tea with milk", tags=["tea"])
    with conn.transaction():
        conn.execute("SET TRANSACTION READ ONLY")
        assert recall(conn, "tea", query_vec=unit(1)) == [number]
    rows = conn.execute(
        "SELECT provolatile, proparallel FROM pg_proc WHERE oid = 'recall'::regproc"
    ).fetchall()
    assert rows == [("s", "r")]


def test_score_is_the_sum_of_weight_over_k_plus_rank(conn: Connection[Any]) -> None:
    for place in range(6):
        remember(
            conn,
            f"harbour note number {place}",
            blend(1, 2, place / 10),
            tags=["boat", f"pier {place % 2}"],
            occurred_at=f"2024-01-{9 - place:02}",  # none of them is a newer statement that goes first
        )
    conn.execute("SET pgrecall.fusion = 'rrf'")
    conn.execute("SET pgrecall.rrf_k = 20")
    conn.execute("SET pgrecall.lexical_weight = 0.5")
    conn.execute("SET pgrecall.dense_weight = 2")
    conn.execute("SET pgrecall.graph_weight = 0")
    conn.execute("SET pgrecall.phrase_bonus = 0")
    rows = recall(conn, "harbour note", "score, lexical_rank, dense_rank", query_vec=unit(1))
    assert len(rows) == 6
    for score, *ranks in rows:
        weights = (0.5, 2.0)
        expected = sum(w / (20 + r) for w, r in zip(weights, ranks, strict=True) if r is not None)
        assert score == pytest.approx(expected, abs=1e-12)
    assert {row[2] for row in rows} == set(range(1, 7))
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)


def test_without_vector_and_concepts_the_order_is_the_lexical_order(conn: Connection[Any]) -> None:
    words = ["harbour", "crane", "night", "shift", "report"]
    for place in range(40):
        text = " ".join(words[: place % 5 + 1]) + f" entry {place}"
        # None of them is a newer statement that goes first.
        remember(conn, text, importance=(place % 7) / 7, occurred_at=f"{2024 - place}-01-01")
    query = "harbour crane night shift report"
    lexical = conn.execute(
        """
        SELECT l.id
        FROM _pgrecall.resolve_granted(%s, NULL, NULL, NULL) q
        CROSS JOIN LATERAL _pgrecall.lexical_leg(q.namespace_id, q.parsed, NULL, 50) l
        ORDER BY l.rank
        """,
        (query,),
    ).fetchall()
    assert recall(conn, query, k=40) == [row[0] for row in lexical]
    assert len(lexical) == 40


def test_memories_with_every_word_come_before_those_with_some(conn: Connection[Any]) -> None:
    some = remember(conn, "crane crane crane", importance=1.0)
    every = remember(conn, "a crane stood somewhere in that old harbour of ours", importance=0.0)
    assert recall(conn, "harbour crane") == [every, some]


def test_some_of_the_words_need_the_minimum_rank(conn: Connection[Any]) -> None:
    conn.execute("SET pgrecall.lexical_mode = 'ts_rank'")
    every = remember(conn, "harbour crane")
    some = remember(conn, "only a crane")
    assert recall(conn, "harbour crane") == [every, some]
    conn.execute("SET pgrecall.lexical_min_rank = 0.9")
    assert recall(conn, "harbour crane") == [every]


def test_lexical_score_is_that_of_the_older_service(conn: Connection[Any]) -> None:
    conn.execute("SET pgrecall.lexical_mode = 'ts_rank'")
    remember(conn, "harbour crane", importance=0.8)
    ((score, rank),) = conn.execute(
        """
        SELECT r.lexical_score, ts_rank(m.search_vector, plainto_tsquery('english', 'harbour'))
        FROM recall('harbour') r JOIN pgrecall.memories m USING (id)
        """
    ).fetchall()
    assert score == pytest.approx(0.7 * rank + 0.3 * 0.8, abs=1e-6)


def test_similarity_is_the_cosine_also_for_what_other_legs_found(conn: Connection[Any]) -> None:
    remember(conn, "harbour", blend(1, 2, 0.25))
    (similarity,) = recall(conn, "harbour", "similarity", query_vec=unit(1))
    assert similarity == pytest.approx(0.75 / (0.75**2 + 0.25**2) ** 0.5, abs=1e-3)
    assert recall(conn, "harbour", "similarity") == [None]


def test_dense_hits_need_no_word_in_common(conn: Connection[Any]) -> None:
    near = remember(conn, "completely other words", unit(1))
    far = remember(conn, "nothing in common", unit(2))
    rows = recall(conn, "harbour", "id, lexical_rank, dense_rank", query_vec=blend(1, 2, 0.1))
    assert rows == [(near, None, 1), (far, None, 2)]


def test_a_memory_found_by_the_graph_alone_reaches_the_top_ten(conn: Connection[Any]) -> None:
    remember(conn, "the sloop needs a new mast", tags=["Anemone"])
    hidden = remember(conn, "Rixmann yard opens again after winter", tags=["Anemone"])
    for place in range(8):
        remember(conn, f"mast number {place} was sold")
    rows = recall(conn, "sloop mast", "id, lexical_rank, dense_rank, graph_rank")
    assert (hidden, None, None, 1) in rows


def test_the_graph_s_weight_decides_how_far_up_it_reaches_among_full_legs(conn: Connection[Any]) -> None:
    remember(conn, "the sloop needs a new mast", unit(1), tags=["Anemone"])
    hidden = remember(conn, "Rixmann yard opens again after winter", unit(300), tags=["Anemone"])
    for place in range(60):  # more than a leg is deep, all of them nearer in words and vectors
        remember(conn, f"mast number {place} was sold", blend(1, 2, 0.2 + place / 1000))
    assert hidden not in recall(conn, "sloop mast", query_vec=unit(1))
    conn.execute("SET pgrecall.graph_weight = 4")
    rows = recall(conn, "sloop mast", "id, lexical_rank, dense_rank, graph_rank", query_vec=unit(1))
    assert [(number, *ranks) for number, *ranks in rows][1] == (hidden, None, None, 1)


def test_the_query_itself_names_concepts(conn: Connection[Any]) -> None:
    linked = remember(conn, "deposit for the beach house", tags=["Goa trip"])
    remember(conn, "unrelated")
    conn.execute("UPDATE pgrecall.mentions SET is_about = true WHERE memory_id = %s", (linked,))
    remember(conn, "what about the trip to Goa?")
    rows = recall(conn, "what about the goa-trip?", "id, graph_rank")
    assert (linked, 1) in rows
    rows = recall(conn, "GOA TRIP", "id, graph_rank")
    assert (linked, 1) in rows


def test_each_hop_reaches_further(conn: Connection[Any]) -> None:
    remember(conn, "sloop", tags=["ann"])
    chain = [remember(conn, f"link {tags}", tags=tags) for tags in (["ann", "bob"], ["bob", "cem"], ["cem"])]
    for hops in range(4):
        conn.execute("SELECT set_config('pgrecall.graph_hops', %s, false)", (str(hops),))
        assert set(recall(conn, "sloop")).intersection(chain) == set(chain[:hops])


def test_hubs_and_singletons_link_nothing_but_what_is_about_them(conn: Connection[Any]) -> None:
    seed = remember(conn, "sloop", tags=["hub", "singleton"])
    others = [remember(conn, f"other {place}", tags=["hub"]) for place in range(12)]
    conn.execute("SET pgrecall.hub_max_mentions = 12")
    assert recall(conn, "sloop") == [seed]
    conn.execute("UPDATE pgrecall.mentions SET is_about = true WHERE memory_id = %s", (others[3],))
    assert recall(conn, "sloop") == [seed, others[3]]
    conn.execute("SET pgrecall.hub_max_mentions = 13")
    assert len(recall(conn, "sloop")) == 10


def test_weight_zero_turns_a_leg_off(conn: Connection[Any]) -> None:
    remember(conn, "sloop", tags=["ann"])
    remember(conn, "other", tags=["ann"])
    conn.execute("SET pgrecall.graph_weight = 0")
    assert len(recall(conn, "sloop")) == 1


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"categories": ["work"]}, {"a"}),
        ({"categories": ["work", "home"]}, {"a", "b"}),
        ({"tags_any": ["red", "blue"]}, {"a", "b"}),
        ({"tags_all": ["red", "green"]}, {"a"}),
        ({"metadata_contains": '{"place": {"city": "Goa"}}'}, {"b"}),
        ({"since": "2025-02-01 UTC"}, {"b", "c"}),
        ({"until": "2025-02-01 UTC"}, {"a"}),
        ({"since": "2025-01-01 UTC", "until": "2025-01-01 UTC"}, set()),
        ({"categories": []}, {"a", "b", "c"}),  # no condition
        ({}, {"a", "b", "c"}),
    ],
)
def test_filters(conn: Connection[Any], options: dict[str, Any], found: set[str]) -> None:
    remember(
        conn,
        "tea one",
        unit(1),
        external_id="a",
        category="work",
        tags=["red", "green"],
        occurred_at="2025-01-01 UTC",
    )
    remember(
        conn, "tea two", unit(1), external_id="b", category="home", tags=["blue"], occurred_at="2025-02-01 UTC",
        metadata='{"place": {"city": "Goa", "zip": 1}}',
    )  # fmt: skip
    remember(conn, "tea three", unit(1), external_id="c")  # happened when it was stored: now
    for vector in (None, unit(1)):
        assert set(recall(conn, "tea", "external_id", query_vec=vector, **options)) == found


def test_filters_come_before_limits(conn: Connection[Any]) -> None:
    for place in range(120):
        remember(conn, "tea tea tea", unit(1), importance=1.0, category="common", tags=[f"t{place}"])
    wanted = {
        remember(conn, f"tea, a longer text with number {place}", unit(2), category="rare")
        for place in range(7)
    }
    assert set(recall(conn, "tea", query_vec=unit(1), categories=["rare"])) == wanted


def test_superseded_memories_come_back_only_if_asked_for(conn: Connection[Any]) -> None:
    old = remember(conn, "Priya lives in Goa", unit(1))
    (new,) = conn.execute("SELECT supersede(%s, 'Priya lives in Kerala')", (old,)).fetchone() or (0,)
    assert recall(conn, "Priya lives", query_vec=unit(1)) == [new]
    assert set(recall(conn, "Priya lives", query_vec=unit(1), include_superseded=True)) == {old, new}


def test_forgotten_memories_do_not_come_back_by_any_leg(conn: Connection[Any]) -> None:
    seed = remember(conn, "sloop", unit(1), tags=["ann"])
    gone = remember(conn, "sloop too", unit(1), tags=["ann"])
    conn.execute("SELECT forget(%s)", (gone,))
    assert recall(conn, "sloop", query_vec=unit(1), include_superseded=True) == [seed]


def test_sensitive_memories_are_found_by_their_words_alone(conn: Connection[Any]) -> None:
    secret = remember(conn, "the sloop's alarm code", is_sensitive=True, tags=["boat"])
    remember(conn, "sloop", unit(1), tags=["boat"])
    rows = recall(
        conn, "alarm code", "id, lexical_rank, dense_rank, graph_rank, is_sensitive", query_vec=unit(1)
    )
    assert (secret, 1, None, None, True) in rows


def test_searches_exactly_one_namespace(conn: Connection[Any]) -> None:
    first = remember(conn, "tea", unit(1), tags=["ann"], namespace="one", create_namespace=True)
    second = remember(conn, "tea", unit(1), tags=["ann"], namespace="two", create_namespace=True)
    third = remember(conn, "tea", unit(1), tags=["ann"])
    assert recall(conn, "tea a", query_vec=unit(1), namespace="one") == [first]
    assert recall(conn, "tea a", query_vec=unit(1)) == [third]
    conn.execute("SET pgrecall.namespace = 'two'")
    assert recall(conn, "tea a", query_vec=unit(1)) == [second]
    assert recall(conn, "tea a", query_vec=unit(1), namespace="one") == [first]
    conn.execute("SET pgrecall.namespace = ''")
    assert recall(conn, "tea a", query_vec=unit(1)) == [third]
    assert recall(conn, "tea", query_vec=unit(1), namespace="nowhere") == []


def test_queries_are_read_in_the_namespace_s_language(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.create_namespace('de', 'german')")
    number = remember(conn, "Die Häuser am Hafen", namespace="de")
    assert recall(conn, "Haus", namespace="de") == [number]


@pytest.mark.parametrize("query", ["the and of", "a & | ! (", "!!!", "🙂🙂", "''\\ : * <->", "\t \n x"])
def test_odd_queries_are_no_error(conn: Connection[Any], query: str) -> None:
    number = remember(conn, "tea", unit(1))
    assert recall(conn, query) == []
    assert recall(conn, query, query_vec=unit(1)) == [number]


def test_operators_in_a_query_are_words(conn: Connection[Any]) -> None:
    number = remember(conn, "rock and roll")
    assert recall(conn, "rock & !roll") == [number]
    assert recall(conn, "it's o'clock | rock") == [number]
    assert recall(conn, r"rock \ 'roll") == [number]


def test_a_vector_alone_is_enough(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", unit(1))
    for query in (None, "", "  "):
        assert recall(conn, query, query_vec=unit(1)) == [number]


@pytest.mark.parametrize(
    ("query", "options", "state", "says"),
    [
        ("tea", {"k": 0}, "22023", '^k cannot be "0"'),
        ("tea", {"k": -1}, "22023", '^k cannot be "-1"'),
        ("tea", {"k": 100_000}, "22023", '^k cannot be "100000"'),
        ("", {}, "22023", "the query is empty and there is no vector"),
        (" \n", {}, "22023", "the query is empty and there is no vector"),
        (None, {}, "22023", "the query is empty and there is no vector"),
        ("\u200b \ufeff", {}, "22023", "the query is empty and there is no vector"),
        ("\ufe0f\u2060", {}, "22023", "the query is empty and there is no vector"),
        ("\x01\x9f", {}, "22023", "the query is empty and there is no vector"),
        ("x" * 100_000, {}, "54000", "16384"),
        ("tea", {"query_vec": "[1,2,3]"}, "22023", "3 dimensions, the memories' embeddings have 384"),
        ("tea", {"query_vec": str([0.0] * 384)}, "22023", "zero"),
    ],
)
def test_refuses(
    conn: Connection[Any], query: str | None, options: dict[str, Any], state: str, says: str
) -> None:
    with pytest.raises(psycopg.Error, match=says) as caught:
        recall(conn, query, **options)
    assert caught.value.sqlstate == state
    assert caught.value.diag.message_hint


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_pgvector_itself_refuses_vectors_that_are_not_finite(conn: Connection[Any], value: str) -> None:
    with pytest.raises(psycopg.DataError):
        recall(conn, "tea", query_vec=f"[{value}{',0' * 383}]")


def test_sixteen_thousand_characters_are_a_query(conn: Connection[Any]) -> None:
    number = remember(conn, "tea")
    assert recall(conn, "tea " + " ".join(f"word{n}" for n in range(1900))[:16000]) == [number]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rrf_k", "0"),
        ("rrf_k", "abc"),
        ("leg_depth", "1.5"),
        ("graph_weight", "-1"),
        ("graph_hops", "4"),
        ("rrf_k", "NaN"),
    ],
)
def test_refuses_a_setting_naming_it(conn: Connection[Any], name: str, value: str) -> None:
    conn.execute("SELECT set_config(%s, %s, false)", (f"pgrecall.{name}", value))
    with pytest.raises(
        psycopg.errors.InvalidParameterValue, match=f'pgrecall.{name} cannot be "{value}"'
    ) as caught:
        recall(conn, "tea")
    assert "between" in (caught.value.diag.message_hint or "")


@pytest.mark.usefixtures("dsn")
def test_an_empty_setting_counts_as_unset(conn: Connection[Any]) -> None:
    number = remember(conn, "tea")
    with conn.transaction():
        conn.execute("SET LOCAL pgrecall.rrf_k = 5")
    assert conn.execute("SELECT current_setting('pgrecall.rrf_k', true)").fetchone() == ("",)
    assert recall(conn, "tea") == [number]


def test_leaves_the_caller_s_settings_alone(conn: Connection[Any]) -> None:
    remember(conn, "tea", unit(1))
    names = ("hnsw.ef_search", "hnsw.iterative_scan", "statement_timeout", "search_path", "enable_seqscan")
    with conn.transaction():
        conn.execute("SET LOCAL hnsw.ef_search = 77")
        before = [conn.execute("SELECT current_setting(%s)", (name,)).fetchone() for name in names]
        recall(conn, "tea", query_vec=unit(1))
        assert [conn.execute("SELECT current_setting(%s)", (name,)).fetchone() for name in names] == before
        assert before[0] == ("77",)


def test_works_under_any_search_path(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", unit(1), tags=["x"])
    conn.execute("SET search_path = ''")
    rows = conn.execute("SELECT id FROM public.recall('tea', %s::public.halfvec)", (unit(1),)).fetchall()
    assert rows == [(number,)]


def test_ties_break_by_id_and_the_same_call_gives_the_same_answer(conn: Connection[Any]) -> None:
    numbers = [remember(conn, "tea", unit(1)) for _ in range(20)]
    answers = {tuple(recall(conn, "tea", query_vec=unit(1), k=20)) for _ in range(5)}
    assert answers == {tuple(numbers)}


def test_fewer_results_are_a_prefix(conn: Connection[Any]) -> None:
    for place in range(30):
        remember(conn, f"tea number {place % 4}", blend(1, 2, place / 100), tags=[f"t{place % 9}"])
    whole = recall(conn, "tea number 2", query_vec=unit(1), k=30)
    for k in (1, 3, 10):
        assert recall(conn, "tea number 2", query_vec=unit(1), k=k) == whole[:k]


def test_k_beyond_the_depth_of_the_legs(conn: Connection[Any]) -> None:
    ids: Iterable[int] = [remember(conn, f"tea {place}", unit(1)) for place in range(130)]
    assert sorted(recall(conn, "tea", k=130)) == list(ids)
    assert sorted(recall(conn, "qqq", query_vec=unit(1), k=130)) == list(ids)
