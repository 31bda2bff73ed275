"""The daemon's log: structured, on stderr, without the text of memories.

The text of an exception is not logged: a library may quote its input in it. The log has the class, SQLSTATE
or code location of an error. Only the message of a failed connection is logged.

Libraries are imported where they are used: the process that reads memories describes an error now and
then, and starts without them in half the time.
"""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from pgrecall.errors import ConnectionFailed, error_from

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger, Processor

__all__ = ["describe", "make_logger"]


def make_logger(*, as_json: bool = False, level: int = logging.INFO) -> FilteringBoundLogger:
    """Return a logger that writes to stderr.

    Args:
        as_json: One JSON object a line; otherwise lines for people, coloured on a terminal.
        level: The lowest level to log.
    """
    import structlog

    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
    )
    log: FilteringBoundLogger = structlog.wrap_logger(
        structlog.WriteLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    return log


def describe(error: BaseException) -> str:
    """Describe an error without its text.

    Args:
        error: Any exception; its traceback tells where it came from.

    Returns:
        One line: class and SQLSTATE of a database error, the message of a failed connection, class and place
        in the code of everything else.
    """
    import psycopg

    name = type(error).__qualname__
    if isinstance(error, psycopg.Error):
        if error.sqlstate is not None:
            return f"{name} ({error.sqlstate})"
        public = error_from(error)
        return " ".join(public.message.split()) if isinstance(public, ConnectionFailed) else name
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return name
    return f"{name} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"
