"""Every function and view of an installation has a comment, which is the header of its file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.admin.bundle import header, installed_files
from pgrecall.admin.code import STATE_FUNCTIONS
from pgrecall.admin.schemas import qualifier

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

COMMENTS = """
    SELECT n.nspname || '.' || p.proname, obj_description(p.oid, 'pg_proc')
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE p.proname <> ALL (%s)
      AND (n.nspname IN ('pgrecall', '_pgrecall') OR n.nspname = 'public' AND p.proname = ANY (%s))
    UNION ALL
    SELECT n.nspname || '.' || c.relname, obj_description(c.oid, 'pg_class')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('pgrecall', '_pgrecall') AND c.relkind = 'v'
"""


def test_every_comment_is_the_header_of_a_file(conn: Connection[Any]) -> None:
    """No name is there twice: a comment says nothing of arguments."""
    row = conn.execute("SELECT has_plpython FROM pgrecall.installation").fetchone()
    assert row is not None
    in_schemas = qualifier(conn)
    written = {}
    for file in installed_files(plpython=row[0]):
        made = re.search(r"^CREATE OR REPLACE (?:FUNCTION|PROCEDURE|VIEW) ([\w.]+)", file.text, re.MULTILINE)
        if made is not None:
            assert made[1].partition(".")[2] == Path(file.name).stem
            written[made[1]] = header(in_schemas(file.text))[0]
    public = [name.partition(".")[2] for name in written if name.startswith("public.")]
    assert len(public) > 20
    assert all(written.values())
    found = conn.execute(COMMENTS.encode(), (list(STATE_FUNCTIONS), public)).fetchall()
    assert sorted(found) == sorted(written.items())
