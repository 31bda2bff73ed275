"""`pgrecall embedder`: the daemon that embeds memories and extracts from them."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pgrecall.installing import install_command

from .common import DataDir, Dsn, effective_dsn, require_database


class Part(StrEnum):
    """The kinds of work that --only accepts."""

    EMBEDDING = "embedding"
    EXTRACTION = "extraction"


def embedder(
    drain: Annotated[bool, typer.Option("--drain", help="Stop once nothing is pending.")] = False,
    only: Annotated[
        Part | None,
        typer.Option(help="Do only this kind of work; extraction needs no model.", show_default=False),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Embedding threads; default: one per core, at most 8.", show_default=False),
    ] = None,
    lease: Annotated[
        float,
        typer.Option(
            min=1.0,
            max=86400.0,
            help="Seconds that a claimed batch stays reserved for a daemon that is not heard of.",
        ),
    ] = 120.0,
    listen_dsn: Annotated[
        str | None,
        typer.Option(
            help="A direct connection for notifications if the main one goes through a pooler; "
            "default: PGRECALL_EMBEDDER_LISTEN_DSN.",
            show_default=False,
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Port on 127.0.0.1 for Prometheus metrics; default: PGRECALL_EMBEDDER_METRICS_PORT.",
            show_default=False,
        ),
    ] = None,
    socket: Annotated[
        Path | None,
        typer.Option(
            help="Unix socket on which to answer recall_embed() of a server on this machine; "
            "default: PGRECALL_EMBEDDER_SOCKET.",
            show_default=False,
        ),
    ] = None,
    socket_mode: Annotated[str, typer.Option(help="Permissions of the socket, in octal digits.")] = "660",
    log_json: Annotated[bool, typer.Option("--log-json", help="Log JSON lines.")] = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Embed pending memories and extract from them, then wait for new ones."""
    from pgrecall.errors import EmbeddingUnavailable

    try:
        from pgrecall.embedder import run_daemon
    except ModuleNotFoundError as error:
        raise EmbeddingUnavailable(
            f"the embedder is not installed: no module {error.name}",
            hint=f"Run: {install_command('embedder')}.",
        ) from error
    require_database(dsn, data_dir)
    raise typer.Exit(
        run_daemon(
            effective_dsn(dsn, data_dir),
            drain=drain,
            only=None if only is None else only.value,
            concurrency=concurrency,
            lease_seconds=lease,
            listen_dsn=listen_dsn,
            metrics_port=metrics_port,
            socket_path=socket,
            socket_mode=_mode(socket_mode),
            log_json=log_json,
        )
    )


def _mode(digits: str) -> int:
    if not re.fullmatch("0?[0-7]{3}", digits):
        raise typer.BadParameter("--socket-mode takes three octal digits, such as 660")
    return int(digits, 8)
