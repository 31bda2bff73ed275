"""A folder of Markdown: a memory for each section."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.files import open_regular
from pgrecall.formatting import counted
from pgrecall.jsonl.lines import text_search_configuration
from pgrecall.models import NewMemory

from .fields import moment, name, sensitive, texts
from .rows import MAX_ROW_BYTES, Rejected, Row, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it import MarkdownIt

__all__ = ["markdown_source"]

_ENDINGS = (".md", ".markdown")
_LONGEST_ID = 900
_FENCES = ("---", "...")


@contextmanager
def markdown_source(folder: Path) -> Iterator[Source]:
    """Open a folder, or a single file.

    Hidden files and folders are passed over, and so are links to folders. Links to files are rejected: where
    they lead was said by who made the folder. So are folders that cannot be read.

    Args:
        folder: The folder, or a file; this path itself may be a link.

    Raises:
        PgrecallError: It is not there.
    """
    if not folder.exists():
        raise PgrecallError(f"there is no folder {folder}", hint="Check the path.")
    number = sum(1 for _ in _files(folder, []))
    yield Source(
        "markdown",
        (
            f"{counted(number, 'file')}: a memory for each section that has a text; "
            "the headings above it are its title",
        ),
        None,
        partial(_rows, folder),
    )


def _files(folder: Path, unreadable: list[OSError]) -> Iterator[tuple[Path, str]]:
    """Yield the files and their names below the folder, in one order.

    Args:
        folder: The folder, or a file.
        unreadable: Where the folders go that cannot be read.
    """
    if not folder.is_dir():
        yield folder, folder.name
        return
    for above, below, names in os.walk(folder, onerror=unreadable.append):
        below[:] = sorted(one for one in below if not one.startswith("."))
        for one in sorted(names):
            if one.lower().endswith(_ENDINGS) and not one.startswith("."):
                file = Path(above) / one
                yield file, file.relative_to(folder).as_posix()


def _rows(folder: Path) -> Iterator[Row | Rejected]:
    from markdown_it import MarkdownIt

    # Blocks alone: what is inside a paragraph makes no section.
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    unreadable: list[OSError] = []
    for file, name_below in _files(folder, unreadable):
        path = _storable(name_below)
        try:
            yield from _sections(parser, path, _read(file, follow=file == folder))
        except PgrecallError as error:
            yield Rejected(path, error.message)
    for failure in unreadable:
        yield Rejected(_storable(os.path.relpath(failure.filename, folder)), str(failure.strerror))


def _storable(path: str) -> str:
    """Return a path without the bytes that are no UTF-8."""
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _read(file: Path, *, follow: bool) -> str:
    with open_regular(file, follow=follow) as opened:
        raw = opened.read(MAX_ROW_BYTES + 1)
    if len(raw) > MAX_ROW_BYTES:
        raise InvalidInput(f"it has more than {MAX_ROW_BYTES} bytes")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8 at byte {error.start + 1}") from None


def _sections(parser: MarkdownIt, path: str, text: str) -> Iterator[Row]:
    lines = text.split("\n")
    front, begin = _front_matter(lines)
    fields, metadata = _fields(front)
    document = fields.pop("title", None)
    body = lines[begin:]
    headings: list[tuple[int, str]] = []
    known: dict[str, int] = {}
    position = 0
    for level, heading, start, end in _blocks(parser, body):
        while level and headings and headings[-1][0] >= level:
            headings.pop()
        if level:
            headings.append((level, heading))
        content = "\n".join(body[start:end]).strip()
        if not content:
            continue
        above = [heading for _, heading in headings if heading]
        position += 1
        yield Row(
            place=f"{path}:{begin + start + 1}",
            id=_id(path, above, known),
            memory=NewMemory(
                content=content,
                title=" > ".join(above) if above else document or Path(path).stem,
                source=path,
                session=path,
                position=position,
                metadata=metadata,
                **fields,
            ),
        )


def _blocks(parser: MarkdownIt, body: list[str]) -> Iterator[tuple[int, str, int, int]]:
    """Yield the level and text of each heading, and the lines below it; before the first the level is 0."""
    level, heading, start = 0, "", 0
    tokens = parser.parse("\n".join(body))
    for token, following in pairwise(tokens):
        # A heading inside a quotation or a list is part of it.
        if token.type != "heading_open" or token.level != 0 or token.map is None:
            continue
        yield level, heading, start, token.map[0]
        level, heading, start = int(token.tag[1:]), following.content.strip(), token.map[1]
    yield level, heading, start, len(body)


def _id(path: str, above: list[str], known: dict[str, int]) -> str:
    """Return what tells a section from others, for as long as its file and headings keep their names."""
    plain = f"{path}#{'/'.join(above)}" if above else path
    known[plain] = known.get(plain, 0) + 1
    id = plain if known[plain] == 1 else f"{plain}#{known[plain]}"
    if len(id.encode()) > _LONGEST_ID:
        id = f"{id[: _LONGEST_ID // 5]}#{blake2b(id.encode(), digest_size=16).hexdigest()}"
    return id


def _front_matter(lines: list[str]) -> tuple[dict[str, Any], int]:
    """Return what a file says of itself above its text, and the line where the text begins."""
    if lines[0].rstrip() != "---":
        return {}, 0
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in _FENCES), None)
    if end is None:
        return {}, 0
    from .front_matter import read_front_matter

    return read_front_matter("\n".join(lines[1:end])), end + 1


def _fields(front: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Take the fields of a memory out of the front matter; the rest is metadata."""
    rest = {key: value for key, value in front.items() if value is not None}
    fields: dict[str, Any] = {"is_sensitive": sensitive(rest)}
    for key in ("title", "category"):
        if key in rest:
            fields[key] = name(key, rest.pop(key))
    if "tags" in rest:
        fields["tags"] = texts("tags", rest.pop("tags"))
    if "date" in rest:
        fields["occurred_at"] = moment("date", rest.pop("date"))
    for key in ("lang", "language"):
        if key in rest:
            fields["language"] = text_search_configuration(rest.pop(key))
    return fields, rest
