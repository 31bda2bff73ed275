"""Texts in a language that the model does not know have no vector, and are found by their words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from pgrecall import Client
from pgrecall.query.unreadable import UNREADABLE, UnreadableText, is_unreadable, is_word_piece
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
    "Я люблю чай",
    "Я люблю каву вранці",
    "Обичам кафе сутрин",
    "Μου αρέσει ο καφές το πρωί",
    "أحب القهوة في الصباح",
    "אני אוהב קפה בבוקר",
    "मुझे सुबह कॉफी पसंद है",
    "나는 아침에 커피를 좋아한다",
    "მე მიყვარს ყავა",
    "Ես սուրճ եմ սիրում",
    "昨日は友達と映画を見に行きました",
    "今天和朋友去看电影",
    "Встреча с Priya в понедельник",
)
READABLE_TEXTS = (
    "I like fried rice",
    "🎂 for Lucía on the 8th",
    "ฉัน means I in Thai, and กิน is to eat",
    "I met 田中さん yesterday at 東京駅",
    "東京へ行く",
    "Meeting with Юлия at noon",
    "αβγ decay of the particle",
    "Tôi thích cà phê vào buổi sáng",
    "Sabahları kahve severim, özellikle şekersiz",
    "Lubię kawę rano, szczególnie z mlekiem",
    "Rád piju kávu ráno s mlékem",
    "Szeretem a kávét reggelente",
    "Straßenbahn, Gemütlichkeit und Übermut",
    "K8s v1.2 xQz – ok",
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


def read(words: str, *pieces: int, unknown: str = "") -> bool:
    """Whether a text is unreadable whose words have so many tokens, and whose words of `unknown` are unknown."""
    tokens, numbers, spans = [101], list[int | None]([None]), [(0, 0)]
    position = 0
    for number, (word, count) in enumerate(zip(words.split(), pieces, strict=True)):
        for _ in range(count):
            tokens.append(0 if word in unknown.split() else 7)
            numbers.append(number)
            spans.append((position, position + len(word)))
        position += len(word) + 1
    return is_unreadable(words, tokens, numbers, spans, 0, spells=True)


def test_half_of_the_letters_decides() -> None:
    assert read("ab cd", 1, 1, unknown="ab cd")
    assert not read("ab cd", 1, 1, unknown="ab")
    assert read("abc de", 1, 1, unknown="abc")
    assert not is_unreadable("", [101, 102], [None, None], [(0, 0), (0, 0)], 0)
    assert not is_unreadable("ab", [0], [0], [(0, 2)], None)


def test_a_word_is_missing_that_has_a_token_for_each_letter() -> None:
    assert read("чай дом", 3, 3)
    assert not read("чай дом", 1, 1)
    assert not read("tea K8s", 3, 3)
    assert not read("и в с я", 1, 1, 1, 1)


def test_syllables_of_korean_and_characters_of_chinese_are_tokens_of_their_own() -> None:
    assert not read("커피를 좋아", 3, 2)
    assert read("커피를 좋아", 7, 5)
    assert not read("今 天 去 看", 1, 1, 1, 1)


def test_a_script_of_which_a_fifth_is_missing_counts_as_a_whole() -> None:
    assert read("дом чай кофе вода", 3, 1, 1, 1)
    assert not read("до чай кофе вода", 2, 1, 1, 1)
    assert not read("дом чай кофе молоко вода", 3, 1, 1, 1, 1)
    assert not read("дом чай tea coffee milk water", 3, 3, 1, 1, 1, 1)


PIECES = (
    "▁", "▁冰", "岛", "冰", "李", "明", "我", "的", "电话", "是", "1", "3", "8", "0", "▁Ну", "▁да", ",", "▁я", "▁не", "▁он", ".",
    "▁I", "▁like", "▁fried", "▁मु", "झे", "▁सु", "बह",
)  # fmt: skip


@pytest.mark.parametrize("has_words", [True, False])
@pytest.mark.parametrize(
    "text",
    ["冰岛", "李明", "我的电话是13800138000", "Ну да, я не он.", "I like 🍓 fried", "मुझे सुबह"],
)
def test_pieces_of_sentences_do_not_tell(text: str, has_words: bool) -> None:
    """Multilingual models have tokens for spaces and punctuation, and some take a whole text for one word."""
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), *((piece, -1.0) for piece in PIECES)], unk_id=0))
    split = [pre_tokenizers.WhitespaceSplit()] if has_words else []
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*split, pre_tokenizers.Metaspace(split=has_words)])
    read = tokenizer.encode(text)
    assert not is_word_piece(tokenizer)
    assert not is_unreadable(text, read.ids, read.word_ids, read.offsets, 0)
    unknown = tokenizer.encode("ቡና እወዳለሁ ጠዋት")
    assert is_unreadable("ቡና እወዳለሁ ጠዋት", unknown.ids, unknown.word_ids, unknown.offsets, 0)


def test_marks_of_vowels_are_letters() -> None:
    assert not read("मुझे सुबह", 2, 2)


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
        "SELECT DISTINCT cause, attempts, last_error FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NOT NULL"
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
