"""When a job is warned, asked to go, and killed: walltime, orders to stop, and work being saved.

A state machine without a clock: it is told the time (monotonic seconds) and answers what to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from roost.core.model import EndReason

TIDY_UP_S = 5.0


class Act(Enum):
    WARN = "warn"
    ASK = "ask"
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class Terms:
    """What was agreed for the job. Spans in seconds; None: no limit, or no warning."""

    walltime_s: float | None = None
    warn_before_s: float | None = None
    kill_wait_s: float = 30.0
    saving_limit_s: float = 300.0


class Watchdog:
    """`due(now)` gives what is to be done now, each once; `next_at` when to ask again."""

    def __init__(self, terms: Terms, started: float) -> None:
        self._terms = terms
        self._warn_at: float | None = None
        self._end_at: float | None = None
        if terms.walltime_s is not None:
            self._end_at = started + terms.walltime_s
            if terms.warn_before_s is not None:
                self._warn_at = max(started, self._end_at - terms.warn_before_s)
        self.reason: EndReason | None = None
        self._ask = False
        self._kill_at: float | None = None
        self._killed = False
        self._bound: float | None = None
        self._paused: float | None = None
        self.saving = False

    @property
    def stopping(self) -> bool:
        return self.reason is not None

    def stop(self, reason: EndReason, grace_s: float, now: float) -> None:
        """An order to stop. A later one can only bring the end nearer; the first reason stays,
        but for a cancellation, which takes the place of a preemption."""
        grace_s = max(0.0, grace_s)
        if self.reason is None:
            self.reason = reason
            self._ask = True
            self._kill_at = now + grace_s
            self._bound = self._kill_at + self._terms.saving_limit_s
        else:
            if self.reason is EndReason.PREEMPTED and reason is EndReason.CANCELLED:
                self.reason = reason
            limit = now + grace_s
            self._kill_at = limit if self._kill_at is None else min(self._kill_at, limit)
            bound = limit + self._terms.saving_limit_s
            self._bound = bound if self._bound is None else min(self._bound, bound)
        if grace_s == 0.0:
            self._bound = self._kill_at

    def pause(self, now: float) -> None:
        """The job stands still, and with it its walltime and the warning before that."""
        if self._paused is None:
            self._paused = now

    def go_on(self, now: float) -> None:
        """What was left of the walltime at the pause is left now."""
        if self._paused is None:
            return
        passed, self._paused = max(0.0, now - self._paused), None
        self._warn_at = None if self._warn_at is None else self._warn_at + passed
        self._end_at = None if self._end_at is None else self._end_at + passed

    def asked(self) -> None:
        """The job has been asked to go in another way already; only the kill is left."""
        self._ask = False

    def saw_saving(self) -> None:
        """The job says that it is writing its work: it is not killed meanwhile, up to the limit."""
        self.saving = True

    def saw_saved(self, now: float) -> None:
        """Its work is safe: a moment to leave by itself, then the grace is over if it was."""
        if self.saving and self._kill_at is not None and self._bound is not None:
            self._kill_at = min(self._bound, max(self._kill_at, now + TIDY_UP_S))
        self.saving = False

    def _kill_time(self) -> float | None:
        return self._bound if self.saving else self._kill_at

    def due(self, now: float) -> list[Act]:
        acts = []
        runs = self._paused is None
        if runs and self._warn_at is not None and now >= self._warn_at:
            self._warn_at = None
            if self.reason is None:
                acts.append(Act.WARN)
        if runs and self._end_at is not None and now >= self._end_at and self.reason is None:
            # The walltime is a promise to whoever waits or booked: saving does not extend it.
            self.reason = EndReason.TIMEOUT
            self._ask = True
            self._kill_at = self._bound = now + self._terms.kill_wait_s
        if self._ask:
            self._ask = False
            if self._kill_at is not None and now < self._kill_at:
                acts.append(Act.ASK)
        kill_at = self._kill_time()
        if not self._killed and kill_at is not None and now >= kill_at:
            self._killed = True
            acts.append(Act.KILL)
        return acts

    def next_at(self) -> float | None:
        """The time of the next thing to do; None: only an order or the job itself changes that."""
        times = []
        if self.reason is None and self._paused is None:
            times = [at for at in (self._warn_at, self._end_at) if at is not None]
        elif self.reason is not None and not self._killed:
            kill_at = self._kill_time()
            times = [kill_at] if kill_at is not None else []
        return min(times, default=None)
