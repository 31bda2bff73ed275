"""Set a router up, add shards to it, tell where namespaces are."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgrecall.admin.bundle import bundle_hash
from pgrecall.admin.code import refuse_foreign_functions, verify_installed
from pgrecall.admin.reading import scalar
from pgrecall.admin.schemas import qualify
from pgrecall.config.conninfo import dsn_parts
from pgrecall.errors import InvalidInput, PgrecallError, SchemaMismatch

from .catalog import ROUTED, enums
from .connections import connect, run_file, shard_connection, shard_dsns, translated, without_account
from .placing import namespaces, pin
from .routes import WRITTEN
from .routing import routed_functions, signatures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psycopg import Connection

__all__ = ["Placement", "Shard", "add", "check", "init", "placements", "shards"]

MAX_SHARDS = 2047
"""The ids of namespaces are integers, and a shard has 2^20 of them."""

LOCK_KEY = 1885827954  # 'pgsr'; with -1 the lock on the set of shards, with an id on a moving namespace
_READING = ("pgrecall_reader", "pgrecall_embedder")
_TUNING = ("hnsw.ef_search", "hnsw.iterative_scan")


# The inner functions, the outer ones that go with them, and then the types that these return.
@dataclass(frozen=True, slots=True)
class Shard:
    """One shard: its number, how the router reaches it, whether it answers, how many namespaces it has."""

    shard: int
    conninfo: str
    is_alive: bool
    namespaces: int | None


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a namespace is, and where the hash of its name would put it."""

    namespace: str
    shard: int
    hashed: int


def init(router_dsn: str, shard_dsns_: Sequence[str] = ()) -> list[int]:
    """Make a database the router of shards, or bring it to the shards' code again.

    Shards are numbered in the order they are given. What they hold already stays where it is.

    Args:
        router_dsn: An empty database, or a router; the role that connects is a superuser there.
        shard_dsns_: Migrated databases, as the router's server reaches them; none for a router that has some,
            unless an address or the account has changed.

    Returns:
        The numbers of the shards.

    Raises:
        InvalidInput: There are none, too many, or another number than the router has.
        SchemaMismatch: A database is not migrated, belongs to another router or does not fit the others.
    """
    with connect(router_dsn) as router, translated():
        known = scalar(router, "SELECT to_regclass('pgrecall_router.shards') IS NOT NULL")
        dsns = shard_dsns(router) if known else {}
        if dsns and shard_dsns_ and len(dsns) != len(shard_dsns_):
            raise InvalidInput(
                f"the router has {len(dsns)} shards already, not {len(shard_dsns_)}",
                hint="Name all of them in their order, or none; `pgrecall shard add DSN` adds one.",
            )
        if shard_dsns_:
            # Another address or password than before, maybe: each shard knows its number.
            dsns = dict(enumerate(shard_dsns_))
        _install(router, dsns, first=not known)
        return list(dsns)


def add(router_dsn: str, shard_dsn: str) -> int:
    """Add a shard: namespaces stay where they are, new ones go to all shards.

    Returns:
        Its number.

    Raises:
        InvalidInput: It is a shard of this router already.
        SchemaMismatch: As for `init`.
    """
    with connect(router_dsn) as router, translated():
        dsns = shard_dsns(router)
        if _places([shard_dsn]) <= _places(dsns.values()):
            raise InvalidInput("this database is a shard of the router already", hint="Name another one.")
        number = len(dsns)
        _install(router, {**dsns, number: shard_dsn}, first=False)
        return number


def shards(router_dsn: str) -> list[Shard]:
    """Return the shards; one that does not answer is said to be down."""
    found = []
    with connect(router_dsn) as router, translated():
        for shard, dsn in shard_dsns(router).items():
            try:
                with shard_connection(shard, dsn) as connection:
                    count = scalar(connection, "SELECT count(*) FROM pgrecall.namespaces")
            except PgrecallError:
                count = None
            found.append(Shard(shard, without_account(dsn)[0], count is not None, count))
    return found


def placements(router_dsn: str) -> list[Placement]:
    """Return every namespace and its shard, by name; all shards have to answer."""
    with connect(router_dsn) as router, translated(), ExitStack() as stack:
        names = set()
        for shard, dsn in shard_dsns(router).items():
            connection = stack.enter_context(shard_connection(shard, dsn))
            names |= namespaces(connection)
        rows = router.execute(
            "SELECT n.name, pgrecall_router.shard_of(n.name), pgrecall_router.hashed_shard(n.name) "
            "FROM unnest(%s::text[]) n (name) ORDER BY 1",
            [sorted(names)],
        ).fetchall()
    return [Placement(*row) for row in rows]


def check(router_dsn: str) -> list[str]:
    """Compare the shards with each other and with the router; return what is wrong, in words."""
    problems: list[str] = []
    with connect(router_dsn) as router, translated():
        if scalar(router, "SELECT bundle_hash FROM pgrecall_router.installation") != bundle_hash():
            problems.append("the router's functions are of another version: run `pgrecall shard init`")
        settings: dict[int, list[tuple[Any, ...]]] = {}
        for shard, dsn in shard_dsns(router).items():
            try:
                with shard_connection(shard, dsn) as connection:
                    problems += _shard_problems(router, connection, shard)
                    stored = "SELECT name, value FROM pgrecall.settings ORDER BY name"
                    settings[shard] = connection.execute(stored).fetchall()
            except PgrecallError as error:
                problems.append(error.message)
        first = min(settings, default=0)
        problems += [
            f"shard {shard} has other settings than shard {first}: `pgrecall config set` sets them on all"
            for shard, stored in settings.items()
            if stored != settings[first]
        ]
    return problems


def _shard_problems(router: Connection[Any], connection: Connection[Any], shard: int) -> list[str]:
    problems = []
    if scalar(connection, "SELECT pgrecall.bundle_hash()") != bundle_hash():
        problems.append(f"shard {shard} has the functions of another version: run `pgrecall migrate` on it")
    for name in sorted(namespaces(connection)):
        home = scalar(router, "SELECT pgrecall_router.shard_of(%s)", name)
        moving = scalar(connection, "SELECT target FROM pgrecall_shard.moves WHERE namespace = %s", name)
        if moving is not None:
            problems.append(
                f"namespace {name} is being moved from shard {shard} to shard {moving}: "
                f"`pgrecall shard move {name}` goes on with it"
            )
        elif home != shard:
            problems.append(f"namespace {name} is on shard {shard} too, and is looked for on shard {home}")
    return problems


def _install(router: Connection[Any], dsns: dict[int, str], *, first: bool) -> None:
    """Prepare every shard, then make the router's tables and functions, in one transaction there."""
    if not 1 <= len(dsns) <= MAX_SHARDS:
        raise InvalidInput(f"a router has 1 to {MAX_SHARDS} shards", hint="Pass --shards DSN,DSN,…")
    user = scalar(router, "SELECT current_user")
    dsns = {shard: make_conninfo("", **{"user": user, **dsn_parts(dsn)}) for shard, dsn in dsns.items()}
    if len(_places(dsns.values())) < len(dsns):
        raise InvalidInput("a database is named twice", hint="Each shard is a database of its own.")
    if first:
        if scalar(router, "SELECT to_regnamespace('pgrecall') IS NOT NULL"):
            raise SchemaMismatch(
                "the router's database has a schema 'pgrecall'",
                sqlstate="42P06",
                hint="Make the router in a database of its own, and name this one among the shards.",
            )
        refuse_foreign_functions(router)
    with ExitStack() as stack:
        opened = {shard: stack.enter_context(shard_connection(shard, dsn)) for shard, dsn in dsns.items()}
        for connection in opened.values():
            verify_installed(connection)
        # Kept even if the rest fails: the shards have to know the router again when it is tried again.
        with router.transaction():
            _make_router(router, opened[0])
        with router.transaction():
            # Nobody makes a namespace while the set of shards changes.
            router.execute("SELECT pg_advisory_xact_lock(%s, -1)", [LOCK_KEY])
            cluster = scalar(router, "SELECT cluster FROM pgrecall_router.installation")
            for shard, connection in opened.items():
                _make_shard(connection, shard, cluster)
            _name_shards(router, dsns)
            pin(router, opened)
            _route(router, opened[0])


def _make_router(router: Connection[Any], shard: Connection[Any]) -> None:
    if not scalar(router, "SELECT count(*) FROM pg_available_extensions WHERE name = 'plproxy'"):
        raise PgrecallError(
            "the router's server has no PL/Proxy",
            sqlstate="0A000",
            hint="Install it there (Debian: postgresql-NN-plproxy).",
        )
    router.execute("CREATE EXTENSION IF NOT EXISTS vector")
    router.execute("CREATE EXTENSION IF NOT EXISTS plproxy")
    # Roles are the servers' own: the router has those of a shard, by the same names and memberships.
    roles = shard.execute(
        "SELECT r.rolname, ARRAY(SELECT g.rolname FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid "
        "WHERE m.member = r.oid) FROM pg_roles r WHERE r.rolname LIKE 'pgrecall\\_%' AND NOT r.rolcanlogin"
    ).fetchall()
    for role, _ in roles:
        if not scalar(router, "SELECT count(*) FROM pg_roles WHERE rolname = %s", role):
            router.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(role)))
    for role, groups in roles:
        for group in groups:
            if not scalar(router, "SELECT pg_has_role(%s, %s, 'MEMBER')", role, group):
                grant = sql.SQL("GRANT {} TO {}")
                router.execute(grant.format(sql.Identifier(group), sql.Identifier(role)))
    run_file(router, "router.sql")
    router.execute("INSERT INTO pgrecall_router.installation DEFAULT VALUES ON CONFLICT DO NOTHING")


def _make_shard(connection: Connection[Any], shard: int, cluster: str) -> None:
    """Give a shard its number and its ranges of ids, once."""
    with connection.transaction():
        run_file(connection, "shard.sql")
        present = connection.execute("SELECT shard, cluster FROM pgrecall_shard.identity").fetchone()
        if present is None:
            connection.execute("SELECT pgrecall_shard.take_ranges(%s)", [shard])
            connection.execute(
                "INSERT INTO pgrecall_shard.identity (shard, cluster) VALUES (%s, %s)", [shard, cluster]
            )
        elif present != (shard, cluster):
            raise SchemaMismatch(
                f"the database for shard {shard} is shard {present[0]} of "
                f"{'this' if present[1] == cluster else 'another'} router",
                hint="Name the shards in their order, each of this router alone.",
            )


def _name_shards(router: Connection[Any], dsns: dict[int, str]) -> None:
    """Make the foreign server that tells PL/Proxy where the shards are, and the account it connects with."""
    conninfos = {shard: without_account(dsn)[0] for shard, dsn in dsns.items()}
    accounts = {tuple(sorted(without_account(dsn)[1].items())) for dsn in dsns.values()}
    if len(accounts) > 1:
        raise InvalidInput(
            "the shards are reached with different users or passwords",
            hint="PL/Proxy connects to all of them as one user: give each shard the same account.",
        )
    for shard, conninfo in conninfos.items():
        router.execute(
            "INSERT INTO pgrecall_router.shards (shard, conninfo) VALUES (%s, %s) "
            "ON CONFLICT (shard) DO UPDATE SET conninfo = excluded.conninfo",
            [shard, conninfo],
        )
    router.execute(
        "DO $do$ BEGIN IF NOT EXISTS (SELECT FROM pg_foreign_data_wrapper WHERE fdwname = 'plproxy') THEN "
        "CREATE FOREIGN DATA WRAPPER plproxy VALIDATOR plproxy_fdw_validator; END IF; END $do$"
    )
    present = scalar(router, "SELECT srvoptions FROM pg_foreign_server WHERE srvname = 'pgrecall'")
    if present is None:
        router.execute(
            "CREATE SERVER pgrecall FOREIGN DATA WRAPPER plproxy OPTIONS (modular_mapping '1', p0 '')"
        )
        # A role without a user mapping connects as itself.
        router.execute("CREATE USER MAPPING FOR PUBLIC SERVER pgrecall")
        present = ["modular_mapping=1", "p0="]
    known = {option.split("=", 1)[0] for option in present}
    changes = [
        sql.SQL("{} {} {}").format(
            sql.SQL("SET" if f"p{shard}" in known else "ADD"),
            sql.Identifier(f"p{shard}"),
            sql.Literal(conninfo),
        )
        for shard, conninfo in conninfos.items()
    ]
    router.execute(sql.SQL("ALTER SERVER pgrecall OPTIONS ({})").format(sql.SQL(", ").join(changes)))
    [account] = accounts
    router.execute("DROP USER MAPPING IF EXISTS FOR CURRENT_USER SERVER pgrecall")
    if dict(account) != {"user": scalar(router, "SELECT current_user")}:
        given = [sql.SQL("{} {}").format(sql.Identifier(n), sql.Literal(v)) for n, v in account]
        mapping = sql.SQL("CREATE USER MAPPING FOR CURRENT_USER SERVER pgrecall OPTIONS ({})")
        router.execute(mapping.format(sql.SQL(", ").join(given)))


def _route(router: Connection[Any], shard: Connection[Any]) -> None:
    """Make the routed functions, and say what of a session goes with their calls."""
    # A function whose signature has changed is another one, and the old one must go.
    written = [name.partition(".")[2] for name in WRITTEN]
    for _, stale in router.execute(ROUTED, [written]).fetchall():
        router.execute(f"DROP {stale}".encode())
    for statement in (*enums(shard), *routed_functions(signatures(shard))):
        router.execute(qualify(router, statement).encode())
    names = shard.execute("SELECT 'pgrecall.' || name, NULL FROM pgrecall.setting_definitions").fetchall()
    tuning = [(name, scalar(router, "SELECT current_setting(%s, true)", name)) for name in _TUNING]
    with router.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO pgrecall_router.settings AS s (name, default_value) VALUES (%s, %s) "
            "ON CONFLICT (name) DO UPDATE SET default_value = excluded.default_value",
            [*names, *tuning, ("TimeZone", None)],
        )
    for name in ("namespace", "namespaces"):
        stored = scalar(shard, "SELECT value FROM pgrecall.settings WHERE name = %s", name)
        router.execute("SELECT pgrecall_router.keep_setting(%s, %s)", [name, stored])
    _grant(router)
    router.execute("UPDATE pgrecall_router.installation SET bundle_hash = %s", [bundle_hash()])


def _grant(router: Connection[Any]) -> None:
    """Give the roles what routing needs: the lookups, not the tables, which tell the names of namespaces."""
    roles = sql.SQL(", ").join(map(sql.Identifier, _READING))
    for grant in (
        "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA pgrecall, pgrecall_router FROM PUBLIC",
        "GRANT USAGE ON SCHEMA pgrecall, pgrecall_router TO {}",
        "GRANT USAGE ON FOREIGN SERVER pgrecall TO {}",
        "GRANT EXECUTE ON FUNCTION pgrecall.bundle_hash, pgrecall.namespace_name, pgrecall_router.answers, "
        "pgrecall_router.given, pgrecall_router.hashed_shard, pgrecall_router.is_unreachable, "
        "pgrecall_router.keep_shards, pgrecall_router.lost_shard, pgrecall_router.refuse, "
        "pgrecall_router.asked_namespaces, pgrecall_router.shard_of, pgrecall_router.shard_of_all, "
        "pgrecall_router.shard_of_memory, pgrecall_router.shard_of_range, "
        "pgrecall_router.shards_from TO {}",
        "GRANT EXECUTE ON FUNCTION pgrecall_router.remember_part TO pgrecall_writer",
        "GRANT EXECUTE ON FUNCTION pgrecall_router.keep_setting TO pgrecall_admin",
    ):
        router.execute(sql.SQL(grant).format(roles))


def _places(dsns: Iterable[str]) -> set[str]:
    return {without_account(dsn)[0] for dsn in dsns}
