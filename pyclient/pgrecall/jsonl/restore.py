"""Restores memories from lines of `pgrecall export` in batches, and links superseded ones at the end."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput
from pgrecall.files import temporary_file

from .bisect import bisect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pgrecall._sync.client import Client
    from pgrecall.errors import PgrecallError

MARK = "pgrecall"
"""The key that marks a line of an export; its value is the version of the format."""

_LINKS_AT_ONCE = 1000
_RECORDS_AT_ONCE = 200
_RECORD_CHARACTERS = 2 * 2**20
_NOT_STORED = {
    "differs": "another one stands in its place, and is kept",
    "refused": "only an administrator sets retention rules and policies for secrets",
    "missing": "its memory was not imported, or its id is that of several",
}
_LATE = (
    "its policy for secrets is set, but memories came before it and were stored without it: "
    "import into an empty namespace, with this line first"
)
_NO_SUCCESSOR = "its successor is not among the lines, or its id is that of several: it stays forgotten"
_OF_LINKS = ("superseded_at", "updated_at", "deleted_at")


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str
    id: int
    namespace: str
    link: dict[str, Any] | None


@dataclass(slots=True)
class Restorer:
    """Stores lines of an export.

    It keeps sixteen bytes per line until the end of an export, to map old ids to new ones. A file may hold
    several exports, whose ids have nothing to do with each other: each begins with a header.

    Attributes:
        keep_origins: Whether memories keep the origins that the lines state.
        stored: Number of new memories.
        present: Number of lines whose memory already existed.
        differing: Number of lines whose external id belongs to a memory with another text, which is kept.
        embedded: Number of stored embeddings.
        left_out: Number of skipped embeddings, by model.
        namespaces: The namespaces of the lines.
        rejected: Numbers of the refused lines, with the reasons.
        records: Number of stored lines that are no memories.
        is_over: Whether another export begins: call `finish` before the next line.
    """

    client: Client
    keep_origins: bool = False
    stored: int = 0
    present: int = 0
    differing: int = 0
    embedded: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    namespaces: dict[str, None] = field(default_factory=dict)
    rejected: list[tuple[int, str]] = field(default_factory=list)
    records: int = 0
    is_over: bool = False
    _has_header: bool = False
    # They name memories that may come later, and can be many. Made for the first one: most files have none,
    # and the folder of temporary files may be full or read-only.
    _records: IO[bytes] | None = None
    # Policies for secrets, as number, namespace and line: memories are scanned by them when they are stored.
    _policies: list[tuple[int, str, str]] = field(default_factory=list)
    _batch: list[_Line] = field(default_factory=list)
    _links: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    # Ids of memories that were here before, with another text: what the lines tell of theirs is not theirs.
    _others: set[int] = field(default_factory=set)
    _theirs: array[int] = field(default_factory=lambda: array("q"))
    _ours: array[int] = field(default_factory=lambda: array("q"))

    def add(self, number: int, raw: bytes, record: Mapping[str, Any]) -> None:
        """Add a line, to be stored by the next `flush`.

        Args:
            number: Its number, for the report.
            raw: The line.
            record: The parsed line.

        Raises:
            InvalidInput: Its id, namespace or superseded_by is invalid.
        """
        if "kind" in record:
            if record["kind"] == "namespace":
                self._policies.append((number, str(record.get("namespace")), json.dumps(record)))
            elif record["kind"] == "header":
                # Lines may be in any order, so the first one begins nothing.
                self.is_over = self._has_header
                self._has_header = True
            else:
                with temporary_file():
                    if self._records is None:
                        self._records = TemporaryFile()  # noqa: SIM115 - until `close`
                    self._records.write(b"%d %s\n" % (number, json.dumps(record).encode()))
            return
        id = _id(record, "id")
        namespace = record.get("namespace")
        if not isinstance(namespace, str):
            raise InvalidInput("not a line of an export: its namespace is not a text")
        successor = _id(record, "superseded_by") if "superseded_by" in record else None
        link = None
        if successor is not None:
            link = {"superseded_by": successor, **{name: record.get(name) for name in _OF_LINKS}}
        self._batch.append(_Line(number, raw.decode().strip(), id, namespace, link))

    def flush(self) -> None:
        """Store the added lines, policies for secrets before memories."""
        policies, self._policies = self._policies, []
        bisect(policies, self._store_policies, self._refuse_policy)
        batch, self._batch = self._batch, []
        bisect(batch, self._store, self._refuse)

    def finish(self) -> None:
        """Store the lines of an export that remain, link its memories, and store what is told of them."""
        self.flush()
        pairs = zip(self._theirs, self._ours, strict=True)
        if any(one > following for one, following in pairwise(pairs)):
            order = sorted(
                range(len(self._theirs)), key=lambda place: (self._theirs[place], self._ours[place])
            )
            self._theirs = array("q", (self._theirs[place] for place in order))
            self._ours = array("q", (self._ours[place] for place in order))
        known: list[tuple[int, dict[str, Any]]] = []
        for number, link in self._links:
            successor = self._ours_of(link["superseded_by"])
            if successor is not None:
                known.append((number, link | {"superseded_by": successor}))
            else:
                self.rejected.append((number, _NO_SUCCESSOR))
        for start in range(0, len(known), _LINKS_AT_ONCE):
            bisect(known[start : start + _LINKS_AT_ONCE], self._link, self._leave_forgotten)
        self._finish_records()
        self.close()
        self._records = None
        self._links.clear()
        self._others.clear()
        del self._theirs[:], self._ours[:]
        self.is_over = False

    def _finish_records(self) -> None:
        if self._records is None:
            return
        with temporary_file():
            self._records.seek(0)
        batch: list[tuple[int, str]] = []
        size = 0
        for line in self._records:
            number, _, text = line.decode().partition(" ")
            batch.append((int(number), json.dumps(self._mapped(json.loads(text)))))
            size += len(text)
            if len(batch) == _RECORDS_AT_ONCE or size >= _RECORD_CHARACTERS:
                bisect(batch, self._store_records, self._refuse_record)
                batch, size = [], 0
        bisect(batch, self._store_records, self._refuse_record)

    def close(self) -> None:
        """Remove what is kept until the end."""
        # What did not fit has been reported by what was to store it.
        if self._records is not None:
            with suppress(OSError):
                self._records.close()

    def _mapped(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record with the ids of this database; 0 is an id of no memory."""
        # What is no number stays, and is refused: True is an int.
        for key in ("memory", "note"):
            if type(record.get(key)) is int:
                record[key] = self._told_of(record[key]) or 0
        for key in ("useful", "useless", "exclude"):
            if isinstance(record.get(key), list):
                ids = (self._told_of(id) if type(id) is int else id for id in record[key])
                record[key] = [id for id in ids if id is not None]
        for key in ("before", "after"):
            values = record.get(key)
            if isinstance(values, dict) and type(values.get("superseded_by")) is int:
                values["superseded_by"] = self._ours_of(values["superseded_by"])
        return record

    def _told_of(self, theirs: int) -> int | None:
        """Return our id of a memory that the lines tell something of."""
        ours = self._ours_of(theirs)
        return None if ours in self._others else ours

    def _ours_of(self, theirs: int) -> int | None:
        """Return our id of a memory; None if no line has it, or lines of different memories have."""
        place, end = bisect_left(self._theirs, theirs), bisect_right(self._theirs, theirs)
        is_one = place < end and self._ours[place] == self._ours[end - 1]
        return self._ours[place] if is_one else None

    def _store_policies(self, batch: Sequence[tuple[int, str, str]]) -> None:
        outcomes = self._store_records([(number, text) for number, _, text in batch])
        for (number, namespace, _), outcome in zip(batch, outcomes, strict=True):
            if outcome == "stored" and namespace in self.namespaces:
                self.rejected.append((number, _LATE))

    def _refuse_policy(self, policy: tuple[int, str, str], refusal: PgrecallError) -> None:
        self._refuse_record((policy[0], policy[2]), refusal)

    def _store_records(self, batch: Sequence[tuple[int, str]]) -> list[str]:
        rows = self.client.transfer.import_records([text for _, text in batch])
        for (number, _), row in zip(batch, rows, strict=True):
            self.records += row["outcome"] == "stored"
            if row["outcome"] in _NOT_STORED:
                self.rejected.append((number, _NOT_STORED[row["outcome"]]))
        return [row["outcome"] for row in rows]

    def _refuse_record(self, record: tuple[int, str], refusal: PgrecallError) -> None:
        self.rejected.append((record[0], refusal.message.removeprefix("line 1: ")))

    def _store(self, batch: Sequence[_Line]) -> None:
        rows = self.client.transfer.import_memories(
            [line.text for line in batch], keep_origins=self.keep_origins
        )
        for line, row in zip(batch, rows, strict=True):
            self.stored += row["outcome"] == "stored"
            self.present += row["outcome"] != "stored"
            self.differing += row["outcome"] == "differs"
            self.embedded += row["embedded"]
            for model in row["left_out"]:
                self.left_out[model] = self.left_out.get(model, 0) + 1
            self.namespaces[line.namespace] = None
            self._theirs.append(line.id)
            self._ours.append(row["id"])
            if row["outcome"] == "differs":
                self._others.add(row["id"])
            elif line.link is not None:
                self._links.append((line.number, {"id": row["id"], **line.link}))

    def _refuse(self, line: _Line, refusal: PgrecallError) -> None:
        self.rejected.append((line.number, refusal.message.removeprefix("line 1: ")))

    def _link(self, links: Sequence[tuple[int, dict[str, Any]]]) -> None:
        self.client.transfer.link_imported_memories([link for _, link in links])

    def _leave_forgotten(self, link: tuple[int, dict[str, Any]], refusal: PgrecallError) -> None:
        self.rejected.append((link[0], f"{refusal.message}: it stays forgotten"))


def _id(record: Mapping[str, Any], key: str) -> int:
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise InvalidInput(f"not a line of an export: its {key} is not an id")
    return value
