"""`pgrecall mcp`: memory as tools of a Model Context Protocol server."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.installing import install_command

from .common import DataDir, Dsn, Namespaces, connection_string, note, require_database

if TYPE_CHECKING:
    from pgrecall.contrib.mcp.serving import Serving


def mcp(
    http: Annotated[
        bool,
        typer.Option(
            "--http",
            help="Serve streamable HTTP instead of standard input and output; needs PGRECALL_MCP_TOKEN_FILE "
            "or PGRECALL_MCP_TOKEN.",
        ),
    ] = False,
    host: Annotated[str, typer.Option(help="Address on which HTTP listens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for HTTP; 0 chooses a free one.")] = 8765,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="A host name to accept from HTTP clients, such as a proxy's; repeatable."),
    ] = None,
    namespace: Namespaces = None,
    any_namespace: Annotated[
        bool, typer.Option("--any-namespace", help="Let calls name any namespace and change any memory.")
    ] = False,
    create_namespace: Annotated[
        bool, typer.Option("--create-namespace", help="Create a namespace when something is stored in it.")
    ] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tool that writes.")] = False,
    include_sensitive: Annotated[
        bool, typer.Option("--include-sensitive", help="Also return sensitive memories.")
    ] = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Serve memory to agents over the Model Context Protocol.

    Agents start this command themselves and use its standard input and output.
    """
    from pgrecall.errors import PgrecallError

    try:
        import mcp.server.mcpserver  # noqa: F401 - only whether it is there
    except ModuleNotFoundError as error:
        raise PgrecallError(
            f"the MCP server is not installed: no module {error.name}",
            hint=f"Run: {install_command('mcp')}.",
        ) from error
    import asyncio

    from pgrecall.contrib.mcp.serving import Serving

    serving = Serving(
        namespaces=tuple(namespace or ()),
        any_namespace=any_namespace,
        create_namespace=create_namespace,
        read_only=read_only,
        include_sensitive=include_sensitive,
    )
    require_database(dsn, data_dir)
    database = connection_string(dsn, data_dir)
    if http:
        asyncio.run(_serve_http(database, serving, host, port, allowed_host or []))
        return
    if sys.stdin.isatty():
        note("waiting for an agent on standard input; Ctrl-D ends")
    asyncio.run(_serve_stdio(database, serving))


async def _serve_stdio(database: str | None, serving: "Serving") -> None:
    from pgrecall import AsyncClient
    from pgrecall.contrib.mcp.server import POOL_SECONDS, MemoryServer, log_to_stderr

    log_to_stderr()
    async with AsyncClient(database, pool_timeout=POOL_SECONDS) as client:
        await MemoryServer(client, serving).run_stdio_async()


async def _serve_http(
    database: str | None, serving: "Serving", host: str, port: int, allowed_hosts: list[str]
) -> None:
    from pgrecall import AsyncClient
    from pgrecall.contrib.mcp import http
    from pgrecall.contrib.mcp.server import POOL_SECONDS, MemoryServer, log_to_stderr

    secret = http.token()
    http.protection(host, allowed_hosts)
    with http.listening(host, port) as listener:
        log_to_stderr()
        url = http.url_of(listener)
        async with AsyncClient(database, pool_timeout=POOL_SECONDS) as client:
            server = MemoryServer(client, serving, **http.authentication(secret, url))
            note(f"listening on {url}")
            await http.serve(server, listener, host, allowed_hosts)
