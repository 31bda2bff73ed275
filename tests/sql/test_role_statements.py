"""pgrecall.role_statements(): the roles that a dump needs, whatever their names are."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from pgrecall.admin.migrate import roles_script

if TYPE_CHECKING:
    from psycopg import Connection


def statements(conn: Connection[Any]) -> list[str]:
    return [row[0] for row in conn.execute("SELECT * FROM pgrecall.role_statements()").fetchall()]


def test_every_role_of_the_project_with_its_memberships(conn: Connection[Any]) -> None:
    roles = conn.execute(
        "SELECT rolname FROM pg_roles WHERE rolname ^@ 'pgrecall_' AND NOT rolcanlogin"
    ).fetchall()
    made = statements(conn)
    for (name,) in roles:
        assert any(f"CREATE ROLE {name} NOLOGIN" in statement for statement in made), name
    # What `pgrecall migrate --roles-sql` makes where there is no database to ask.
    for name in set(re.findall(r"'(pgrecall_\w+)'", roles_script("x"))):
        assert any(f"CREATE ROLE {name} NOLOGIN" in statement for statement in made), name
    assert "GRANT pgrecall_reader TO pgrecall_writer;" in made
    assert "GRANT pgrecall_everywhere TO pgrecall_admin;" in made


@pytest.mark.parametrize("name", ["$do$; DROP TABLE x; $do$", "a'b\\", 'a"b', "A b"])
def test_a_role_of_any_name_is_made_again_and_kept(conn: Connection[Any], name: str) -> None:
    name = f"{name}{os.getpid()}"
    role = sql.Identifier(name)
    conn.execute(sql.SQL("CREATE ROLE {} LOGIN NOINHERIT IN ROLE pgrecall_reader").format(role))
    try:
        conn.execute("SELECT pgrecall.grant_namespace(%s, 'default')", (name,))
        made = statements(conn)
        for statement in made:
            conn.execute(statement.encode())
        conn.execute("DELETE FROM pgrecall.grants")
        conn.execute(sql.SQL("DROP ROLE {}").format(role))
        for statement in made:
            conn.execute(statement.encode())
        found = conn.execute(
            "SELECT rolcanlogin, rolinherit, pg_has_role(oid, 'pgrecall_reader', 'MEMBER') FROM pg_roles WHERE rolname = %s",
            (name,),
        ).fetchone()
        assert found == (True, False, True)
    finally:
        conn.execute(sql.SQL("DROP ROLE {}").format(role))


def test_only_the_owner_and_administrators_call_it(conn: Connection[Any]) -> None:
    for name in ("pgrecall_reader", "pgrecall_writer", "pgrecall_embedder"):
        conn.execute(f"SET ROLE {name}".encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            statements(conn)
        conn.execute("RESET ROLE")
