"""What is kept of a language model's expansions: for whom, for how long, how much, and what recall makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.expansion import added, explained, found, named
from support.memories import call, contents, refused, remember, rows, scalar, share
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

QUERY = "What did the canary sing?"


def keep(conn: Connection[Any], query: str, terms: list[str], **more: object) -> None:
    rows(conn, "pgrecall.cache_expansion", query, terms, **more)


def ask(conn: Connection[Any], query: str = QUERY, namespace: str | None = None) -> Any:
    (row,) = rows(conn, "pgrecall.prepare_expansion", query, namespace)
    return row


def kept(conn: Connection[Any]) -> int:
    return int(scalar(conn, "SELECT count(*) FROM pgrecall.query_expansions"))


def test_recall_reads_what_was_kept(conn: Connection[Any]) -> None:
    own = remember(conn, "The canary did sing at nine")
    other = remember(conn, "The bird gave us an aria")
    assert ask(conn) == (True, "english", None, None, None)
    assert found(conn, QUERY, "llm") == [own]
    keep(conn, QUERY, ["aria", "bird song"], intent="event")
    assert ask(conn) == (True, "english", ["aria", "bird song"], [], "event")
    assert found(conn, QUERY, "llm") == [own, other]
    assert found(conn, QUERY, "aliases") == found(conn, QUERY, "off") == [own]
    row = explained(conn, QUERY, "llm")[other]
    assert row["added_terms"] == ["aria", "bird song"]
    assert row["expansion_score"] == row["lexical_score"] > 0
    # Signs, case and spaces do not count; another question is another one.
    assert added(conn, "  what did THE canary sing ", "llm") == ["aria", "bird song"]
    assert added(conn, "What did the canary eat?", "llm") is None
    keep(conn, QUERY, ["melody"])
    assert ask(conn)[2:] == (["melody"], [], None)
    assert kept(conn) == 1


def test_arrays_of_arrays_are_kept_as_their_words(conn: Connection[Any]) -> None:
    statement = "SELECT pgrecall.cache_expansion(%s, '{{aria,song},{bird,air}}', {})"
    for entities, kept_ones in (
        ("'{Anna}'", ["Anna"]),
        ("'{{Anna},{Bert}}'", ["Anna", "Bert"]),
        ("'{}'", []),
    ):
        conn.execute(statement.replace("{})", f"{entities})").encode(), (QUERY,))
        assert ask(conn)[2:4] == (["aria", "song", "bird", "air"], kept_ones)


def test_another_language_is_another_expansion(conn: Connection[Any]) -> None:
    rows(conn, "pgrecall.create_namespace", "german", "german")
    remember(conn, "Das Gift wirkt", namespace="german")
    remember(conn, "A gift for Anna")
    keep(conn, "gift", ["present"])
    keep(conn, "gift", ["Toxin"], namespace="german")
    assert ask(conn, "gift")[1:3] == ("english", ["present"])
    assert ask(conn, "gift", "german")[1:3] == ("german", ["Toxin"])
    assert kept(conn) == 2


def test_names_that_are_meant_lead_the_graph(conn: Connection[Any]) -> None:
    """Less than names that are said, and not at all where the concept is not there."""
    about = remember(conn, "Room 12 has a leak", title="Taj Hotel", tags=["Taj Hotel"])
    remember(conn, "the hotel bill was paid by card")
    conn.execute("UPDATE pgrecall.mentions SET is_about = true WHERE memory_id = %s", (about,))
    query = "where did we stay by the gate"
    remember(conn, "we stay by the gate for the hotel")
    assert about not in found(conn, query, "llm")
    keep(conn, query, ["nobody says this"], entities=["Taj Hotel", "Nowhere Inn"])
    implied = explained(conn, query, "llm", ids=[about])[about]
    assert implied["graph_rank"] is not None
    assert implied["graph_part"] > 0
    said = explained(conn, f"{query} Taj Hotel", "off", ids=[about])[about]
    assert implied["graph_part"] < said["graph_part"] + said["lexical_part"]
    lighter = explained(conn, query, "llm", ids=[about], expansion_weight=0.1)[about]
    assert 0 < lighter["graph_part"] < implied["graph_part"]
    assert about not in found(conn, query, "llm", graph_weight=0)


def test_it_counts_for_a_while(conn: Connection[Any]) -> None:
    keep(conn, QUERY, ["aria"])
    remember(conn, "aria")
    conn.execute("UPDATE pgrecall.query_expansions SET made_at = made_at - interval '59 minutes'")
    assert added(conn, QUERY, "llm") == ["aria"]
    conn.execute("UPDATE pgrecall.query_expansions SET made_at = made_at - interval '2 minutes'")
    assert ask(conn)[2] is None
    assert found(conn, QUERY, "llm") == []
    rows(conn, "pgrecall.set_setting", "expansion_cache_age", "2 hours")
    assert added(conn, QUERY, "llm") == ["aria"]
    rows(conn, "pgrecall.set_setting", "expansion_cache_age", "1 hour")
    # The next to be kept takes what is too old away.
    keep(conn, "another question", ["answer"])
    assert kept(conn) == 1


def test_the_oldest_give_way(conn: Connection[Any]) -> None:
    rows(conn, "pgrecall.set_setting", "expansion_cache_size", "3")
    for number in range(5):
        keep(conn, f"question {number}", [f"answer{number}"])
    assert kept(conn) == 3
    assert [ask(conn, f"question {number}")[2] for number in range(5)] == [
        None, None, ["answer2"], ["answer3"], ["answer4"],
    ]  # fmt: skip
    # What another role keeps counts for itself.
    share(conn)
    with role(conn, "pgrecall_reader"):
        keep(conn, "question 9", ["answer9"])
    assert kept(conn) == 4


def test_the_embedders_upkeep_takes_what_is_too_old(conn: Connection[Any]) -> None:
    keep(conn, QUERY, ["aria"])
    with role(conn, "pgrecall_embedder"):
        assert call(conn, "pgrecall.purge_query_embeddings") == 0
    conn.execute("UPDATE pgrecall.query_expansions SET made_at = made_at - interval '2 hours'")
    with role(conn, "pgrecall_embedder"):
        assert call(conn, "pgrecall.purge_query_embeddings") == 1
    assert kept(conn) == 0


def test_nobody_reads_or_changes_what_others_keep(conn: Connection[Any]) -> None:
    remember(conn, "aria")
    share(conn)
    keep(conn, QUERY, ["aria"])
    for name in ("pgrecall_reader", "pgrecall_writer"):
        with role(conn, name):
            assert ask(conn)[2] is None
            assert found(conn, QUERY, "llm") == []
            keep(conn, QUERY, ["melody"])
            assert ask(conn)[2] == ["melody"]
            for forbidden in (
                "SELECT * FROM pgrecall.query_expansions",
                "DELETE FROM pgrecall.query_expansions",
                "SELECT _pgrecall.purge_expansions()",
                "INSERT INTO pgrecall.query_expansions (role, query_hash, language, terms) "
                "VALUES ('pgrecall_admin', sha256('x'), 'english', '{x}')",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    conn.execute(forbidden.encode())
    assert ask(conn)[2] == ["aria"]
    with role(conn, "pgrecall_embedder"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        keep(conn, QUERY, ["x"])


def test_the_question_itself_is_not_stored(conn: Connection[Any]) -> None:
    keep(conn, QUERY, ["aria"])
    said = str(contents(conn)).lower()
    assert "aria" in said
    assert "canary" not in said
    kind = "SELECT relpersistence::text FROM pg_class WHERE oid = 'pgrecall.query_expansions'::regclass"
    assert scalar(conn, kind) == "u"


@pytest.mark.parametrize(
    ("query", "terms", "entities", "sqlstate"),
    [
        ('"to the letter"', ["x"], [], "22023"),
        ("", ["x"], [], "22023"),
        (None, ["x"], [], "22023"),
        ("x" * 1001, ["x"], [], "22023"),
        (QUERY, ["a\x07b"], [], "22023"),
        (QUERY, ["a\nb"], [], "22023"),
        (QUERY, [""], [], "22023"),
        (QUERY, [" - "], [], "22023"),
        (QUERY, [None], [], "22023"),
        (QUERY, ["x"], ["\u2028x"], "22023"),
        (QUERY, list("abcdef"), [], "54000"),
        (QUERY, ["a"], list("abcdef"), "54000"),
        (QUERY, ["a" * 65], [], "54000"),
        (QUERY, ["a"], ["a" * 65], "54000"),
    ],
)
def test_what_cannot_be_kept(
    conn: Connection[Any], query: str | None, terms: list[str], entities: list[str], sqlstate: str
) -> None:
    with refused(conn, sqlstate):
        rows(conn, "pgrecall.cache_expansion", query, terms, entities)


def test_what_is_put_into_terms_does_nothing_else(conn: Connection[Any]) -> None:
    """Signs of tsquery, SQL, XML: they are words like any other."""
    bombay = named(conn, "Bombay")
    memory = remember(conn, "drop the table, said Robert")
    terms = ["'); DROP TABLE x;--", "robert:* & !bombay | <->", "</memory><script>", "\\'", "100% _x"]
    with refused(conn, "22023"):
        keep(conn, QUERY, terms)  # one of them has neither letter nor digit
    keep(conn, QUERY, [*terms[:3], terms[4]])
    assert found(conn, QUERY, "llm") == [memory, bombay]


@pytest.mark.usefixtures("dsn")
def test_a_session_that_only_reads(conn: Connection[Any]) -> None:
    memory = remember(conn, "aria")
    keep(conn, QUERY, ["aria"])
    before = contents(conn)
    with conn.transaction():
        conn.execute("SET TRANSACTION READ ONLY")
        assert found(conn, QUERY, "llm") == [memory]
        assert ask(conn)[2] == ["aria"]
    conn.execute("SET default_transaction_read_only = on")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        keep(conn, QUERY, ["melody"])
    assert contents(conn) == before
