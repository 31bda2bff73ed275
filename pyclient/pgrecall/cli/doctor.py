"""`pgrecall doctor`: what is wrong, and what to run."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from .common import DataDir, Dsn, effective_dsn

if TYPE_CHECKING:
    from pgrecall.models import HealthCheck

OLDEST, NEWEST = 15, 18
_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def doctor(dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Examine server, schema, indexes and queue; exit 1 if something is broken."""
    failed = False
    for check in _examine(effective_dsn(dsn, data_dir)):
        failed = failed or check.status == "fail"
        typer.secho(f"{check.status:<5}", fg=_COLOURS[check.status], nl=False)
        typer.echo(f" {check.check_name}: {check.detail}")
        if check.remedy is not None:
            typer.echo(f"      run: {check.remedy}")
    if failed:
        raise typer.Exit(1)


def _examine(dsn: str) -> Iterator["HealthCheck"]:
    """Examine from the outside in; what cannot work without the check before it is left out."""
    import psycopg

    from pgrecall.connecting import CONNECTION_OPTIONS
    from pgrecall.errors import error_from
    from pgrecall.models import HealthCheck

    try:
        with psycopg.connect(dsn, **CONNECTION_OPTIONS) as connection:
            info = connection.info
            version = info.server_version // 10000
            encoding = info.parameter_status("server_encoding")
    except psycopg.Error as error:
        failure = error_from(error)
        yield HealthCheck(check_name="connection", status="fail", detail=failure.message, remedy=failure.hint)
        return
    yield HealthCheck(check_name="connection", status="ok", detail="the server answers", remedy=None)
    supported = OLDEST <= version <= NEWEST
    yield HealthCheck(
        check_name="server",
        status="ok" if supported else "fail" if version < OLDEST else "warn",
        detail=f"PostgreSQL {version}"
        if supported
        else f"PostgreSQL {version} is not among the supported {OLDEST} to {NEWEST}",
        remedy=None if supported else f"a server of PostgreSQL {OLDEST} to {NEWEST}",
    )
    utf8 = encoding == "UTF8"
    yield HealthCheck(
        check_name="encoding",
        status="ok" if utf8 else "fail",
        detail=f"{encoding}",
        remedy=None if utf8 else "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
    )
    yield from _examine_schema(dsn)


def _examine_schema(dsn: str) -> Iterator["HealthCheck"]:
    from pgrecall import Client
    from pgrecall.install import check
    from pgrecall.models import HealthCheck

    state = check(dsn)
    for problem in state.problems:
        yield HealthCheck(check_name="schema", status="fail", detail=problem, remedy=None)
    if not state.current:
        return
    yield HealthCheck(
        check_name="schema",
        status="ok",
        detail=f"revision {state.revision}, SQL code {state.expected_hash[:12]}",
        remedy=None,
    )
    with Client(dsn, pool_max=1) as client:
        yield from client.health()
