"""`pgrecall ui`: the inspector, a local web interface to recall."""

from typing import Annotated

import typer

from pgrecall.installing import install_command

from .common import DataDir, Dsn, Namespace, connection_string, echo, note, require_database

PORT = 8765
"""The default port is fixed, so that port forwarding keeps working."""


def ui(
    host: Annotated[
        str, typer.Option(help="Name or IPv4 address to listen on. Its pages are not encrypted.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 chooses a free one.")] = PORT,
    namespace: Namespace = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    include_sensitive: Annotated[
        bool, typer.Option("--include-sensitive", help="Show sensitive memories.")
    ] = False,
    read_only: Annotated[
        bool | None,
        typer.Option(
            "--read-only/--write",
            help="Offer nothing that writes; the default on other hosts than 127.0.0.1 and localhost.",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=600, help="Seconds that a database call may take.")
    ] = 10.0,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Inspect and edit memories in the browser: list, search, explain, compare, concepts, status.

    Prints the URL with an access token, and serves until Ctrl-C.
    """
    from pgrecall.errors import PgrecallError

    try:
        from pgrecall.contrib.ui import serve
        from pgrecall.contrib.ui.access import LOOPBACK
    except ModuleNotFoundError as error:
        raise PgrecallError(
            f"the inspector cannot run here: no module {error.name}",
            hint=f"Run: {install_command('ui')}.",
        ) from error
    require_database(dsn, data_dir)
    if host not in LOOPBACK:
        note(
            "the pages are not encrypted" + ("" if read_only is False else ", and read-only without --write")
        )
    serve(
        connection_string(dsn, data_dir),
        host=host,
        port=port,
        namespace=namespace,
        include_sensitive=include_sensitive,
        read_only=read_only,
        timeout=timeout,
        open_browser=not no_open,
        tell=_tell,
    )


def _tell(address: str) -> None:
    note("the inspector runs until Ctrl-C; open:")
    echo(address)
