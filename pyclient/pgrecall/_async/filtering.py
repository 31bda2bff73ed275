"""The filter of a call: its conditions, with a phrase made a range of times, as one argument."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pgrecall.arguments import checked_arguments
from pgrecall.concurrency import in_thread
from pgrecall.errors import InvalidInput
from pgrecall.query.timeframe import format_period, format_range, parse_with_dateparser, phrase

if TYPE_CHECKING:
    from pgrecall.filters import Filter, Timeframe

    from .database import AsyncDatabase


async def filter_argument(database: AsyncDatabase, filter: Filter) -> dict[str, Any]:
    """Return the argument `filter` of a function that filters; nothing for a filter without a condition.

    Raises:
        InvalidInput: A condition of the wrong type, or a timeframe that cannot be parsed.
    """
    conditions = filter.conditions()
    if "timeframe" in conditions:
        conditions["timeframe"] = await _as_range(database, conditions["timeframe"])
    if not conditions:
        return {}
    sent = {name: one.isoformat() if isinstance(one, datetime) else one for name, one in conditions.items()}
    return {"filter": sent}


async def _as_range(database: AsyncDatabase, timeframe: Timeframe) -> str:
    """Return a timeframe as a range. The database parses a phrase; dateparser is the fallback."""
    words = phrase(timeframe)
    if words is None:
        return format_period(timeframe)
    try:
        return format_range(await database.value("public.parse_timeframe", checked_arguments(text=words)))
    except InvalidInput:
        pass  # not understood there
    async with database.connection() as connection:
        now = datetime.now(connection.info.timezone)
    return await in_thread(parse_with_dateparser, words, now)
