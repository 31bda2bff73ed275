"""What is written while a database gets its postings is found by its words afterwards."""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from pgrecall.install import migrate
from support.migrating import BEFORE_POSTINGS, SECONDS, run, schema, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

REVISION = Path(__file__).resolve().parents[2] / "migrations" / "versions" / "0005_postings.py"
# As a writer's statement ends up in the table: without sql/ no trigger fills these columns.
INSERT = """
INSERT INTO pgrecall.memories (namespace_id, content, language, content_hash, search_vector)
SELECT n.id, %(text)s, 'english', '', setweight(to_tsvector('english', %(text)s), 'A')
FROM pgrecall.namespaces n WHERE n.name = 'default'
"""


@pytest.fixture
def before(new_database: Callable[..., str]) -> str:
    """A database of the revision before, with a memory in it."""
    dsn = new_database()
    migrate(dsn)
    run(dsn, "SELECT remember('the ferry leaves at nine')")
    migrate(dsn, revision=BEFORE_POSTINGS)
    return dsn


def found(dsn: str, query: str) -> list[str]:
    return [content for (content,) in run(dsn, f"SELECT content FROM recall('{query}') ORDER BY id")]


def test_a_writer_under_way_loses_nothing(before: str, fresh: str) -> None:
    with psycopg.connect(before) as writer:
        writer.execute(INSERT, {"text": "the crane was sold"})
        upgrade = threading.Thread(target=migrate, args=(before,))
        upgrade.start()
        wait_for(
            before,
            "count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 'pgrecall.memories'::regclass",
        )
        writer.commit()
        upgrade.join(SECONDS)
    assert not upgrade.is_alive()
    assert found(before, "ferry crane") == ["the ferry leaves at nine", "the crane was sold"]
    assert schema(before) == fresh


def test_what_comes_before_the_code_is_installed_is_noted(before: str, fresh: str) -> None:
    spec = importlib.util.spec_from_file_location("revision_0005", REVISION)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    revision = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(revision)
    with psycopg.connect(before) as conn:
        # The installer was killed here: the revision is committed, the code is not there.
        conn.execute(revision.OLD_CODE)
        conn.execute(revision.TABLES)
        conn.execute("UPDATE pgrecall.alembic_version SET version_num = %s", (revision.revision,))
        conn.commit()
        conn.execute(INSERT, {"text": "the crane was sold"})
        conn.execute(INSERT, {"text": "the sloop was sold"})
        conn.execute("UPDATE pgrecall.memories SET deleted_at = now() WHERE content LIKE '%sloop%'")
        conn.commit()
    migrate(before)
    assert found(before, "ferry crane sloop") == ["the ferry leaves at nine", "the crane was sold"]
    assert schema(before) == fresh
    run(before, "CALL pgrecall.refresh_lexicon()")
    assert found(before, "ferry crane sloop") == ["the ferry leaves at nine", "the crane was sold"]
