"""What a database or a role sets for its applications stands in the way of no migration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import conninfo_to_dict

from pgrecall.admin.limits import LIMITS
from pgrecall.admin.migrate import migrate
from pgrecall.admin.reembed_lock import locked
from support.migrating import run, schema

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.pg15
def test_limits_that_a_database_sets_for_applications_do_not_end_it(new_database: Callable[..., str]) -> None:
    """They end the session within a transaction, so that nobody reads why."""
    dsn = new_database()
    name = conninfo_to_dict(dsn)["dbname"]
    limits = [limit for limit in LIMITS if run(dsn, f"SELECT 1 FROM pg_settings WHERE name = '{limit}'")]
    assert len(limits) >= len(LIMITS) - 1
    for limit in limits:
        run(
            dsn,
            f"""ALTER DATABASE "{name}" SET {limit} = '{"1s" if limit == "idle_session_timeout" else "250ms"}'""",
        )
    assert migrate(dsn).changed
    with locked(dsn) as conn:
        shown = [conn.execute(f"SHOW {limit}".encode()).fetchall() for limit in limits]
    assert shown == [[("0",)]] * len(limits)


@pytest.mark.pg15
def test_what_a_database_sets_for_how_sql_is_read_changes_nothing(
    new_database: Callable[..., str], fresh: str
) -> None:
    dsn = new_database()
    name = conninfo_to_dict(dsn)["dbname"]
    for setting in (
        "standard_conforming_strings = off",
        "backslash_quote = off",
        "quote_all_identifiers = on",
        "plpgsql.extra_errors = 'all'",
    ):
        run(dsn, f'ALTER DATABASE "{name}" SET {setting}')
    migrate(dsn)
    assert run(dsn, "SELECT pgrecall.create_namespace('lea', 'german') IS NOT NULL") == [(True,)]
    assert run(dsn, "SELECT remember('Lea drinks tea', namespace => 'lea') > 0") == [(True,)]
    assert run(dsn, "SELECT content FROM recall('tea', namespace => 'lea')") == [("Lea drinks tea",)]
    run(dsn, f'ALTER DATABASE "{name}" RESET ALL')
    migrate(dsn)
    assert schema(dsn) == fresh
