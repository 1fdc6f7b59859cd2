"""Budgets: how much GPU time of a class each person may use in a calendar month.

A job starts only if what it may still use this month fits beside what was used and what the
person's running jobs may use yet, by their walltimes. So a budget is kept, not found exceeded: but
for the grace after a walltime. Months are those of the rules' time zone.

Amounts are millionths of a GPU times milliseconds: whole numbers, which add exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

from roost.core.model import Job, PriorityClass
from roost.core.rules.calendar import Calendar
from roost.core.rules.model import Rules
from roost.core.scheduler.reserved import NEVER

GPU_S = 1_000_000 * 1000
Key = tuple[PriorityClass, str]


@dataclass(slots=True)
class _Use:
    """GPUs in millionths that a job holds since `since` and until `until` at the latest."""

    key: Key
    units: int
    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Overdraft:
    """A start that the budget does not cover, in GPU seconds: of `budget_s` this month `used_s`
    were used, `planned_s` are kept for what runs, and `need_s` are wanted.

    `renewed_at`: when the next month begins. `room_s`: how long a job of as many GPUs could last
    within it, in plain seconds.
    """

    budget_s: float
    used_s: float
    planned_s: float
    need_s: float
    renewed_at: float
    room_s: float

    @property
    def never(self) -> bool:
        return self.need_s > self.budget_s


class Budgets:
    """What every person used of each class this month, and may still use by what runs.

    `now` never goes back; a clock that is stepped back stands still here.
    """

    def __init__(self) -> None:
        self._rules = Rules()
        self._calendar = Calendar(self._rules)
        self._month_end = -NEVER
        self._used: dict[Key, int] = {}
        self._running: dict[int, _Use] = {}
        self._claimed: dict[int, tuple[Key, int, float | None]] = {}
        self.any = False

    def set_rules(self, rules: Rules, now: float) -> None:
        """With another time zone the month may begin or end at another instant: what was used
        stays until it is restored."""
        moved = rules.time_zone != self._rules.time_zone
        self._rules = rules
        self.any = any(c.budget_gpu_s is not None for c in rules.classes.values())
        if moved:
            self._calendar = Calendar(rules)
            if self._month_end != -NEVER:
                self._month_end = self._calendar.month_of(now)[1]

    def advance(self, now: float) -> None:
        """A new month begins with nothing used but what running jobs use of it."""
        if now < self._month_end:
            return
        begin, end = self._calendar.month_of(now)
        if self._month_end != -NEVER:
            self._used.clear()
            for use in self._running.values():
                use.since = max(use.since, begin)
        self._month_end = end

    def restore(self, used: tuple[tuple[PriorityClass, str, float], ...], now: float) -> None:
        """GPU seconds used this month until now, also by what runs; replaces what was known."""
        self._used = {(which, user): round(gpu_s * GPU_S) for which, user, gpu_s in used}
        for use in self._running.values():
            use.since = now

    def holds(self, job: Job, units: int, now: float, until: float) -> None:
        """The job holds so much from now, until then at the latest."""
        self._running[job.id] = _Use((job.priority_class, job.user), units, now, until)

    def ends_at(self, job: int, until: float) -> None:
        """The job that runs ends at another time than was known."""
        if job in self._running:
            self._running[job].until = until

    def freed(self, job: int, now: float) -> None:
        use = self._running.pop(job, None)
        if use is not None:
            used = _amount(use.units, now - use.since)
            self._used[use.key] = self._used.get(use.key, 0) + used

    def claim(self, job: Job, units: int) -> None:
        """GPUs are being freed for the job, which is as good as started."""
        key = job.priority_class, job.user
        self._claimed[job.id] = key, units, job.request.walltime_s

    def drop_claim(self, job: int) -> None:
        self._claimed.pop(job, None)

    def overdraft(self, job: Job, units: int, now: float) -> Overdraft | None:
        """What stands against a start with so many millionths of a GPU now; None: nothing."""
        budget_s = self._rules.classes[job.priority_class].budget_gpu_s
        if budget_s is None or not units:
            return None
        budget = round(budget_s * GPU_S)
        walltime_s = job.request.walltime_s
        until = NEVER if walltime_s is None else now + walltime_s
        this = self._beside(job, units, until, now, now, self._month_end, budget)
        if this is not None or until == NEVER or until <= self._month_end:
            return this
        # It goes on into the next month, and takes of that too.
        after = self._calendar.month_of(self._month_end)[1]
        return self._beside(job, units, until, now, self._month_end, after, budget)

    def _beside(
        self, job: Job, units: int, until: float, now: float, begin: float, end: float, budget: int
    ) -> Overdraft | None:
        """The same for the part from `begin` to `end` of a month, which are now or ahead."""
        key = job.priority_class, job.user
        used, planned = self._used.get(key, 0) if begin == now else 0, 0
        for use in self._running.values():
            if use.key != key:
                continue
            if begin == now:
                used += _amount(use.units, now - use.since)
            planned += _part(use.units, use.until, begin, end, now)
        for number, (whose, kept, walltime_s) in self._claimed.items():
            if whose == key and number != job.id:
                ends = NEVER if walltime_s is None else now + walltime_s
                planned += _part(kept, ends, begin, end, now)
        need = _part(units, until, begin, end, now)
        if used + planned + need <= budget:
            return None
        room_s = max(0.0, begin - now + (budget - used - planned) / units / 1000)
        return Overdraft(
            budget / GPU_S, used / GPU_S, planned / GPU_S, need / GPU_S, self._month_end, room_s
        )

    def used_s(self, now: float) -> dict[Key, float]:
        """GPU seconds of this month by class and person, also by what runs."""
        used = dict(self._used)
        for use in self._running.values():
            used[use.key] = used.get(use.key, 0) + _amount(use.units, now - use.since)
        return {key: units / GPU_S for key, units in used.items()}

    def next_change(self, now: float) -> float | None:
        return self._month_end if self.any and now < self._month_end < NEVER else None


def _part(units: int, until: float, begin: float, end: float, now: float) -> int:
    """What is held from `begin` to `end` of something that ends at `until`. What has no known end
    is counted for this month alone."""
    if until == NEVER and begin > now:
        return 0
    return _amount(units, min(until, end) - begin)


def _amount(units: int, span_s: float) -> int:
    return units * max(0, round(span_s * 1000))
