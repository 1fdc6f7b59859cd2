"""A team's use by day (UTC): added up once, and anew only where the ledger was written since.

A year is hundreds of thousands of ledger rows, of which a day's stay as they are once it is over.
Any thread may ask. Knows no people's names, no rules, no time zone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sqlalchemy import Connection

from roost.store import team

DAY_S = team.DAY_S
MOST_KEPT = 800
Whose = tuple[str, str, str]
SUMS = team.SUMS


@dataclass(frozen=True, slots=True)
class _Day:
    """`writes`: how often the ledger of that day had been written when this was read."""

    writes: int
    people: tuple[tuple[Whose, tuple[float, ...]], ...]
    used: tuple[Mapping[str, Any], ...]
    looked: Mapping[int, float]


@dataclass(slots=True)
class Period:
    """As `store.team` gives them: sums by person and class, by hour, and GPU seconds looked."""

    people: dict[Whose, list[float]] = field(default_factory=dict)
    used: list[Mapping[str, Any]] = field(default_factory=list)
    looked: dict[int, float] = field(default_factory=dict)

    def add(self, day: _Day) -> None:
        for whose, sums in day.people:
            so_far = self.people.get(whose)
            if so_far is None:
                self.people[whose] = list(sums)
            else:
                for place, value in enumerate(sums):
                    so_far[place] += value
        self.used += day.used
        self.looked.update(day.looked)

    def rows(self) -> list[dict[str, Any]]:
        """By person, group and class, in their order."""
        return [
            {"user": user, "group": group, "class": kind, **dict(zip(SUMS, sums, strict=True))}
            for (user, group, kind), sums in sorted(self.people.items())
        ]


class TeamDays:
    """One a server. `writes` counts, by day, the commits that changed the ledger of it."""

    def __init__(self, writes: Mapping[int, int]) -> None:
        self._writes = writes
        self._lock = threading.Lock()
        self._days: dict[int, _Day] = {}

    def look(
        self, connection: Connection, start: float, end: float, writes: Mapping[int, int]
    ) -> Period:
        """The hours that begin in [start, end). `writes` are those before `connection` began to
        read: what was committed later may be in it or not, and is read again the next time."""
        found = Period()
        first, last = int(-(-start // DAY_S)), int(end // DAY_S)
        if first >= last:
            found.add(_parts(connection, start, end))
            return found
        with self._lock:
            missing = [
                day
                for day in range(first, last)
                if day not in self._days or self._days[day].writes != writes.get(day, 0)
            ]
            for begin, after in _runs(missing):
                self._days.update(_read(connection, begin, after, writes))
            days = [self._days[day] for day in range(first, last)]
            for oldest in sorted(self._days)[: max(0, len(self._days) - MOST_KEPT)]:
                del self._days[oldest]
        if start < first * DAY_S:
            found.add(_parts(connection, start, first * DAY_S))
        for day in days:
            found.add(day)
        if last * DAY_S < end:
            found.add(_parts(connection, last * DAY_S, end))
        return found

    def writes(self) -> dict[int, int]:
        """As of now."""
        return dict(self._writes)


def _runs(days: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The days as runs [first, after the last)."""
    for _, run in groupby(enumerate(days), lambda one: one[1] - one[0]):
        found = [day for _, day in run]
        yield found[0], found[-1] + 1


def _read(
    connection: Connection, begin: int, after: int, writes: Mapping[int, int]
) -> dict[int, _Day]:
    """Each day's own, by one question for all of them."""
    start, end = begin * DAY_S, after * DAY_S
    people: dict[int, list[tuple[Whose, tuple[float, ...]]]] = {}
    for row in team.used_by_day(connection, start, end):
        people.setdefault(int(row[0]), []).append(((row[1], row[2], row[3]), tuple(row[4:])))
    used: dict[int, list[Mapping[str, Any]]] = {}
    for each in team.used_in(connection, start, end):
        used.setdefault(each["hour"] // DAY_S, []).append(each)
    looked: dict[int, dict[int, float]] = {}
    for hour, seconds in team.looked_in(connection, start, end).items():
        looked.setdefault(hour // DAY_S, {})[hour] = seconds
    return {
        day: _Day(
            writes.get(day, 0), tuple(people.get(day, ())), tuple(used.get(day, ())),
            looked.get(day, {}),
        )
        for day in range(begin, after)
    }  # fmt: skip


def _parts(connection: Connection, start: float, end: float) -> _Day:
    """A part of a day, or of two."""
    people = tuple(
        ((row["user"], row["group"], row["class"]), tuple(row[name] for name in SUMS))
        for row in team.used_by(connection, start, end)
    )
    used = tuple(team.used_in(connection, start, end))
    return _Day(0, people, used, team.looked_in(connection, start, end))
