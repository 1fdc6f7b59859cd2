"""The rules' time zone as a VTIMEZONE: every change of the clocks in some years, each with its
onset in the local time that was in force before it (RFC 5545, 3.6.5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from icalendar import Timezone, TimezoneDaylight, TimezoneStandard

STEP = timedelta(days=7)


def vtimezone(zone: ZoneInfo, first_year: int, last_year: int) -> Timezone:
    """Right for every instant from the start of the first year to the end of the last."""
    at = datetime(first_year, 1, 1, tzinfo=UTC) - timedelta(days=1)
    end = datetime(last_year + 1, 1, 2, tzinfo=UTC)
    found = Timezone()
    found.add("tzid", zone.key)
    begun = at.astimezone(zone)
    found.add_component(_observance(begun, _offset(begun), begun.replace(tzinfo=None)))
    groups: dict[tuple[timedelta, timedelta, str], list[datetime]] = {}
    for change in changes(zone, at, end):
        before = (change - timedelta(seconds=1)).astimezone(zone)
        after = change.astimezone(zone)
        onset = (change + _offset(before)).replace(tzinfo=None)
        groups.setdefault((_offset(before), _offset(after), str(after.tzname())), []).append(onset)
    for (offset, _, _), onsets in groups.items():
        after = (onsets[0] - offset).replace(tzinfo=UTC).astimezone(zone)
        part = _observance(after, offset, onsets[0])
        if onsets[1:]:
            part.add("rdate", onsets[1:])
        found.add_component(part)
    return found


def changes(zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """The instants (UTC) in (start, end] from which another offset or name is in force."""
    found = []
    at = start
    while at < end:
        later = min(at + STEP, end)
        if _of(zone, at) != _of(zone, later):
            low, high = at, later
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) / 2
                middle = middle.replace(microsecond=0)
                if middle <= low:
                    break
                low, high = (middle, high) if _of(zone, middle) == _of(zone, at) else (low, middle)
            found.append(high)
        at = later
    return found


def _of(zone: ZoneInfo, at: datetime) -> tuple[timedelta, str | None]:
    local = at.astimezone(zone)
    return _offset(local), local.tzname()


def _offset(local: datetime) -> timedelta:
    offset = local.utcoffset()
    assert offset is not None
    return offset


def _observance(
    local: datetime, before: timedelta, onset: datetime
) -> TimezoneStandard | TimezoneDaylight:
    summer = bool(local.dst())
    part = TimezoneDaylight() if summer else TimezoneStandard()
    part.add("dtstart", onset)
    part.add("tzoffsetfrom", before)
    part.add("tzoffsetto", _offset(local))
    part.add("tzname", local.tzname())
    return part
