"""One cell that says when: a date, a time, both, or from one to another of either.

`read_when` takes a cell's value as it is; which column it stands in decides what "9-18" means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from roost.core.sheets.clock import DAY, RANGE, Clock, scan_clock, slot_of, span_of
from roost.core.sheets.dates import SERIAL_FIRST, SERIAL_LAST, Calendar, Written, scan
from roost.core.sheets.instants import as_local
from roost.core.sheets.model import UnreadError, Value
from roost.core.sheets.plain import cut, folded, plain

Slots = Mapping[str, tuple[int, int]]
_WEEK = re.compile(
    r"(?:(?P<y>\d{4})\s*[-年]?\s*)?(?:第\s*(?P<n>\d{1,2})\s*[周週]|(?:week|kw|cw|w)\s*(?P<w>\d{1,2}))"
)
_WEEK_OF = re.compile(r"week\s+(?:of|from|starting|commencing)\s+(?P<day>.+)")
_DAYS_MONTH = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?\.?\s*-\s*(\d{1,2}(?:st|nd|rd|th)?\.?\s*[a-z].*)"
)
_DAY_LEFT = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\s*[日号]?")
_BETWEEN = re.compile(r"[\s,:]*(?:t(?=\d))?\s*")
_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\d[ t]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s?(?:z|[+-]\d\d:\d\d)", re.ASCII
)
_SERIAL = re.compile(r"\d{5}(?:\.\d+)?|0\.\d+")


@dataclass(frozen=True, slots=True)
class When:
    """What a cell says; None where it does not. `start` and `end` are minutes of `first` and of
    `last`, or of the one day that there is. `fold` 1: in the second of an hour that comes twice."""

    first: date | None = None
    start: int | None = None
    last: date | None = None
    end: int | None = None
    clock: Clock | None = None
    fold: int = 0


def read_when(value: Value, calendar: Calendar, slots: Slots, prefer: str) -> When:
    """`prefer`: "date" or "time", for what can be both. Raises UnreadError."""
    if isinstance(value, datetime):
        near = _rounded(value)
        return When(near.date(), near.hour * 60 + near.minute)
    if isinstance(value, date):
        return When(value)
    if isinstance(value, time):
        return _of_minutes(round(value.hour * 60 + value.minute + value.second / 60))
    if isinstance(value, timedelta):
        return _of_minutes(round(value.total_seconds() / 60))
    if isinstance(value, bool) or value is None:
        raise UnreadError("no_date" if prefer == "date" else "no_time", text=str(value))
    if isinstance(value, int | float):
        return _of_number(value, calendar, prefer)
    text = folded(value)
    if _SERIAL.fullmatch(text) and (text[0] == "0" or SERIAL_FIRST <= float(text) <= SERIAL_LAST):
        return _of_number(float(text), calendar, prefer)
    try:
        found = _of_text(text, calendar, slots, prefer)
    except UnreadError as error:
        raise _as_written(error, plain(value)) from None
    if found is None:
        raise UnreadError(f"no_{prefer}", text=cut(plain(value)))
    return found


def _as_written(error: UnreadError, value: str) -> UnreadError:
    """The same, with the text that it names as the person wrote it."""
    numbers = dict(error.phrase.numbers)
    text = str(numbers.get("text", ""))
    at = value.casefold().find(text)
    if text and at >= 0 and len(value) == len(value.casefold()):
        numbers["text"] = value[at : at + len(text)]
    return UnreadError(error.phrase.code, **numbers)


def _rounded(value: datetime) -> datetime:
    """To the minute: a spreadsheet's fractions of a day miss it by milliseconds."""
    return (value + timedelta(seconds=30)).replace(second=0, microsecond=0, tzinfo=None)


def _of_minutes(minutes: int) -> When:
    return When(start=minutes, clock=Clock(minutes))


def _of_number(value: float, calendar: Calendar, prefer: str) -> When:
    if SERIAL_FIRST <= value <= SERIAL_LAST:
        whole = int(value)
        day = calendar.day(Written(str(whole), serial=whole))
        minutes = round((value - whole) * DAY)
        return When(day, minutes) if minutes else When(day)
    if 0 < value < 1:
        return _of_minutes(round(value * DAY))
    if prefer == "time" and 0 <= value <= 24:
        minutes = round(value * 60)
        return When(start=minutes, clock=Clock(minutes, sure=value != int(value)))
    if prefer == "date" and value == int(value) and 1 <= value <= 31:
        return When(calendar.day(Written(str(int(value)), day=int(value))))
    text = f"{value:g}" if value < 10**5 else f"{value:.0f}"
    if prefer == "date" and re.fullmatch(r"\d{1,2}\.[123]", text):
        raise UnreadError("number_date", text=text)
    found = scan(text, 0) if prefer == "date" else None
    if found is None or found[1] != len(text):
        raise UnreadError(f"no_{prefer}", text=text)
    return When(calendar.day(found[0]))


def _of_text(text: str, calendar: Calendar, slots: Slots, prefer: str) -> When | None:
    if not text:
        return None
    if _INSTANT.fullmatch(text):
        return _of_instant(text, calendar)
    if prefer == "time":
        found = _times(text, 0, calendar, slots)
        if found is not None:
            return found
    week = week_of(text, calendar)
    if week is not None:
        return When(week, None, week + timedelta(days=6))
    between = _DAYS_MONTH.fullmatch(text)
    if between:
        last = scan(between[2])
        if last and last[1] == len(between[2]):
            end = calendar.day(last[0])
            return When(_same_month(end, int(between[1])), None, end)
    begun = scan(text, 0, dashed=prefer == "date")
    if begun is None:
        return _times(text, 0, calendar, slots)
    written, at = begun
    day = calendar.day(written)
    if at == len(text):
        return When(day)
    to = RANGE.match(text, at)
    if to:
        return _until(text, to.end(), day, calendar, slots)
    at = _after(text, at)
    found = _times(text, at, calendar, slots, day)
    return None if found is None else When(day, found.start, found.last, found.end, found.clock)


def _of_instant(text: str, calendar: Calendar) -> When:
    """An ISO time with its offset from UTC, as it is in the sheet's zone."""
    try:
        instant = datetime.fromisoformat(text[:10] + "T" + text[11:].replace(" ", "").upper())
    except ValueError:
        raise UnreadError("no_date", text=text) from None
    local = as_local(instant, ZoneInfo(calendar.zone))
    return When(local.date(), local.hour * 60 + local.minute, fold=local.fold)


def _after(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return match.end() if match else at


def _until(text: str, at: int, day: date, calendar: Calendar, slots: Slots) -> When | None:
    """What stands after "12/7 -": another date, or the day of the same month."""
    left = _DAY_LEFT.fullmatch(text, at)
    if left:
        return When(day, None, _same_month(day, int(left[1])))
    found = scan(text, at, dashed=True)
    if found is None:
        return None
    last = calendar.day(found[0])
    if found[1] == len(text):
        return When(day, None, last)
    clock = scan_clock(text, _after(text, found[1]))
    if clock is None or clock[1] != len(text):
        return None
    return When(day, 0, last, clock[0].minutes)


def _same_month(day: date, number: int) -> date:
    try:
        return day.replace(day=number)
    except ValueError:
        raise UnreadError("no_date", text=str(number)) from None


def _times(
    text: str, at: int, calendar: Calendar, slots: Slots, day: date | None = None
) -> When | None:
    """A slot, a time, or from a time to another, perhaps of another day; all of the rest."""
    slot = slot_of(text[at:].strip(" ()"), slots)
    if slot:
        return When(start=slot[0], end=slot[1])
    first = scan_clock(text, at)
    if first is None:
        return None
    clock, at = first
    if at == len(text):
        return When(start=clock.minutes, clock=clock)
    to = RANGE.match(text, at)
    if to is None:
        return None
    at = to.end()
    second = scan_clock(text, at)
    if second and second[1] == len(text):
        start, end = span_of(clock, second[0], text)
        return When(start=start, end=end)
    if day is None:
        return None
    found = scan(text, at)
    if found is None:
        return None
    last = calendar.day(found[0])
    second = scan_clock(text, _after(text, found[1]))
    if second is None or second[1] != len(text):
        return None
    return When(start=clock.minutes, last=last, end=second[0].minutes)


def week_of(text: str, calendar: Calendar) -> date | None:
    """The Monday of "第50周", "week 50", "2026-W50", "week of Dec 7": all of a folded text."""
    of = _WEEK_OF.fullmatch(text)
    if of:
        found = scan(of["day"])
        if found and found[1] == len(of["day"]):
            day = calendar.day(found[0])
            return day - timedelta(days=day.weekday())
    match = _WEEK.fullmatch(text)
    if match is None:
        return None
    number = int(match["n"] or match["w"])
    year = int(match["y"]) if match["y"] else calendar.year
    years = [year] if year else range(calendar.first.year - 1, calendar.last.year + 2)
    mondays = []
    for each in years:
        try:
            mondays.append(date.fromisocalendar(each, number, 1))
        except ValueError:
            continue
    if not mondays:
        raise UnreadError("no_date", text=cut(text))
    return min(mondays, key=lambda d: max((calendar.first - d).days, (d - calendar.last).days, 0))
