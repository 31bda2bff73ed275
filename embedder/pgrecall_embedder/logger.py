"""The daemon's log: structured, on stderr, without the text of memories."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger, Processor

__all__ = ["make_logger"]


def make_logger(*, as_json: bool = False, level: int = logging.INFO) -> FilteringBoundLogger:
    """Return a logger that writes to stderr.

    Args:
        as_json: One JSON object a line; otherwise lines for people, coloured on a terminal.
        level: The lowest level to log.
    """
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
