"""When a period is open, as people write it: "mon-fri 20:00-08:00", "days off", "2026-12-24".

Reads the words into `Span`s of days and minutes; `calendar` turns those into instants. It must not
know time zones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
HOLIDAYS, WORKING, OFF = "holidays", "working days", "days off"
KINDS = (HOLIDAYS, WORKING, OFF)
DAY_MINUTES = 24 * 60
FIRST_YEAR, LAST_YEAR = 2000, 2199
LONGEST_RANGE_DAYS = 366
_TIMES = re.compile(r"(\d{1,2}):(\d{2})\s*-\s*(\d{1,2}):(\d{2})", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class SpanError(ValueError):
    """Words that name no time. `code` names a message of the `rules` catalogue."""

    def __init__(self, code: str, given: str) -> None:
        super().__init__(f"{code}: {given}")
        self.code = code
        self.given = given


@dataclass(frozen=True, slots=True)
class Span:
    """On each of its days from minute `start` to minute `end` of the clock on the wall.

    The days are `weekdays` (0 is Monday), or `kind` ("holidays", "working days", "days off"), or
    the dates `first` to `last`. Minutes count from the day's midnight; an `end` above 1440 is on
    the day after.
    """

    start: int = 0
    end: int = DAY_MINUTES
    weekdays: frozenset[int] = frozenset()
    kind: str = ""
    first: date | None = None
    last: date | None = None


def parse_span(text: str) -> Span:
    """The span of "DAYS HH:MM-HH:MM"; without times whole days, without days every day.

    DAYS: "mon", "mon-fri", "fri-mon", "mon,wed", "daily", "holidays", "working days", "days off",
    "2026-12-24", "2026-12-24..2027-01-01". "20:00-08:00" ends on the next day. Raises SpanError.
    """
    words = " ".join(text.lower().split())
    match = _TIMES.search(words)
    start, end = 0, DAY_MINUTES
    days = words
    if match is not None:
        if match.end() != len(words):
            raise SpanError("span", text)
        days = words[: match.start()].strip()
        start, end = _minutes(match, text)
    elif not words:
        raise SpanError("span", text)
    if days in KINDS:
        return Span(start, end, kind=days)
    if _DATE.match(days):
        first, last = parse_dates(days)
        return Span(start, end, first=first, last=last)
    return Span(start, end, weekdays=_weekdays(days, text))


def _minutes(match: re.Match[str], text: str) -> tuple[int, int]:
    hour, minute, to_hour, to_minute = (int(part) for part in match.groups())
    start, end = hour * 60 + minute, to_hour * 60 + to_minute
    if minute > 59 or to_minute > 59 or start >= DAY_MINUTES or end > DAY_MINUTES:
        raise SpanError("span_time", text)
    if start == end:
        raise SpanError("span_empty", text)
    return start, end if end > start else end + DAY_MINUTES


def _weekdays(days: str, text: str) -> frozenset[int]:
    if days in ("", "daily"):
        return frozenset(range(7))
    found: set[int] = set()
    for part in days.split(","):
        first, dash, last = part.strip().partition("-")
        first, last = first.strip(), last.strip() if dash else first.strip()
        if first not in WEEKDAYS or last not in WEEKDAYS:
            raise SpanError("span", text)
        at, end = WEEKDAYS.index(first), WEEKDAYS.index(last)
        found |= {day % 7 for day in range(at, end + 1 if end >= at else end + 8)}
    return frozenset(found)


def parse_dates(text: str) -> tuple[date, date]:
    """First and last day of "2026-10-01" or "2026-10-01..2026-10-07", both in it. SpanError."""
    first_text, _, last_text = (part.strip() for part in text.partition(".."))
    first = _date(first_text, text)
    last = _date(last_text, text) if ".." in text else first
    if last < first:
        raise SpanError("dates_backwards", text)
    if (last - first).days >= LONGEST_RANGE_DAYS:
        raise SpanError("dates_too_long", text)
    return first, last


def _date(word: str, text: str) -> date:
    if not _DATE.fullmatch(word):
        raise SpanError("date", text)
    try:
        day = date.fromisoformat(word)
    except ValueError:
        raise SpanError("date_missing", text) from None
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise SpanError("date_far", text)
    return day


def days_of(first: date, last: date) -> list[date]:
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]
