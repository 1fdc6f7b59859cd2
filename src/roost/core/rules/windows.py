"""Windows: when a long job may start, when it must be gone, and when that next changes.

Pure questions to a Calendar; the scheduler asks them. Instants are epoch seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from roost.core.model import PriorityClass
from roost.core.rules.calendar import Calendar
from roost.core.rules.model import Window
from roost.core.rules.who import lineage


@dataclass(frozen=True, slots=True)
class Refusal:
    """`window` does not let the job start now; it may at `opens_at`. None: its walltime fits in no
    opening, or the window never opens."""

    window: str
    opens_at: float | None


@dataclass(frozen=True, slots=True)
class Closing:
    """`window` closes at `at`; the job is told at `notice_at`, and ended at the close if `ends`."""

    window: str
    at: float
    notice_at: float
    ends: bool


def windows_for(
    calendar: Calendar, klass: PriorityClass, group: str, walltime_s: float | None
) -> Iterator[tuple[str, Window]]:
    """The windows that hold for a job: those of its class and group for which it is long."""
    rules = calendar.rules
    for name, window in rules.windows.items():
        if walltime_s is not None and walltime_s <= window.jobs_over_s:
            continue
        if klass in window.exempt or (window.classes and klass not in window.classes):
            continue
        if window.groups and not any(g in window.groups for g in lineage(rules, group)):
            continue
        yield name, window


def window_refusal(
    calendar: Calendar, klass: PriorityClass, group: str, walltime_s: float | None, now: float
) -> Refusal | None:
    """The first window that keeps the job from starting now, and when all of them let it."""
    if not calendar.rules.windows:
        return None
    held = [
        (name, window.open, _needs(window, walltime_s))
        for name, window in windows_for(calendar, klass, group, walltime_s)
    ]
    for name, periods, needs_s in held:
        if calendar.opens_for(periods, now) < max(needs_s, 1e-9):
            return Refusal(name, _all_open(calendar, held, now))
    return None


def _needs(window: Window, walltime_s: float | None) -> float:
    return walltime_s if window.at_close == "end" and walltime_s is not None else 0.0


def _all_open(
    calendar: Calendar, held: list[tuple[str, tuple[str, ...], float]], now: float
) -> float | None:
    if len(held) == 1:
        return calendar.next_open(held[0][1], now, held[0][2])
    at, moved = now, True
    rounds = 0
    while moved:
        moved = False
        for _, periods, needs_s in held:
            found = calendar.next_open(periods, at, needs_s)
            if found is None or rounds > 1000:
                return None
            moved, at = moved or found > at, found
        rounds += 1
    return at


def closing(
    calendar: Calendar,
    klass: PriorityClass,
    group: str,
    walltime_s: float | None,
    at: float,
    ends: bool,
) -> Closing | None:
    """The first close after `at` that ends a job which runs at `at`, or of which it is only told
    (`ends` False). None where none does.

    Where a window with "end" is closed at `at` already (the rules changed), the job is told at once
    and ended after the notice.
    """
    found: list[Closing] = []
    for name, window in windows_for(calendar, klass, group, walltime_s):
        if window.at_close != ("end" if ends else "warn"):
            continue
        if calendar.is_open(window.open, at):
            close = calendar.next_change(window.open, at)
            if close is not None:
                found.append(Closing(name, close, max(at, close - window.notice_s), ends))
        elif ends:
            found.append(Closing(name, at + window.notice_s, at, True))
    return min(found, key=lambda c: c.at, default=None)


def next_window_change(calendar: Calendar, now: float) -> float | None:
    """The first instant after `now` at which any window opens or closes."""
    changes = [calendar.next_change(w.open, now) for w in calendar.rules.windows.values()]
    return min((change for change in changes if change is not None), default=None)
