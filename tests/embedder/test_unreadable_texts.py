"""Texts in a script that the model does not know have no vector, and are found by their words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import Client
from pgrecall.query.unreadable import UNREADABLE, UnreadableText, is_unreadable
from support.embedder import Recorder, drain, real_model, remember, stored

if TYPE_CHECKING:
    import psycopg

UNREADABLE_TEXTS = (
    "ฉันชอบกินข้าวผัดกุ้ง",
    "แมวของฉัน ชื่อส้ม น่ารัก",
    "ຂ້ອຍມັກກິນເຂົ້າໜຽວ",
    "ကျွန်တော် ရန်ကုန်မှာ နေတယ်",
    "ខ្ញុំរស់នៅភ្នំពេញ",
    "ቡና እወዳለሁ",
    "🍓🥞❤️",
    "ꦲꦏꦸꦱꦼꦤꦼꦁ",
)
READABLE_TEXTS = (
    "I like fried rice",
    "🎂 for Lucía on the 8th",
    "ฉัน means I in Thai, and กิน is to eat",
    "Я люблю чай",
    "東京へ行く",
    "Ελλάδα",
    "42",
    "…",
)


@pytest.mark.parametrize("text", UNREADABLE_TEXTS)
def test_a_model_says_what_it_does_not_know(text: str) -> None:
    assert list(real_model().embed_documents([text, "tea"]).is_unreadable) == [True, False]
    with pytest.raises(UnreadableText):
        real_model().embed_query(text)


@pytest.mark.parametrize("text", READABLE_TEXTS)
def test_a_text_that_is_known_for_the_most_part_has_a_vector(text: str) -> None:
    assert list(real_model().embed_documents([text]).is_unreadable) == [False]
    assert real_model().embed_query(text).shape == (384,)


def test_half_of_the_words_decides() -> None:
    assert is_unreadable([101, 0, 0, 7, 8, 9, 102], [None, 0, 1, 2, 2, 2, None], 0)
    assert not is_unreadable([101, 0, 7, 102], [None, 0, 1, None], 0)
    assert not is_unreadable([101, 102], [None, None], 0)
    assert not is_unreadable([0, 0], [0, 1], None)


def test_such_a_memory_is_without_embedding_and_not_tried_again(
    dsn: str, conn: psycopg.Connection[Any]
) -> None:
    ids = remember(conn, *UNREADABLE_TEXTS, *READABLE_TEXTS)
    recorder = Recorder()
    drain(dsn, recorder)
    assert sorted(recorder.texts) == sorted([*UNREADABLE_TEXTS, *READABLE_TEXTS])
    count = len(UNREADABLE_TEXTS)
    assert [stored(conn, memory) is None for memory in ids] == [True] * count + [False] * len(READABLE_TEXTS)
    failures = conn.execute(
        "SELECT DISTINCT cause, attempts, error FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NOT NULL"
    ).fetchall()
    assert failures == [("unreadable", 1, UNREADABLE)]
    [(detail, remedy)] = conn.execute(
        "SELECT detail, remedy FROM pgrecall.health() WHERE check_name = 'failures'"
    ).fetchall()
    assert f"{count} unreadable" in detail
    assert "reembed" in remedy


@pytest.mark.parametrize("embed", [None, True])
def test_who_asks_in_it_is_answered_by_words(
    dsn: str, conn: psycopg.Connection[Any], embed: bool | None
) -> None:
    ids = remember(conn, *UNREADABLE_TEXTS, *READABLE_TEXTS)
    drain(dsn, Recorder())
    with Client(dsn) as client:
        for place, question in ((0, "ข้าวผัด"), (3, "ရန်ကုန်"), (4, "ភ្នំពេញ"), (6, "🥞")):
            result = client.recall(question, embed=embed)
            assert [memory.id for memory in result][:1] == [ids[place]]
            assert result.notice is not None
            assert UNREADABLE in result.notice
