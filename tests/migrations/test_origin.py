"""Memories that were stored before there were origins have one after the upgrade, and none of them is written anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.admin.migrate import migrate
from support.migrating import run

if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE = """
INSERT INTO pgrecall.namespaces (name) VALUES ('older');
INSERT INTO pgrecall.memories (namespace_id, content, language, content_hash, search_vector)
SELECT n.id, 'memory of tea ' || i, 'english', sha256(i::text::bytea), ''
FROM pgrecall.namespaces n, generate_series(1, 500) i WHERE n.name = 'older';
"""
FILES = "SELECT pg_relation_filenode('pgrecall.memories'), pg_relation_filenode('pgrecall.relationships')"
ORIGINS = "SELECT origin::text, count(*) FROM pgrecall.memories GROUP BY 1 ORDER BY 1"


def test_older_memories_are_the_agents_and_are_not_rewritten(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn, revision="0028")
    run(dsn, BEFORE)
    files = run(dsn, FILES)
    migrate(dsn)
    assert run(dsn, FILES) == files
    assert run(dsn, ORIGINS) == [("agent", 500)]
    run(dsn, "SELECT remember('tea with milk', origin => 'user', namespace => 'older')")
    assert run(dsn, "SELECT count(*) FROM recall('tea', k => 1000, namespace => 'older', "
                    "filter => '{\"min_trust\": \"user\"}')") == [(1,)]  # fmt: skip
    # And back: the column goes, the memories stay.
    migrate(dsn, revision="0028")
    assert run(dsn, FILES) == files
    migrate(dsn)
    assert run(dsn, ORIGINS) == [("agent", 501)]
