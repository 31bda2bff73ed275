"""`pgrecall up`, `down`, `dsn`: the embedded server."""

from .common import AsJson, DataDir, note, print_json, print_result, server_errors


def up(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Start the embedded PostgreSQL and print its connection string."""
    with server_errors():
        from pgrecall.server import EmbeddedServer

        server = EmbeddedServer(data_dir)
        was_running = server.running()
        dsn = server.up()
    if not as_json:
        note(f"{'already running' if was_running else 'started'}; the data is in {server.data_dir}")
    found = {"dsn": dsn, "data_dir": str(server.data_dir), "was_running": was_running}
    print_result(found, dsn, as_json=as_json)


def down(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Stop the embedded PostgreSQL; the data stays."""
    with server_errors():
        from pgrecall.server import EmbeddedServer

        server = EmbeddedServer(data_dir)
        was_running = server.running()
        server.down()
    if as_json:
        print_json({"data_dir": str(server.data_dir), "was_running": was_running})
    else:
        note(f"{'stopped' if was_running else 'was not running'}; the data is in {server.data_dir}")


def dsn(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Print the embedded server's connection string, as PGRECALL_DSN takes it."""
    with server_errors():
        from pgrecall.server import EmbeddedServer

        server = EmbeddedServer(data_dir)
        running = server.running()
        text = server.dsn()
    if not (running or as_json):
        note("the server is not running: `pgrecall up` starts it")
    print_result(
        {"dsn": text, "data_dir": str(server.data_dir), "is_running": running}, text, as_json=as_json
    )
