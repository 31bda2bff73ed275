"""pgrecall.role_statements() and setting_statements(): what a dump needs and does not contain, whatever the names are."""

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


@pytest.mark.parametrize("options", ["INHERIT FALSE, SET TRUE", "INHERIT TRUE, SET FALSE"])
def test_a_membership_keeps_its_options(conn: Connection[Any], options: str) -> None:
    if conn.info.server_version < 160000:
        pytest.skip("before PostgreSQL 16 a membership has no options")
    name = f"optional_{os.getpid()}"
    query = (
        "SELECT inherit_option, set_option FROM pg_auth_members "
        f"WHERE member = '{name}'::regrole AND roleid = 'pgrecall_everywhere'::regrole"
    )
    conn.execute(f"CREATE ROLE {name} LOGIN".encode())
    try:
        conn.execute(f"GRANT pgrecall_everywhere TO {name} WITH {options}".encode())
        conn.execute("SELECT pgrecall.grant_namespace(%s, 'default')", (name,))
        before, made = conn.execute(query.encode()).fetchall(), statements(conn)
        conn.execute(f"REVOKE pgrecall_everywhere FROM {name}".encode())
        for statement in made:
            conn.execute(statement.encode())
        assert conn.execute(query.encode()).fetchall() == before
    finally:
        conn.execute("DELETE FROM pgrecall.grants")
        conn.execute(f"DROP ROLE {name}".encode())


@pytest.mark.usefixtures("dsn")
@pytest.mark.parametrize("name", ["plain", "a'b%s\\", 'a"%I', "A b"])
def test_settings_of_roles_and_of_the_database_are_made_again(conn: Connection[Any], name: str) -> None:
    name = f"{name}{os.getpid()}"
    role, database = sql.Identifier(name), sql.Identifier(conn.info.dbname)
    query = (
        "SELECT setrole, setdatabase, s FROM pg_db_role_setting, unnest(setconfig) s WHERE s ~ '^(pgrecall|hnsw)' "
        "ORDER BY 1, 2, 3"
    )
    conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
    try:
        changed = [
            (sql.SQL("ROLE {}").format(role), "namespaces", "{me,team}"),
            (sql.SQL("ROLE {} IN DATABASE {}").format(role, database), "namespace", "it's 100 %s = a\\b"),
            (sql.SQL("DATABASE {}").format(database), "timeframe_slack", "a"),
        ]
        for whose, setting, value in changed:
            conn.execute(sql.SQL("ALTER {} SET pgrecall.{} = {}").format(whose, sql.SQL(setting), value))
        conn.execute(sql.SQL("ALTER ROLE {} SET work_mem = '8MB'").format(role))
        before = conn.execute(query).fetchall()
        made = [row[0] for row in conn.execute("SELECT * FROM pgrecall.setting_statements()")]
        for whose, _, _ in changed:
            conn.execute(sql.SQL("ALTER {} RESET ALL").format(whose))
        assert conn.execute(query).fetchall() != before
        for statement in made:
            assert "work_mem" not in statement
            conn.execute(statement.encode())
        assert conn.execute(query).fetchall() == before
    finally:
        conn.execute(sql.SQL("DROP ROLE {}").format(role))


def test_only_the_owner_and_administrators_call_it(conn: Connection[Any]) -> None:
    for name in ("pgrecall_reader", "pgrecall_writer", "pgrecall_embedder"):
        conn.execute(f"SET ROLE {name}".encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            statements(conn)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("SELECT pgrecall.setting_statements()")
        conn.execute("RESET ROLE")
