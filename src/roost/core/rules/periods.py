"""Periods as people write them: "mon-fri 20:00-08:00", "freedays", "2026-12-24..2026-12-31".

Reads the words and says which minutes of a date they cover. It must not know of time zones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from roost.core.rules.model import Days

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
KINDS = ("daily", "workdays", "freedays", "holidays")
DAY_MIN = 1440
_TIMES = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)

Minutes = tuple[tuple[int, int], ...]


class PeriodError(ValueError):
    """A span, date or period that cannot be read. `code` names a message of `rules`."""

    def __init__(self, code: str, given: str, allowed: Sequence[str] = ()) -> None:
        super().__init__(f"{code}: {given}")
        self.code, self.given, self.allowed = code, given, tuple(allowed)


@dataclass(frozen=True, slots=True)
class Span:
    """On days of `weekdays` (0 is Monday), of a kind, or from `first` to `last` (ordinals of
    dates), the minutes from `start` until `end`; above 1440 it ends on the day after."""

    weekdays: frozenset[int] = frozenset()
    kind: str = ""
    first: int = 0
    last: int = -1
    start: int = 0
    end: int = DAY_MIN


@dataclass(frozen=True, slots=True)
class Dates:
    """The special days of the rules, as ordinals of dates."""

    holidays: frozenset[int] = frozenset()
    working_days: frozenset[int] = frozenset()

    def works(self, day: int) -> bool:
        """Monday to Friday but no holiday, and each working day of the rules."""
        if day in self.working_days:
            return True
        return (day - 1) % 7 < 5 and day not in self.holidays


def dates_of(days: Days) -> Dates:
    """Raises PeriodError."""
    found = []
    for words in (days.holidays, days.working_days):
        spans = [parse_dates(text) for text in words]
        found.append(frozenset(day for a, b in spans for day in range(a, b + 1)))
    return Dates(*found)


def parse_dates(text: str) -> tuple[int, int]:
    """First and last day (ordinals) of "2026-10-01" or "2026-10-01..2026-10-07", at most 366 days.

    Raises PeriodError.
    """
    parts = text.strip().split("..")
    ends = []
    for part in parts:
        try:
            ends.append(date.fromisoformat(part).toordinal() if _DATE.fullmatch(part) else 0)
        except ValueError:
            ends.append(0)
    first, last = ends[0], ends[-1]
    if len(ends) > 2 or 0 in ends or not first <= last < first + 366:
        raise PeriodError("dates", text)
    return first, last


def parse_span(text: str) -> Span:
    """One span: DAYS, DAYS HH:MM-HH:MM or HH:MM-HH:MM (daily). Raises PeriodError.

    DAYS are weekdays ("mon-fri", "sat,sun", "fri-mon"), "daily", "workdays", "freedays",
    "holidays", or dates. A time that ends at or before its start ends on the next day.
    """
    words = text.strip().lower().split()
    start, end = 0, DAY_MIN
    if words and _TIMES.fullmatch(words[-1]):
        start, end = _times(words.pop(), text)
    elif len(words) != 1:
        raise PeriodError("span", text)
    if len(words) > 1:
        raise PeriodError("span", text)
    days = words[0] if words else "daily"
    if days in KINDS:
        return Span(kind=days, start=start, end=end)
    if days[:1].isdigit() and len(days) >= 8:  # not "20-08", which were to be times
        first, last = parse_dates(days)
        return Span(first=first, last=last, start=start, end=end)
    return Span(weekdays=_weekdays(days, text), start=start, end=end)


def _times(word: str, text: str) -> tuple[int, int]:
    match = _TIMES.fullmatch(word)
    assert match is not None
    hour, minute, to_hour, to_minute = (int(part) for part in match.groups())
    start, end = hour * 60 + minute, to_hour * 60 + to_minute
    if minute > 59 or to_minute > 59 or start >= DAY_MIN or end > DAY_MIN:
        raise PeriodError("span_time", text)
    return start, end + DAY_MIN if end <= start else end


def _weekdays(word: str, text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in word.split(","):
        ends = part.split("-")
        if len(ends) > 2 or any(end not in WEEKDAYS for end in ends):
            raise PeriodError("span", text)
        first, last = WEEKDAYS.index(ends[0]), WEEKDAYS.index(ends[-1])
        found.update((first + n) % 7 for n in range((last - first) % 7 + 1))
    return frozenset(found)


def on(span: Span, day: int, dates: Dates) -> bool:
    """Whether the span begins on that date (ordinal)."""
    if span.kind == "daily":
        return True
    if span.kind == "workdays":
        return dates.works(day)
    if span.kind == "freedays":
        return not dates.works(day)
    if span.kind == "holidays":
        return day in dates.holidays
    return (day - 1) % 7 in span.weekdays or span.first <= day <= span.last


def minutes_of(spans: Iterable[Span], day: int, dates: Dates) -> Minutes:
    """The minutes [start, end) of that date that the spans cover, merged, from 0 to 1440."""
    parts = []
    for span in spans:
        if on(span, day, dates):
            parts.append((span.start, min(span.end, DAY_MIN)))
        if span.end > DAY_MIN and on(span, day - 1, dates):
            parts.append((0, span.end - DAY_MIN))
    return merged(parts)


def merged(parts: Iterable[tuple[int, int]]) -> Minutes:
    """The same minutes, sorted, those that touch joined."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(parts):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Term:
    """Spans, or with `negated` all the time outside of them."""

    spans: tuple[Span, ...]
    negated: bool = False

    def minutes(self, day: int, dates: Dates) -> Minutes:
        """As `minutes_of`."""
        found = minutes_of(self.spans, day, dates)
        if not self.negated:
            return found
        edges = [0, *(edge for part in found for edge in part), DAY_MIN]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return tuple((start, end) for start, end in pairs if start < end)


def parse_term(text: str, periods: Mapping[str, Sequence[str]]) -> Term:
    """A period by name, "not NAME", or a span as it may stand in a period. Raises PeriodError."""
    words = text.split()
    negated = len(words) > 1 and words[0].lower() == "not"
    rest = " ".join(words[1:] if negated else words)
    if rest in periods:
        return Term(tuple(parse_span(word) for word in periods[rest]), negated)
    try:
        return Term((parse_span(rest),), negated)
    except PeriodError:
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", rest, re.ASCII):
            raise PeriodError("unknown_period", rest, tuple(periods)) from None
        raise


def reserved(name: str) -> bool:
    """Whether a period may not be called so, for the words of days mean something already."""
    if name.lower() == "not":
        return True
    try:
        parse_span(name)
    except PeriodError:
        return False
    return True
