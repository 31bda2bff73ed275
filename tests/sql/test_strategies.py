"""Strategies: what each finds, how it is ordered, and what auto chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.memories import refused, scalar
from support.ranking import NORTH, at, ids, recalled, remember, scores

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

EXACT = [
    # quotations
    '"night shift report"', 'who said "never again"?', "the song “Yellow Submarine”", "wer sagte „nie wieder“", "«déjà vu» album",
    # versions
    "17.2", "what changed in 17.2?", "v2.0.1-rc1", "upgrade from 3.11.7 to 3.12.1", "wheels for version 3.12 of python", "v1.2", "postgres 9.6.24",
    "release 2.0.0b3", "(1.4.2)", "192.168.0.1", "1.500.000.2",
    # paths
    "/usr/local/lib", "~/.config/app.toml", "src/main.rs", "./run/me.sh", "where is tests/conftest.py", r"C:\Windows\System32",
    r"share\docs", "/etc/hosts", "../shared/data",
    # identifiers
    "get_user_name", "getUserName", "what does parseTimeFrame return", "std::vector", "main()", "max_connections = 100",
    "__init__", "XMLHttpRequest", "class LexicalQueryReader",
    # issue keys, names of accounts, addresses
    "PROJ-123", "state of AB-12", "#4711", "fixed in #12?", "CVE-2024-3094", "https://example.org/a?b=c", "ftp://host",
    "anna@example.org", "mail from anna.b@mail.example.org", "ask @priya",
]  # fmt: skip

PLAIN = [
    "where did we go on vacation", "What is her favourite tea?", "it rained. We left. He stayed.", "I met Dr. Smith yesterday.",
    "how many people live there, 3.5 million?", "about 3.5 million people", "it cost 2.50 euros", "a rise of 1.5 percent",
    "some fruit, e.g. apples", "that is, i.e. never", "at 7 p.m. or 8.30 in the evening", "it's o'clock", "don't you know Priya's brother",
    "St. John's in Newfoundland", "the U.S. economy", "John F. Kennedy", "tea and/or coffee", "he/she said so", "24/7 service",
    "in 2024/25", "on 12/05/2024", "the 9-to-5 job", "F-16 planes", "mother-in-law", "an iPhone and an eBay seller",
    "McDonald's", "what did DeAndre say", "", "   ", "?", "…", "80% of them", "R&D costs", "AT&T", "half past 10.", "He is 6' 2\" tall", "No. 5",
    "the year 1999.", "3.14 is pi", "was war am 12.05.2024", "1.500.000 Menschen", "mum/dad/kids", "PowerPoint and macOS",
]  # fmt: skip


def test_what_is_meant_to_the_letter(conn: Connection[Any]) -> None:
    judged = {query: scalar(conn, "SELECT pgrecall.is_exact_query(%s)", query) for query in [*EXACT, *PLAIN]}
    assert [query for query, is_exact in judged.items() if is_exact] == EXACT
    assert scalar(conn, "SELECT pgrecall.is_exact_query(NULL) IS NOT TRUE") is True


# --- what each finds -------------------------------------------------------------------------------------------------


@pytest.fixture
def yard(conn: Connection[Any]) -> dict[str, int]:
    """Words, vectors and concepts that say different things; the second lies next to the first in a session."""
    return {
        "words": remember(conn, "harbour crane report", at(0.1), session="s", position=1),
        "beside": remember(conn, "a wet dog", session="s", position=2),
        "both": remember(conn, "crane in the yard of the old town", at(0.8), tags=["anemone"]),
        "vector": remember(conn, "an owl", at(0.95)),
        "concept": remember(conn, "yew", tags=["anemone"]),
        "opposite": remember(conn, "crane fog wax", at(-0.6)),
    }


def named(yard: dict[str, int], found: list[dict[str, Any]]) -> list[str]:
    return [next(name for name in yard if yard[name] == number) for number in ids(found)]


@pytest.mark.usefixtures("dsn")
def test_vector_is_by_similarity_alone(conn: Connection[Any], yard: dict[str, int]) -> None:
    found = recalled(conn, "harbour crane report", NORTH, strategy="vector")
    assert named(yard, found) == ["vector", "both", "words", "opposite"]
    assert [row["score"] for row in found] == pytest.approx([max(row["similarity"], 0) for row in found])
    assert [row["dense_rank"] for row in found] == [1, 2, 3, 4]
    assert {row["chosen_strategy"] for row in found} == {"vector"}
    assert ids(recalled(conn, None, NORTH, strategy="vector")) == ids(found)
    with refused(conn, "22023"):
        recalled(conn, "crane", strategy="vector")


def test_fulltext_is_the_lexical_leg_alone(conn: Connection[Any], yard: dict[str, int]) -> None:
    found = recalled(conn, "harbour crane report", NORTH, strategy="fulltext")
    assert named(yard, found) == ["words", "opposite", "both"]
    assert [row["lexical_rank"] for row in found] == [1, 2, 3]
    assert scores(found) == scores(recalled(conn, "harbour crane report", strategy="fulltext"))
    assert recalled(conn, "unheard", NORTH, strategy="fulltext") == []
    assert recalled(conn, None, NORTH, strategy="fulltext") == []


@pytest.mark.parametrize("mode", ["ts_rank", "prefix"])
def test_every_word_comes_before_some_whatever_the_fusion(conn: Connection[Any], mode: str) -> None:
    every = remember(conn, "an old harbour behind that long wall, and a crane", importance=0)
    some = remember(conn, "crane crane crane", importance=1)
    settings = {"lexical_mode": mode}
    for options in ({"fusion": "cc"}, {"fusion": "rrf"}, {"strategy": "fulltext"}):
        found = ids(recalled(conn, "harbour crane", settings=settings, **options))
        assert found == ([every, some] if mode == "ts_rank" else [every])


def test_prefilter_orders_what_the_words_find_by_the_vector(
    conn: Connection[Any], yard: dict[str, int]
) -> None:
    found = recalled(conn, "harbour crane report", NORTH, strategy="prefilter")
    assert named(yard, found) == ["both", "words", "opposite"]
    assert [row["score"] for row in found] == pytest.approx([max(row["similarity"], 0) for row in found])
    # No deeper than the words' first, however near the others are; never fewer than k.
    assert named(
        yard,
        recalled(
            conn, "harbour crane report", NORTH, k=1, strategy="prefilter", settings={"prefilter_depth": 1}
        ),
    ) == ["words"]
    assert (
        len(
            recalled(
                conn,
                "harbour crane report",
                NORTH,
                k=3,
                strategy="prefilter",
                settings={"prefilter_depth": 1},
            )
        )
        == 3
    )
    without = recalled(conn, "harbour crane report", strategy="prefilter")
    assert ids(without) == ids(recalled(conn, "harbour crane report", strategy="fulltext"))
    assert {row["chosen_strategy"] for row in without} == {"fulltext"}


def test_prefilter_takes_a_hundred_by_default(conn: Connection[Any]) -> None:
    words = [
        remember(conn, f"crane {'crane ' * (120 - place)}", at(0.1 + place / 1000)) for place in range(120)
    ]
    found = recalled(conn, "crane", NORTH, strategy="prefilter", settings={"leg_depth": 20})
    by_words = ids(recalled(conn, "crane", strategy="fulltext", k=100))
    assert ids(found) == sorted(by_words, key=words.index, reverse=True)[:10]
    assert words[-1] not in by_words


def test_hybrid_finds_by_all_of_them(conn: Connection[Any], yard: dict[str, int]) -> None:
    found = recalled(conn, "harbour crane report", NORTH, strategy="hybrid")
    assert set(named(yard, found)) == set(yard)
    assert scores(found) == scores(recalled(conn, "harbour crane report", NORTH))
    assert {row["chosen_strategy"] for row in found} == {"hybrid"}


@pytest.mark.parametrize(
    ("query", "chosen"), [("harbour crane report", "hybrid"), ('"harbour crane report"', "exact")]
)
def test_auto_says_what_it_chose(
    conn: Connection[Any], yard: dict[str, int], query: str, chosen: str
) -> None:
    """The words of an exact query count four times as much against the vector."""
    found = recalled(conn, query, NORTH, strategy="auto")
    assert {row["chosen_strategy"] for row in found} == {chosen}
    assert set(named(yard, found)) == set(yard)
    weight = 0.25 if chosen == "exact" else 1
    by_hand = recalled(conn, query, NORTH, strategy="hybrid", settings={"dense_weight": weight})
    assert ids(found) == ids(by_hand)
    assert scores(found) == scores(by_hand)
    if chosen == "exact":
        assert scores(found) != scores(recalled(conn, query, NORTH, strategy="hybrid"))


# --- the order that a strategy promises ------------------------------------------------------------------------------


def _crowd(conn: Connection[Any]) -> list[int]:
    """Memories whose words, speakers, concepts, sessions and lengths say another order than their vectors."""
    for place in range(12):
        remember(
            conn,
            f"Anna said tea {'tea ' * (11 - place)}" if place % 2 else f"owl number {place}",
            at(round(0.97 - 0.08 * place, 2)),
            speaker=("Anna", "Ben")[place % 3 == 0],
            session="s",
            position=place + 1,
            tags=["Anna"] if place > 6 else [],
        )
    long = remember(conn, " ".join(f"Sentence {n} of a long memory about tea." for n in range(120)), at(0.9))
    conn.execute("ANALYZE pgrecall.memories")
    return [long]


@pytest.mark.parametrize("query", ["what did Anna say about tea", "owl number 4", '"tea tea"', "Ben"])
@pytest.mark.parametrize("strategy", ["vector", "prefilter"])
def test_by_the_vector_means_in_the_order_of_the_cosine(
    conn: Connection[Any], query: str, strategy: str
) -> None:
    _crowd(conn)
    found = recalled(conn, query, NORTH, k=20, strategy=strategy)
    cosines = [row["similarity"] for row in found]
    assert len(cosines) > 1 or strategy == "prefilter"
    assert cosines == sorted(cosines, reverse=True)
    assert [row["score"] for row in found] == pytest.approx(cosines, abs=1e-4)


@pytest.mark.parametrize("query", ["what did Anna say about tea", "owl number 4", "Ben said tea"])
def test_fulltext_means_in_the_order_of_the_words(conn: Connection[Any], query: str) -> None:
    _crowd(conn)
    found = recalled(conn, query, NORTH, k=20, strategy="fulltext")
    ranks = [row["lexical_rank"] for row in found]
    assert ranks == sorted(ranks)
    assert all(row["dense_rank"] is None and row["graph_rank"] is None for row in found)
