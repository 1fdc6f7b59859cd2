"""From when to when a row of a list is, from all of its cells that say something of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from roost.core.sheets.clock import DAY, span_of
from roost.core.sheets.dates import Calendar
from roost.core.sheets.instants import as_local, as_utc
from roost.core.sheets.model import Setting, UnreadError, Value
from roost.core.sheets.plain import cut, plain
from roost.core.sheets.table import as_text
from roost.core.sheets.whens import When, read_when

Fields = Mapping[str, tuple[int, ...]]


def times_of(
    cells: Mapping[str, list[Value]], fields: Fields, setting: Setting, calendar: Calendar
) -> tuple[datetime, datetime]:
    """Local start and end. `cells` of each field what is filled of it; `fields` those that the
    sheet has. Raises UnreadError."""
    zone = ZoneInfo(setting.time_zone)

    def read(name: str, prefer: str) -> When:
        found = When()
        for value in cells[name]:
            if len(cells[name]) > 1 and isinstance(value, datetime) and value.time() == time():
                value = value.date()
            found = _joined(found, read_when(value, calendar, setting.slots, prefer))
        return found

    day = read("date", "date")
    prefer = "time" if "date" in fields else "date"
    until = read("end", prefer)
    begin = _joined(_joined(read("start", prefer), read("time", "time")), replace(day, last=None))
    if begin.first is None:
        raise UnreadError("no_date_at_all")
    start = _at(begin.first, begin.start or 0, begin.fold)
    if cells["end"]:
        return _checked(start, _end(begin, until, day), zone)
    if cells["duration"]:
        return start, _after(start, _duration(cells["duration"][0]), zone)
    last = begin.last or day.last
    if begin.start is None and begin.end is None:
        if cells["start"] and not cells["date"] and "end" in fields:
            raise UnreadError("no_end")
        if {"time", "start", "end"} & set(fields) and not (cells["start"] or cells["time"] or last):
            raise UnreadError("no_times")
        return start, _at(last or begin.first, DAY)
    if begin.end is None:
        raise UnreadError("no_end")
    return _checked(start, _at(last or begin.first, begin.end), zone)


def _joined(one: When, other: When) -> When:
    """What one cell says and the other adds: the date here, the time there."""
    return When(
        one.first or other.first,
        one.start if one.start is not None else other.start,
        one.last or other.last,
        one.end if one.end is not None else other.end,
        one.clock or other.clock,
        one.fold or other.fold,
    )


def _at(day: date, minutes: int, fold: int = 0) -> datetime:
    return (datetime.combine(day, time()) + timedelta(minutes=minutes)).replace(fold=fold)


def _checked(start: datetime, end: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    if as_utc(end, zone) <= as_utc(start, zone):
        raise UnreadError(
            "ends_before", start=f"{start:%Y-%m-%d %H:%M}", end=f"{end:%Y-%m-%d %H:%M}"
        )
    return start, end


def _end(begin: When, until: When, day: When) -> datetime:
    """With a column for the end: a date alone is all of that day, a time alone is of the day of the
    start or the next."""
    assert begin.first is not None
    last = until.last or until.first
    end = until.end if until.end is not None else until.start
    if end is None:
        return _at(last or begin.first, DAY)
    if last is None and day.last is None:
        start = begin.start or 0
        if until.clock and begin.clock:
            text = f"{begin.clock.text} - {until.clock.text}"
            end = span_of(begin.clock, until.clock, text)[1]
        elif end <= start:
            end += DAY
    return _at(last or day.last or begin.first, end, until.fold)


def _after(start: datetime, length: timedelta, zone: ZoneInfo) -> datetime:
    """Days keep the time of the day, hours are as long as they are."""
    if length % timedelta(days=1):
        return as_local(as_utc(start, zone) + length, zone)
    return start + length


_UNITS = {
    "": 60, "h": 60, "hr": 60, "hrs": 60, "hour": 60, "hours": 60, "小时": 60, "个小时": 60,
    "时": 60, "钟头": 60, "d": DAY, "day": DAY, "days": DAY, "天": DAY, "日": DAY, "min": 1,
    "mins": 1, "m": 1, "minutes": 1, "分钟": 1, "分": 1, "w": 7 * DAY, "week": 7 * DAY,
    "weeks": 7 * DAY, "周": 7 * DAY, "星期": 7 * DAY, "半天": DAY // 2,
}  # fmt: skip


def _duration(value: Value) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, time):
        return timedelta(hours=value.hour, minutes=value.minute)
    text = plain(as_text(value)).casefold().replace(" ", "")
    number = text.rstrip("".join({c for unit in _UNITS for c in unit}))
    unit = text[len(number) :]
    if ":" in number and not unit:
        hours, _, minutes = number.partition(":")
        if hours.isdecimal() and minutes[:2].isdecimal():
            return timedelta(hours=int(hours[:4]), minutes=int(minutes[:2]))
    try:
        length = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        raise UnreadError("no_duration", text=cut(plain(as_text(value)))) from None
    if not 0 < length < 366 * DAY:
        raise UnreadError("no_duration", text=cut(text))
    return timedelta(minutes=round(length))
