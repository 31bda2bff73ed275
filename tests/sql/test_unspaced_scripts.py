"""Scripts without spaces between words, and emoji: any word of a memory finds it."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
import regex

from support.memories import remember, rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

# Each memory, and words of it.
MEMORIES = {
    "ฉันชอบกินข้าวผัดกุ้ง": ("ข้าวผัด", "กุ้ง"),
    "แมวของฉันชื่อส้ม": ("แมว", "ชื่อส้ม"),
    "พี่ชายทำงานที่โรงพยาบาล": ("โรงพยาบาล", "พี่ชาย"),
    "ຂ້ອຍມັກກິນເຂົ້າໜຽວ": ("ເຂົ້າໜຽວ", "ມັກ"),
    "ອ້າຍຂອງຂ້ອຍຢູ່ວຽງຈັນ": ("ວຽງຈັນ", "ອ້າຍ"),
    "ကျွန်တော်ရန်ကုန်မှာနေတယ်": ("ရန်ကုန်", "ကျွန်တော်"),
    "သူမသည်ဆရာဝန်ဖြစ်သည်": ("ဆရာဝန်", "သူမ"),
    "ខ្ញុំរស់នៅភ្នំពេញ": ("ភ្នំពេញ", "រស់នៅ"),
    "បងស្រីខ្ញុំជាគ្រូបង្រៀន": ("គ្រូបង្រៀន", "បងស្រី"),
    "ꦲꦏꦸꦱꦼꦤꦼꦁꦩꦔꦤ꧀": ("ꦱꦼꦤꦼꦁ", "ꦩꦔꦤ꧀"),
    "ꆈꌠꉙꁱꂷ": ("ꌠꉙ", "ꁱꂷ"),
}
EMOJI = {
    "🎂 for Lucía on the 8th": ("🎂", "🎂?"),
    "the 🚨 in hall B is broken": ("🚨", "🚨🚨"),
    "I ❤️ pottery": ("❤️", "❤"),
    "ticket A → ticket B": ("→", "A →"),
    "👩🏽‍🔬 starts on Monday": ("👩‍🔬", "🔬"),
    "we moved to 🇨🇿": ("🇨🇿", "in 🇨🇿"),
    "🇨🇦 is cold": ("🇨🇦", "🇨🇦!"),
    "☕ without sugar": ("☕", "☕️"),
}


@pytest.fixture
def memories(conn: Connection[Any]) -> dict[int, str]:
    return {remember(conn, content): content for content in (*MEMORIES, *EMOJI)}


@pytest.mark.parametrize(
    ("content", "word"),
    [(content, word) for content, words in (MEMORIES | EMOJI).items() for word in words],
)
def test_a_word_finds_its_memory(
    conn: Connection[Any], memories: dict[int, str], content: str, word: str
) -> None:
    found = [memories[row[0]] for row in rows(conn, "recall", word, strategy="fulltext")]
    assert found[:1] == [content]


def test_a_word_of_another_memory_does_not(conn: Connection[Any], memories: dict[int, str]) -> None:
    for word in ("ขนมปัง", "ပုသိမ်", "សៀមរាប", "🍓", "🇩🇪"):
        assert rows(conn, "recall", word, strategy="fulltext") == [], word


def _script(letter: str) -> str:
    return unicodedata.name(letter, "unnamed").split()[0]


def test_the_scripts_are_those_of_unicode(conn: Connection[Any]) -> None:
    """Every letter and sign of a script whose letters Unicode breaks by syllables or by a dictionary, and no other."""
    unspaced = regex.compile(
        "".join(rf"|\p{{Line_Break={name}}}" for name in ("SA", "AK", "AP", "AS", "VF", "VI"))[1:]
    )
    assigned = [
        letter for letter in map(chr, range(0x80, 0x30000)) if unicodedata.category(letter)[0] in "LM"
    ]
    scripts = {_script(letter) for letter in assigned if unspaced.match(letter)}
    expected = {letter for letter in assigned if _script(letter) in scripts}
    pattern = re.compile(f"[{scalar(conn, 'SELECT _pgrecall.syllabic_class()')}]")
    assert {letter for letter in assigned if pattern.match(letter)} == expected
    assert {"THAI", "LAO", "KHMER", "MYANMAR", "JAVANESE"} <= scripts


def test_n_grams_and_what_is_shorter(conn: Connection[Any]) -> None:
    lexemes = scalar(conn, "SELECT tsvector_to_array(_pgrecall.analyze_text('simple', 'แมว ปู'))")
    assert set(lexemes) == {"แมว", "แม", "มว", "ปู"}
    phrase = scalar(conn, "SELECT _pgrecall.match_phrase('{simple}', 'กินปลา')::text")
    assert phrase == "'กิน' <-> 'ินป' <-> 'นปล' <-> 'ปลา'"


def test_a_long_run_is_cheap(conn: Connection[Any]) -> None:
    conn.execute("SET statement_timeout = '20s'")
    remember(conn, "ข้าวผัด" * 12_000)
    assert len(rows(conn, "recall", "ข้าวผัด", strategy="fulltext")) == 1
