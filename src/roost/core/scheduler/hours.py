"""What the clock on the wall has to say: windows that let long jobs start or end them, and limits
that hold only at times. Answers are kept until the next change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roost.core.model import Job, PriorityClass
from roost.core.rules.calendar import Calendar
from roost.core.rules.model import Rules
from roost.core.rules.windows import (
    Closing,
    Refusal,
    closing,
    next_window_change,
    window_refusal,
)
from roost.core.scheduler.leaving import Leaving
from roost.core.scheduler.reserved import NEVER

if TYPE_CHECKING:
    pass

Asked = tuple[PriorityClass, str, float | None]


class Hours:
    """Of one set of rules. `now` never goes back."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._calendar = Calendar(rules)
        self._refusals: dict[Asked, Refusal | None] = {}
        self._asked_at = -NEVER
        self._open: tuple[str, ...] = ()
        self._open_until = -NEVER

    @property
    def windows(self) -> bool:
        """There are windows at all."""
        return bool(self._rules.windows)

    def periods(self, now: float) -> tuple[str, ...]:
        """The periods that have limits of their own and are open now."""
        if not self._rules.limits.during:
            return ()
        if now >= self._open_until:
            calendar, during = self._calendar, self._rules.limits.during
            self._open = tuple(name for name in during if calendar.is_open(name, now))
            changes = [calendar.next_change(name, now) for name in during]
            self._open_until = min((at for at in changes if at is not None), default=NEVER)
        return self._open

    def refusal(self, job: Job, now: float) -> Refusal | None:
        """The window that keeps the job from starting now."""
        if not self._rules.windows:
            return None
        if now != self._asked_at:
            self._refusals.clear()
            self._asked_at = now
        key = job.priority_class, job.group, job.request.walltime_s
        if key not in self._refusals:
            self._refusals[key] = self._refused(key, job, now)
        return self._refusals[key]

    def _refused(self, key: Asked, job: Job, now: float) -> Refusal | None:
        refused = window_refusal(self._calendar, *key, now)
        if refused is not None:
            return refused
        close = self._closing(job, now, ends=True)
        if close is None or close.notice_at > now or job.request.walltime_s is not None:
            return None
        # It would be told to go as soon as it runs.
        periods = self._rules.windows[close.window].open
        return Refusal(close.window, self._calendar.next_open(periods, close.at))

    def leaving(self, job: Job, at: float) -> Leaving | None:
        """The close that ends the job, if it runs at `at`; None where none does."""
        return _leaving(self._closing(job, at, ends=True))

    def warning(self, job: Job, at: float) -> Leaving | None:
        """The close of which the job is told, if it runs at `at`, though it may run on."""
        return _leaving(self._closing(job, at, ends=False))

    def _closing(self, job: Job, at: float, *, ends: bool) -> Closing | None:
        if not self._rules.windows:
            return None
        which, group, walltime_s = job.priority_class, job.group, job.request.walltime_s
        return closing(self._calendar, which, group, walltime_s, at, ends)

    def next_change(self, now: float) -> float | None:
        """When a waiting job may meet other windows or limits."""
        if not self._rules.windows and not self._rules.limits.during:
            return None
        times = [self._open_until if self._rules.limits.during else None]
        if self._rules.windows:
            times.append(next_window_change(self._calendar, now))
        return min((at for at in times if at is not None and now < at < NEVER), default=None)


def _leaving(close: Closing | None) -> Leaving | None:
    if close is None:
        return None
    return Leaving(close.at, close.notice_at, f"windows.{close.window}.at_close")
