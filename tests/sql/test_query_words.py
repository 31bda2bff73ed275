"""The forms of a query: terms, any word, every word, a phrase, what is typed into a search box, prefixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.wording import FORMS, LANGUAGES, SIGNS, TEXT, form, matches, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection


@pytest.fixture(scope="module")
def words_conn(new_database: Callable[..., str], template: str) -> Iterator[Connection[Any]]:
    """A connection for tests that store nothing; a NOTICE on it is an error."""
    with silent(new_database(template)) as connection:
        yield connection


def test_forms_of_a_question(words_conn: Connection[Any]) -> None:
    question = "What did I tell Priya about vacations?"
    found = {name: form(words_conn, name, question, "english") for name in FORMS}
    assert found == {
        "query_terms": ["i0", "priya", "tell", "vacat"],
        "match_any_word": "'priya' | 'tell' | 'vacat'",
        "match_all_words": "'priya' & 'tell' & 'vacat'",
        "match_phrase": "'tell' <-> 'priya' <2> 'vacat'",
        "match_websearch": "'tell' & 'priya' & 'vacat'",
        "match_prefix": "'priya':* & 'tell':* & 'vacat':*",
    }


def test_forms_in_several_languages(words_conn: Connection[Any]) -> None:
    both = ("english", "german")
    assert form(words_conn, "query_terms", "Hunde running", *both) == ["hund", "run", "running"]
    assert form(words_conn, "match_all_words", "Hunde running", *both) == "'hund' & ( 'run' | 'running' )"
    assert form(words_conn, "match_prefix", "Hunde running", *both) == "'hund':* & ( 'run':* | 'running':* )"


def test_stop_words_are_those_of_the_querys_own_language(words_conn: Connection[Any]) -> None:
    both = ("english", "german")
    for query, terms in (
        ("die Katze in der Küche", ["katz", "kuch"]),
        ("When did the war start in the city?", ["citi", "city", "start", "war"]),
        ("war", ["war"]),
        ("the", ["the"]),
    ):
        assert form(words_conn, "query_terms", query, *both) == terms, query
    assert form(words_conn, "match_all_words", "die Katze", *both) == "'katz'"
    assert form(words_conn, "match_websearch", "die Katze", *both) == "'katz'"
    assert form(words_conn, "query_terms", "what is the city like?", "english", "simple") == [
        "citi",
        "city",
        "like",
    ]


def test_words_without_a_word(words_conn: Connection[Any]) -> None:
    for nothing in ("", " ", "the and of", "?!", "-", '""', "\\", "'", "─█", "🏽"):
        assert [form(words_conn, name, nothing, "english") for name in FORMS] == [[], *[None] * 5], nothing
    assert [form(words_conn, name, "x") for name in FORMS] == [[], *[None] * 5], "no language"
    assert [form(words_conn, name, None, "simple") for name in FORMS] == [[], *[None] * 5], "no query"


def test_a_phrase_has_two_words(words_conn: Connection[Any]) -> None:
    assert form(words_conn, "match_phrase", "vacation", "english") is None
    assert form(words_conn, "match_phrase", "the vacation", "english") is None
    assert matches(words_conn, "my long vacation in Goa", "match_phrase", "long vacation", "english")
    assert not matches(words_conn, "a vacation, long gone", "match_phrase", "long vacation", "english")
    # Parts of an identifier are a phrase, and the phrases around it stay what they are.
    assert matches(words_conn, "call getUserName twice", "match_phrase", "user name")
    assert matches(words_conn, "call getUserName twice", "match_phrase", "getusername twice")
    assert not matches(words_conn, "call getUserName twice", "match_phrase", "name twice")


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("vacation", {"goa", "rome", "work"}),
        ('"vacation in Goa"', {"goa"}),
        ("vacation -Goa", {"rome", "work"}),
        ("-Goa vacation -work", {"rome"}),
        ("rome or snake_case", {"rome", "snake", "camel"}),
        ("“vacation in Rome”", {"rome"}),
        ("snake_case", {"snake", "camel"}),
        ("user -getUserName", {"snake"}),
        ("東京 -京都", {"tokyo"}),
        ("東京都", {"kyoto"}),
        ('"東京', {"tokyo", "kyoto"}),
        ("the vacation of Rome", {"rome"}),
        ("vacation OR -vacation", {"goa", "rome", "work", "snake", "camel", "tokyo", "kyoto"}),
        ("e-mail", {"work"}),
    ],
)
def test_websearch(words_conn: Connection[Any], query: str, hits: set[str]) -> None:
    memories = {
        "goa": "a vacation in Goa", "rome": "the vacation in Rome", "work": "no vacation, an e-mail from work",
        "snake": "snake_case for the user", "camel": "snakeCase and getUserName of a user", "tokyo": "東京へ行く",
        "kyoto": "東京都に住む",
    }  # fmt: skip
    statement = (
        "SELECT _pgrecall.analyze_text('english', %s) @@ _pgrecall.match_websearch('{english,simple}', %s)"
    )
    found = {
        name
        for name, text in memories.items()
        if words_conn.execute(statement, (text, query)).fetchone() == (True,)
    }
    assert found == hits


def test_a_minus_means_in_every_language(words_conn: Connection[Any]) -> None:
    statement = "SELECT _pgrecall.analyze_text('english', 'python and apples') @@ _pgrecall.match_websearch('{english,german}', 'python -apples')"
    assert words_conn.execute(statement).fetchone() == (False,)


def test_prefixes(words_conn: Connection[Any]) -> None:
    assert matches(words_conn, "vacations with Priya", "match_prefix", "pri vac", "english")
    assert not matches(words_conn, "vacations with Priya", "match_prefix", "pri goa", "english")
    assert matches(words_conn, "getUserName", "match_prefix", "getUs")
    assert matches(words_conn, "東京都に住む", "match_prefix", "京")


@settings(max_examples=200)
@given(text=TEXT | SIGNS, languages=st.lists(st.sampled_from(LANGUAGES), max_size=4))
def test_no_text_is_an_error(words_conn: Connection[Any], text: str, languages: list[str]) -> None:
    for name in FORMS:
        form(words_conn, name, text, *languages)
