"""Secrets that an administrator's own UPDATE writes: the scan changes other columns, and all that is derived follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from support.memories import call, embed, remember, scalar, stored

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

# Joined here, so that no scanner of a code host takes it for real.
KEY = "AK" + "IA" + "QX7RZ2M5N8P3T6W9"
FIELDS = ("title", "category", "tags", "expanded_keywords", "metadata", "source", "speaker")


def derived(conn: Connection[Any], memory_id: int) -> dict[str, int]:
    query = "SELECT count(*) FROM pgrecall.{} WHERE memory_id = %s"
    return {
        name: scalar(conn, query.format(name), memory_id)
        for name in ("mentions", "temporal_refs", "curations", "jobs")
    }


@pytest.fixture
def embedded(conn: Connection[Any]) -> int:
    """A memory with something in every table of what is derived."""
    call(conn, "pgrecall.set_secrets", "default", "allow", "allow")
    one = remember(conn, f"the harbour on 2 May 2025 {KEY}", tags=["sea"], metadata={"k": "v"})
    embed(conn, one)
    hashed = stored(conn, one)["content_hash"]
    call(conn, "pgrecall.apply_curation", one, None, "ADD", "rules", Jsonb({}), hashed, None)
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) VALUES (%s, 'embedding', 1)", (one,)
    )
    assert all(derived(conn, one).values())
    return one


def write(conn: Connection[Any], memory_id: int, field: str) -> None:
    value: Any = {"metadata": Jsonb({"a": "b"}), "tags": ["sea", "b"], "expanded_keywords": ["b"]}.get(
        field, "b"
    )
    conn.execute(f"UPDATE pgrecall.memories SET {field} = %s WHERE id = %s".encode(), (value, memory_id))


@pytest.mark.parametrize("field", FIELDS)
def test_what_becomes_sensitive_loses_what_is_derived(
    conn: Connection[Any], embedded: int, field: str
) -> None:
    call(conn, "pgrecall.set_secrets", "default", "sensitive", "sensitive")
    write(conn, embedded, field)
    after = stored(conn, embedded)
    assert (after["is_sensitive"], after["embedding"]) == (True, None)
    assert not any(derived(conn, embedded).values())


@pytest.mark.parametrize("field", FIELDS)
def test_what_is_redacted_is_derived_anew(conn: Connection[Any], embedded: int, field: str) -> None:
    before = stored(conn, embedded)
    call(conn, "pgrecall.set_secrets", "default", "redact", "redact")
    write(conn, embedded, field)
    after = stored(conn, embedded)
    assert KEY not in after["content"]
    assert KEY.lower() not in after["words"]
    assert (after["content_hash"] == before["content_hash"], after["embedding"]) == (False, None)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'embedding'") == 0


def test_every_trigger_fires_by_all_that_the_scan_can_change(conn: Connection[Any]) -> None:
    found = conn.execute("""
        SELECT t.tgname, array_agg(a.attname::text)
        FROM pg_trigger t JOIN pg_attribute a ON a.attrelid = t.tgrelid AND a.attnum = ANY (t.tgattr)
        WHERE t.tgrelid = 'pgrecall.memories'::regclass
        GROUP BY 1
    """).fetchall()
    [changed] = (set(columns) for name, columns in found if name == "memories_05_secrets_update")
    assert changed == {"content", "is_sensitive", *FIELDS}  # what the tests above write
    lists = {name: changed - set(columns) for name, columns in found if changed & set(columns)}
    assert len(lists) >= 12
    assert {name: missing for name, missing in lists.items() if missing} == {}
