"""`pgrecall up`, `down`, `dsn`: the embedded server."""

import typer

from .common import DataDir, note, server_errors


def up(data_dir: DataDir = None) -> None:
    """Start the embedded PostgreSQL and print its connection string."""
    with server_errors():
        from pgrecall.server import EmbeddedServer

        server = EmbeddedServer(data_dir)
        was_running = server.running()
        dsn = server.up()
    note(f"{'already running' if was_running else 'started'}; the data is in {server.data_dir}")
    typer.echo(dsn)


def down(data_dir: DataDir = None) -> None:
    """Stop the embedded PostgreSQL; the data stays."""
    with server_errors():
        from pgrecall.server import EmbeddedServer

        server = EmbeddedServer(data_dir)
        was_running = server.running()
        server.down()
    note(f"{'stopped' if was_running else 'was not running'}; the data is in {server.data_dir}")


def dsn(data_dir: DataDir = None) -> None:
    """Print the embedded server's connection string, as PGRECALL_DSN takes it."""
    with server_errors():
        from pgrecall.server import EmbeddedServer

        server = EmbeddedServer(data_dir)
        running = server.running()
        text = server.dsn()
    if not running:
        note("the server is not running: `pgrecall up` starts it")
    typer.echo(text)
