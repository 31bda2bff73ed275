"""Which names are taken for one concept, and how names get their embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.extraction import extract, mention, partition, wrong
from support.memories import call, refused, remember, remember_many, rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

TEXTS = [
    "", "a", "ab", "Kitten", "sitting", "kitten", "word word", "two words", "words two", "Node.js", "c++", "naïve", "naive",
    "grösse", "größe", "москва", "moskva", "東京タワー", "東京", "x" * 100, "a1 b2", "the quick brown fox", "quick the fox",
]  # fmt: skip


def test_trigrams_are_those_of_pg_trgm(conn: Connection[Any]) -> None:
    query = "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm')"
    assert scalar(conn, query), "the embedded server and the image bring it along"
    conn.execute("CREATE EXTENSION pg_trgm SCHEMA public")
    query = """
        SELECT a, b FROM unnest(%s::text[]) a, unnest(%s::text[]) b
        WHERE abs(public.similarity(a, b) - _pgrecall.trigram_similarity(a, b)) > 1e-6
    """
    assert conn.execute(query, (TEXTS, TEXTS)).fetchall() == []


PLAIN = [
    ("dr jane miller", "jane miller"),
    ("prof dr jane miller", "jane miller"),
    ("dr miller", "dr miller"),
    ("acme inc", "acme"),
    ("acme co ltd", "acme"),
    ("inc", "inc"),
    ("café de flore", "cafe de flore"),
    ("jane miller jr", "jane miller jr"),
    ("", ""),
]


def test_plain_names(conn: Connection[Any]) -> None:
    assert [(name, call(conn, "_pgrecall.canonical_name", name)) for name, _ in PLAIN] == PLAIN


SAME = [
    ("acme", "acme inc", "ORG", "name"),
    ("jane miller", "dr jane miller", "PERSON", "name"),
    ("jose garcia", "josé garcía", "PERSON", "name"),
    ("massachusetts institute of technology", "massachussets institute of technology", "ORG", "spelling"),
    ("open source software foundation", "opensource software foundation", "ORG", "name"),
    ("Kubernetes", "Kubernetis", "TECHNOLOGY", "spelling"),
    ("front-end", "frontend", "CONCEPT", "name"),
    ("decision", "decisions", "CONCEPT", "plural"),
    ("user story", "user stories", "CONCEPT", "plural"),
    ("Дмитрий Орлов", "Dmitry Orlov", "PERSON", "name"),
    ("Jürgen Müller", "Juergen Mueller", "PERSON", "name"),
    ("HTML 5", "HTML5", "TECHNOLOGY", "name"),
]
DIFFERENT = [
    ("version 1.2", "version 1.3", "CONCEPT"),
    ("boeing 747", "boeing 757", "TECHNOLOGY"),
    ("queen elizabeth i of england", "queen elizabeth ii of england", "CONCEPT"),
    ("hepatitis virus vaccine trial a", "hepatitis virus vaccine trial b", "CONCEPT"),
    ("jon", "john", "PERSON"),
    ("mr miller", "mrs miller", "PERSON"),
    ("christina rodriguez hernandez", "christine rodriguez hernandez", "PERSON"),
    ("joseph smith", "joseph smith sr", "CONCEPT"),
    ("erikson", "erik erikson", "CONCEPT"),
    ("iran national football team results", "iraq national football team results", "CONCEPT"),
    ("GPT-3", "GPT-4", "TECHNOLOGY"),
    ("Python 2", "Python 3", "TECHNOLOGY"),
    ("release 1 2", "release 12", "CONCEPT"),
    ("Anna", "Anne", "PERSON"),
    ("Jan", "Jen", "CONCEPT"),
    ("Svelte", "SvelteKit", "TECHNOLOGY"),
    ("Adam", "Adams", "CONCEPT"),
    ("window", "Windows", "CONCEPT"),
    ("Wale", "Wales", "PLACE"),
    ("Austria", "Austrian", "PLACE"),
    ("sulfate", "sulfite", "CONCEPT"),
    ("Freiburg", "Freiberg", "PLACE"),
    ("adduction", "abduction", "CONCEPT"),
]


def test_names_that_mean_the_same(conn: Connection[Any]) -> None:
    for one, other, type_, method in SAME:
        with conn.transaction(force_rollback=True):
            # The setting stays as it is: what is asked here is what it lets through.
            found = {one: {"mentions": [mention(one, type_)]}, other: {"mentions": [mention(other, type_)]}}
            ids = {remember(conn, name): name for name in found}
            extract(conn, {number: found[name] for number, name in ids.items()})
            assert call(conn, "pgrecall.resolve_concepts") == 2
            names = sorted(call(conn, "pgrecall.normalize_name", name) for name in (one, other))
            assert partition(conn) == [names], (one, other)
            assert scalar(conn, "SELECT method FROM pgrecall.concept_merges") == method
            assert call(conn, "pgrecall.resolve_concepts") == 0
            assert wrong(conn) == {}


def test_names_that_do_not(conn: Connection[Any]) -> None:
    read = {}
    for one, other, type_ in DIFFERENT:
        for name in (one, other):
            read[remember(conn, name)] = {"mentions": [mention(name, type_)]}
    extract(conn, read)
    assert call(conn, "pgrecall.resolve_concepts") == len(DIFFERENT) * 2
    assert scalar(conn, "SELECT count(*) FROM pgrecall.concept_merges") == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type_": "FILE"}, {"type_": "FILE"}),
        ({"type_": "CONCEPT", "source": "identifier"}, {"type_": "CONCEPT"}),
        ({"type_": "CONCEPT"}, {"type_": "CONCEPT", "source": "url"}),
        ({"type_": "ORG"}, {"type_": "PLACE"}),
    ],
)
def test_kinds_that_are_never_merged(
    conn: Connection[Any], one: dict[str, Any], other: dict[str, Any]
) -> None:
    first, second = remember(conn, "1"), remember(conn, "2")
    extract(
        conn,
        {first: {"mentions": [mention("acme", **one)]}, second: {"mentions": [mention("acme inc", **other)]}},
    )
    assert call(conn, "pgrecall.resolve_concepts") == 2
    assert partition(conn) == [["acme"], ["acme inc"]]


def test_the_one_that_more_mention_stays_and_keeps_to_its_namespace(conn: Connection[Any]) -> None:
    for _ in range(3):
        remember(conn, tags=["Acme Inc"])
    remember(conn, tags=["Acme"])
    remember(conn, tags=["Acme"], namespace="other", create_namespace=True)
    assert call(conn, "pgrecall.resolve_concepts") == 3
    found = conn.execute("SELECT key FROM pgrecall.concepts ORDER BY namespace_id").fetchall()
    assert found == [("acme inc",), ("acme",)]


def test_a_split_is_not_taken_back(conn: Connection[Any]) -> None:
    remember(conn, tags=["acme", "acme inc"])
    call(conn, "pgrecall.resolve_concepts")
    call(conn, "pgrecall.split_concept", scalar(conn, "SELECT id FROM pgrecall.concept_merges"))
    assert call(conn, "pgrecall.resolve_concepts") > 0
    assert partition(conn) == [["acme"], ["acme inc"]]


def test_batches_go_through_everything_once(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": "x", "tags": [f"tag number {place}x"]} for place in range(25)])
    assert [call(conn, "pgrecall.resolve_concepts", 10) for _ in range(4)] == [10, 10, 5, 0]


def test_it_gives_way_to_who_writes(conn: Connection[Any], dsn: str) -> None:
    remember(conn, tags=["acme", "acme inc"])
    with psycopg.connect(dsn) as writer:
        remember(writer, tags=["acme"])
        assert call(conn, "pgrecall.resolve_concepts") == 0
        writer.commit()
    assert call(conn, "pgrecall.resolve_concepts") == 2
    assert partition(conn) == [["acme", "acme inc"]]


def vector(*values: float) -> str:
    return str([*values, *[0.0] * (384 - len(values))])


def test_merges_in_one_batch_follow_each_other(conn: Connection[Any]) -> None:
    remember(conn, tags=["Zürich", "Zurich", "Zuerich"])
    remember(conn, tags=["Zuerich"])
    call(conn, "pgrecall.resolve_concepts")
    assert partition(conn) == [["zuerich", "zurich", "zürich"]]
    assert wrong(conn) == {}


def test_a_chain_of_misspellings_does_not_join_its_ends(conn: Connection[Any]) -> None:
    """What merges by spelling is one edit from the main name, in one batch as in several."""
    chain = ["abcdefghijkl", "abxdefghijkl", "abxdyfghijkl", "abxdyfzhijkl", "abxdyfzhwjkl"]
    for _ in range(2):
        remember(conn, tags=chain[:1])
    for name in chain[1:]:
        remember(conn, tags=[name])
    while call(conn, "pgrecall.resolve_concepts", 2):
        pass
    joined = next(names for names in partition(conn) if chain[0] in names)
    assert set(joined) <= set(chain[:2])
    assert wrong(conn) == {}


def test_misspellings_stay_apart_where_the_setting_says_so(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.set_setting('resolve_spelling', 'off')")
    remember(conn, tags=["kubernetes cluster", "kubernetis cluster", "kubernetes clusters"])
    call(conn, "pgrecall.resolve_concepts")
    assert partition(conn) == [["kubernetes cluster", "kubernetes clusters"], ["kubernetis cluster"]]


def test_a_merged_name_brings_its_keys_and_a_split_one_takes_them(conn: Connection[Any]) -> None:
    remember(conn, tags=["acme", "globex"])
    call(conn, "pgrecall.resolve_concepts")
    ids = [scalar(conn, "SELECT id FROM pgrecall.concepts WHERE key = %s", key) for key in ("acme", "globex")]
    merge = call(conn, "pgrecall.merge_concepts", ids[0], ids[1])
    remember(conn, tags=["acme inc"])
    call(conn, "pgrecall.resolve_concepts")
    assert partition(conn) == [["acme", "acme inc", "globex"]]
    call(conn, "pgrecall.split_concept", merge)
    while call(conn, "pgrecall.resolve_concepts"):
        pass
    assert wrong(conn) == {}
    orphans = "SELECT count(*) FROM pgrecall.concept_keys k WHERE NOT EXISTS (SELECT FROM pgrecall.concepts c WHERE c.id = k.concept_id)"
    assert scalar(conn, orphans) == 0


def test_a_crowd_of_similar_names_costs_each_the_same(conn: Connection[Any]) -> None:
    """At most 20 candidates a key: the work grows with the names, not with their square."""
    names = [f"crowdname{one}{other}{last}" for one in "bcdfgh" for other in "aeiou" for last in "klmnp"]
    remember_many(conn, [{"content": "x", "tags": [name]} for name in names])
    while call(conn, "pgrecall.resolve_concepts"):
        pass
    most = """
        SELECT max(found.size) FROM pgrecall.concepts c
        CROSS JOIN LATERAL (SELECT count(*) AS size FROM _pgrecall.similar_names(c.namespace_id, c.id)) found
    """
    keys = "SELECT max(size) FROM (SELECT count(*) AS size FROM pgrecall.concept_keys GROUP BY concept_id) k"
    assert scalar(conn, most) <= 20 * scalar(conn, keys)


def test_embeddings_that_are_refused_or_too_late(conn: Connection[Any]) -> None:
    assert rows(conn, "pgrecall.unembedded_concepts") == []
    conn.execute("SELECT pgrecall.set_setting('extract_llm', 'on'), pgrecall.set_setting('llm_model', 'm')")
    remember(conn, tags=["ann", "bob"])
    ids = [row[0] for row in sorted(rows(conn, "pgrecall.unembedded_concepts"))]
    for given in ([vector(1)], [vector(1), "[1,2]"], [vector(1), None]):
        with refused(conn, "22023"):
            call(conn, "pgrecall.embed_concepts", ids, given)
    assert call(conn, "pgrecall.embed_concepts", ids, [vector(1), vector(0, 1)], ["ann", "old name"]) == 1
    assert call(conn, "pgrecall.embed_concepts", [10**12], [vector(1)]) == 0
