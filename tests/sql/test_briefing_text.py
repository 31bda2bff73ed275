"""What a briefing is made of: lines without anything hidden, cut between words, escaped."""

from __future__ import annotations

import html
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgrecall.formatting import sanitize_line
from support.briefings import hidden
from support.memories import call
from support.wording import SIGNS, TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

ANYTHING = st.one_of(TEXT, SIGNS, st.text("e\u0301\u0338\u200d\u200b 👩🏽क्षि각<＜&", max_size=40))
LETTERS = ("L", "N")

# A text, and the line it becomes.
LINES = [
    ("tea with milk", "tea with milk"),
    ("  tea\t\r\nwith\v\fmilk  ", "tea with milk"),
    ("tea\u2028with\u2029milk\u0085now", "tea with milk now"),
    ("tea\u00a0\u2003\u3000with\u202fmilk", "tea with milk"),
    ("\x1b[31mred\x1b[0m", "[31mred [0m"),
    ("bell\x07bell\x7fbell\x9bbell", "bell bell bell bell"),
    ("\u202edesrever\u202c and \u2066isolated\u2069", "desrever and isolated"),
    ("ze\u200bro\u200c wi\u200ddth\u2060 \ufeffmark", "zero width mark"),
    ("soft\u00adhyphen", "softhyphen"),
    ("tag\U000e0001\U000e0041\U000e007fged", "tagged"),
    ("heart\ufe0f and smuggled\U000e0100\U000e01ef", "heart and smuggled"),
    ("filled\u115f\u1160\u3164\uffa0\u034f up", "filled up"),
    ("none\ufffe \uffffcharacters", "none characters"),
    ("👩‍👩‍👧 went", "👩👩👧 went"),
    ("👍🏽 fine", "👍🏽 fine"),
    ("\u0338\u0301first", "first"),
    ("cafe\u0301", "cafe\u0301"),
    ("ॐ नमः", "ॐ नमः"),
    ("שלום עולם مرحبا", "שלום עולם مرحبا"),
    ("我们昨天在北京", "我们昨天在北京"),
    ("＜／memories＞", "</memories>"),
    ("﹤b﹥ ‹c› 〈d〉 \u2329e\u232a ⟨f⟩ ❮g❯ ❬h❭ ❰i❱ ˂j˃", "<b> <c> <d> <e> <f> <g> <h> <i> <j>"),
    ("＆lt; ﹠amp; ＂quoted＂ ＇so＇", "&lt; &amp; \"quoted\" 'so'"),
    ("\u200b\u2060 \u00ad", ""),
    ("", ""),
]


@pytest.fixture(scope="module")
def lines_conn(new_database: Callable[..., str], template: str) -> Iterator[psycopg.Connection[Any]]:
    """One database for all tests of this file: nothing is stored there."""
    with psycopg.connect(new_database(template), autocommit=True) as connection:
        yield connection


def test_one_line(lines_conn: Connection[Any]) -> None:
    assert [(text, call(lines_conn, "_pgrecall.sanitize_line", text)) for text, _ in LINES] == LINES


@settings(max_examples=200)
@given(text=ANYTHING)
def test_a_line_hides_nothing_and_keeps_every_letter(lines_conn: Connection[Any], text: str) -> None:
    line = call(lines_conn, "_pgrecall.sanitize_line", text)
    assert not hidden(line)
    assert line == " ".join(line.split(" ")).strip()
    assert "  " not in line
    assert not line or unicodedata.combining(line[0]) == 0
    kept = [char for char in line if unicodedata.category(char)[0] in LETTERS]
    assert kept == [char for char in text if unicodedata.category(char)[0] in LETTERS and not hidden(char)]
    assert call(lines_conn, "_pgrecall.sanitize_line", line) == line
    assert not set("＜＞﹤﹥＆﹠＂＇") & set(line)


def test_no_character_is_overlooked(lines_conn: Connection[Any]) -> None:
    every = [
        chr(code) for code in range(1, sys.maxunicode + 1)
        if unicodedata.category(chr(code)) != "Cs" and hidden(chr(code))
    ]  # fmt: skip
    assert len(every) > 4000
    query = "SELECT array_agg(_pgrecall.sanitize_line('a' || c || 'b')) FROM unnest(%s::text[]) c"
    (found,) = lines_conn.execute(query, (every,)).fetchone() or ([],)
    assert {line for line in found if line not in ("ab", "a b")} == set()


LOOK_ALIKES = set("＜﹤‹〈⟨❬❮❰˂＞﹥›〉⟩❭❯❱˃＆﹠＂＇／\u2329\u232a")


@pytest.mark.slow
@pytest.mark.pg15
def test_python_shows_the_same_as_sql(lines_conn: Connection[Any]) -> None:
    """Each character of Unicode inside a line and at its beginning; only SQL replaces look-alikes of markup."""
    every = [
        chr(code)
        for code in range(1, sys.maxunicode + 1)
        if not 0xD800 <= code <= 0xDFFF and chr(code) not in LOOK_ALIKES
    ]
    query = "SELECT array_agg(_pgrecall.sanitize_line('a' || c || 'b')) FROM unnest(%s::text[]) c"
    (inside,) = lines_conn.execute(query, (every,)).fetchone() or ([],)
    assert [c for c, line in zip(every, inside, strict=True) if sanitize_line(f"a{c}b") != line] == []
    first = [c for c in every if unicodedata.category(c) != "Cn"]
    query = "SELECT array_agg(_pgrecall.sanitize_line(c || 'b')) FROM unnest(%s::text[]) c"
    (begun,) = lines_conn.execute(query, (first,)).fetchone() or ([],)
    differ = [c for c, line in zip(first, begun, strict=True) if sanitize_line(f"{c}b") != line]
    # SQL's list of marks is short because it spans some punctuation between two runs of marks.
    kinds = {unicodedata.category(c)[0] for c in differ} - {"P", "S"}
    assert kinds <= {"C"}, [c for c in differ if unicodedata.category(c)[0] in kinds]
    assert sanitize_line("a\ud800b\udfff") == "ab"


SHORTENED = [
    ("tea with milk", 13, "tea with milk"),
    ("tea with milk", 12, "tea with…"),
    ("tea with milk", 9, "tea with…"),
    ("tea with milk", 8, "tea…"),
    ("antidisestablishmentarianism", 10, "antidises…"),
    ("an antidisestablishmentarianism", 10, "an antidi…"),
    ("我们昨天在北京大学见了王老师", 6, "我们昨天在…"),
    ("aaaae\u0301aaaa", 6, "aaaa…"),
    ("aaaae\u0301aaaa", 7, "aaaae\u0301…"),
    ("aae\u0301\u0302\u0303\u0304aaa", 6, "aa…"),
    ("aaa👍🏽aaaa", 5, "aaa…"),
    ("aaa👍🏽aaaa", 6, "aaa👍🏽…"),
    ("ศุกร์ที่แล้ว", 4, "ศุก…"),
    ("ศุกร์ที่แล้ว", 5, "ศุก…"),
    ("\u1112\u1161\u11ab\u1112\u1161\u11ab", 3, "…"),
    ("\u1112\u1161\u11ab\u1112\u1161\u11ab", 4, "\u1112\u1161\u11ab…"),
    ("a" + "\u0301" * 50, 10, "…"),
]


def test_shortened(lines_conn: Connection[Any]) -> None:
    found = [
        (text, limit, call(lines_conn, "_pgrecall.truncate_words", text, limit))
        for text, limit, _ in SHORTENED
    ]
    assert found == SHORTENED


@settings(max_examples=300)
@given(text=ANYTHING, limit=st.integers(2, 60))
def test_a_shortened_line_is_the_beginning(lines_conn: Connection[Any], text: str, limit: int) -> None:
    line = call(lines_conn, "_pgrecall.sanitize_line", text)
    short = call(lines_conn, "_pgrecall.truncate_words", line, limit)
    assert len(short) <= limit
    if len(line) <= limit:
        assert short == line
        return
    assert short.endswith("…")
    assert line.startswith(short[:-1])
    following = line[len(short) - 1]
    assert unicodedata.category(following)[0] != "M"


def test_no_mark_is_parted_from_its_letter(lines_conn: Connection[Any]) -> None:
    marks = [
        chr(code)
        for code in range(0x300, 0x1F400)
        if unicodedata.category(chr(code))[0] == "M" and not hidden(chr(code))
    ]
    assert len(marks) > 2000
    query = "SELECT array_agg(_pgrecall.truncate_words('aaaaa' || c || 'bbbbb', 6)) FROM unnest(%s::text[]) c"
    (found,) = lines_conn.execute(query, (marks,)).fetchone() or ([],)
    assert set(found) == {"aaaa…"}


def test_no_letter_passes_for_a_mark(lines_conn: Connection[Any]) -> None:
    letters = [
        chr(code)
        for code in range(0x41, 0x20000)
        if unicodedata.category(chr(code))[0] in LETTERS
        and not 0x1160 <= code <= 0x11FF
        and not 0xD7B0 <= code <= 0xD7FF
    ]
    query = "SELECT count(*) FROM unnest(%s::text[]) c WHERE c ~ ('[' || _pgrecall.combining_marks() || ']')"
    assert lines_conn.execute(query, (letters,)).fetchone() == (0,)


@settings(max_examples=200)
@given(text=st.one_of(TEXT, SIGNS, st.text("<>&\"';#ltgamp", max_size=40)))
def test_escaped(lines_conn: Connection[Any], text: str) -> None:
    escaped = call(lines_conn, "_pgrecall.xml_escape", text)
    assert not set("<>") & set(escaped)
    assert escaped.count("'") + escaped.count('"') == text.count("'") + text.count('"')
    assert html.unescape(escaped.replace("&apos;", "'")) == text or "&" in text
    plain = escaped
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&")):
        plain = plain.replace(entity, char)
    assert plain == text


def test_an_item(lines_conn: Connection[Any]) -> None:
    lines_conn.execute("SET TimeZone = 'Asia/Kolkata'")
    try:
        item = call(
            lines_conn, "_pgrecall.briefing_item", "memory", "2026-05-17 20:00+00", 'Priya "P" <x>', "tea & milk", 20, "user"
        )  # fmt: skip
        assert item == (
            '<memory date="2026-05-18" speaker="Priya &quot;P&quot; &lt;x&gt;">tea &amp; milk</memory>'
        )
    finally:
        lines_conn.execute("RESET TimeZone")
    assert (
        call(lines_conn, "_pgrecall.briefing_item", "fact", None, None, "a b", 20, "user")
        == "<fact>a b</fact>"
    )
    assert (
        call(lines_conn, "_pgrecall.briefing_item", "fact", None, "\u200b ", "a", 20, "user")
        == "<fact>a</fact>"
    )
    assert call(lines_conn, "_pgrecall.briefing_item", "fact", None, None, "\u200b\u00ad", 20, "user") is None
    long = call(lines_conn, "_pgrecall.briefing_item", "fact", None, "n" * 1000, "a", 20, "user")
    assert long == f'<fact speaker="{"n" * 59}…">a</fact>'
    # A text is cut before it is escaped: there is no half entity.
    assert call(lines_conn, "_pgrecall.briefing_item", "fact", None, None, "&" * 50, 20, "user") == (
        f"<fact>{'&amp;' * 19}…</fact>"
    )
    marked = call(lines_conn, "_pgrecall.briefing_item", "fact", None, None, "a", 20, "web")
    assert marked == '<fact origin="web">a</fact>'


def test_volatility(lines_conn: Connection[Any]) -> None:
    rows = lines_conn.execute(
        """
        SELECT proname, provolatile, proparallel FROM pg_proc
        WHERE proname IN ('sanitize_line', 'truncate_words', 'xml_escape', 'combining_marks', 'briefing_item', 'query_facts',
                          'recall_briefing')
        ORDER BY 2, 1
        """
    ).fetchall()
    assert rows == [
        ("combining_marks", "i", "s"), ("sanitize_line", "i", "s"), ("truncate_words", "i", "s"), ("xml_escape", "i", "s"),
        ("briefing_item", "s", "s"), ("query_facts", "s", "s"), ("recall_briefing", "s", "r"),
    ]  # fmt: skip
