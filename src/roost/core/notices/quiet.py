"""Hours in which nobody is disturbed. Must not know who sends what."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from datetime import time as clock


def read_quiet(text: str) -> tuple[clock, clock] | None:
    """The two times of "22:00-07:00", None for "". Raises ValueError."""
    if not text.strip():
        return None
    start, separator, end = text.partition("-")
    if not separator:
        raise ValueError(text)
    return _clock(start), _clock(end)


def _clock(text: str) -> clock:
    hours, _, minutes = text.strip().partition(":")
    if not (hours.isascii() and hours.isdigit() and minutes.isascii() and minutes.isdigit()):
        raise ValueError(text)
    return clock(int(hours), int(minutes))


def allowed_at(now: float, quiet: tuple[clock, clock] | None, zone: tzinfo) -> float:
    """`now`, or the end of the quiet hours that it lies in; both in seconds since the epoch.

    The hours are those of the zone's clock, also across midnight and on days of 23 or 25 hours.
    """
    if quiet is None:
        return now
    start, end = quiet
    local = datetime.fromtimestamp(now, zone)
    at = local.time().replace(fold=0)
    inside = start <= at < end if start <= end else at >= start or at < end
    if not inside:
        return now
    day = local.date() + timedelta(days=1 if start > end and at >= start else 0)
    return max(now, datetime.combine(day, end, zone).timestamp())
