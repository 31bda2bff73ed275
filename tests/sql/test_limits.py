"""Limits: no column takes more than it should, whichever way the row comes, and the embedder reads no further than its model."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall import Client
from pgrecall.errors import TooLarge
from pgrecall.jsonl.lines import MAX_ITEMS, MAX_LABEL_BYTES, MAX_LIST_BYTES, MAX_TITLE_BYTES, check_limits
from pgrecall.new_memories import MAX_CONTENT_BYTES, new_memory
from support.memories import call, remember, rows, scalar, stored

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

UNBOUNDED = {
    (
        "memories",
        "search_vector",
    ): "a trigger makes it of what is bounded; a tsvector has a megabyte at the most",
    ("pending_postings", "indexed_vector"): "a memory's search_vector",
    ("sparse_terms", "weights"): "complete_sparse() makes it: 128 numbers",
    ("granted", "namespaces"): "a trigger makes it: one bit for each namespace",
    ("alembic_version", "version_num"): "the installer's",
    ("installation", "bundle_hash"): "the installer's",
    ("installation", "package_version"): "the installer's",
    ("installation", "vector_schema"): "the installer's",
    ("installation", "function_schema"): "the installer's",
    ("installation", "public_functions"): "the installer's",
    ("installation", "database_settings"): "the installer's",
    ("generations", "column_name"): "add_generation makes it",
    ("locks", "name"): "a trigger makes it",
    ("erasures", "role"): "erase() makes it: the name of a role",
    ("erasures", "counts"): "erase() makes it: a number for each table",
    ("learned_settings", "settings"): "learn() makes it: a value for each of seven settings",
    ("judged_queries", "judged_by"): "recall_feedback() makes it: the name of a role",
}
"""Columns without a limit of their own, and why."""
COLUMNS = """
    SELECT c.relname, a.attname FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND (
        t.typlen < 0 AND t.typname NOT IN ('numeric', 'tstzrange', 'int4range', 'halfvec') OR a.atttypid = 'name'::regtype)
      AND NOT (a.atttypmod > 0 AND t.typname IN ('varchar', 'halfvec'))
"""
# A foreign key takes no more than what it points to.
BOUNDED = """
    SELECT c.conrelid::regclass::text, a.attname, pg_get_constraintdef(c.oid), c.contype
    FROM pg_constraint c
    CROSS JOIN unnest(c.conkey) k (number)
    JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number
    WHERE c.connamespace = 'pgrecall'::regnamespace AND c.contype IN ('c', 'f')
"""


def test_every_column_has_a_limit(conn: Connection[Any]) -> None:
    bounded = set()
    for table, column, definition, kind in conn.execute(BOUNDED).fetchall():
        # A length, a list of values, or a pattern whose repetitions are counted.
        if kind == "f" or re.search(r"(length|cardinality)\(.*<?=|= ANY \(|\{0,\d+\}", definition):
            bounded.add((table.removeprefix("pgrecall."), column))
    there = {(table, column) for table, column in conn.execute(COLUMNS).fetchall()}
    assert len(there) > 80
    assert there - bounded - set(UNBOUNDED) == set()
    assert set(UNBOUNDED) - there - {("alembic_version", "version_num")} == set()


def limits(conn: Connection[Any]) -> dict[str, list[int]]:
    """The numbers of the constraints of memories, by column."""
    query = """
        SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE conrelid = 'pgrecall.memories'::regclass AND conname LIKE 'memories\\_%\\_size'
    """
    return {
        name.removeprefix("memories_").removesuffix("_size"): [
            int(number) for number in re.findall(r"<= (\d+)", text)
        ]
        for name, text in conn.execute(query.encode()).fetchall()
    }


def test_the_database_and_the_client_have_the_same_numbers(conn: Connection[Any]) -> None:
    found = limits(conn)
    assert found["content"] == [MAX_CONTENT_BYTES]
    assert found["title"] == [MAX_TITLE_BYTES]
    assert found["tags"] == found["expanded_keywords"] == [MAX_ITEMS, MAX_LIST_BYTES]
    for label in ("category", "source", "session", "speaker", "external_id", "language"):
        assert found[label] == [MAX_LABEL_BYTES]


TOO_LARGE: dict[str, Any] = {
    "content": "x" * 262_145,
    "title": "x" * 4_097,
    "category": "x" * 1_025,
    "source": "x" * 1_025,
    "session": "x" * 1_025,
    "speaker": "x" * 1_025,
    "external_id": "x" * 1_025,
    "tags": ["x" * 1_000] * 13,
    "expanded_keywords": ["x"] * 257,
    "metadata": {"x": "x" * 262_144},
}


# As JSON text: brackets, quotes and separators count.
LARGEST: dict[str, Any] = {
    "content": "x" * 262_144,
    "title": "x" * 4_096,
    "category": "x" * 1_024,
    "source": "x" * 1_024,
    "speaker": "x" * 1_024,
    "tags": [*["x" * 1_000] * 12, "x" * 236],
    "expanded_keywords": ["x" * 1_024],
    "metadata": {"x": "x" * 262_135},
}


def one_more(value: Any) -> Any:
    """A value that is a byte longer."""
    if isinstance(value, dict):
        return {"x": value["x"] + "x"}
    return [*value[:-1], value[-1] + "x"] if isinstance(value, list) else value + "x"


@pytest.mark.parametrize("field", LARGEST)
def test_every_check_draws_the_line_at_the_same_byte(conn: Connection[Any], field: str) -> None:
    """Of what is given, of a text with markers in place of secrets, and of a line that a client reads."""
    for value, is_too_large in ((LARGEST[field], False), (one_more(LARGEST[field]), True)):
        fields = {"content": "x", field: value}
        assert call(conn, "_pgrecall.exceeds_limits", Jsonb({field: value})) is is_too_large
        with pytest.raises(psycopg.errors.ProgramLimitExceeded) if is_too_large else nullcontext():
            call(conn, "_pgrecall.check_memory", Jsonb(fields), "memory")
        if field == "metadata":  # which a client leaves to the server
            continue
        with pytest.raises(TooLarge) if is_too_large else nullcontext():
            check_limits(new_memory(fields))


def test_markers_make_no_label_longer_than_labels_are(conn: Connection[Any]) -> None:
    """Its export could not be imported."""
    call(conn, "pgrecall.set_secrets", "default", "redact")
    label = f"password: {'tiger' + '2041'} " * 50
    for field in ("tags", "expanded_keywords"):
        too_long = pytest.raises(psycopg.errors.ProgramLimitExceeded, match="too long with markers")
        with too_long, conn.transaction():
            remember(conn, "x", **{field: [label]})


@pytest.mark.parametrize("field", TOO_LARGE)
def test_what_is_too_large_is_refused_by_name(conn: Connection[Any], dsn: str, field: str) -> None:
    fields = {"content": "x", field: TOO_LARGE[field]}
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match=field) as caught:
        remember(conn, **fields)
    assert caught.value.diag.message_hint
    with Client(dsn) as client, pytest.raises(TooLarge):
        client.remember(**fields)


@pytest.mark.parametrize("field", TOO_LARGE)
@pytest.mark.parametrize("role", ["pgrecall_admin", None])
def test_nor_does_a_row_written_by_hand_take_it(conn: Connection[Any], field: str, role: str | None) -> None:
    number = remember(conn, "x")
    before = stored(conn, number)
    if role is not None:
        conn.execute(f"SET ROLE {role}".encode())
    value: object = TOO_LARGE[field]
    with pytest.raises(psycopg.errors.CheckViolation, match=f"memories_{field}_size"):
        conn.execute(
            f"UPDATE pgrecall.memories SET {field} = %s WHERE id = %s".encode(),
            (psycopg.types.json.Jsonb(value) if field == "metadata" else value, number),
        )
    conn.execute("RESET ROLE")
    assert stored(conn, number) == before


def test_the_largest_memory_goes_all_the_way(conn: Connection[Any]) -> None:
    words = " ".join(f"w{n}" for n in range(60_000))
    fields: dict[str, Any] = {
        "content": words[:262_144],
        "title": ("t" * 63 + " ") * 64,
        **dict.fromkeys(("category", "source", "session", "speaker", "external_id"), "l" * 1_024),
        "tags": [f"tag {n}" for n in range(256)],
        "expanded_keywords": [f"word {n}" for n in range(256)],
        "metadata": {"x": "x" * 262_000},
    }
    number = remember(conn, **fields)
    assert [row[0] for row in rows(conn, "recall", "w17 w18")] == [number]
    (line,) = rows(conn, "pgrecall.export_memories")
    call(conn, "erase", number)
    query = "SELECT * FROM pgrecall.import_memories(jsonb_build_array(%s::jsonb))"
    assert len(conn.execute(query, (line,)).fetchall()) == 1
    assert [row[3] for row in rows(conn, "recall", "w17 w18")] == [fields["content"]]
    assert scalar(conn, "SELECT octet_length(metadata::text) FROM pgrecall.memories") > 262_000


EMBED = """
import resource, sys, time
from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall_embedder.providers.base import ModelSpec
from pgrecall_embedder.providers.local import SentenceTransformersProvider
provider = SentenceTransformersProvider(ModelSpec(1, DEFAULT_MODEL, 384, 'sentence-transformers', '', ''), 1)
provider.embed_documents(["a text"])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.process_time()
made = provider.embed_documents([("words " * 50_000)[:262_144]] * 8)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before, time.process_time() - began, all(made.is_truncated))
"""


@pytest.mark.slow
def test_the_embedder_reads_no_further_than_its_model() -> None:
    """Peak memory goes by what the model can read, not by what the text has."""
    done = subprocess.run([sys.executable, "-c", EMBED], capture_output=True, text=True, check=True)
    grown, seconds, is_truncated = done.stdout.split()
    assert int(grown) < 96 * 1024, (
        grown
    )  # kilobytes: the model's own work on eight texts of 256 tokens takes 40 to 75
    assert float(seconds) < 20
    assert is_truncated == "True"
