"""A question of any script up to the limit is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pgrecall._sync.queries import LONG_QUERY
from support.memories import call, remember, rows

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

LIMIT = 16384
TEXTS = {
    "Chinese": "".join(chr(0x4E00 + n * 7 % 20000) for n in range(LIMIT)),
    "Korean": "".join(chr(0xAC00 + n * 7 % 11000) for n in range(LIMIT)),
    "Japanese": "".join(chr((0x3041, 0x4E00)[n % 2] + n % 80) for n in range(LIMIT)),
    "one character": "茶" * LIMIT,
    "words": " ".join(f"w{n}" for n in range(2600))[:LIMIT],
    "one word": "a" * LIMIT,
    "digits": "1234567890" * (LIMIT // 10),
    "emoji": "".join(chr(0x1F300 + n % 500) for n in range(LIMIT)),
    "punctuation": "!?.,;:-&|()<>*\"'" * (LIMIT // 16),
    "quotes": '"a b" -' * (LIMIT // 7),
    "identifiers": "a_b-c.d/e:" * (LIMIT // 10),
    "Thai": "".join(chr(0x0E01 + n % 46) for n in range(LIMIT)),
    "Arabic": " ".join(chr(0x0627 + n % 20) * 3 for n in range(LIMIT // 4)),
    "marks": "e\u0301" * (LIMIT // 2),
}


@pytest.mark.parametrize("script", TEXTS)
def test_a_question_of_the_greatest_length(conn: Connection[Any], script: str) -> None:
    remember(conn, "茶 tea 한국")
    text = TEXTS[script]
    assert len(text) <= LIMIT
    rows(conn, "recall", text, strategy="fulltext")
    rows(conn, "recall_timeline", text)


PROSE = (
    "We walked along the canal until the lamps came on, and talked about the weather. Version 3.5 of the plan was printed "
    "on both sides. Nobody said much about it! The ferry was late again, so Ines read the paper and Omar fed the ducks. "
)  # fmt: skip
QUESTIONS = {
    "one": "Where is the spare key of the cellar?",
    "two": "Where is the spare key? And who has the other one?",
    "quoted": 'She asked: "where is the spare key of the cellar?"',
    "a number": "Is the shelf 3.5 or 4.2 metres wide?",
    "marked": "**Where is the spare key of the cellar?**",
    "in lines": "Where is the spare key\nof the cellar?",
    "Chinese": "小李什么时候搬到杭州去住的？他现在住在哪里？",
    "Arabic": "أين يسكن أحمد الآن، وهل انتقل إلى بيت جديد؟",
    "Spanish": "¿Dónde vive Marta ahora, en Sevilla o en Granada?",
    "Greek": "Πού είναι το δεύτερο κλειδί;",
    "Armenian": "Որտե՞ղ է երկրորդ բանալին՞",
    "Amharic": "ቁልፉ የት ነው ያለው፧",
    "German": "Wo liegt der Ersatzschlüssel, z. B. im Keller?",
}


def part(conn: Connection[Any], query: str) -> str:
    return str(call(conn, "pgrecall.question_part", query))


@pytest.mark.parametrize("length", [1000, 4000, 15000])
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_questions_at_the_end_of_a_long_text_are_searched(
    conn: Connection[Any], name: str, length: int
) -> None:
    question = QUESTIONS[name]
    prose = PROSE * (length // len(PROSE) + 1)
    found = part(conn, prose + question)
    expected = {"in lines": "of the cellar?"}.get(name, question)
    assert found.replace(" ", "").endswith(expected.replace(" ", ""))
    assert "canal" not in found
    assert len(found) < 120


def test_a_question_that_says_nothing_alone_has_the_sentence_before_it(conn: Connection[Any]) -> None:
    found = part(conn, PROSE * 5 + "Ines has two keys of the cellar. Which one?")
    assert found == "Ines has two keys of the cellar. Which one?"


@pytest.mark.parametrize(
    "text",
    [
        PROSE * 5 + "Tell me where the key is.",
        "Where is the key? " + PROSE * 5,
        PROSE * 5 + "\nSELECT count(*) FROM keys;",
        PROSE * 5 + "The lamp was lit; the ferry left;",
        "a" * 1200,
        "a" * 1200 + "?",
        (PROSE * 5)[: 1000 - len(QUESTIONS["one"])] + QUESTIONS["one"],
        "",
    ],
    ids=[
        "no question",
        "not at the end",
        "a statement of code",
        "a semicolon",
        "one word",
        "one word that asks",
        "not long",
        "empty",
    ],
)
def test_of_another_text_all_is_searched(conn: Connection[Any], text: str) -> None:
    assert part(conn, text).startswith(text[:3])
    assert len(part(conn, text)) >= min(len(text), 1000)


def test_a_crowd_of_questions_is_cut(conn: Connection[Any]) -> None:
    assert 200 < len(part(conn, "Where is it? " * 1000)) <= 320


def test_recall_and_its_explanation_search_by_that_part(conn: Connection[Any]) -> None:
    key = remember(conn, "The spare key hangs behind the boiler")
    remember(conn, "The canal ferry was late, so the ducks were fed and the paper was read")
    query = PROSE * 5 + "Where is the spare key?"
    assert rows(conn, "recall", query, k=1)[0][0] == key
    assert conn.execute("SELECT id FROM recall_explain(%s, k => 1)", [query]).fetchall() == [(key,)]


def test_the_client_asks_for_the_part_of_each_text_that_has_one(conn: Connection[Any]) -> None:
    question = "Where is the spare key of the cellar?"
    for length, is_cut in ((LONG_QUERY, False), (LONG_QUERY + 1, True)):
        text = "." * 3 + (" " + PROSE * 9)[: length - len(question) - 4] + " " + question
        assert len(text) == length
        assert (part(conn, text) != text) is is_cut


@pytest.mark.parametrize("role", ["pgrecall_reader", "pgrecall_writer", "pgrecall_embedder"])
def test_every_role_is_told_the_questions_of_a_long_text(conn: Connection[Any], role: str) -> None:
    """A client that embeds its queries asks for them."""
    conn.execute(f"SET LOCAL ROLE {role}".encode())
    assert part(conn, PROSE * 10 + QUESTIONS["one"]) == QUESTIONS["one"]
    conn.execute("RESET ROLE")
