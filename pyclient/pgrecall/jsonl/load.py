"""Imports JSON Lines: one object per line; bad lines are reported and skipped.

`content` is required. Known keys are the fields of a memory, with two short forms: `id` for `external_id` and
`lang` for `language`, which may be a code such as `de`, a text-search configuration, or `auto`. Every other
key goes to the metadata. Times are ISO 8601; one without a zone is UTC. A line with a session and without a
position gets the next one of its session: neighbours count in recall. An `origin` that is none that there is
goes to the metadata, too.

A line with the key `pgrecall` comes from `pgrecall export` and has the whole memory with its namespace.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from pgrecall.errors import InvalidInput, PgrecallError, TooLarge
from pgrecall.files import NoTemporaryFile
from pgrecall.filters import Origin
from pgrecall.languages import AUTO, LANGUAGES, load_detector
from pgrecall.models import NewMemory
from pgrecall.new_memories import new_memory

from .bisect import bisect
from .lines import MAX_LINE_BYTES, check_limits, json_kind, json_object, text_search_configuration
from .restore import MARK, Restorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pgrecall._sync.client import Client

__all__ = ["FIELDS", "LANGUAGES", "ImportReport", "Line", "Rejection", "import_jsonl", "parse_line"]

BATCH_LINES = 500
BATCH_BYTES = 2 * 2**20

_BOM = b"\xef\xbb\xbf"
_TEXTS = ("content", "title", "category", "source", "speaker")
_NAMES = ("session", "external_id")
_TIMES = ("occurred_at", "created_at", "valid_from", "valid_to", "expires_at")
_AS_THEY_ARE = ("tags", "expanded_keywords", "importance", "position", "is_sensitive")
FIELDS = frozenset((*_TEXTS, *_NAMES, *_TIMES, *_AS_THEY_ARE, "id", "lang", "language", "metadata", "origin"))
"""The keys that are fields of a memory."""

_ORIGINS = get_args(Origin)
_LESS_TRUSTED = _ORIGINS[: _ORIGINS.index("import")]
_LONGEST = 4 * 2**20
_QUOTED_MARK = f'"{MARK}"'.encode()
_LAST_POSITION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its number in the file that it is from; or why it is none."""

    number: int
    raw: bytes
    fault: PgrecallError | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A line that was not imported: its number, from 1, and the reason."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import.

    Attributes:
        stored: Number of new memories.
        present: Number of lines whose id already existed and whose memory is unchanged.
        without_id: Number of lines without an id; importing them again would store duplicates.
        namespaces: The namespaces named by lines or by the caller.
        rejected: The skipped lines.
        differing: Those of `present` that differ from the stored memory, which is kept.
        embedded: Number of embeddings imported from an export.
        left_out: Number of embeddings that do not fit this database, by model.
        placed: Number of lines that got their position from their place among the lines of their session.
        updated: Number of lines that differed from the stored memory, which took their fields.
        records: Number of lines of an export that were stored and are no memories: history, feedback, rules.
    """

    stored: int
    present: int
    without_id: int
    namespaces: tuple[str, ...]
    rejected: tuple[Rejection, ...]
    differing: int = 0
    embedded: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    placed: int = 0
    updated: int = 0
    records: int = 0


@dataclass(frozen=True, slots=True)
class _Item:
    number: int
    memory: NewMemory
    is_placed: bool

    @property
    def key(self) -> tuple[str | None, str] | None:
        id = self.memory.external_id
        return None if id is None else (self.memory.namespace, id)


@dataclass(slots=True)
class _Run:
    client: Client
    namespace: str | None
    on_conflict: Literal["keep", "update"]
    restorer: Restorer
    counts: Counter[str] = field(default_factory=Counter)
    without_id: int = 0
    namespaces: dict[str, None] = field(default_factory=dict)
    rejected: list[Rejection] = field(default_factory=list)
    last_positions: dict[tuple[str | None, str], int] = field(default_factory=dict)
    placed: int = 0


def import_jsonl(
    client: Client,
    lines: Iterable[bytes | Line],
    *,
    namespace: str | None = None,
    namespace_field: str | None = None,
    detect_language: bool = False,
    on_conflict: Literal["keep", "update"] = "keep",
    keep_origins: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Import lines. Creates missing namespaces.

    Args:
        client: The client of the target database.
        lines: A file opened in binary mode, or any iterable of lines; it is read lazily, once.
        namespace: The namespace of lines that name none. Lines of an export name theirs: those of another
            namespace than this are rejected.
        namespace_field: The key whose value names the namespace of a line.
        detect_language: True detects the language of lines that name none.
        on_conflict: What happens to a memory whose line has its id and differs: 'keep' leaves it as it is,
            'update' gives it the fields of the line, unless it was forgotten or superseded. Lines of an
            export never change a memory.
        keep_origins: True keeps the origins that lines state. By default a memory comes from the import, or
            is less trusted if its line says so.
        progress: Called with the number of bytes processed since the last call.

    Returns:
        The report. Blank lines are ignored.

    Raises:
        ConnectionFailed: The connection was lost. Stored memories stay, and importing again completes the
            import. The same applies to other errors not caused by a line, such as PermissionDenied.
    """
    if detect_language:
        load_detector()
    with closing(Restorer(client, keep_origins)) as restorer:
        run = _Run(client, namespace, on_conflict, restorer)
        _import(run, lines, namespace_field, detect_language, progress or (lambda _: None))
        return _report(run)


def _import(
    run: _Run,
    lines: Iterable[bytes | Line],
    namespace_field: str | None,
    detect_language: bool,
    progress: Callable[[int], None],
) -> None:
    batch: list[_Item] = []
    keys: set[tuple[str | None, str]] = set()
    size = waiting = 0
    for line in _numbered(lines):
        try:
            item = _item(run, line, namespace_field, detect_language)
        except NoTemporaryFile:
            raise
        except PgrecallError as error:
            run.rejected.append(Rejection(line.number, error.message))
        else:
            # An id twice is two changes, one after the other.
            if item is not None and item.key in keys:
                _store(run, batch)
                batch, keys = [], set()
            if item is not None:
                batch.append(item)
                if item.key is not None:
                    keys.add(item.key)
            waiting += 1
            if run.restorer.is_over:
                run.restorer.finish()
        size += len(line.raw)
        if waiting >= BATCH_LINES or size >= BATCH_BYTES:
            _store(run, batch)
            run.restorer.flush()
            batch, keys = [], set()
            progress(size)
            size = waiting = 0
    _store(run, batch)
    run.restorer.finish()
    progress(size)


def _item(run: _Run, line: Line, namespace_field: str | None, detect_language: bool) -> _Item | None:
    """Parse a line; None if it is blank, or was added to the restorer."""
    if line.fault is not None:
        raise line.fault
    exported = _QUOTED_MARK in line.raw and json_object(_bounded(line.raw, MAX_LINE_BYTES))
    if exported and isinstance(exported.get(MARK), int):
        # Its links, history and rules belong to that namespace.
        if run.namespace is not None and exported.get("namespace") not in (None, run.namespace):
            raise InvalidInput(
                "it is a line of an export of another namespace; leave the namespace out, and "
                "rename that namespace afterwards if it shall have another name"
            )
        run.restorer.add(line.number, line.raw, exported)
        return None
    memory = parse_line(
        _bounded(line.raw, _LONGEST), namespace=run.namespace, namespace_field=namespace_field
    )
    if memory is None:
        return None
    if detect_language and memory.language is None:
        memory = replace(memory, language=AUTO)
    # Whoever wrote a file may have written any origin into it.
    if memory.origin not in _LESS_TRUSTED and not run.restorer.keep_origins:
        memory = replace(memory, origin=None)
    placed = _placed(run, memory)
    return _Item(line.number, placed, placed is not memory)


def _bounded(raw: bytes, most: int) -> bytes:
    if len(raw) > most:
        raise TooLarge(f"it has more than {most} bytes")
    return raw


def parse_line(
    raw: bytes, *, namespace: str | None = None, namespace_field: str | None = None
) -> NewMemory | None:
    """Parse one line, and check it as far as possible without the server.

    Args:
        raw: The line.
        namespace: Its namespace if it names none.
        namespace_field: The key whose value names its namespace.

    Returns:
        The memory; None for a blank line.

    Raises:
        PgrecallError: The line is not a valid memory; the message gives the reason without quoting it.
    """
    if not raw.strip():
        return None
    record = json_object(raw)
    values: dict[str, Any] = {}
    chosen = _take_namespace(record, namespace, namespace_field)
    if chosen is not None:
        values["namespace"] = chosen
    for alias, name in (("id", "external_id"), ("lang", "language")):
        if record.get(name) is None and record.get(alias) is not None:
            record[name] = record.pop(alias)
    values.update({name: record.pop(name) for name in (*_TEXTS, *_AS_THEY_ARE) if name in record})
    values.update({name: _name(name, record.pop(name)) for name in _NAMES if name in record})
    values.update({name: _time(name, record.pop(name)) for name in _TIMES if name in record})
    if values.get("external_id") == "":
        values["external_id"] = None
    # Other programs may mean anything by it, such as a place.
    if record.get("origin") in _ORIGINS:
        values["origin"] = record.pop("origin")
    values["language"] = text_search_configuration(record.pop("language", None))
    values["metadata"] = _metadata(record)
    memory = NewMemory(**{"content": None, **values})
    check_limits(new_memory(memory))
    return memory


def _report(run: _Run) -> ImportReport:
    restored = run.restorer
    rejected = [*run.rejected, *(Rejection(number, reason) for number, reason in restored.rejected)]
    return ImportReport(
        stored=run.counts["stored"] + restored.stored,
        present=run.counts["present"] + run.counts["differs"] + restored.present,
        without_id=run.without_id,
        namespaces=tuple(run.namespaces | restored.namespaces),
        rejected=tuple(sorted(rejected, key=lambda rejection: rejection.line)),
        differing=run.counts["differs"] + restored.differing,
        embedded=restored.embedded,
        left_out=restored.left_out,
        placed=run.placed,
        updated=run.counts["updated"],
        records=restored.records,
    )


def _placed(run: _Run, memory: NewMemory) -> NewMemory:
    """Return the memory with a position, if it has a session: the one after that of the line before."""
    if memory.session is None:
        return memory
    session = memory.namespace, memory.session
    position = memory.position
    if position is None:
        position = min(run.last_positions.get(session, -1) + 1, _LAST_POSITION)
        memory = replace(memory, position=position)
        run.placed += 1
    run.last_positions[session] = position
    return memory


def _numbered(lines: Iterable[bytes | Line]) -> Iterator[Line]:
    for number, line in enumerate(lines, 1):
        if isinstance(line, Line):
            yield line
        else:
            yield Line(number, line.removeprefix(_BOM) if number == 1 else line)


def _take_namespace(record: dict[str, Any], namespace: str | None, key: str | None) -> str | None:
    if key is None:
        return namespace
    if key not in record:
        if namespace is None:
            raise InvalidInput(f"has no field {key!r} to name its namespace")
        return namespace
    name = _name(key, record[key])
    if not name.strip():
        raise InvalidInput(f"{key} is blank and cannot name a namespace")
    if key not in (*_TEXTS, *_NAMES):
        # The namespace replaces the key, unless the key is a field of its own, such as session.
        del record[key]
    return name


def _name(key: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(f"{key} must be a string or an integer, not {json_kind(value)}")
    return str(value)


def _time(key: str, value: object) -> datetime:
    if not isinstance(value, str):
        raise InvalidInput(f"{key} must be an ISO 8601 string, not {json_kind(value)}")
    try:
        return datetime.fromisoformat(value.strip())
    except ValueError:
        raise InvalidInput(f"{key} is not an ISO 8601 time") from None


def _metadata(record: dict[str, Any]) -> dict[str, Any] | None:
    explicit = record.pop("metadata", {})
    if not isinstance(explicit, dict):
        raise InvalidInput(f"metadata must be an object, not {json_kind(explicit)}")
    for key in record.keys() & explicit.keys():
        if record[key] != explicit[key]:
            raise InvalidInput("a key has different values inside and outside metadata")
    merged = {**record, **explicit}
    return merged if merged else None


def _store(run: _Run, batch: list[_Item]) -> None:
    """Store a batch, and skip the lines that the server refuses."""

    def store(part: Sequence[_Item]) -> None:
        rows = run.client.transfer.import_lines(
            [item.memory for item in part],
            namespace=part[0].memory.namespace,
            on_conflict=run.on_conflict,
            placed=[place for place, item in enumerate(part, 1) if item.is_placed],
        )
        run.counts.update(row["outcome"] for row in rows)
        run.without_id += sum(item.memory.external_id is None for item in part)
        if part[0].memory.namespace is not None:
            run.namespaces[part[0].memory.namespace] = None

    def refuse(item: _Item, refusal: PgrecallError) -> None:
        run.rejected.append(Rejection(item.number, refusal.message.removeprefix("memory: ")))

    homes: dict[str | None, list[_Item]] = {}
    for item in batch:
        homes.setdefault(item.memory.namespace, []).append(item)
    # parse_line finds most refusals in advance; this handles the others.
    for part in homes.values():
        bisect(part, store, refuse)
