"""Tables of other programs in PostgreSQL: the older service's in place, mem0's, langchain's, as those libraries make them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from pgrecall import Client, InvalidInput, PgrecallError
from pgrecall.contrib.importers.jsonl import jsonl_source
from pgrecall.contrib.importers.langchain import langchain_source
from pgrecall.contrib.importers.mem0 import mem0_source
from pgrecall.contrib.importers.table import table_source
from pgrecall.contrib.mem0.mapping import end_of
from support.import_from import outcome, run, stored_memories
from support.memories import scalar

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

OLDER = """
    CREATE TABLE public.memories (
        id serial PRIMARY KEY, content text, category text, tags text[], expanded_keywords text, importance real,
        is_sensitive boolean NOT NULL DEFAULT false, deleted_at timestamptz, created_at timestamptz DEFAULT now(),
        updated_at timestamptz, mood jsonb, search_vector tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED
    )
"""
# As mem0 2.2 (vector_stores/pgvector.py) and langchain-postgres 0.0.19 (vectorstores.py, v2/engine.py) make them.
MEM0 = "CREATE TABLE mem0 (id UUID PRIMARY KEY, vector vector(3), payload JSONB)"
COLLECTIONS = """
    CREATE TABLE langchain_pg_collection (uuid uuid PRIMARY KEY DEFAULT gen_random_uuid(), name varchar NOT NULL UNIQUE, cmetadata json);
    CREATE TABLE langchain_pg_embedding (
        id varchar PRIMARY KEY, collection_id uuid REFERENCES langchain_pg_collection ON DELETE CASCADE,
        embedding vector, document varchar, cmetadata jsonb
    );
"""
OLDER_COLLECTIONS = """
    CREATE TABLE langchain_pg_collection (name varchar, cmetadata json, uuid uuid PRIMARY KEY DEFAULT gen_random_uuid());
    CREATE TABLE langchain_pg_embedding (
        collection_id uuid REFERENCES langchain_pg_collection ON DELETE CASCADE, embedding vector, document varchar,
        cmetadata json, custom_id varchar, uuid uuid PRIMARY KEY DEFAULT gen_random_uuid()
    );
"""
ONE_TABLE = """
    CREATE TABLE docs (langchain_id uuid PRIMARY KEY DEFAULT gen_random_uuid(), content text NOT NULL,
                       embedding vector(3) NOT NULL, topic text, langchain_metadata json)
"""


def _insert(conn: psycopg.Connection[Any], table: str, **values: Any) -> None:
    names = ", ".join(values)
    conn.execute(
        f"INSERT INTO {table} ({names}) VALUES ({', '.join(['%s'] * len(values))})".encode(),
        [json.dumps(value) if isinstance(value, dict) else value for value in values.values()],
    )


# -- the older service's export and table


def test_lines(client: Client, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    lines = [
        b"\xef\xbb\xbf"
        + json.dumps({"id": "a", "content": "tea", "tags": ["t"], "is_sensitive": True}).encode(),
        b"",
        b'{"id": "b", "content": "caf\xe9"}',
        b'{"id": "c", "content": "x", "importance": NaN}',
        b'{"id": "c", "content": "x"',
        b"[" * 100_000,
        b'["x"]',
        b'{"id": 7, "content": "mate", "deleted_at": "2025-01-01", "mood": "glad"}',
    ]
    (tmp_path / "m.jsonl").write_bytes(b"\n".join(lines))
    report, compared, rejected = run(client, jsonl_source(tmp_path / "m.jsonl"))
    assert (report.stored, report.sensitive, report.deleted) == (2, 1, 1)
    assert compared.holds
    assert [row.place for row in rejected] == [f"line {number}" for number in range(3, 8)]
    stored = stored_memories(conn)
    assert (stored["jsonl:a"]["is_sensitive"], stored["jsonl:a"]["tags"]) == (True, ["t"])
    assert stored["jsonl:7"]["metadata"] == {"mood": "glad"}


def test_a_table_in_place(dsn: str, client: Client, conn: psycopg.Connection[Any]) -> None:
    conn.execute(OLDER)
    _insert(
        conn, "public.memories", content="tea", tags=["a", "b"], expanded_keywords="x,y", mood={"glad": 1}
    )
    _insert(conn, "public.memories", content="gin", is_sensitive=True, created_at="2025-01-02T03:04:05Z")
    _insert(conn, "public.memories", content="gone", deleted_at="2025-01-02")
    _insert(conn, "public.memories", content="never", created_at="infinity")
    _insert(conn, "public.memories", content="when?", created_at="4713-01-01 BC")
    before = conn.execute("SELECT * FROM public.memories WHERE id < 4").fetchall()
    with table_source(dsn, "public.memories") as source:
        assert source.total == 5
        assert any("search_vector" in sentence and "left out" in sentence for sentence in source.found)
    report, compared, rejected = run(client, table_source(dsn, "public.memories"))
    assert (outcome(report), compared.same) == ((3, 0, 0, 2), 3)
    assert [row.place for row in rejected] == ["id 4", "id 5"]
    stored = stored_memories(conn)
    assert stored["table:1"]["tags"] == ["a", "b"]
    assert stored["table:1"]["metadata"] == {"mood": {"glad": 1}}
    assert stored["table:2"]["is_sensitive"]
    assert stored["table:2"]["created_at"] == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert stored["table:3"]["deleted_at"] is not None
    assert conn.execute("SELECT * FROM public.memories WHERE id < 4").fetchall() == before

    conn.execute(
        "UPDATE public.memories SET content = 'green tea', created_at = '2025-01-01' WHERE id IN (1, 4)"
    )
    report, compared, _ = run(client, table_source(dsn, "memories"))
    assert (outcome(report), compared.holds) == ((1, 1, 2, 1), True)
    # The new database can find imported rows in the source.
    assert (
        scalar(
            conn,
            "SELECT count(*) FROM public.memories o JOIN pgrecall.memories m ON m.external_id = 'table:' || o.id "
            "WHERE m.content = o.content AND m.metadata #>> '{imported_from,id}' = o.id::text",
        )
        == 4
    )


@pytest.mark.parametrize("name", ["nowhere", "public.nowhere", 'x"; DROP TABLE y; --', ""])
def test_no_such_table(dsn: str, name: str) -> None:
    with pytest.raises(PgrecallError) as caught, table_source(dsn, name):
        pass
    assert caught.value.hint


def test_a_table_with_a_name_of_its_own(dsn: str, client: Client, conn: psycopg.Connection[Any]) -> None:
    conn.execute('CREATE SCHEMA "Old"; CREATE TABLE "Old"."My.Notes" (id text, content text)')
    conn.execute("""INSERT INTO "Old"."My.Notes" VALUES ('a"b', 'tea')""")
    assert outcome(run(client, table_source(dsn, "Old.My.Notes"))[0]) == (1, 0, 0, 0)
    assert 'table:a"b' in stored_memories(conn)


# -- mem0


def _mem0(conn: psycopg.Connection[Any]) -> None:
    conn.execute(MEM0)
    payload = {
        "data": "Likes tea", "hash": "x", "text_lemmatized": "like tea", "user_id": "lea", "agent_id": "bot", "run_id": "r1",
        "role": "user", "created_at": "2025-01-02T03:04:05+00:00", "updated_at": "2025-02-03T04:05:06+00:00",
        "expiration_date": "2030-01-01", "mood": "glad",
    }  # fmt: skip
    _insert(conn, "mem0", id="00000000-0000-0000-0000-000000000001", vector="[1,2,3]", payload=payload)
    bare = {"data": "Works at night", "is_sensitive": True}
    _insert(conn, "mem0", id="00000000-0000-0000-0000-000000000002", vector="[1,2,3]", payload=bare)
    _insert(
        conn, "mem0", id="00000000-0000-0000-0000-000000000003", vector="[0,0,0]", payload={"user_id": "lea"}
    )


def test_mem0(dsn: str, client: Client, conn: psycopg.Connection[Any]) -> None:
    _mem0(conn)
    report, compared, rejected = run(client, mem0_source(dsn, "mem0"), namespace="rest")
    assert (outcome(report), compared.same) == ((2, 0, 0, 1), 2)
    assert rejected[0].place == "id 00000000-0000-0000-0000-000000000003"
    (lea,) = stored_memories(conn, "lea").values()
    assert lea["external_id"] == "mem0:00000000-0000-0000-0000-000000000001"
    assert (lea["content"], lea["session"], lea["speaker"]) == ("Likes tea", "r1", "user")
    assert lea["created_at"] == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert lea["updated_at"] == datetime(2025, 2, 3, 4, 5, 6, tzinfo=UTC)
    # The last day on which it holds, as in mem0.
    assert lea["valid_to"] == datetime(2030, 1, 2, tzinfo=UTC)
    assert lea["metadata"] == {"agent_id": "bot", "mood": "glad"}
    (rest,) = stored_memories(conn, "rest").values()
    assert rest["is_sensitive"]


@pytest.mark.parametrize(
    ("given", "end"),
    [
        ("2030-12-31", datetime(2031, 1, 1, tzinfo=UTC)),
        (" 2030-12-31 ", datetime(2031, 1, 1, tzinfo=UTC)),
        ("2030-12-31T08:00:00+02:00", datetime(2030, 12, 31, 6, tzinfo=UTC)),
        ("9999-12-31", datetime(9999, 12, 31, tzinfo=UTC)),
    ],
)
def test_an_expiration_date_of_mem0(
    dsn: str, client: Client, conn: psycopg.Connection[Any], given: str, end: datetime
) -> None:
    """Where it is a date without a time, it ends as a memory of our own interface of mem0 does."""
    conn.execute(MEM0)
    payload = {"data": "Likes tea", "expiration_date": given}
    _insert(conn, "mem0", id="00000000-0000-0000-0000-000000000001", vector="[1,2,3]", payload=payload)
    run(client, mem0_source(dsn, "mem0"), namespace="tea")
    (memory,) = stored_memories(conn, "tea").values()
    assert memory["valid_to"] == end
    if "T" not in given:
        assert end_of(given.strip()) == end


def test_mem0_users_as_tags_or_metadata(dsn: str, client: Client, conn: psycopg.Connection[Any]) -> None:
    _mem0(conn)
    run(client, mem0_source(dsn, "public.mem0", users="tag"), namespace="tags")
    assert [row["tags"] for row in stored_memories(conn, "tags").values()] == [["lea"], []]
    run(client, mem0_source(dsn, "public.mem0", users="metadata"), namespace="metadata")
    found = [row["metadata"].get("user_id") for row in stored_memories(conn, "metadata").values()]
    assert found == ["lea", None]


def test_another_table_is_no_collection_of_mem0(dsn: str, conn: psycopg.Connection[Any]) -> None:
    conn.execute(OLDER)
    for name in ("public.memories", "nowhere"):
        with pytest.raises(InvalidInput, match="no collection"), mem0_source(dsn, name):
            pass


# -- langchain


@pytest.mark.parametrize("form", [COLLECTIONS, OLDER_COLLECTIONS])
def test_langchain_collections(dsn: str, client: Client, conn: psycopg.Connection[Any], form: str) -> None:
    conn.execute(form.encode())
    key = "id" if form == COLLECTIONS else "uuid"
    for name in ("docs", "others"):
        uuid = scalar(conn, "INSERT INTO langchain_pg_collection (name) VALUES (%s) RETURNING uuid", name)
        rows: dict[str, dict[str, Any] | None] = {
            f"{name} tea": {"topic": "tea", "is_sensitive": name == "docs"},
            f"{name} ice": None,
            "": {},
        }
        for text, metadata in rows.items():
            values = {"collection_id": uuid, "embedding": "[1,2]", "document": text, "cmetadata": metadata}
            _insert(conn, "langchain_pg_embedding", **{key: str(uuid4())}, **values)
    report, compared, rejected = run(client, langchain_source(dsn, "docs"))
    assert (outcome(report), compared.same, rejected[0].reason) == ((2, 0, 0, 1), 2, "content is blank")
    stored = {row["content"]: row for row in stored_memories(conn).values()}
    assert set(stored) == {"docs tea", "docs ice"}
    assert (stored["docs tea"]["metadata"], stored["docs tea"]["is_sensitive"]) == ({"topic": "tea"}, True)


def test_a_table_of_langchain(dsn: str, client: Client, conn: psycopg.Connection[Any]) -> None:
    conn.execute(ONE_TABLE)
    conn.execute('ALTER TABLE docs ADD COLUMN "100%" integer, ADD COLUMN is_sensitive boolean')
    rows: list[dict[str, Any]] = [
        {"content": "Snow is white", "topic": "snow", "langchain_metadata": {"n": 1}},
        # Whichever says so is believed.
        {"content": "Ice", "is_sensitive": True, "langchain_metadata": {"is_sensitive": False}},
    ]
    for row in rows:
        _insert(conn, "docs", embedding="[1,2,3]", **row)
    assert outcome(run(client, langchain_source(dsn, "docs"))[0]) == (2, 0, 0, 0)
    snow, ice = sorted(stored_memories(conn).values(), key=lambda row: row["is_sensitive"])
    assert (snow["content"], snow["metadata"]) == ("Snow is white", {"topic": "snow", "n": 1})
    assert (ice["content"], ice["is_sensitive"], ice["metadata"]) == ("Ice", True, {})


def test_a_collection_and_a_table_of_one_name(dsn: str, conn: psycopg.Connection[Any]) -> None:
    conn.execute(COLLECTIONS.encode())
    conn.execute(ONE_TABLE)
    conn.execute("INSERT INTO langchain_pg_collection (name) VALUES ('docs')")
    with pytest.raises(InvalidInput, match="both"), langchain_source(dsn, "docs"):
        pass
    with langchain_source(dsn, "public.docs") as source:
        assert source.total == 0
    with pytest.raises(InvalidInput, match="no collection"), langchain_source(dsn, "nowhere"):
        pass


# -- embeddings


def _vector(value: float) -> str:
    return f"[{','.join([str(value)] * 384)}]"


def test_embeddings_come_along_only_if_they_fit(
    dsn: str, client: Client, conn: psycopg.Connection[Any]
) -> None:
    conn.execute("CREATE TABLE mem0 (id text, vector vector, payload JSONB)")
    texts = {
        "a": ({"data": "tea"}, _vector(0.5)),
        "b": ({"data": "secret", "is_sensitive": True}, _vector(0.5)),
        "c": ({"data": "without a direction"}, _vector(0)),
        "d": ({"data": "another dimension"}, "[1,2]"),
        "e": ({"data": "none"}, None),
    }
    for id, (payload, vector) in texts.items():
        _insert(conn, "mem0", id=id, vector=vector, payload=payload)
    assert run(client, mem0_source(dsn, "mem0"))[1].same == 5
    assert all(row["embedding"] is None for row in stored_memories(conn).values())
    report, compared, rejected = run(client, mem0_source(dsn, "mem0", dimension=384), namespace="embedded")
    assert (outcome(report), compared.same, rejected) == ((5, 0, 0, 0), 5, [])
    embedded = {
        name.removeprefix("mem0:"): row["embedding"] is not None
        for name, row in stored_memories(conn, "embedded").items()
    }
    assert embedded == {"a": True, "b": False, "c": False, "d": False, "e": False}
    # A text that changes takes its embedding with it; the new one comes along.
    conn.execute(
        "UPDATE mem0 SET payload = '{\"data\": \"green tea\"}', vector = %s WHERE id = 'a'", (_vector(0.25),)
    )
    run(client, mem0_source(dsn, "mem0", dimension=384), namespace="embedded")
    changed = stored_memories(conn, "embedded")["mem0:a"]
    assert (changed["content"], changed["embedding"][:6]) == ("green tea", "[0.25,")


def test_embeddings_of_another_dimension_are_refused(dsn: str, conn: psycopg.Connection[Any]) -> None:
    _mem0(conn)
    with pytest.raises(InvalidInput, match="3 dimensions"), mem0_source(dsn, "mem0", dimension=384):
        pass
