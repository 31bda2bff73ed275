"""Run the daemon as a process: signals, exit code, and one clear line when it cannot work."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import psycopg

from pgrecall.errors import PgrecallError, error_from

from .daemon import Daemon
from .logs import describe, make_logger
from .providers import load_provider

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from .daemon import Part
    from .providers import ProviderFactory

__all__ = ["run"]


def run(
    dsn: str,
    *,
    drain: bool = False,
    only: Part | None = None,
    concurrency: int | None = None,
    log_json: bool = False,
    factory: ProviderFactory = load_provider,
) -> int:
    """Embed and read what waits for it until SIGTERM or SIGINT (a second one aborts); logs go to stderr.

    Call it from the main thread.

    Args:
        dsn: Connection string of the database.
        drain: Return when nothing is left to embed or to read.
        only: Only embed, or only read, which needs no model; None does both.
        concurrency: Embedding threads; None means one a core, which is what measured best.
        log_json: Log JSON, one object a line.
        factory: Loads the model.

    Returns:
        The exit code: 0 after a drain or a clean stop, 1 if the daemon could not start or something failed.
    """
    log = make_logger(as_json=log_json)
    try:
        psycopg.conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        # What the parser says quotes the string, password and all.
        log.error("the connection string cannot be read", hint="Check PGRECALL_DSN.")
        return 1
    try:
        daemon = Daemon(dsn, drain=drain, only=only, concurrency=concurrency, log=log, factory=factory)
        asyncio.run(_main(daemon, log))
    except Exception as error:  # noqa: BLE001 - the traceback of anything unforeseen could quote a memory
        _explain(error, log)
        return 1
    return 0


async def _main(daemon: Daemon, log: FilteringBoundLogger) -> None:
    loop = asyncio.get_running_loop()
    signalled = False

    def on_signal(number: int) -> None:
        nonlocal signalled
        if signalled:
            log.error("aborted; leases expire by themselves", signal=signal.Signals(number).name)
            # A thread inside the model cannot be interrupted any other way.
            os._exit(128 + number)
        signalled = True
        log.info("stopping, once the batch in hand is written", signal=signal.Signals(number).name)
        daemon.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    await daemon.run()


def _explain(error: BaseException, log: FilteringBoundLogger) -> None:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            _explain(one, log)
    elif isinstance(error, PgrecallError):
        log.error(error.message, hint=error.hint, sqlstate=error.sqlstate)
    elif isinstance(error, psycopg.Error):
        public = error_from(error)
        log.error(
            "the database failed the embedder",
            error=describe(error),
            hint=public.hint,
            sqlstate=public.sqlstate,
        )
    else:
        log.error("the embedder failed", error=describe(error))
