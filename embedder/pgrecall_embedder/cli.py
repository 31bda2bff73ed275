"""Runs the daemon as a process: signals, exit code, one error line if it cannot start."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psycopg

from pgrecall.config.conninfo import dsn_parts
from pgrecall.errors import ConnectionFailed, InvalidInput, PgrecallError, error_from

from .daemon import LEASE_SECONDS, SOCKET_MODE, Daemon
from .jobs.embed.background_texts import TEXTS
from .logger import make_logger
from .logs import describe
from .prometheus import PrometheusMetrics
from .providers import load_provider

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from .daemon import Part
    from .providers import ProviderFactory

__all__ = ["LISTEN_VARIABLE", "run"]

LISTEN_VARIABLE: Final = "PGRECALL_EMBEDDER_LISTEN_DSN"
METRICS_VARIABLE: Final = "PGRECALL_EMBEDDER_METRICS_PORT"
SOCKET_VARIABLE: Final = "PGRECALL_EMBEDDER_SOCKET"


def run(
    dsn: str,
    *,
    drain: bool = False,
    only: Part | None = None,
    concurrency: int | None = None,
    lease_seconds: float = LEASE_SECONDS,
    listen_dsn: str | None = None,
    metrics_port: int | None = None,
    socket_path: Path | None = None,
    socket_mode: int | None = None,
    log_json: bool = False,
    factory: ProviderFactory = load_provider,
) -> int:
    """Run the daemon until SIGTERM or SIGINT; a second signal aborts. Logs go to stderr.

    Call it from the main thread.

    Args:
        dsn: Connection string of the database.
        drain: Return when the queues are empty.
        only: Run only this job; extraction needs no model. None runs both.
        concurrency: Embedding threads; None starts one per core, at most 8.
        lease_seconds: Length of a lease.
        listen_dsn: A direct connection for notifications, if `dsn` leads to a pooler; None takes
            PGRECALL_EMBEDDER_LISTEN_DSN, or else `dsn`.
        metrics_port: The port of the metrics on localhost, 0 for any free one; None takes
            PGRECALL_EMBEDDER_METRICS_PORT, or else serves none.
        socket_path: The socket for queries of the SQL functions in Python (`recall_embed`); None takes
            PGRECALL_EMBEDDER_SOCKET, or else opens none.
        socket_mode: The permissions of that socket; None: this user and its group.
        log_json: Log JSON, one object a line.
        factory: Loads the model.

    Returns:
        The exit code: 0 after a drain or a clean stop, 1 if the daemon could not start or something failed.
    """
    log = make_logger(as_json=log_json)
    listen_dsn = listen_dsn or os.environ.get(LISTEN_VARIABLE) or None
    for name, string in (("PGRECALL_DSN", dsn), (LISTEN_VARIABLE, listen_dsn)):
        try:
            dsn_parts("" if string is None else string)
        except ConnectionFailed as error:
            log.error(error.message, hint=f"Check {name}. {error.hint}")
            return 1
    metrics: PrometheusMetrics | None = None
    try:
        metrics = _metrics(metrics_port, log)
        daemon = Daemon(
            dsn,
            listen_dsn=listen_dsn,
            drain=drain,
            only=only,
            concurrency=concurrency,
            lease_seconds=lease_seconds,
            metrics=metrics,
            log=log,
            factory=factory,
            background_texts=TEXTS,
            socket_path=_socket(socket_path),
            socket_mode=SOCKET_MODE if socket_mode is None else socket_mode,
        )
        asyncio.run(_main(daemon, log))
    except Exception as error:  # noqa: BLE001 - the traceback of anything unforeseen could quote a memory
        _explain(error, log)
        return 1
    finally:
        if metrics is not None:
            metrics.close()
    return 0


def _metrics(port: int | None, log: FilteringBoundLogger) -> PrometheusMetrics | None:
    """Serve metrics if a port is given."""
    given = os.environ.get(METRICS_VARIABLE, "")
    if port is None and given:
        if not (given.isascii() and given.isdigit()):
            raise InvalidInput(f"{METRICS_VARIABLE} is not a port", hint="Set it to a number, such as 9187.")
        port = int(given)
    if port is None:
        return None
    metrics = PrometheusMetrics()
    log.info("metrics are served", address=f"http://127.0.0.1:{metrics.serve(port)}/metrics")
    return metrics


def _socket(path: Path | None) -> Path | None:
    given = os.environ.get(SOCKET_VARIABLE, "")
    if path is None and given:
        path = Path(given)
    if path is not None and not path.is_absolute():
        raise InvalidInput(f"the socket {path} is not an absolute path", hint="Name it from the root on.")
    return path


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
