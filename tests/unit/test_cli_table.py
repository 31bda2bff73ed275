"""How the command line shows a result: table, ages, and text that steers no terminal."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta

import pytest

from pgrecall import Client
from pgrecall.cli.search import recall_table
from pgrecall.formatting import format_age, sanitize_line


def test_the_table_of_a_result(dsn: str) -> None:
    from rich.console import Console

    now = datetime(2026, 5, 17, tzinfo=UTC)
    with Client(dsn) as client:
        client.remember("green tea", occurred_at=now - timedelta(days=3))
        result = client.recall("tea", embed=False)
    text = io.StringIO()
    Console(file=text, width=120).print(recall_table(result, now))
    row = text.getvalue().splitlines()[3]
    assert re.split(r"  +", row.strip()) == ["1", "1.0000", "1", "-", "-", "-", "3 d", "[agent] green tea"]


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (timedelta(0), "0 s"),
        (timedelta(seconds=59.9), "59 s"),
        (timedelta(minutes=1), "1 min"),
        (timedelta(hours=23), "23 h"),
        (timedelta(days=29), "29 d"),
        (timedelta(days=62), "2 mo"),
        (timedelta(days=800), "2 y"),
        (timedelta(hours=-5), "in 5 h"),
    ],
)
def test_ages(span: timedelta, text: str) -> None:
    assert format_age(span) == text


def test_text_for_a_terminal_steers_nothing() -> None:
    assert sanitize_line("a\tb\r\nc\x1b]0;x\x07\x9b1m é 🎉") == "a b c ]0;x 1m é 🎉"
