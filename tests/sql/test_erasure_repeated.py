"""The erasures that a restored backup does not know are repeated, as docs/erasure.md says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from support.memories import remember, rows, scalar

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("dsn")

PAGE = (Path(__file__).parents[2] / "docs" / "erasure.md").read_text(encoding="utf-8")
[STATEMENT] = re.findall(
    r"run by: tests/sql/test_erasure_repeated.py -->\n```sql\n(.*?);\n```", PAGE, re.DOTALL
)


def test_ids_are_given_out_again_after_a_restore(dsn: str, new_database: Callable[..., str]) -> None:
    with psycopg.connect(dsn, autocommit=True) as lost:
        remember(lost, "kept")
        erased = remember(lost, "erased")
    backup = new_database(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"])
    with psycopg.connect(dsn, autocommit=True) as lost:
        later = remember(lost, "later, and erased")
        for id in (erased, later):
            rows(lost, "erase", id)
        receipts = lost.execute("SELECT memory_id FROM pgrecall.erasures").fetchall()
    with psycopg.connect(backup, autocommit=True) as restored:
        assert scalar(restored, "SELECT pgrecall.last_memory_id()") == erased < later
        restored.execute("CREATE TABLE kept_erasures (memory_id bigint)")
        restored.cursor().executemany("INSERT INTO kept_erasures VALUES (%s)", receipts)
        restored.execute(STATEMENT.encode())
        assert scalar(restored, "SELECT array_agg(content) FROM pgrecall.memories") == ["kept"]
        # This is why it has to come first.
        assert remember(restored, "of somebody else") == later
