"""`pgrecall doctor`: problems and their remedies."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from pgrecall.formatting import sanitize_line

from .common import AsJson, DataDir, Dsn, echo, effective_dsn, print_json

if TYPE_CHECKING:
    from psycopg import Connection

    from pgrecall.models import HealthCheck

OLDEST, NEWEST = 15, 18
_COLOURS = {"ok": "green", "info": "cyan", "warn": "yellow", "fail": "red"}


def doctor(as_json: AsJson = False, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Check server, schema, indexes and queue; exit 1 if something is broken."""
    findings = []
    for finding in _examine(effective_dsn(dsn, data_dir)):
        findings.append(finding)
        if as_json:
            continue
        echo(f"{finding.status:<5}", fg=_COLOURS[finding.status], nl=False)
        echo(f" {sanitize_line(f'{finding.check_name}: {finding.detail}')}")
        if finding.remedy is not None:
            echo(f"      hint: {sanitize_line(finding.remedy)}")
    if as_json:
        from dataclasses import asdict

        print_json([asdict(finding) for finding in findings])
    if any(finding.status == "fail" for finding in findings):
        raise typer.Exit(1)


def _examine(dsn: str) -> Iterator["HealthCheck"]:
    """Run the checks from the outside in, and skip those that depend on a failed one."""
    import psycopg

    from pgrecall import Client
    from pgrecall.admin.code import differences
    from pgrecall.admin.environment import connect
    from pgrecall.admin.migrate import check
    from pgrecall.connecting import open_connection
    from pgrecall.errors import error_from
    from pgrecall.models import HealthCheck

    try:
        with open_connection(psycopg.Connection, dsn) as connection:
            info = connection.info
            version = info.server_version // 10000
            encoding = info.parameter_status("server_encoding")
    except psycopg.Error as error:
        failure = error_from(error)
        yield HealthCheck(check_name="connection", status="fail", detail=failure.message, remedy=failure.hint)
        return
    yield HealthCheck(check_name="connection", status="ok", detail="the server answers", remedy=None)
    state = check(dsn)
    if not state.current:
        yield from _examine_server(version, encoding)
        for problem in state.problems:
            yield HealthCheck(check_name="schema", status="fail", detail=problem, remedy=None)
        return
    yield HealthCheck(
        check_name="schema",
        status="ok",
        detail=f"revision {state.revision}, SQL code {state.expected_hash[:12]}",
        remedy=None,
    )
    with connect(dsn) as connection:
        different = differences(connection, plpython=state.has_plpython)
    if different:
        yield HealthCheck(
            check_name="installed code",
            status="fail",
            detail=f"what a migration repairs: {'; '.join(different)}",
            remedy="pgrecall migrate",
        )
        return
    with open_connection(psycopg.Connection, dsn) as connection:
        yield _examine_pooler(connection)
    with Client(dsn, pool_max=1) as client:
        yield from client.admin.health()


def _examine_pooler(connection: "Connection[Any]") -> "HealthCheck":
    """Check from the client whether a pooler loses prepared statements."""
    from pgrecall.dsn import pooler_problem
    from pgrecall.models import HealthCheck

    problem = pooler_problem(connection)
    return HealthCheck(
        check_name="prepared statements",
        status="ok" if problem is None else "warn",
        detail="none are lost" if problem is None else problem,
        remedy=None if problem is None else "pgrecall config --changed",
    )


def _examine_server(version: int, encoding: str | None) -> Iterator["HealthCheck"]:
    """Check the requirements of `migrate` on a database without pgrecall."""
    from pgrecall.models import HealthCheck

    if not OLDEST <= version <= NEWEST:
        yield HealthCheck(
            check_name="server version",
            status="fail" if version < OLDEST else "warn",
            detail=f"PostgreSQL {version}",
            remedy=f"pgrecall is tested on PostgreSQL {OLDEST} to {NEWEST}.",
        )
    if encoding != "UTF8":
        yield HealthCheck(
            check_name="encoding",
            status="fail",
            detail=str(encoding),
            remedy="Create the database with ENCODING 'UTF8' TEMPLATE template0.",
        )
