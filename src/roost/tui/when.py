"""Times, spans and sizes in few cells. Pure; the zone is given, the clock never read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

GIB = 1024**3
UNKNOWN = "–"
CLOCK_ALONE_S = 12 * 3600.0
LATEST = datetime(9998, 1, 1, tzinfo=UTC).timestamp()


def epoch_of(value: object) -> float | None:
    """Seconds since the epoch of an ISO 8601 text (or of a number as it is); None for all else,
    and for what no clock shows in every zone."""
    at = _epoch_of(value)
    return at if at is not None and 0 <= at < LATEST else None


def _epoch_of(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else moment.replace(tzinfo=UTC).timestamp()


def zone_of(name: str | None, sample: object = None) -> tzinfo:
    """The rules' time zone by name; where it is not known here, the offset in a `sample` time."""
    if name:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    if isinstance(sample, str):
        try:
            offset = datetime.fromisoformat(sample).utcoffset()
        except ValueError:
            offset = None
        if offset is not None:
            return timezone(offset)
    return timezone(timedelta(0))


def clock(at: float, zone: tzinfo, seconds: bool = False) -> str:
    """ "17:40", or "17:40:05" """
    return datetime.fromtimestamp(at, zone).strftime("%H:%M:%S" if seconds else "%H:%M")


def moment(at: float, now: float, zone: tzinfo) -> str:
    """A time to come or past in at most 11 cells: "17:40" today and where it is nearer than twelve
    hours, "12-05 09:00" else."""
    there, here = datetime.fromtimestamp(at, zone), datetime.fromtimestamp(now, zone)
    if there.date() == here.date() or abs(at - now) < CLOCK_ALONE_S:
        return there.strftime("%H:%M")
    if there.year == here.year:
        return there.strftime("%m-%d %H:%M")
    return there.strftime("%Y-%m-%d")


def span(seconds: float) -> str:
    """A length of time in at most 5 cells: "45s", "12m", "3h12", "12h", "2d04", "95d"."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    minutes = whole // 60
    if minutes < 60:
        return f"{minutes}m"
    hours = minutes // 60
    if hours < 24:
        return f"{hours}h{minutes % 60:02}"
    days = hours // 24
    return f"{days}d{hours % 24:02}" if days < 100 else f"{min(days, 9999)}d"


def size(value: int | None, wide: bool = False) -> str:
    """Bytes as "61.2G" (GiB), or "61.2 GiB" where there is room; "–" where not known."""
    if value is None:
        return UNKNOWN
    unit = " GiB" if wide else "G"
    gib = value / GIB
    if 0 < gib < 0.05:
        return f"{value / 1024**2:.0f}{' MiB' if wide else 'M'}"
    return f"{gib:.1f}{unit}" if gib < 99.95 else f"{gib:.0f}{unit}"
