"""`pgrecall psql`: PostgreSQL's own shell on the database of the memories."""

import os
import shutil
from typing import TYPE_CHECKING

import typer

from .common import DataDir, Dsn, effective_dsn, server_errors

if TYPE_CHECKING:
    from pathlib import Path


def psql(context: typer.Context, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Open psql on the database. It passes everything else on: `pgrecall psql -c 'SELECT 1'`."""
    from psycopg.conninfo import make_conninfo

    from pgrecall.config.conninfo import dsn_parts

    target = dsn_parts(effective_dsn(dsn, data_dir))
    # Other users of the machine can read the arguments of a process.
    password = target.pop("password", None)
    if password is not None:
        os.environ["PGPASSWORD"] = str(password)
    program = str(_program())
    os.execv(program, [program, "--dbname", make_conninfo("", **target), *context.args])  # noqa: S606


def _program() -> "str | Path":
    """Return the psql of this machine, else that of the embedded server."""
    found = shutil.which("psql")
    if found is not None:
        return found
    with server_errors():
        from pgrecall.server.binaries import binaries

        program = binaries() / "psql"
    if program.exists():
        return program
    from pgrecall.errors import PgrecallError

    raise PgrecallError("there is no psql here", hint="Install PostgreSQL's client: postgresql-client.")
