"""Whether recall reads few rows, and returns the same, whatever plans the server makes and keeps."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from support.corpus import vector

if TYPE_CHECKING:
    import psycopg

__all__ = ["LARGE", "SIZES", "assert_stable", "questions"]

LARGE = 18_000
SIZES = {"large": LARGE, **{f"small {number}": 200 for number in range(10)}}

_FILTERS = {
    "none": "",
    "tag": ", tags_any => '{topic 7}'",
    "category": ", categories => '{rare}'",
    "time": ", since => '2025-01-01 12:00+00', until => '2025-01-01 15:00+00'",
}
_MODES = {"auto": 2, "force_generic_plan": 1, "force_custom_plan": 1}
"""How often to ask each of four questions in each mode: with auto, the server may keep a plan from the sixth time on."""

_READ = """
SELECT sum(seq_tup_read + COALESCE(idx_tup_fetch, 0))::bigint, sum(seq_scan) FILTER (WHERE relname = 'memories')
FROM pg_stat_xact_user_tables WHERE schemaname = 'pgrecall'
"""


def questions(conn: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    """Return a few questions of four words each, and a vector for each."""
    return [
        (f"word3 word77 word{1900 + number} word{12 + number}", vector(conn, 7 * number))
        for number in range(4)
    ]


def assert_stable(
    conn: psycopg.Connection[Any],
    asked: list[tuple[str, str]],
    *,
    rows: int,
    rows_of_a_tag: int | None = None,
    prepare: bool = True,
) -> None:
    """Check that every plan reads few rows and no table of memories from end to end, and that all return the same.

    Each question is asked with and without filters, of the large namespace and of a small one.

    Args:
        conn: An autocommit connection to a database of SIZES.
        asked: The questions.
        rows: How many rows of all tables a recall may read.
        rows_of_a_tag: How many if it filters by a tag; None: as many.
        prepare: Whether the client prepares the statements.
    """
    found: dict[tuple[str, str, str], list[Any]] = {}
    for mode, times in _MODES.items():
        for namespace, (name, options), (text, vec), _ in product(
            ("large", "small 3"), _FILTERS.items(), asked, range(times)
        ):
            statement = f"SELECT id FROM recall(%s, %s, namespace => %s{options})".encode()
            with conn.transaction():
                conn.execute("SELECT set_config('plan_cache_mode', %s, true)", (mode,))
                before = conn.execute(_READ).fetchone() or (0, 0)
                ids = conn.execute(statement, (text, vec, namespace), prepare=prepare).fetchall()
                after = conn.execute(_READ).fetchone() or (0, 0)
            bound = rows_of_a_tag if name == "tag" and rows_of_a_tag else rows
            assert after[0] - before[0] < bound, (mode, namespace, name)
            assert after[1] == before[1], (mode, namespace, name)
            assert found.setdefault((namespace, name, text), ids) == ids, (mode, namespace, name)
    assert all(len(ids) == 10 for (namespace, _, _), ids in found.items() if namespace == "large")
