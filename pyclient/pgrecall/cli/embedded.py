"""The embedded server of a command that makes none."""

from pathlib import Path

from pgrecall.errors import PgrecallError
from pgrecall.server import EmbeddedServer


def existing_server(data_dir: Path | None) -> EmbeddedServer:
    """Return the server of a folder, started or not.

    Args:
        data_dir: The folder; None takes the configured one.

    Raises:
        PgrecallError: The folder holds none.
    """
    embedded = EmbeddedServer(data_dir)
    if embedded.exists():
        return embedded
    missing = f"there is no embedded server in {embedded.data_dir}"
    if data_dir is not None:
        raise PgrecallError(missing, hint="Check the path. `pgrecall up` makes a server in a new folder.")
    raise PgrecallError(
        f"no database is named, and {missing}",
        hint="Pass --dsn or set PGRECALL_DSN where the command is configured; `pgrecall up` and "
        "`pgrecall migrate` make an embedded one.",
    )
