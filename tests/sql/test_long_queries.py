"""A question of any script up to the limit is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.memories import remember, rows

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
