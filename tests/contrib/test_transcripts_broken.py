"""Damaged transcripts and exports: whatever stands in a field, or is flipped in an archive, what is whole is read."""

from __future__ import annotations

import copy
import json
import random
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.contrib.transcripts.agents import READERS
from pgrecall.contrib.transcripts.exports import EXPORTS, export_conversations
from pgrecall.contrib.transcripts.storing import _packed
from pgrecall.errors import InvalidInput, PgrecallError
from support.transcripts import chatgpt_conversation, claude_conversation, write_lines, write_sessions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pgrecall.contrib.transcripts import Conversation

KINDS: tuple[tuple[Any, ...], ...] = (
    (True, 7, -1e300, 10**30, None),
    ("", "tea", "\x00", "\ud800", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00+14:00"),
    ([], [7], [[]], [None], [{}], [{"type": "text", "text": 7}]),
    ({}, {"a": {}}),
)


def damaged(whole: Any) -> Iterator[Any]:
    """Copies of a value of JSON in each of which one thing inside is another one, of each kind in turn."""

    def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
        for key in keys:
            yield (*above, key)
            yield from places(value[key], (*above, key))

    for number, (*above, last) in enumerate(places(whole)):
        for other in (kind[number % len(kind)] for kind in KINDS):
            changed = copy.deepcopy(whole)
            inside = changed
            for key in above:
                inside = inside[key]
            inside[last] = copy.deepcopy(other)
            yield changed


def check(conversation: Conversation) -> None:
    for message in conversation.messages:
        with suppress(PgrecallError):
            _packed(message)


@pytest.mark.parametrize("agent", READERS)
def test_anything_can_stand_in_any_field_of_a_session(agent: str, tmp_path: Path) -> None:
    file = write_sessions(tmp_path)[agent]
    text = file.read_text()
    lines = [json.loads(text)] if agent == "gemini" else [json.loads(line) for line in text.splitlines()]
    for changed in damaged(lines):
        write_lines(file, changed)
        with suppress(InvalidInput):  # of the one object of Gemini
            check(READERS[agent](file, lambda _: None))


@pytest.mark.parametrize(
    ("agent", "whole"), [("chatgpt", chatgpt_conversation()), ("claude", claude_conversation())]
)
def test_anything_can_stand_in_any_field_of_an_export(
    agent: str, whole: dict[str, Any], tmp_path: Path
) -> None:
    records = list(damaged(whole))
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([*records, whole]))
    found = list(export_conversations(file, EXPORTS[agent], lambda _: None))
    assert len(found) > len(records) / 2
    for conversation in found:
        check(conversation)


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_damaged_archive_is_refused(method: int, tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", method) as packed:
        packed.writestr("conversations.json", json.dumps([claude_conversation()] * 20))
    whole, chance, refused = archive.read_bytes(), random.Random(7), 0
    for _ in range(300):
        changed = bytearray(whole)
        place = chance.choice(
            (chance.randrange(60), chance.randrange(len(whole)), -1 - chance.randrange(150))
        )
        changed[place] ^= 1 << chance.randrange(8)
        archive.write_bytes(changed if chance.random() < 0.8 else changed[: chance.randrange(len(changed))])
        try:
            list(export_conversations(archive, EXPORTS["claude"], lambda _: None))
        except InvalidInput:
            refused += 1
    assert refused > 50
