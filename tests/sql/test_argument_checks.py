"""Arguments that hostile calls came through with: each is refused by pgrecall, with a hint, not by PostgreSQL in a body."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from support.memories import remember, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback


REFUSED = (
    "SELECT * FROM pgrecall.failures(k => -1)",
    "SELECT * FROM pgrecall.curation_log(k => -1)",
    "SELECT * FROM pgrecall.duplicates(max_memories => -1)",
    "SELECT * FROM pgrecall.preview_curation(max_memories => -1)",
    "SELECT * FROM _pgrecall.lexical_leg(1, NULL, NULL, -1)",
    "SELECT * FROM _pgrecall.dense_leg(1, array_fill(0.5::real, ARRAY[384])::halfvec, NULL, -1, 5)",
    "SELECT * FROM _pgrecall.dense_leg(1, array_fill(0.5::real, ARRAY[384])::halfvec, NULL, 5, -1)",
    "SELECT public.recall_briefing('x', max_chars => -2147483648)",
    "SELECT * FROM pgrecall.preview_import_rows('{}')",
    "SELECT pgrecall.link_imported_memories('[1]')",
    "SELECT pgrecall.link_imported_memories('[[[]]]')",
)


@pytest.mark.parametrize("statement", REFUSED)
def test_is_refused_with_a_hint(conn: Connection[object], statement: str) -> None:
    conn.execute("SELECT pgrecall.create_namespace('default')")
    with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
        conn.execute(statement.encode())
    assert refused.value.diag.message_hint is not None
    assert refused.value.diag.source_function == "exec_stmt_raise"


def test_a_small_namespace_may_be_of_any_size(conn: Connection[object]) -> None:
    statement = "SELECT count(*) FROM _pgrecall.dense_leg(1, array_fill(0.5::real, ARRAY[384])::halfvec, NULL, 5, 2147483647)"
    assert scalar(conn, statement) == 0


@pytest.mark.parametrize("moment", ["9999-12-31 00:00+00", "0001-01-02 00:00+00"])
def test_what_was_said_far_off_is_stored(conn: Connection[object], moment: str) -> None:
    """Relative to such a time, "in May" would be where no reader has a time."""
    number = scalar(
        conn,
        "SELECT public.remember('Anna met Bert in May, 300 years ago', occurred_at => %s::timestamptz)",
        moment,
    )
    assert scalar(conn, "SELECT count(*) FROM pgrecall.temporal_refs WHERE memory_id = %s", number) == 0
    assert remember(conn, "Anna met Bert in May", occurred_at="2025-06-01") > number
