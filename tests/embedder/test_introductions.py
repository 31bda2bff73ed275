"""A conversation in which the user says his name once; he asks for it later."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support.extractor import read_all, without_spacy

if TYPE_CHECKING:
    import psycopg

TALK = (
    "Can you name three rivers in Spain?", "What should I name the new branch?", "I need a name for a bakery.",
    "The domain name expires in June.", "How do I rename a column?", "What is a good name for a black cat?",
    "Which bread rises fastest?", "The tiles in the hall are loose.", "What is the capital of Chad?",
    "Remind me to water the ferns.", "Who wrote the song about the harbour?", "My bike has a flat tyre.",
    "The host name of the server is wrong.", "What is the name of that film with the lighthouse?",
)  # fmt: skip


ENGLISH = ("what is my name?", "do you remember my name?")


@pytest.mark.parametrize(
    ("told", "name", "questions"),
    [
        ("I'm Kofi", "Kofi", ENGLISH),
        ("Call me Wren", "Wren", ENGLISH),
        ("Ilse here", "Ilse", ENGLISH),
        ("sign it as Bo Lindgren", "Bo Lindgren", ENGLISH),
        ("It's Tariq again", "Tariq", ENGLISH),
        ("Привет, меня зовут Тимур.", "Тимур", (*ENGLISH, "Как меня зовут?")),
        ("你好，我叫李雷。", "李雷", (*ENGLISH, "我的名字是什么？", "我叫什么？")),
        ("田中と申します。", "田中", (*ENGLISH, "私の名前は何ですか？")),
        ("제 이름은 김민수입니다.", "김민수", (*ENGLISH, "내 이름이 뭐야?")),
        ("Mam na imię Kasia.", "Kasia", (*ENGLISH, "Jak mam na imię?")),
        ("Nama saya Budi.", "Budi", (*ENGLISH, "Siapa nama saya?")),
        ("ผมชื่อสมชายครับ", "สมชาย", (*ENGLISH, "ผมชื่ออะไร")),
    ],
)
def test_who_said_his_name_is_told_it(
    dsn: str, conn: psycopg.Connection[Any], told: str, name: str, questions: tuple[str, ...]
) -> None:
    without_spacy(conn)
    turns = [*TALK[:5], told, *TALK[5:]]
    messages = [
        {"role": role, "content": text}
        for turn in turns
        for role, text in (("user", turn), ("assistant", "Sure, let me see what I can do."))
    ]
    conn.execute("SELECT count(*) FROM remember_messages(%s, 'talk')", [json.dumps(messages)])
    read_all(dsn)
    for question in questions:
        best = [row[0] for row in conn.execute("SELECT content FROM recall(%s, k => 3)", [question])]
        assert told in best, question
        facts = [row[0] for row in conn.execute("SELECT statement FROM recall_facts(%s)", [question])]
        assert facts, question
        assert facts[0].startswith("user ")
        assert facts[0].endswith(name)
