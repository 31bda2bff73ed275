"""Which concepts a question names, in scripts with spaces between words and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.memories import call, remember, rows

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

NAMES = (
    "new york", "york", "marathon", "node.js", "东京", "京都", "猫", "上海交通大学", "大学", "トヨタ自動車", "田中",
    "서울", "กรุงเทพ", "กรุงเทพมหานคร", "ພາສາລາວ", "ភ្នំពេញ", "ရန်ကုန်", "москва", "दिल्ली", "القاهرة",
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Who ran in New York last year?", {"new york"}),
        ("Is York near?", {"york"}),
        ("Yorkshire, new", set()),
        ("which node.js version", {"node.js"}),
        ("我在东京做什么？", {"东京"}),
        ("我的猫叫什么", {"猫"}),
        ("上海交通大学在哪里", {"上海交通大学"}),
        ("北京大学在哪里", {"大学"}),
        ("我们 New York 的 marathon 是哪天", {"new york", "marathon"}),
        ("我用node.js写了什么", {"node.js"}),
        ("トヨタ自動車で働いているのは誰ですか", {"トヨタ自動車"}),
        ("田中さんは京都に住んでいますか", {"田中", "京都"}),
        ("서울에서 누구를 만났지?", {"서울"}),
        ("ฉันไปกรุงเทพเมื่อไหร่", {"กรุงเทพ"}),
        ("ฉันไปกรุงเทพมหานครเมื่อไหร่", {"กรุงเทพมหานคร"}),
        ("ຂ້ອຍຮຽນພາສາລາວຢູ່ໃສ", {"ພາສາລາວ"}),
        ("ខ្ញុំទៅភ្នំពេញពេលណា", {"ភ្នំពេញ"}),
        ("ကျွန်တော် ရန်ကုန်ကို ဘယ်တော့ သွားလဲ", {"ရန်ကုန်"}),
        ("Когда открылась Москва?", {"москва"}),
        ("दिल्ली कब गया?", {"दिल्ली"}),
        ("متى زرت القاهرة؟", {"القاهرة"}),
        ("", set()),
        ("。", set()),
    ],
)
def test_names_in_questions(conn: Connection[Any], question: str, named: set[str]) -> None:
    remember(conn, tags=list(NAMES))
    query = (
        "SELECT c.key FROM _pgrecall.query_concepts(1, %s) q JOIN pgrecall.concepts c ON c.id = q.concept_id"
    )
    assert {key for (key,) in conn.execute(query, (question,))} == named


@pytest.mark.parametrize("word", ["word ", "字", "ก"])
def test_a_long_question_ends_after_64_words(conn: Connection[Any], word: str) -> None:
    remember(conn, tags=["marathon", "york"])
    query = "SELECT count(*) FROM _pgrecall.query_concepts(1, %s)"
    assert conn.execute(query, (f"York {word * 62}marathon {word * 1000}",)).fetchone() == (2,)
    assert conn.execute(query, (f"York {word * 63}marathon",)).fetchone() == (1,)


def test_a_name_in_an_unspaced_question_counts(conn: Connection[Any]) -> None:
    about = remember(conn, "天气很热", tags=["Shanghai"])
    other = remember(conn, "天气很热", tags=["Tokyo"])
    rows(conn, "pgrecall.add_alias", call(conn, "pgrecall.find_concept", "Shanghai"), "上海")
    query = "SELECT id FROM recall('我在上海的时候天气怎么样', settings => '{\"entity_boost\": 2}')"
    assert conn.execute(query).fetchall() == [(about,), (other,)]
