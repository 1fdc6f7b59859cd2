"""When the periods of the rules are open: now, the next change, the next opening, the month.

A period is open at an instant if the wall clock of the rules' zone stands inside it then; where
the clock jumps, it is shorter or longer. Instants are epoch seconds; nothing here reads a clock.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from roost.core.rules.model import Rules
from roost.core.rules.periods import Minutes, Term, dates_of, merged, parse_term

DAY_S = 86400
HORIZON_DAYS = 3 * 366
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_ORDINAL = _EPOCH.toordinal()

Opening = tuple[float, float]
Period = str | tuple[str, ...]


@dataclass(slots=True)
class _Memo:
    """The answer for [start, end), around what was last asked; `change` is infinite for none."""

    start: float
    end: float
    is_open: bool
    change: float


class Calendar:
    """The periods of one version of the rules. What it keeps is only what it computed already.

    A period is asked for by its name, "not NAME", a span such as "sat-sun 08:00-20:00", or a tuple
    of these, open while any is. Each method raises PeriodError for what is none of these.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        # UTC needs no data of the machine, which may have none.
        self._zone: tzinfo = UTC if rules.time_zone == "UTC" else ZoneInfo(rules.time_zone)
        self._dates = dates_of(rules.days)
        self._terms: dict[Period, tuple[Term, ...]] = {}
        self._days: dict[tuple[Period, int], tuple[Opening, ...]] = {}
        self._pieces: dict[int, tuple[tuple[int, int, int], ...]] = {}
        self._memos: dict[Period, _Memo] = {}
        self._opens: dict[tuple[Period, float], _Memo] = {}

    def is_open(self, period: Period, at: float) -> bool:
        return self._around(period, at).is_open

    def next_change(self, period: Period, at: float) -> float | None:
        """The first instant after `at` at which it opens or closes; None: in three years none."""
        change = self._around(period, at).change
        return None if change == math.inf else change

    def opens_for(self, period: Period, at: float) -> float:
        """Seconds that it stays open from `at`: 0 where it is closed, infinite without an end."""
        memo = self._around(period, at)
        return memo.change - at if memo.is_open else 0.0

    def next_open(self, period: Period, at: float, at_least_s: float = 0.0) -> float | None:
        """The first instant from `at` on from which it stays open for `at_least_s`; None: in three
        years none."""
        if self.opens_for(period, at) >= max(at_least_s, 1e-9):
            return at
        kept = self._opens.get((period, at_least_s))
        if kept is not None and kept.start <= at < kept.end:
            return None if kept.change == math.inf else kept.change
        day = math.floor(at / DAY_S)
        found = math.inf
        for begin, close in self._openings(period, day, day + HORIZON_DAYS):
            if begin > at and close - begin >= at_least_s:
                found = begin
                break
        if len(self._opens) > 10_000:
            self._opens.clear()
        # Whoever asks between now and then is told the same; "never", until the day is over.
        end = found if found < math.inf else float((day + 1) * DAY_S)
        self._opens[period, at_least_s] = _Memo(at, end, False, found)
        return None if found == math.inf else found

    def closes_at(self, period: Period, at: float) -> float | None:
        """When it closes; None: it is closed at `at`, or stays open for three years."""
        memo = self._around(period, at)
        return memo.change if memo.is_open and memo.change < math.inf else None

    def _around(self, period: Period, at: float) -> _Memo:
        memo = self._memos.get(period)
        if memo is not None and memo.start <= at < memo.end:
            return memo
        memo = self._look(period, at)
        self._memos[period] = memo
        return memo

    def _look(self, period: Period, at: float) -> _Memo:
        day = math.floor(at / DAY_S)
        start = float(day * DAY_S)
        last = (day + HORIZON_DAYS) * DAY_S
        is_open, change = False, math.inf
        for begin, close in self._openings(period, day, day + HORIZON_DAYS):
            if begin > at:
                change = begin
                break
            if at < close:
                start, is_open = begin, True
                change = close if close < last else math.inf
                break
            start = close
        # Without a change the years ahead are looked at once a day again.
        end = change if change < math.inf else float((day + 1) * DAY_S)
        return _Memo(start, end, is_open, change)

    def _openings(self, period: Period, first: int, last: int) -> Iterator[Opening]:
        """Openings of the UTC days [first, last), oldest first, merged over midnight."""
        held: Opening | None = None
        for day in range(first, last):
            for opening in self._of_day(period, day):
                if held is not None and held[1] == opening[0]:
                    held = (held[0], opening[1])
                    continue
                if held is not None:
                    yield held
                held = opening
            if held is not None and held[1] < (day + 1) * DAY_S:
                yield held
                held = None
        if held is not None:
            yield held

    def _of_day(self, period: Period, day: int) -> tuple[Opening, ...]:
        """The openings within one UTC day."""
        key = (period, day)
        found = self._days.get(key)
        if found is None:
            if len(self._days) > 100_000:
                self._days.clear()
            found = self._days[key] = tuple(self._compute(self._terms_of(period), day))
        return found

    def _terms_of(self, period: Period) -> tuple[Term, ...]:
        terms = self._terms.get(period)
        if terms is None:
            words = (period,) if isinstance(period, str) else period
            terms = tuple(parse_term(word, self.rules.periods) for word in words)
            self._terms[period] = terms
        return terms

    def _compute(self, terms: tuple[Term, ...], day: int) -> Iterator[Opening]:
        held: Opening | None = None
        for start, end, offset in self._piece(day):
            for begin, close in self._walls(terms, start, end, offset):
                if held is not None and held[1] == begin:
                    held = (held[0], close)
                    continue
                if held is not None:
                    yield held
                held = (begin, close)
        if held is not None:
            yield held

    def _walls(
        self, terms: tuple[Term, ...], start: int, end: int, offset: int
    ) -> Iterator[Opening]:
        """Openings within [start, end), while the wall clock is `offset` ahead of UTC."""
        for wall_day in range((start + offset) // DAY_S, (end + offset - 1) // DAY_S + 1):
            midnight = wall_day * DAY_S - offset
            for first, last in self._minutes(terms, wall_day):
                begin, close = max(start, midnight + first * 60), min(end, midnight + last * 60)
                if begin < close:
                    yield float(begin), float(close)

    def _minutes(self, terms: tuple[Term, ...], wall_day: int) -> Minutes:
        day = wall_day + _EPOCH_ORDINAL
        if len(terms) == 1:
            return terms[0].minutes(day, self._dates)
        return merged(part for term in terms for part in term.minutes(day, self._dates))

    def _piece(self, day: int) -> tuple[tuple[int, int, int], ...]:
        """The UTC day cut where the offset from UTC changes: (start, end, offset), seconds."""
        found = self._pieces.get(day)
        if found is None:
            start, end = day * DAY_S, (day + 1) * DAY_S
            before, after = self._offset(start), self._offset(end)
            found = ((start, end, before),)
            if before != after:
                at = bisect.bisect_left(
                    range(start, end), True, key=lambda s: self._offset(s) != before
                )
                found = ((start, start + at, before), (start + at, end, after))
            if len(self._pieces) > 10_000:
                self._pieces.clear()
            self._pieces[day] = found
        return found

    def _offset(self, at: int) -> int:
        moment = (_EPOCH + timedelta(seconds=at)).astimezone(self._zone)
        offset = moment.utcoffset()
        return int(offset.total_seconds()) if offset is not None else 0

    def month_of(self, at: float) -> Opening:
        """Start and end of the calendar month around `at`, in the rules' zone, epoch seconds."""
        moment = datetime.fromtimestamp(at, self._zone)
        first = datetime(moment.year, moment.month, 1, tzinfo=self._zone)
        year, month = (
            (moment.year + 1, 1) if moment.month == 12 else (moment.year, moment.month + 1)
        )
        return first.timestamp(), datetime(year, month, 1, tzinfo=self._zone).timestamp()
