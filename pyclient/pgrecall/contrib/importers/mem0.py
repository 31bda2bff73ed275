"""A collection of mem0 in pgvector: a table with id, vector and payload."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from psycopg import sql

from pgrecall.errors import InvalidInput
from pgrecall.models import NewMemory

from .fields import end_of_day, mapping, moment, name, sensitive
from .postgres import check_dimension, connected, find_table, row_count, table_rows, usable
from .rows import Row, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

__all__ = ["Users", "mem0_source"]

Users = Literal["namespace", "tag", "metadata"]
"""What becomes of the user_id of mem0."""

_DERIVED = ("hash", "text_lemmatized")
_SPEAKERS = ("actor_id", "attributed_to", "role")


@contextmanager
def mem0_source(
    dsn: str, collection: str, *, users: Users = "namespace", dimension: int | None = None
) -> Iterator[Source]:
    """Open a collection as it is now.

    Args:
        dsn: Its database.
        collection: Its table, mem0 by default there.
        users: What becomes of user_id.
        dimension: That of the active model, if its embeddings are to be taken over.

    Raises:
        InvalidInput: There is no such table, it is none of mem0's, or its embeddings have another dimension.
    """
    with connected(dsn) as connection:
        table = find_table(connection, collection)
        if table is None or not {"id", "vector", "payload"} <= table.columns.keys():
            raise InvalidInput(
                f"there is no collection {collection!r} of mem0",
                hint="It is a table with the columns id, vector and payload, named as mem0's collection.",
            )
        if dimension is not None:
            check_dimension(connection, table, "vector", dimension)
        query = sql.SQL(
            "SELECT json_build_object('id', t.id, 'payload', t.payload) AS record, {} AS vector "
            "FROM {} t ORDER BY t.id"
        ).format(sql.SQL("t.vector::text" if dimension is not None else "NULL::text"), table.name)

        def read(place: str, record: dict[str, Any], vector: str | None) -> Row:
            return _row(place, record, usable(vector, dimension), users)

        yield Source(
            "mem0",
            (
                f"user_id becomes the {users}" if users != "metadata" else "user_id stays in the metadata",
                "run_id becomes the session, actor or role the speaker, expiration_date the end of validity",
                "the rest of the payload goes to the metadata, except hash and text_lemmatized",
            ),
            row_count(connection, query, ()),
            lambda: table_rows(connection, query, (), read, "pgrecall_import"),
        )


def _row(place: str, record: dict[str, Any], vector: str | None, users: Users) -> Row:
    payload = {
        key: value
        for key, value in mapping("payload", record.get("payload", {})).items()
        if value is not None and key not in _DERIVED
    }
    if not isinstance(payload.get("data"), str):
        raise InvalidInput("its payload has no text under 'data'")
    fields: dict[str, Any] = {"content": payload.pop("data")}
    fields["is_sensitive"] = sensitive(payload)
    fields["created_at"] = _moment("created_at", payload)
    fields["valid_to"] = _end(payload)
    if "run_id" in payload:
        fields["session"] = name("run_id", payload.pop("run_id"))
    for key in _SPEAKERS:
        if key in payload:
            fields["speaker"] = name(key, payload.pop(key))
            break
    if "user_id" in payload and users == "namespace":
        fields["namespace"] = name("user_id", payload.pop("user_id"))
        if not fields["namespace"].strip():
            raise InvalidInput("user_id is blank and cannot name a namespace")
    elif "user_id" in payload and users == "tag":
        fields["tags"] = [name("user_id", payload.pop("user_id"))]
    updated = _moment("updated_at", payload)
    return Row(
        place=place,
        id=str(record["id"]),
        memory=NewMemory(**fields, metadata=payload),
        updated_at=updated,
        embedding=vector,
    )


def _moment(key: str, payload: dict[str, Any]) -> datetime | None:
    value = payload.pop(key, None)
    return None if value in (None, "") else moment(key, value)


def _end(payload: dict[str, Any]) -> datetime | None:
    """Take out the end of validity: mem0 writes the last day on which a memory holds."""
    key = "expiration_date"
    if isinstance(payload.get(key), str):
        with suppress(ValueError):
            day = date.fromisoformat(payload[key].strip())
            del payload[key]
            return end_of_day(day)
    return _moment(key, payload)
