"""A text-search configuration that is dropped while a namespace and its memories name it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support import notes
from support.memories import call, refused, remember, rows, scalar, stored

if TYPE_CHECKING:
    from psycopg import Connection

NAMES = ("public.mine", '"Our words"."Mi.ne"')


@pytest.fixture(params=NAMES)
def language(request: pytest.FixtureRequest, conn: Connection[Any]) -> str:
    conn.execute('CREATE SCHEMA "Our words"')
    conn.execute(f"CREATE TEXT SEARCH CONFIGURATION {request.param} (COPY = pg_catalog.german)")
    return str(request.param)


def drop(conn: Connection[Any], language: str) -> None:
    conn.execute(f"DROP TEXT SEARCH CONFIGURATION {language}")


def found(conn: Connection[Any], query: str, namespace: str | None = None) -> list[int]:
    return [row[0] for row in rows(conn, "recall", query, namespace=namespace)]


def read_in(conn: Connection[Any], namespace: str = "default") -> list[str]:
    return list(
        scalar(conn, "SELECT _pgrecall.query_languages(pgrecall.namespace_id(%s))::text[]", namespace)
    )


def test_it_is_used_while_it_is_there(conn: Connection[Any], language: str) -> None:
    one = remember(conn, "die Häuser in Oslo", language=language)
    assert found(conn, "Häusern") == [one]
    drop(conn, language)
    conn.execute('DROP SCHEMA "Our words"')
    assert found(conn, "Häusern") == []
    assert found(conn, "Oslo") == [one]


def test_recall_goes_on(conn: Connection[Any], language: str) -> None:
    theirs, other = remember(conn, "Hafen Oslo", language=language), remember(conn, "the harbour of Oslo")
    call(conn, "pgrecall.create_namespace", "haus", language)
    own = remember(conn, "Hafen Rom", namespace="haus")
    drop(conn, language)
    assert sorted(found(conn, "Oslo")) == [theirs, other]
    assert (read_in(conn), read_in(conn, "haus")) == (["english", "simple"], ["simple"])
    assert found(conn, "Rom", "haus") == [own]
    assert rows(conn, "recall_facts", "Oslo") == []
    assert rows(conn, "pgrecall.prepare_expansion", "where is the harbour of Oslo")
    assert [row[0] for row in rows(conn, "recall_explain", "Rom", namespace="haus")] == [own]


def test_memories_can_be_changed_and_go(conn: Connection[Any], language: str) -> None:
    changed, hidden, gone = (
        remember(conn, f"Hafen {place}", language=language) for place in ("Oslo", "Rom", "Bern")
    )
    call(conn, "pgrecall.judge", "quoted", "Bern", None, [changed])
    drop(conn, language)
    assert call(conn, "update_memory", changed, content="Hafen Lima")
    assert found(conn, "Lima") == [changed]
    assert call(conn, "update_memory", hidden, is_sensitive=True)
    assert stored(conn, hidden)["is_sensitive"]
    assert found(conn, "Bonn") == []
    later = call(conn, "supersede", gone, content="Hafen Bonn")
    assert (found(conn, "Bonn"), stored(conn, later)["language"]) == ([later], "simple")
    assert len(rows(conn, "erase", later)) == 1
    assert len(rows(conn, "erase", gone)) == 1
    assert scalar(conn, "SELECT count(*) FROM pgrecall.judged_queries") == 0
    # A release that derives words anew, and a new word of the language.
    conn.execute("CALL pgrecall.rebuild_values()")
    assert call(conn, "update_memory", changed, language="english")
    assert call(conn, "forget", changed)
    with refused(conn, "42704"):
        remember(conn, "Hafen", language=language)


def test_an_import_changes_what_it_has_brought(conn: Connection[Any], language: str) -> None:
    call(conn, "pgrecall.create_namespace", "haus", language)

    def bring(content: str) -> list[str]:
        row = {
            "memory": {"external_id": "m", "content": content},
            "import": {"kind": "k", "id": "1", "fingerprint": content},
        }
        return [one[1] for one in rows(conn, "pgrecall.import_rows", json.dumps([row]), "haus")]

    bring("Hafen Oslo")
    drop(conn, language)
    bring("Hafen Lima")
    assert len(found(conn, "Lima", "haus")) == 1


def test_what_the_daemon_brings_is_stored(conn: Connection[Any], language: str) -> None:
    call(conn, "pgrecall.set_setting", "extract_sparse", "a-model")
    notes.switch_on(conn)
    ids = notes.talk(conn)
    conn.execute("UPDATE pgrecall.memories SET language = %s", (language,))
    notes.queue(conn)
    drop(conn, language)
    assert notes.note(conn, notes.claim(conn), Priya_prefers_trains=[ids[2]]) == len(ids)
    tickets = rows(conn, "pgrecall.claim_extractions", notes.WORKER, "sparse")
    items = [{"memory_id": row[0], "ticket": row[1], "terms": {"trains": 1}} for row in tickets]
    assert call(conn, "pgrecall.complete_sparse", "a-model", json.dumps(items)) == len(items) > 0
