"""Bookings as an iCalendar document (RFC 5545). Knows nothing of who may see what: what is handed
to it is written.

What covers whole local days is an all-day event; a series keeps its local time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar, Event, vRecur, vText

from roost import __version__
from roost.server.feeds.zone import vtimezone

YEARS_AHEAD = 10
MOST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One booking or series; instants are epoch seconds.

    `uid` stays the same for ever, `sequence` grows with each change of time or place. `rule`: the
    RRULE of a series, `left_out` starts of it that are not. `replaces`: this is the one occurrence
    of the series `uid` that began then, changed.
    """

    uid: str
    starts_at: float
    ends_at: float
    summary: str
    description: str = ""
    location: str = ""
    rule: str | None = None
    left_out: tuple[float, ...] = ()
    replaces: float | None = None
    sequence: int = 0
    created_at: float = 0.0
    changed_at: float = 0.0
    cancelled: bool = False
    maintenance: bool = False


def document(entries: Sequence[Entry], time_zone: str, name: str, refresh_s: int = 900) -> bytes:
    """The calendar `name` in that zone. The same entries give the same bytes."""
    zone = ZoneInfo(time_zone)
    calendar = Calendar()
    calendar.add("prodid", f"-//Roost//{__version__}//EN")
    calendar.add("version", "2.0")
    calendar.add("calscale", "GREGORIAN")
    calendar.add("method", "PUBLISH")
    calendar.add("x-wr-calname", vText(_text(" ".join(name.split()))))
    calendar.add("x-wr-timezone", time_zone)
    span = timedelta(seconds=refresh_s)
    calendar.add("refresh-interval", span, parameters={"VALUE": "DURATION"})
    calendar.add("x-published-ttl", f"PT{refresh_s // 60}M")
    events = [_event(entry, zone) for entry in entries]
    years = [_local(at, zone).year for e in entries for at in (e.starts_at, e.ends_at)]
    if years:
        calendar.add_component(vtimezone(zone, min(years), max(years) + YEARS_AHEAD))
    for event in events:
        calendar.add_component(event)
    data: bytes = calendar.to_ical()
    return data


def _event(entry: Entry, zone: ZoneInfo) -> Event:
    whole = whole_days(entry, zone)
    event = Event()
    event.add("uid", entry.uid)
    event.add("dtstamp", _utc(entry.changed_at))
    event.add("created", _utc(entry.created_at))
    event.add("last-modified", _utc(entry.changed_at))
    event.add("sequence", entry.sequence)
    event.add("dtstart", _when(entry.starts_at, zone, whole))
    event.add("dtend", _when(entry.ends_at, zone, whole))
    if entry.replaces is not None:
        event.add("recurrence-id", _when(entry.replaces, zone, whole))
    elif entry.rule:
        event.add("rrule", _recur(entry.rule, zone, whole))
        if entry.left_out:
            event.add("exdate", [_when(at, zone, whole) for at in entry.left_out])
    event.add("summary", _text(entry.summary))
    if entry.description:
        event.add("description", _text(entry.description))
    if entry.location:
        event.add("location", _text(entry.location))
    event.add("status", "CANCELLED" if entry.cancelled else "CONFIRMED")
    event.add("transp", "TRANSPARENT" if entry.cancelled else "OPAQUE")
    if entry.maintenance:
        event.add("categories", ["MAINTENANCE"])
    return event


def whole_days(entry: Entry, zone: ZoneInfo) -> bool:
    """Whether it begins and ends at local midnights, on different days."""
    start, end = _local(entry.starts_at, zone), _local(entry.ends_at, zone)
    midnight = all((t.hour, t.minute, t.second) == (0, 0, 0) for t in (start, end))
    return midnight and start.date() < end.date()


def _recur(rule: str, zone: ZoneInfo, whole: bool) -> vRecur:
    """The rule with its end as the standard wants it beside this DTSTART: a date for whole days,
    UTC for others."""
    found: Any = vRecur.from_ical(rule.removeprefix("RRULE:"))
    until = (found.get("UNTIL") or [None])[0]
    if until is not None:
        if not isinstance(until, datetime):
            until = datetime.combine(until, datetime.max.time().replace(microsecond=0), zone)
        elif until.tzinfo is None:
            until = until.replace(tzinfo=zone)
        found["UNTIL"] = [until.astimezone(zone).date() if whole else until.astimezone(UTC)]
    return found  # type: ignore[no-any-return]


def _when(at: float, zone: ZoneInfo, whole: bool) -> date | datetime:
    local = _local(at, zone)
    return local.date() if whole else local


def _local(at: float, zone: ZoneInfo) -> datetime:
    return _utc(at).astimezone(zone)


def _utc(at: float) -> datetime:
    return datetime.fromtimestamp(int(at), UTC)


def _text(text: str) -> str:
    """Without control characters, which calendars refuse; line breaks stay."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in lines if c == "\n" or c.isprintable())[:MOST_TEXT]
