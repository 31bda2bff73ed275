"""The time zone of this machine, for the sessions of the command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

__all__ = ["time_zone", "use_local_zone"]


def use_local_zone() -> None:
    """Have the sessions of this process use its time zone, unless PGTZ names another: one day is one day."""
    if os.environ.get("PGTZ"):
        return
    name = os.environ.get("TZ", "").removeprefix(":")
    if not name:
        _, _, name = os.path.realpath("/etc/localtime").partition("/zoneinfo/")
    if time_zone(name) is not None:
        os.environ["PGTZ"] = name


def time_zone(name: str) -> ZoneInfo | None:
    """Return the zone of a name; None if there is none."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name) if name else None
    except (KeyError, OSError, ValueError):  # no such zone, or no name of one
        return None
