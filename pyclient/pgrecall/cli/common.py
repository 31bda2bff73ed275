"""What the commands have in common: options, and how they read and print.

Only typer is imported here and by the commands at import; everything else waits until a command runs, so that
`pgrecall --help` answers at once.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        help="Connection string; default: PGRECALL_DSN or the settings file, else the embedded server.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder of the embedded server; default: PGRECALL_DATA_DIR."),
]
Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", help="Namespace; default: PGRECALL_NAMESPACE.")
]


def connection_string(dsn: str | None, data_dir: Path | None) -> str | None:
    """Return what --dsn and --data-dir ask for; None leaves it to the environment.

    The embedded server of --data-dir is started if it is not running.

    Raises:
        PgrecallError: It cannot be started.
    """
    if dsn is not None and data_dir is not None:
        raise typer.BadParameter("--dsn and --data-dir exclude each other")
    if data_dir is None:
        return dsn
    with server_errors():
        from pgrecall.server import EmbeddedServer

        return EmbeddedServer(data_dir).up()


def effective_dsn(dsn: str | None, data_dir: Path | None) -> str:
    """Return the connection string to use, from the options or the environment.

    Raises:
        ConnectionFailed: The embedded server cannot be started.
    """
    from pgrecall.connecting import resolve

    return resolve(connection_string(dsn, data_dir), None, None).dsn


@contextmanager
def server_errors() -> Iterator[None]:
    """Turn the embedded server's errors into pgrecall's."""
    from pgrecall.errors import PgrecallError
    from pgrecall.server import ServerError

    try:
        yield
    except ServerError as error:
        raise PgrecallError(str(error), hint=error.hint) from error


def moment(option: str, value: str | None) -> datetime | None:
    """Read an ISO 8601 time from an option."""
    if value is None:
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise typer.BadParameter(
            f"{value!r} is not an ISO 8601 time such as 2026-05-17", param_hint=option
        ) from None


def json_object(option: str, value: str | None) -> dict[str, Any] | None:
    """Read a JSON object from an option."""
    if value is None:
        return None
    import json

    try:
        parsed = json.loads(value)
    except json.JSONDecodeError as error:
        raise typer.BadParameter(f"not JSON: {error.msg}", param_hint=option) from None
    if not isinstance(parsed, dict):
        raise typer.BadParameter("not a JSON object", param_hint=option)
    return parsed


def print_json(value: object) -> None:
    """Print one JSON value and nothing else."""
    import json

    plain = "utf" not in (sys.stdout.encoding or "").lower()
    typer.echo(json.dumps(value, ensure_ascii=plain))


def note(text: str) -> None:
    """Say something beside the output proper."""
    typer.secho(text, err=True, dim=True)
