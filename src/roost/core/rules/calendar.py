"""When the periods and windows of the rules are open, as instants.

A span means the clock on the wall: where an hour is skipped or comes twice it is shorter or longer.
Pure: no clock. What was found is kept, so that asking again about the same time costs little.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import date, timedelta, tzinfo

from roost.core.rules.model import Days, Rules
from roost.core.rules.spans import HOLIDAYS, OFF, WORKING, Span, days_of, parse_dates, parse_span
from roost.core.rules.zone import date_at, instant, month_at, zone_of

_SETTLED_DAYS = 40  # a week that repeats so often without a change has none
_KEPT_EDGES = 20_000
_DAY = timedelta(days=1)


class Calendar:
    """The periods and windows of one set of rules. Made anew when the rules change.

    Intervals are half open: a period is open at the instant at which it opens, and no longer at
    the one at which it closes. Periods are named as in the rules. KeyError for one that is not.
    """

    def __init__(self, rules: Rules) -> None:
        self.zone = zone_of(rules.time_zone)
        kinds = _Kinds(rules.days)
        self._lines = {
            name: _Line(spans_of(words, rules), self.zone, kinds)
            for name, words in rules.periods.items()
        }
        self._windows = {
            name: _Line(spans_of(window.open, rules), self.zone, kinds)
            for name, window in rules.windows.items()
        }
        self._month = (0.0, 0.0)

    def is_open(self, period: str, at: float) -> bool:
        return self._lines[period].look(at).open

    def next_change(self, period: str, at: float) -> float | None:
        """The first instant after `at` at which it opens or closes; None: it never does."""
        return _known(self._lines[period].look(at))

    def closes_at(self, period: str, at: float) -> float | None:
        """When it closes; None if it is closed at `at`, or open for ever."""
        return _closes(self._lines[period].look(at))

    def next_open(self, period: str, at: float) -> float | None:
        """`at` itself where it is open; None if it never opens again."""
        return _opens(self._lines[period].look(at), at)

    def window_open(self, window: str, at: float) -> bool:
        return self._windows[window].look(at).open

    def window_closes_at(self, window: str, at: float) -> float | None:
        return _closes(self._windows[window].look(at))

    def window_next_open(self, window: str, at: float) -> float | None:
        return _opens(self._windows[window].look(at), at)

    def window_next_change(self, window: str, at: float) -> float | None:
        return _known(self._windows[window].look(at))

    def month_of(self, at: float) -> tuple[float, float]:
        """Start and end of the calendar month around `at`, in the zone of the rules."""
        start, end = self._month
        if not start <= at < end:
            self._month = start, end = month_at(at, self.zone)
        return start, end


def spans_of(words: Sequence[str], rules: Rules) -> tuple[Span, ...]:
    """The spans of period names and expressions. Raises SpanError."""
    found: list[Span] = []
    for word in words:
        inner = rules.periods.get(word)
        found.extend([parse_span(word)] if inner is None else map(parse_span, inner))
    return tuple(found)


class _Kinds:
    """Which days are holidays and which are worked."""

    def __init__(self, days: Days) -> None:
        self.working = _dates(days.working_days)
        self.holidays = _dates(days.holidays) - self.working

    def fits(self, span: Span, day: date) -> bool:
        if span.first is not None and span.last is not None:
            return span.first <= day <= span.last
        if span.kind == HOLIDAYS:
            return day in self.holidays
        if span.kind in (WORKING, OFF):
            worked = day in self.working or (day.weekday() < 5 and day not in self.holidays)
            return worked == (span.kind == WORKING)
        return day.weekday() in span.weekdays

    def named(self, spans: Sequence[Span]) -> list[date]:
        """The dates on which these spans may be other than in every week, and the days after."""
        found: set[date] = set()
        if any(span.kind for span in spans):
            found |= self.holidays | self.working
        for span in spans:
            if span.first is not None and span.last is not None:
                found |= set(days_of(span.first, span.last))
        return sorted({day + n * _DAY for day in found for n in range(3)})


def _dates(words: Sequence[str]) -> set[date]:
    return {day for word in words for day in days_of(*parse_dates(word))}


class _Stretch:
    """From `start` to before `end` it is open, or closed. Infinite: for ever."""

    __slots__ = ("end", "open", "start")

    def __init__(self, start: float, end: float, open_: bool) -> None:
        self.start, self.end, self.open = start, end, open_


def _known(stretch: _Stretch) -> float | None:
    return None if stretch.end == math.inf else stretch.end


def _closes(stretch: _Stretch) -> float | None:
    return _known(stretch) if stretch.open else None


def _opens(stretch: _Stretch, at: float) -> float | None:
    return at if stretch.open else _known(stretch)


class _Line:
    """One period along time: the instants at which it opens and closes, found day by day.

    `_edges` are final: even ones open, odd ones close. All of them before `_until` are known.
    """

    def __init__(self, spans: Sequence[Span], zone: tzinfo, kinds: _Kinds) -> None:
        self._spans, self._zone, self._kinds = spans, zone, kinds
        self._named = kinds.named(spans)
        self._last = _Stretch(0.0, 0.0, False)
        self._edges: list[float] = []
        self._from = self._until = math.inf
        self._closing = -math.inf
        self._day = date.min

    def look(self, at: float) -> _Stretch:
        """What holds at that instant, from when and until when."""
        last = self._last
        if last.start <= at < last.end:
            return last
        self._reach(at)
        position = bisect_right(self._edges, at)
        settled = 0
        while position == len(self._edges) and self._until != math.inf:
            if settled == _SETTLED_DAYS:
                settled = 0
                self._leap()
                continue
            self._one_day()
            settled += 1
        start = self._edges[position - 1] if position else self._from
        end = self._edges[position] if position < len(self._edges) else math.inf
        self._last = _Stretch(start, end, position % 2 == 1)
        return self._last

    def _reach(self, at: float) -> None:
        """Makes the edges known up to `at`."""
        far = self._until != math.inf and at - self._until > 400 * 86400.0
        if at < self._from or far or len(self._edges) > _KEPT_EDGES:
            # A span that covers `at` began on its day or on the one before; a day more is for
            # clocks that go back over midnight.
            self._day = date_at(at, self._zone) - 2 * _DAY
            self._from = self._until = instant(self._day + _DAY, 0, self._zone)
            self._edges, self._closing = [], -math.inf
            self._one_day()
        while self._until <= at:
            self._one_day()

    def _one_day(self) -> None:
        day = self._day
        for start, end in sorted(
            (instant(day, span.start, self._zone), instant(day, span.end, self._zone))
            for span in self._spans
            if self._kinds.fits(span, day)
        ):
            if start == end:
                continue
            if len(self._edges) % 2 and start <= self._closing:
                self._closing = max(self._closing, end)
                continue
            self._close()
            self._edges.append(start)
            self._closing = end
        self._day = day + _DAY
        self._until = instant(self._day, 0, self._zone)
        if self._closing < self._until:
            self._close()

    def _close(self) -> None:
        if len(self._edges) % 2:
            self._edges.append(self._closing)

    def _leap(self) -> None:
        """Every week is like the last ones up to the next date that is named."""
        position = bisect_left(self._named, self._day)
        if position == len(self._named):
            self._until = math.inf
            return
        day = self._named[position] - _DAY
        if day > self._day:
            self._day = day
            self._until = instant(day, 0, self._zone)
            if len(self._edges) % 2:
                self._closing = self._until
