"""Dumps and upgrades between PostgreSQL 15 and 18, by the recipes of docs/backup.md: recall stays the same."""

from __future__ import annotations

import re
import shutil
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgrecall.admin.migrate import migrate
from pgrecall.query.legs import LEGS
from pgrecall.server import EmbeddedServer
from support.backup import (
    SECRET,
    answers,
    debian,
    fill,
    findings,
    folder,
    prepared,
    recipe,
    rights,
    shell,
    wheel,
)
from support.servers import FAST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUILDING = {"generations"}
"""Findings of the database that is copied, and so of the copy: its second generation is being built."""


@dataclass(frozen=True)
class Server:
    """A server of one version, with a database in which there is everything."""

    embedded: EmbeddedServer
    bindir: Path
    dump: Path
    answers: list[dict[str, Any]]
    rights: list[tuple[Any, ...]]

    @property
    def dsn(self) -> str:
        return self.embedded.dsn()

    def new_database(self, name: str) -> str:
        with psycopg.connect(self.embedded.dsn("postgres"), autocommit=True) as conn:
            conn.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
            conn.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        return make_conninfo(self.embedded.dsn("postgres"), dbname=name)


@pytest.fixture(scope="module")
def servers(public_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, Server]]:
    dumps = tmp_path_factory.mktemp("dumps")
    with ExitStack() as stack:
        found = {}
        for version, bindir in ((15, debian()), (18, wheel())):
            embedded = EmbeddedServer(public_dir / f"b{version}", settings=FAST, bindir=bindir)
            # Another file's tests may run between those of this one: then it is set up anew.
            stack.callback(shutil.rmtree, public_dir / f"b{version}", ignore_errors=True)
            dsn = embedded.up()
            stack.callback(embedded.down)
            fill(dsn)
            add_roles(dsn)
            dump = dumps / str(version)
            # By the newest programs, as one upgrades.
            shell(recipe("dump"), wheel(), {"DUMP": str(dump), "FROM": dsn})
            found[version] = Server(embedded, bindir, dump, answers(dsn), rights(dsn))
        yield found


def add_roles(dsn: str) -> None:
    """A tenant, and a role whose question is in the cache."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE ROLE backup_tenant LOGIN IN ROLE pgrecall_writer")
        conn.execute("CREATE ROLE backup_asker LOGIN IN ROLE pgrecall_reader")
        conn.execute("SELECT pgrecall.grant_namespace('backup_tenant', 'lea', 'write')")
        conn.execute(
            "INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query) "
            "VALUES (1, 'backup_asker', 'x', 'a question')"
        )


def memberships(dsn: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        return conn.execute(
            "SELECT roleid::regrole::text, member::regrole::text FROM pg_auth_members "
            "WHERE roleid::regrole::text ^@ 'pgrecall_' AND member::regrole::text <> 'backup_admin' ORDER BY 1, 2"
        ).fetchall()


def run(name: str, server: Server, tmp_path: Path, **variables: str) -> str:
    files = {"DUMP": server.dump, "LIST": tmp_path / "list", "ROLES": tmp_path / "roles"}
    files |= {"FILE": tmp_path / "export.jsonl", "SETTINGS": tmp_path / "settings"}
    return shell(recipe(name), server.bindir, {name: str(path) for name, path in files.items()} | variables)


def assert_same(dsn: str, source: Server) -> None:
    assert answers(dsn) == source.answers
    assert rights(dsn) == source.rights
    assert set(findings(dsn)) - {"embedder"} == BUILDING
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert conn.execute("SELECT count(*) FROM pgrecall.index_status() WHERE NOT is_valid").fetchone() == (
            0,
        )
        settings = conn.execute("SELECT current_setting('hnsw.ef_search')").fetchone()
        assert settings == ("100",)
        # What was restored goes on living.
        conn.execute("SELECT remember('Priya bought a kayak', namespace => 'priya')")
        found = conn.execute("SELECT content FROM recall('kayak', namespace => 'priya')").fetchone()
        assert found == ("Priya bought a kayak",)


def test_the_source_has_all_there_is(servers: dict[int, Server]) -> None:
    for server in servers.values():
        for leg in LEGS:
            assert any(row.get(f"{leg}_rank") for row in server.answers), leg
        assert any(row.get("content") == f"the safe: {SECRET}" for row in server.answers)
        assert any(row.get("statement") for row in server.answers)


def test_both_versions_answer_alike(servers: dict[int, Server]) -> None:
    assert servers[15].rights == servers[18].rights


@contextmanager
def elsewhere(server: Server, public_dir: Path) -> Iterator[EmbeddedServer]:
    """A server of the same version that has never seen pgrecall."""
    other = EmbeddedServer(public_dir / "elsewhere", settings=FAST, bindir=server.bindir)
    other.up()
    try:
        with psycopg.connect(other.dsn("postgres"), autocommit=True) as conn:
            roles = conn.execute("SELECT rolname FROM pg_roles WHERE rolname ^@ 'pgrecall_'").fetchall()
            assert roles == []
        yield other
    finally:
        other.down()
        shutil.rmtree(public_dir / "elsewhere", ignore_errors=True)


@pytest.mark.parametrize("roles", ["roles", "needed roles"])
def test_dump_and_restore(servers: dict[int, Server], public_dir: Path, tmp_path: Path, roles: str) -> None:
    server = servers[18]
    with elsewhere(server, public_dir) as other:
        run(roles, server, tmp_path, FROM=server.dsn, TO_SERVER=other.dsn("postgres"))
        run("restore", server, tmp_path, TO=other.dsn())
        assert_same(other.dsn(), server)
        assert memberships(other.dsn()) == memberships(server.dsn)


def test_settings_come_along(servers: dict[int, Server], public_dir: Path, tmp_path: Path) -> None:
    query = (
        "SELECT setrole::regrole::text, setdatabase = 0, setconfig::text FROM pg_db_role_setting "
        "WHERE setconfig::text ~ 'pgrecall|hnsw' ORDER BY 1, 2"
    )
    server = servers[18]
    with psycopg.connect(server.dsn, autocommit=True) as conn:
        conn.execute("ALTER ROLE backup_tenant SET pgrecall.namespace = 'lea'")
        conn.execute("ALTER ROLE backup_tenant IN DATABASE pgrecall SET pgrecall.k = '7'")
        before = conn.execute(query).fetchall()
    try:
        with elsewhere(server, public_dir) as other:
            run("needed roles", server, tmp_path, FROM=server.dsn, TO_SERVER=other.dsn("postgres"))
            run("restore", server, tmp_path, TO=other.dsn())
            with psycopg.connect(other.dsn("postgres"), autocommit=True) as conn:
                conn.execute("ALTER DATABASE pgrecall RENAME TO restored")
            run("settings", server, tmp_path, FROM=server.dsn, TO=other.dsn("restored"))
            with psycopg.connect(other.dsn("restored"), autocommit=True) as conn:
                assert conn.execute(query).fetchall() == before
    finally:
        with psycopg.connect(server.dsn, autocommit=True) as conn:
            conn.execute("ALTER ROLE backup_tenant RESET ALL")
            conn.execute("ALTER ROLE backup_tenant IN DATABASE pgrecall RESET ALL")


@pytest.mark.parametrize(("source", "target"), [(15, 18), (18, 15)])
def test_dump_to_another_version(
    servers: dict[int, Server], public_dir: Path, tmp_path: Path, source: int, target: int
) -> None:
    with elsewhere(servers[target], public_dir) as other:
        there = other.dsn("postgres")
        run("needed roles", servers[18], tmp_path, FROM=servers[source].dsn, TO_SERVER=there)
        run(
            "restore to another version",
            servers[18],
            tmp_path,
            TO=other.dsn(),
            DUMP=str(servers[source].dump),
        )
        assert_same(other.dsn(), servers[source])


def test_restore_by_the_owner(servers: dict[int, Server], public_dir: Path, tmp_path: Path) -> None:
    server = servers[18]
    with elsewhere(server, public_dir) as other:
        run("needed roles", server, tmp_path, FROM=server.dsn, TO_SERVER=other.dsn("postgres"))
        with psycopg.connect(other.dsn(), autocommit=True) as conn:
            conn.execute("CREATE EXTENSION vector")
            conn.execute("CREATE ROLE backup_owner LOGIN")
            conn.execute("GRANT pgrecall_gate, pgrecall_engine TO backup_owner")
            conn.execute("ALTER DATABASE pgrecall OWNER TO backup_owner")
        owned = make_conninfo(other.dsn(), user="backup_owner")
        run("restore as owner", server, tmp_path, TO=owned)
        assert_same(owned, server)
        with psycopg.connect(owned, autocommit=True) as conn:
            conn.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
        assert migrate(owned).changed


def test_restore_for_an_owner_and_nothing_is_open_before(
    servers: dict[int, Server], public_dir: Path, tmp_path: Path
) -> None:
    """Between the restore and the migration no tenant gets an answer; afterwards the owner migrates by itself."""
    server = servers[18]
    with elsewhere(server, public_dir) as other:
        run("needed roles", server, tmp_path, FROM=server.dsn, TO_SERVER=other.dsn("postgres"))
        restoring, giving = recipe("restore for an owner").split("pgrecall migrate", 1)
        with psycopg.connect(other.dsn(), autocommit=True) as conn:
            conn.execute("CREATE ROLE backup_owner LOGIN")
            conn.execute("ALTER DATABASE pgrecall OWNER TO backup_owner")
        owned = make_conninfo(other.dsn(), user="backup_owner")
        names = {
            "TO": other.dsn(),
            "TO_AS_OWNER": owned,
            "OWNER": "backup_owner",
            "DUMP": str(server.dump),
        }
        shell(restoring, server.bindir, names)
        for role in ("backup_tenant", None):
            with psycopg.connect(other.dsn(), autocommit=True) as conn:
                if role is not None:
                    conn.execute(f"SET ROLE {role}".encode())
                for statement in (
                    "SELECT * FROM recall('Priya', namespace => 'priya')",
                    "SELECT * FROM list_memories(namespace => 'priya')",
                    "SELECT * FROM get_memories(ARRAY[1, 2, 3]::bigint[])",
                    "SELECT * FROM memory_history(1)",
                    "SELECT * FROM recall_status()",
                    "SELECT remember('x', namespace => 'priya')",
                ):
                    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as caught:
                        conn.execute(statement.encode())
                    assert "pgrecall migrate" in str(caught.value.diag.message_hint)
        shell(
            recipe("restore for an owner").split("\n", 1)[0] + f"\npgrecall migrate{giving}",
            server.bindir,
            names,
        )
        assert_same(owned, server)
        with psycopg.connect(owned, autocommit=True) as conn:
            conn.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
        assert migrate(owned).changed
        assert not migrate(owned).changed


def test_a_plain_dump_with_the_needed_roles(
    servers: dict[int, Server], public_dir: Path, tmp_path: Path
) -> None:
    """With the rows of the query caches, which name the roles that asked, and with all owners."""
    server = servers[18]
    shell(
        'pg_dump --format=custom --file "$DUMP" "$FROM"',
        server.bindir,
        {"DUMP": str(tmp_path / "dump"), "FROM": server.dsn},
    )
    with elsewhere(server, public_dir) as other:
        run("needed roles", server, tmp_path, FROM=server.dsn, TO_SERVER=other.dsn("postgres"))
        shell(
            'pg_restore --exit-on-error --dbname "$TO" "$DUMP"',
            server.bindir,
            {"DUMP": str(tmp_path / "dump"), "TO": other.dsn()},
        )
        with psycopg.connect(other.dsn(), autocommit=True) as conn:
            asked = conn.execute("SELECT role::text FROM pgrecall.query_embeddings").fetchall()
            assert asked == [("backup_asker",)]
            conn.execute("SET ROLE backup_tenant")
            assert conn.execute("SELECT count(*) FROM recall('Tee', namespace => 'lea')").fetchone() != (0,)
            assert conn.execute("SELECT count(*) FROM list_memories(namespace => 'priya')").fetchone() == (0,)


def test_only_owner_and_superuser_can_dump(servers: dict[int, Server], tmp_path: Path) -> None:
    with psycopg.connect(servers[18].dsn, autocommit=True) as conn:
        conn.execute("CREATE ROLE backup_admin LOGIN IN ROLE pgrecall_admin")
    with pytest.raises(AssertionError, match="pg_dump: error"):
        run(
            "dump",
            servers[18],
            tmp_path,
            FROM=make_conninfo(servers[18].dsn, user="backup_admin"),
            DUMP=str(tmp_path / "dump"),
        )


def test_the_needed_roles_are_all_that_the_catalog_knows(servers: dict[int, Server]) -> None:
    with psycopg.connect(servers[18].dsn, autocommit=True) as conn:
        statements = "\n".join(row[0] for row in conn.execute("SELECT * FROM pgrecall.role_statements()"))
        made = set(re.findall(r"CREATE ROLE (\w+)", statements))
        ours = conn.execute("SELECT rolname FROM pg_roles WHERE rolname ^@ 'pgrecall_'").fetchall()
    assert made >= {name for (name,) in ours}
    assert made - {name for (name,) in ours} == {"backup_tenant", "backup_asker"}


def test_pg_upgrade(servers: dict[int, Server], public_dir: Path, tmp_path: Path) -> None:
    there = servers[15]
    new = EmbeddedServer(public_dir / "upgraded", settings=FAST, bindir=servers[18].bindir)
    new.up()
    with psycopg.connect(new.dsn("postgres"), autocommit=True) as conn:
        conn.execute("DROP DATABASE pgrecall")  # the new cluster has to be empty
    new.down()
    with psycopg.connect(there.embedded.dsn("postgres"), autocommit=True) as conn:
        conn.execute("DROP DATABASE IF EXISTS restored")
    run("before upgrade", there, tmp_path, FROM=there.dsn)
    there.embedded.down()
    try:
        shell(
            recipe("upgrade"),
            servers[18].bindir,
            {
                "SCRATCH": str(folder(public_dir, "scratch")),
                "SOCKETS": str(folder(public_dir, "sockets")),
                "OLD_BIN": str(there.bindir),
                "NEW_BIN": str(servers[18].bindir),
                "OLD_DATA": str(there.embedded.pgdata),
                "NEW_DATA": str(new.pgdata),
            },
            as_server=True,
        )
        dsn = new.up()
        try:
            run("after upgrade", servers[18], tmp_path, TO=dsn)
            assert_same(dsn, there)
        finally:
            new.down()
    finally:
        there.embedded.up()


def test_export_and_import(servers: dict[int, Server], tmp_path: Path) -> None:
    dsn = servers[18].new_database("imported")
    with psycopg.connect(dsn, autocommit=True) as conn:
        run("export", servers[18], tmp_path, FROM=servers[15].dsn, TO=prepared(dsn))
        assert SECRET not in (tmp_path / "export.jsonl").read_text("utf-8")
        counted = conn.execute("SELECT memories, sensitive, embedded FROM recall_status()").fetchone()
    with psycopg.connect(servers[15].dsn, autocommit=True) as conn:
        there = conn.execute("SELECT memories, sensitive, embedded FROM recall_status()").fetchone()
    assert there is not None
    assert counted == (there[0] - there[1], 0, there[2])
