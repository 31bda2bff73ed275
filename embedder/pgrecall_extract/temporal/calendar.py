"""The calendar around an anchor: which days a word such as "last week" or "Friday" means.

Periods are half-open and kept in the anchor's local time, without a zone, until `Calendar.aware()` makes
moments of them. A day is thus 23 or 25 hours long where the clocks of the anchor's zone change. The rules are
those of the SQL function `parse_timeframe`, with exceptions for running text: see `Calendar.nearest` and
`Calendar.weekday`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final

__all__ = ["Calendar", "Period", "add_months"]

Period = tuple[datetime, datetime]
"""From a local time on, and before another."""

_DAY: Final = timedelta(days=1)
_HALF_YEAR: Final = timedelta(days=182)
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS: Final = {"day": 1, "week": 7, "weekend": 7}
_CLOCK: Final = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_PARTS: Final = {
    "morning": (6, 12),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
    "tonight": (18, 24),
}
_MOST_MONTHS: Final = 12_000


def add_months(moment: datetime, months: int) -> datetime:
    """Shift a time by whole months; a day that the month lacks becomes its last.

    Raises:
        ValueError: The year is outside 1 to 9999.
    """
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    for day in range(moment.day, 27, -1):
        try:
            return moment.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    return moment.replace(year=year, month=month + 1)


class Calendar:
    """What words of time mean, seen from an anchor.

    Every method gives None where the calendar has no such period.

    Attributes:
        now: The anchor's local time, without a zone.
    """

    __slots__ = ("_instant", "_zone", "now")

    def __init__(self, anchor: datetime) -> None:
        """Look from an anchor with a time zone."""
        zone = anchor.tzinfo
        if zone is None:
            raise ValueError("anchor must have a time zone")
        self._zone: tzinfo = zone
        self._instant = anchor.astimezone(UTC)
        self.now = anchor.replace(tzinfo=None)

    def at(self, local: datetime) -> Calendar:
        """Return the same calendar seen from another local time."""
        return Calendar(local.replace(tzinfo=self._zone))

    def aware(self, period: Period) -> Period | None:
        """Return the moments of a local period, in the offsets that hold then; None where it is empty."""
        begins, ends = (self._moment(side) for side in period)
        return (begins, ends) if begins < ends else None

    def unit(self, unit: str, places: int) -> Period | None:
        """Return the calendar's unit that holds the anchor (0), or one some places from it.

        Args:
            unit: minute, hour, day, week (from Monday), weekend (Saturday and Sunday), month, quarter,
                year, decade.
            places: -1 is the unit before.
        """
        if unit in _CLOCK:
            step = _CLOCK[unit]
            begins = self.local(self._instant + places * step).replace(second=0, microsecond=0)
            begins = begins.replace(minute=0) if unit == "hour" else begins
            return begins, self._later(begins, step)
        begins = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        if unit in _MONTHS:
            months = _MONTHS[unit]
            if abs(places) * months > _MOST_MONTHS:
                return None
            first = (begins.month - 1) % min(months, 12)
            first += (begins.year % 10) * 12 if unit == "decade" else 0
            begins = add_months(add_months(begins.replace(day=1), -first), places * months)
            return begins, add_months(begins, months)
        days = _DAYS[unit]
        begins -= timedelta(days=begins.weekday()) if days == 7 else timedelta()
        begins += timedelta(days=places * days)
        return (begins + 5 * _DAY if unit == "weekend" else begins), begins + days * _DAY

    def rolling(self, unit: str, places: int) -> Period | None:
        """Return some units up to the anchor (a negative number), or from it on."""
        if unit in _CLOCK:
            moment = self.local(self._instant + places * _CLOCK[unit])
        else:
            shifted = self.shifted(unit, places)
            if shifted is None:
                return None
            moment = shifted
        return (min(moment, self.now), max(moment, self.now)) if moment != self.now else None

    def shifted(self, unit: str, places: int) -> datetime | None:
        """Return the local time some days, weeks, months, quarters or years from the anchor."""
        if unit in _MONTHS:
            months = places * _MONTHS[unit]
            return add_months(self.now, months) if abs(months) <= _MOST_MONTHS else None
        return self.now + timedelta(days=places * _DAYS[unit])

    def dated(self, year: int, month: int, day: int | None = None, months: int = 1) -> Period | None:
        """Return a day, or some whole months, of a year."""
        try:
            begins = datetime(year, month, day or 1)  # noqa: DTZ001 - local time
            return begins, (begins + _DAY if day else add_months(begins, months))
        except (ValueError, OverflowError):
            return None

    def recurring(self, which: str, month: int, day: int | None = None, months: int = 1) -> Period | None:
        """Return a day or some months of no certain year.

        Args:
            which: last: the most recent that has begun; of seasons and quarters, that has ended. this: the
                one under way, else this year's. next: the first that begins later. near: see `nearest`.
            month: 1 to 12, the first month.
            day: None for whole months.
            months: How many.
        """
        if which == "near":
            return self.nearest(month, day, months)
        year = self.now.year
        if which == "this":
            before = self.dated(year - 1, month, day, months)
            return before if before and before[1] > self.now else self.dated(year, month, day, months)
        for back in range(9):  # two 29ths of February may be eight years apart
            found = self.dated(year + back if which == "next" else year - back, month, day, months)
            if found and (
                found[0] > self.now
                if which == "next"
                else (found[1] <= self.now if months > 1 else found[0] <= self.now)
            ):
                return found
        return None

    def nearest(self, month: int, day: int | None, months: int) -> Period | None:
        """Return the day or months of no certain year that are nearest: the latest begun in 182 days."""
        limit = self.now + _HALF_YEAR
        if (month, day) == (2, 29):
            years = range(self.now.year - 8, self.now.year + 9)
            leaps = [day_ for year in years if (day_ := self.dated(year, 2, 29))]
            return min(leaps, key=lambda leap: abs(leap[0] - self.now)) if leaps else None
        for year in range(limit.year, limit.year - 3, -1):
            found = self.dated(year, month, day, months)
            if found and found[0] <= limit:
                return found
        return None

    def weekday(self, which: str, weekday: int) -> Period | None:
        """Return a day of the week.

        Args:
            which: last: the most recent before today; next: the first after today; this: this week's;
                recent and coming: like last and next, but today if today is one.
            weekday: 0 is Monday.
        """
        distance = weekday - self.now.weekday()
        if which != "this":
            distance %= 7
            if which == "last" or (which == "recent" and distance):
                distance -= 7
            elif which == "next" and not distance:
                distance = 7
        return self.unit("day", distance)

    def part(self, part: str, day: Period) -> Period:
        """Return the morning, afternoon, evening or night of a day; a night ends at 6, tonight at 24."""
        begins, ends = _PARTS[part]
        return day[0] + timedelta(hours=begins), day[0] + timedelta(hours=ends)

    def local(self, instant: datetime) -> datetime:
        """Return an instant's local time; its second hour where the clocks go back keeps its fold."""
        return instant.astimezone(self._zone).replace(tzinfo=None)

    def _moment(self, local: datetime) -> datetime:
        """Return a local time's moment, in a fixed offset: two of them compare and subtract as instants."""
        instant = local.replace(tzinfo=self._zone).astimezone(UTC)
        offset = instant.astimezone(self._zone).utcoffset()
        return instant.astimezone(timezone(offset or timedelta()))

    def _later(self, local: datetime, step: timedelta) -> datetime:
        """Return the local time a while later by the clock."""
        return self.local(local.replace(tzinfo=self._zone).astimezone(UTC) + step)
