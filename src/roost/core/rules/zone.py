"""The clock on the wall of a time zone and the instants it belongs to; calendar months.

Pure but for the time zone data that `zoneinfo` reads. Instants are seconds since the epoch.
"""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime, timedelta, tzinfo


def zone_of(name: str) -> tzinfo:
    """The time zone; "UTC" needs no data. Raises ZoneInfoNotFoundError where it is not known."""
    return UTC if name == "UTC" else zoneinfo.ZoneInfo(name)


def date_at(at: float, zone: tzinfo) -> date:
    return datetime.fromtimestamp(at, zone).date()


def instant(day: date, minute: int, zone: tzinfo) -> float:
    """The first instant at which the clock shows at least that minute of that day.

    So a time that a skipped hour leaves out is the end of the gap, and one that comes twice is its
    first coming; of two times the later one is never the earlier instant. `minute` may exceed 1440.
    """
    wall = datetime(day.year, day.month, day.day) + timedelta(minutes=minute)
    at = wall.replace(tzinfo=zone).timestamp()
    if datetime.fromtimestamp(at, zone).replace(tzinfo=None) == wall:
        return at
    # In a gap: the offset before it gave `at`, which is after it; the one after it, one before.
    low, high = int(wall.replace(tzinfo=zone, fold=1).timestamp()), int(at)
    before = datetime.fromtimestamp(low, zone).utcoffset()
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return float(high)


def month_at(at: float, zone: tzinfo) -> tuple[float, float]:
    """Start and end of the calendar month around that instant."""
    day = date_at(at, zone)
    following = date(day.year + day.month // 12, day.month % 12 + 1, 1)
    return instant(day.replace(day=1), 0, zone), instant(following, 0, zone)
