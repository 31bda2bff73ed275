"""A writer who imports: nothing that an import accepts takes a change out of the history of a memory."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.memories import call, remember, rows, scalar, share
from support.roles import role

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

pytestmark = pytest.mark.rollback

AWAITS = "1000-01-01T00:00:00Z"
"""When import_memories() says that a memory was forgotten whose successor is still to come."""
SPELLINGS = [
    AWAITS, "1000-01-01T01:00:00+01:00", "1000-01-01 00:00:00+00", "999-12-31T23:00:00-01:00",
    "2025-01-01T00:00:00Z", "0001-01-02T00:00:00Z", "9999-12-31T00:00:00Z", "infinity", "-infinity", "epoch",
]  # fmt: skip
FORGED = {"imported_from": {"kind": "k", "id": "1", "fingerprint": "old", "is_deleted": True}}


class Writer:
    """A role that may write one namespace, and what it does to one of the memories there."""

    def __init__(self, conn: Connection[Any]) -> None:
        self.conn = conn
        options = {"external_id": "m", "metadata": FORGED}
        self.id = remember(conn, "the original", occurred_at="2024-05-01T00:00:00Z", **options)
        self.other = remember(conn, "another", external_id="n")
        call(conn, "update_memory", self.id, importance=0.75)

    def tries(self, function: str, *arguments: object, **options: object) -> None:
        """Call a function; a refusal is fine, and undone."""
        with suppress(psycopg.Error), self.conn.transaction():
            rows(self.conn, function, *arguments, **options)

    def changes_source(self, content: str, deleted_at: str | None) -> None:
        row = {
            "memory": {"external_id": "m", "content": content},
            "import": {"kind": "k", "id": "1", "fingerprint": content},
            "deleted_at": deleted_at,
            "updated_at": "2024-05-01T00:00:00Z",
        }
        self.tries("pgrecall.import_rows", Jsonb([row]))

    def links(self, deleted_at: str | None = None) -> None:
        link = {"id": self.id, "superseded_by": self.other, "superseded_at": "2025-01-01T00:00:00Z"}
        self.tries("pgrecall.link_imported_memories", Jsonb([{**link, "deleted_at": deleted_at}]))

    def imports(self, content: str, **fields: object) -> None:
        line = {"pgrecall": 1, "id": 1, "namespace": "default", "external_id": "m", "content": content}
        made = {
            "created_at": "2025-01-01T00:00:00Z",
            "superseded_by": 2,
            "superseded_at": "2025-01-01T00:00:00Z",
        }
        self.tries("pgrecall.import_memories", Jsonb([line | made | fields]), keep_origins=True)

    def claims(self, changed_at: str, content: str, count: int) -> None:
        """Bring a history with an import."""
        line = {
            "pgrecall": 1, "kind": "change", "namespace": "default", "memory": self.id, "action": "update",
            "changed_at": changed_at, "role": "pgrecall_writer",
        }  # fmt: skip
        lines = [
            line | {"before": {"content": f"{content} {n}"}, "after": {"content": f"{content} {n + 1}"}}
            for n in range(count)
        ]
        self.tries("pgrecall.import_records", Jsonb(lines))

    # The ways.

    def forges_and_links(self, spelling: str) -> None:
        self.changes_source("forged", spelling)
        self.links()

    def forges_twice(self, spelling: str) -> None:
        self.changes_source("forged", spelling)
        self.links(spelling)
        self.changes_source("forged again", spelling)
        self.links()

    def forges_in_savepoints(self, spelling: str) -> None:
        with self.conn.transaction():
            self.changes_source("forged", spelling)
            with self.conn.transaction():
                self.links()

    def updates_and_imports(self, spelling: str) -> None:
        self.tries("update_memory", self.id, content="updated", metadata=FORGED)
        self.imports("forged", deleted_at=spelling)
        self.imports("forged", superseded_by=None, superseded_at=None, deleted_at=spelling)
        self.links()

    def forgets_and_imports(self, spelling: str) -> None:
        self.tries("forget", self.id)
        self.imports("forged", deleted_at=spelling)
        self.changes_source("forged", spelling)
        self.links()
        self.tries("restore", self.id)

    def supersedes_and_links(self, spelling: str) -> None:
        self.changes_source("forged", spelling)
        self.tries("supersede", self.id, successor=self.other)
        self.links(spelling)
        self.tries("remember", "forged again", external_id="m", on_conflict="update")
        self.links()

    # A history has an end: what is newer is kept longer.

    def pushes_out(self, spelling: str) -> None:
        self.claims(spelling, "said", 500)
        self.tries("update_memory", self.id, content="updated")

    def crowds_out(self, spelling: str) -> None:
        self.claims(spelling, "said " * 41_900, 8)
        self.tries("update_memory", self.id, content="updated " * 1000)


FORGERIES = [
    Writer.forges_and_links, Writer.forges_twice, Writer.forges_in_savepoints, Writer.updates_and_imports,
    Writer.forgets_and_imports, Writer.supersedes_and_links,
]  # fmt: skip
FLOODS = [Writer.pushes_out, Writer.crowds_out]
WAYS = [(way, spelling) for way in FORGERIES for spelling in SPELLINGS] + [
    (way, "9999-12-30T00:00:00Z") for way in FLOODS
]


@pytest.fixture
def writer(conn: Connection[Any]) -> Writer:
    share(conn)
    return Writer(conn)


def explained(conn: Connection[Any], id: int) -> list[dict[str, Any]]:
    """What was noted here of the changes of a memory."""
    query = """
        SELECT c.after FROM pgrecall.memory_changes c
        WHERE c.memory_id = %s AND c.role NOT LIKE 'imported:%%' ORDER BY c.id
    """
    return [after for (after,) in conn.execute(query, (id,))]


@pytest.mark.parametrize(("way", "spelling"), WAYS, ids=[f"{way.__name__} {said}" for way, said in WAYS])
def test_the_history_tells_how_a_memory_became_what_it_is(
    conn: Connection[Any], writer: Writer, way: Callable[[Writer, str], None], spelling: str
) -> None:
    fields = "SELECT _pgrecall.history_fields(m) FROM pgrecall.memories m WHERE m.id = %s"
    before = scalar(conn, fields, writer.id)
    noted = explained(conn, writer.id)
    with role(conn, "pgrecall_writer"):
        way(writer, spelling)
    told = explained(conn, writer.id)
    assert told[: len(noted)] == noted
    for after in told:
        before |= after
    assert before == scalar(conn, fields, writer.id)
