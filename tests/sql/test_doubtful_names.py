"""The names that a language model is asked about: which they are, what its answer does, and whose they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from support.extraction import extract, mention, partition, wrong
from support.memories import call, remember, rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

FILLER = [f"{letter}{letter}{letter}" for letter in "abcdefghjklmnopqrstuwyz"]


def set_up(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.set_setting('extract_llm', 'on'), pgrecall.set_setting('llm_model', 'm')")


def vector(*values: float) -> str:
    return str([*values, *[0.0] * (384 - len(values))])


def embed(conn: Connection[Any], near: dict[str, str]) -> None:
    """Embed every name that waits: those of `near` as given, the others far from each other."""
    waiting = rows(conn, "pgrecall.unembedded_concepts", 1000)
    made = [
        near.get(name, vector(*[math.sin(3.0 + 7 * number * (place + 1)) for place in range(60)]))
        for number, name in waiting
    ]
    call(conn, "pgrecall.embed_concepts", [row[0] for row in waiting], made, [row[1] for row in waiting])


NEAR = {"svelte": vector(*[0.0] * 70, 1, 0.2), "sveltekit": vector(*[0.0] * 70, 1, 0.3)}


def doubts(conn: Connection[Any]) -> list[tuple[str, list[str]]]:
    return [(name, candidates) for _, name, _, candidates in rows(conn, "pgrecall.doubtful_names")]


def test_nobody_is_asked_without_a_language_model(conn: Connection[Any]) -> None:
    remember(conn, tags=["macaron", "macaroon"])
    call(conn, "pgrecall.resolve_concepts")
    assert doubts(conn) == []
    assert scalar(conn, "SELECT count(*) FROM pgrecall.name_doubts") == 0


def test_doubts_by_letters_and_by_embeddings(conn: Connection[Any]) -> None:
    set_up(conn)
    remember(conn, tags=["macaron", "macaroon", "svelte", "sveltekit", *FILLER])
    embed(conn, NEAR)
    while call(conn, "pgrecall.resolve_concepts"):
        pass
    assert [sorted([name, *others]) for name, others in doubts(conn)] == [
        ["macaron", "macaroon"],
        ["svelte", "sveltekit"],
    ]
    assert scalar(conn, "SELECT count(*) FROM pgrecall.concept_merges") == 0


def test_below_twenty_names_there_is_no_background(conn: Connection[Any]) -> None:
    set_up(conn)
    remember(conn, tags=["svelte", "sveltekit"])
    embed(conn, NEAR)
    call(conn, "pgrecall.resolve_concepts")
    assert doubts(conn) == []


def test_persons_numbers_and_paths_are_never_asked_about(conn: Connection[Any]) -> None:
    set_up(conn)
    kinds = {
        "marianne": ("PERSON", "phrase"), "marianna": ("PERSON", "phrase"),
        "macaron": ("CONCEPT", "identifier"), "macaroon": ("CONCEPT", "phrase"),
        "release 10": ("CONCEPT", "phrase"), "release 11": ("CONCEPT", "phrase"),
    }  # fmt: skip
    extract(conn, {remember(conn, n): {"mentions": [mention(n, t, source=s)]} for n, (t, s) in kinds.items()})
    call(conn, "pgrecall.resolve_concepts")
    assert doubts(conn) == []


def test_an_answer_merges_or_keeps_apart_and_is_asked_once(conn: Connection[Any]) -> None:
    set_up(conn)
    remember(conn, tags=["macaron", "macaroon", "cytosine", "cytosin", "shallot", "shalott"])
    call(conn, "pgrecall.resolve_concepts")
    with conn.transaction():
        conn.execute("SET LOCAL ROLE pgrecall_embedder")
        for number, name, ids, candidates in rows(conn, "pgrecall.doubtful_names"):
            same = ids[0] if name.startswith("shal") else None
            made = call(conn, "pgrecall.settle_names", number, ids, same, [name, candidates[0]])
            assert made is (same is not None)
        assert doubts(conn) == []
    conn.execute("RESET ROLE")
    assert ["shallot", "shalott"] in partition(conn)
    assert scalar(conn, "SELECT array_agg(method) FROM pgrecall.concept_merges") == ["llm"]
    conn.execute("UPDATE pgrecall.concepts SET resolved_at = NULL")
    while call(conn, "pgrecall.resolve_concepts"):
        pass
    assert doubts(conn) == []
    # It can be undone, and then stays so.
    call(conn, "pgrecall.split_concept", scalar(conn, "SELECT id FROM pgrecall.concept_merges"))
    while call(conn, "pgrecall.resolve_concepts"):
        pass
    assert doubts(conn) == []
    assert ["shallot"] in partition(conn)
    assert wrong(conn) == {}


def test_an_answer_about_names_that_have_another_type_by_now_merges_nothing(conn: Connection[Any]) -> None:
    set_up(conn)
    remember(conn, tags=["macaron", "macaroon"])
    call(conn, "pgrecall.resolve_concepts")
    [(number, name, ids, candidates)] = rows(conn, "pgrecall.doubtful_names")
    conn.execute(
        "UPDATE pgrecall.concepts SET type = CASE id WHEN %s THEN 'ORG' ELSE 'PERSON' END", (number,)
    )
    assert call(conn, "pgrecall.settle_names", number, ids, ids[0], [name, candidates[0]]) is False
    assert doubts(conn) == []


def test_only_a_listed_pair_of_unchanged_names_is_merged(conn: Connection[Any]) -> None:
    set_up(conn)
    remember(conn, tags=["macaron", "macaroon", "unrelated"])
    call(conn, "pgrecall.resolve_concepts")
    [(number, name, ids, candidates)] = rows(conn, "pgrecall.doubtful_names")
    stranger = scalar(conn, "SELECT id FROM pgrecall.concepts WHERE key = 'unrelated'")
    assert (
        call(conn, "pgrecall.settle_names", number, [*ids, stranger], stranger, [name, "unrelated"]) is False
    )
    assert scalar(conn, "SELECT count(*) FROM pgrecall.concept_merges") == 0
    conn.execute("UPDATE pgrecall.name_doubts SET asked_at = NULL")
    assert call(conn, "pgrecall.settle_names", number, ids, ids[0], [name, "an older name"]) is False
    assert call(conn, "pgrecall.settle_names", number, ids, ids[0], [name, candidates[0]]) is False
    assert scalar(conn, "SELECT count(*) FROM pgrecall.concept_merges") == 0


def test_questions_of_a_day_are_bounded(conn: Connection[Any]) -> None:
    set_up(conn)
    remember(conn, tags=["macaron", "macaroon"])
    call(conn, "pgrecall.resolve_concepts")
    assert len(doubts(conn)) == 1
    remember(conn, tags=[f"n{number}" for number in range(40)])
    conn.execute(
        "INSERT INTO pgrecall.name_doubts (namespace_id, concept_id, other_id, asked_at) "
        "SELECT a.namespace_id, a.id, b.id, now() - interval '1 hour' FROM pgrecall.concepts a "
        "JOIN pgrecall.concepts b ON a.id < b.id WHERE a.key ~ '^n[0-9]' AND b.key ~ '^n[0-9]' LIMIT 500"
    )
    assert doubts(conn) == []
    conn.execute(
        "UPDATE pgrecall.name_doubts SET asked_at = now() - interval '2 days' WHERE asked_at IS NOT NULL"
    )
    assert len(doubts(conn)) == 1


def test_names_of_another_namespace_change_nothing(conn: Connection[Any]) -> None:
    """Whatever another tenant calls things, this one's names are compared with each other alone."""
    set_up(conn)
    mine = ["kubernetes", "svelte", "sveltekit", "macaron"]
    for name in ("kubernetis", "kubernetess", "macaroon", "macarons", *FILLER):
        remember(conn, tags=[name], namespace="other", create_namespace=True)
    remember(conn, tags=mine)
    embed(conn, NEAR)
    while call(conn, "pgrecall.resolve_concepts"):
        pass
    own = "SELECT count(DISTINCT concept_id) FROM pgrecall.concept_aliases WHERE alias = ANY (%s)"
    assert scalar(conn, own, [mine]) == len(mine)
    # Their background is not ours either: we have too few names for one.
    across = """
        SELECT count(*) FROM pgrecall.name_doubts d
        JOIN pgrecall.concepts a ON a.id = d.concept_id JOIN pgrecall.concepts b ON b.id = d.other_id
        WHERE a.namespace_id <> b.namespace_id OR a.namespace_id = pgrecall.namespace_id('default')
    """
    assert scalar(conn, across) == 0
