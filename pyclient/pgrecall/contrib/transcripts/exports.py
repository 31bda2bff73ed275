"""The exports of ChatGPT and Claude: all conversations of an account in `conversations.json`."""

from __future__ import annotations

import zipfile
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from pgrecall.contrib.importers.rows import Rejected
from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.files import open_regular, refuse_compressed
from pgrecall.jsonl.formats import array_lines
from pgrecall.jsonl.lines import json_object

from .conversation import Conversation, Turns
from .records import field_of, items_of, text_of, time_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["EXPORTS", "chatgpt", "claude", "export_conversations"]


def export_conversations(
    path: Path, read: Callable[[dict[str, Any]], Conversation], reject: Callable[[Rejected], None]
) -> Iterator[Conversation]:
    """Yield the conversations of an export, one at a time in memory.

    Args:
        path: Its ZIP archive, that unpacked, or `conversations.json` in it.
        read: Reads one conversation.
        reject: Told each that cannot be read.

    Raises:
        InvalidInput: There are no conversations, or the file is no JSON array.
        PgrecallError: It cannot be read.
    """
    with _opened(path) as files:
        for name, file in files:
            for element in array_lines(file):
                place = f"{name} [{element.number}]"
                try:
                    if element.fault is not None:
                        raise element.fault
                    yield read(json_object(element.raw))
                except PgrecallError as error:
                    reject(Rejected(place, error.message))


@contextmanager
def _opened(path: Path) -> Iterator[Iterator[tuple[str, BinaryIO]]]:
    if path.is_dir():
        # Large exports have several, numbered.
        found = sorted(path.glob("conversations*.json"))
        if not found:
            raise _no_export(path)
        yield _each(found)
        return
    with open_regular(path) as file:
        if path.suffix.lower() != ".zip":
            refuse_compressed(file)
            yield iter([(path.name, file)])
            return
        with _unpackable(path):
            archive = zipfile.ZipFile(file)
        with archive:
            names = sorted(name for name in archive.namelist() if _is_conversations(name))
            if not names:
                raise _no_export(path)
            yield _unpacked(path, archive, names)


def _is_conversations(name: str) -> bool:
    last = name.rpartition("/")[2]
    return last.startswith("conversations") and last.endswith(".json")


def _each(files: list[Path]) -> Iterator[tuple[str, BinaryIO]]:
    for path in files:
        with open_regular(path) as file:
            yield path.name, file


def _unpacked(path: Path, archive: zipfile.ZipFile, names: list[str]) -> Iterator[tuple[str, BinaryIO]]:
    for name in names:
        with _unpackable(path):
            file = archive.open(name)
        with file:
            yield name, cast("BinaryIO", _Packed(path, file))


class _Packed:
    """A file in an archive, as `array_lines` reads it."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file

    def read(self, size: int) -> bytes:
        """Read the next bytes.

        Raises:
            InvalidInput: They are damaged.
        """
        with _unpackable(self._path):
            return self._file.read(size)


@contextmanager
def _unpackable(path: Path) -> Iterator[None]:
    """Refuse a damaged archive: each way to pack has errors of its own.

    Raises:
        InvalidInput: It cannot be unpacked.
    """
    try:
        yield
    except Exception as error:
        raise InvalidInput(f"{path} cannot be unpacked", hint="Unpack it, and name the folder.") from error


def _no_export(path: Path) -> InvalidInput:
    return InvalidInput(
        f"{path} has no conversations.json", hint="Name the export, or conversations.json in it."
    )


def chatgpt(record: dict[str, Any]) -> Conversation:
    """Read a conversation of ChatGPT: the branch of its tree that was shown last.

    Raises:
        InvalidInput: It has no id, or no such branch.
    """
    id = record.get("conversation_id") or record.get("id")
    nodes, node = record.get("mapping"), record.get("current_node")
    if not isinstance(id, str) or not isinstance(nodes, dict):
        raise InvalidInput("it is no conversation of ChatGPT: it has no id or no mapping")
    branch: list[tuple[str, Any]] = []
    seen = set()
    while isinstance(node, str) and node not in seen and isinstance(nodes.get(node), dict):
        seen.add(node)
        branch.append((node, nodes[node].get("message")))
        node = nodes[node].get("parent")
    if not branch:
        raise InvalidInput("its current_node is not in its mapping")
    turns = Turns(started_at=time_of(record.get("create_time")))
    for place, message in reversed(branch):
        role = field_of(message, "author", "role")
        if (
            role not in ("user", "assistant")
            or field_of(message, "recipient") not in (None, "all")
            or field_of(message, "metadata", "is_visually_hidden_from_conversation")
        ):
            turns.skipped += 1
            continue
        is_text = field_of(message, "content", "content_type") in ("text", "multimodal_text")
        text = text_of(field_of(message, "content", "parts")) if is_text else ""
        turns.say(place, role, text, time_of(message.get("create_time")))
    return Conversation(id, _title(record.get("title")), None, turns.messages(), turns.skipped)


def claude(record: dict[str, Any]) -> Conversation:
    """Read a conversation of Claude; attached files are named.

    Raises:
        InvalidInput: It has no uuid or no messages.
    """
    id, messages = record.get("uuid"), record.get("chat_messages")
    if not isinstance(id, str) or not isinstance(messages, list):
        raise InvalidInput("it is no conversation of Claude: it has no uuid or no chat_messages")
    turns = Turns(started_at=time_of(record.get("created_at")))
    for number, message in enumerate(messages, 1):
        place = str(field_of(message, "uuid") or number)
        role = field_of(message, "sender")
        if role not in ("human", "assistant"):
            turns.skipped += 1
            continue
        text = text_of(message.get("content"), "text") or text_of(message.get("text"))
        names = [
            field_of(file, "file_name")
            for key in ("attachments", "files", "files_v2")
            for file in items_of(message, key)
        ]
        named = dict.fromkeys(name for name in names if isinstance(name, str) and name)
        files = "".join(f"\n[file] {name}" for name in named)
        turns.say(
            place,
            "user" if role == "human" else "assistant",
            text + files,
            time_of(message.get("created_at")),
        )
    return Conversation(id, _title(record.get("name")), None, turns.messages(), turns.skipped)


def _title(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


EXPORTS = {"chatgpt": chatgpt, "claude": claude}
"""How a conversation of each export is read."""
