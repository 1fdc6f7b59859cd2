"""When waiting jobs will start: the same scheduler run forward, with nobody new coming.

Twice: "latest", in which every job lasts to its walltime, and "likely", in which it lasts as those
of its user did. Works on twins, and never touches the scheduler that is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Protocol, TypeVar

from roost.core.model import JobState
from roost.core.scheduler.decisions import (
    Decision,
    Preempt,
    Reason,
    Resume,
    Start,
    Stop,
    Suspend,
    Wait,
)
from roost.core.scheduler.events import Event, JobEnded, JobStarted, JobSuspended, TimeReached
from roost.core.scheduler.forecast import Forecast
from roost.core.scheduler.order import left_s
from roost.core.scheduler.reserved import NEVER
from roost.core.scheduler.state import State
from roost.core.scheduler.twin import twin_of

if TYPE_CHECKING:
    from roost.core.scheduler.entry import Entry

# What a run may cost, in units of about five microseconds, measured (docs/design/006-forecast.md):
# a step some, each bucket of the queue a half, and one whose jobs may take from others one for each
# GPU that they could take, an eighth where turns decide. Half a second in all.
MOST_COST = 100_000
STEP_COST = 10
MOST_NAMED = 3
# Nothing ends any more and for so long no change of hour, window or month lets anybody start: then
# none will. Longer than two months, after which budgets have been renewed.
QUIET_S = 63 * 86400.0
# Nobody plans for more than three months ahead; jobs that a window ends each morning and that go on
# each night could be followed for ever.
FARTHEST_S = 93 * 86400.0


class Machine(Protocol):
    """A scheduler, as far as it is driven from outside."""

    def step(self, events: Sequence[Event]) -> list[Decision]: ...

    def next_time(self) -> float | None: ...

    def explain(self, job: int) -> Wait: ...


M = TypeVar("M", bound=Machine)
# From a job that holds GPUs: when it ends by itself, NEVER where that cannot be said.
EndOf = Callable[["Entry", float], float]


def latest_end(entry: Entry, now: float) -> float:
    """By walltime; one that is over its walltime is just being ended."""
    walltime_s = entry.job.request.walltime_s
    return NEVER if walltime_s is None else max(now, entry.started_at + walltime_s)


def likely_end(forecast: Forecast) -> EndOf:
    """By the user's habits as they were known, by walltime where there are none."""

    def end(entry: Entry, now: float) -> float:
        whole_s = forecast.expected_s(entry.job)
        latest = latest_end(entry, now)
        return latest if whole_s is None else min(latest, now + left_s(entry, whole_s, now))

    return end


class Run:
    """A scheduler that drives itself: what it decides happens at once, jobs end when `end_of` says,
    who gives way takes the whole grace, everybody completes."""

    def __init__(self, machine: Machine, state: State, end_of: EndOf) -> None:
        self._machine, self._state, self._end_of = machine, state, end_of
        self._left = MOST_COST
        # (at, job, attempt, told to go, goes back to the queue)
        self._ends: list[tuple[float, int, int, bool, bool]] = []
        self._begun: list[JobStarted | JobSuspended] = []
        # When each job that runs ends by itself; what else is in `_ends` is no longer so.
        self._naturally: dict[int, float] = {}
        self._quiet_since = state.now
        self._until = state.now + FARTHEST_S
        self.started: dict[int, float] = {}
        self._waiting = {n for n, e in state.entries.items() if e.state.waits}
        for number in state.active:
            entry = state.entries[number]
            if entry.suspend:
                self._begun.append(JobSuspended(state.now, number, entry.attempt))
            if entry.state is JobState.STARTING:
                self._begun.append(JobStarted(state.now, number, entry.attempt))
            self._watch(entry)
        self.first_at = self._next()

    @property
    def _looks_again(self) -> bool:
        """What has just begun shows a way for others at once: on several servers, or where somebody
        stands still for one; or it has to be told at once when to go."""
        if not self._begun:
            return False
        if len(self._state.nodes.all) > 1 or JobSuspended in map(type, self._begun):
            return True
        leaving = (self._state.entries[number].leaving for number in self._state.leavings)
        return any(one is not None and one.notice_at <= self._state.now for one in leaving)

    @property
    def stuck(self) -> bool:
        """Nothing more is going to happen."""
        return self._next() == NEVER

    def until(self, job: int) -> float | None:
        """When the job starts; None where it does not, or not within what a run may cost."""
        while job in self._waiting and self._left > 0 and self._on():
            self._left -= self._cost()
        return self.started.get(job)

    def _cost(self) -> int:
        state = self._state
        gpus, buckets = len(state.slots), state.queue.buckets
        classes = state.rules.classes
        takers = sum(bool(classes[one.priority_class].preempts) for one in buckets.values())
        by_turn = len(buckets) if state.policy.preempts else 0
        return STEP_COST + len(buckets) // 2 + gpus * takers + gpus * by_turn // 8

    def _watch(self, entry: Entry) -> None:
        number, now = entry.job.id, self._state.now
        gone_at = entry.ends_at
        if entry.ending_by is not None and gone_at is not None and not entry.suspend:
            back = entry.job.requeue and not entry.cancelled
            if gone_at < now:
                # It outlives its grace: by as much again, or until it counts as stuck.
                gone_at = min(now + max(1.0, now - gone_at), max(now, entry.ending_by))
            heappush(self._ends, (gone_at, number, entry.attempt, True, back))
        if entry.state is not JobState.SUSPENDED:
            self._natural(entry)

    def _natural(self, entry: Entry) -> None:
        at = self._end_of(entry, self._state.now)
        if at != NEVER:
            self._naturally[entry.job.id] = at
            heappush(self._ends, (at, entry.job.id, entry.attempt, False, False))

    def _holds(self, at: float, number: int, attempt: int, told: bool) -> bool:
        entry = self._state.entries.get(number)
        if entry is None or entry.attempt != attempt or not entry.grants_held:
            return False
        return told or self._naturally.get(number) == at

    def _next(self) -> float:
        """The instant of what happens next, NEVER for nothing."""
        ends = self._ends
        while ends and not self._holds(*ends[0][:4]):
            heappop(ends)
        if self._looks_again:
            return self._state.now
        due = self._machine.next_time()
        if due is None or (not ends and due - self._quiet_since > QUIET_S):
            due = NEVER
        return min(ends[0][0] if ends else NEVER, due)

    def _on(self) -> bool:
        """The next thing happens; False where there is none."""
        at = self._next()
        if at == NEVER or at > self._until:
            return False
        events: list[Event] = list(self._begun)
        self._begun.clear()
        gone: set[int] = set()
        while self._ends and self._ends[0][0] <= at:
            until, number, attempt, told, back = heappop(self._ends)
            if number in gone or not self._holds(until, number, attempt, told):
                continue
            gone.add(number)
            how = JobState.CANCELLED if told else JobState.COMPLETED
            events.append(JobEnded(at, number, attempt, how, requeue=back))
        decisions = self._machine.step(events or [TimeReached(at)])
        if events or decisions:
            self._quiet_since = at
        for decision in decisions:
            self._take(decision, at)
        return True

    def _take(self, decision: Decision, now: float) -> None:
        match decision:
            case Start(job=number, attempt=attempt):
                self._begun.append(JobStarted(now, number, attempt))
                self._runs(number, now)
            case Suspend(job=number, attempt=attempt):
                self._begun.append(JobSuspended(now, number, attempt))
                self._naturally.pop(number, None)
            case Resume(job=number):
                self._runs(number, now)
            case Preempt(job=number, attempt=attempt, grace_s=grace_s):
                back = self._state.entries[number].job.requeue
                heappush(self._ends, (now + grace_s, number, attempt, True, back))
            case Stop(job=number, attempt=attempt, grace_s=grace_s, requeue=back):
                heappush(self._ends, (now + grace_s, number, attempt, True, back))
            case _:
                pass

    def _runs(self, number: int, now: float) -> None:
        """The job starts, or goes on."""
        self._natural(self._state.entries[number])
        if number in self._waiting:
            self._waiting.remove(number)
            self.started[number] = now

    def why_not(self, job: int) -> Reason:
        """Why it cannot be said when the job starts, where it did not in this run."""
        state = self._state
        if not self.stuck:
            return Reason("far")
        open_ended = {n for n in state.active if state.end_of(n) == NEVER}
        reasons = self._machine.explain(job).reasons
        entry = state.entries.get(job)
        waits = job in state.queue or (entry is not None and entry.state is JobState.SUSPENDED)
        if not open_ended or not _for_room(reasons) or not waits:
            return Reason("never")
        named = [n for reason in reasons for n in reason.blocking_jobs if n in open_ended]
        jobs = tuple(dict.fromkeys(named or sorted(open_ended)))[:MOST_NAMED]
        first = state.entries[jobs[0]].job
        later = jobs[0] in self.started
        numbers = (("job", first.id), ("user", first.user))
        return Reason("open_later" if later else "open", numbers, "", jobs)


def _for_room(reasons: Sequence[Reason]) -> bool:
    """Somebody else's end could let it start."""
    return not any({"held", "never", "none"} & {*reason.code.split("_")} for reason in reasons)


@dataclass(slots=True)
class _Runs:
    latest: Run
    likely: Run


@dataclass(frozen=True, slots=True)
class _Answer:
    likely_at: float | None
    latest_at: float | None
    unknown: Reason | None


class Future:
    """What is to come of one moment, for all jobs together: worked out as far as it is asked for.

    `machine` and `state` are twins that belong to it alone. It may be asked in another thread than
    that of the scheduler, but by one at a time.
    """

    def __init__(self, machine: Machine, state: State) -> None:
        self._machine, self._state = machine, state
        self._runs: _Runs | None = None
        self._told: dict[int, _Answer] = {}

    @property
    def until(self) -> float:
        """The instant of the first thing that is foreseen: then it is seen whether it was right."""
        runs = self._runs
        return NEVER if runs is None else min(runs.latest.first_at, runs.likely.first_at)

    def told(self, wait: Wait) -> Wait:
        """With the likely and the latest start, or why they cannot be said. What is promised to the
        job already stands in where the run did not come so far."""
        if wait.reasons and wait.job not in self._told:
            self._told[wait.job] = self._answer(wait)
        return self.known(wait)

    def knows(self, job: int) -> bool:
        """It was asked about that job."""
        return job in self._told

    def known(self, wait: Wait) -> Wait:
        """The same, where it was worked out already: at once, and at any time."""
        answer = self._told.get(wait.job)
        if answer is None or not wait.reasons:
            return wait
        return replace(
            wait, forecast_start_at=answer.likely_at, forecast_latest_at=answer.latest_at,
            forecast_unknown=answer.unknown,
        )  # fmt: skip

    def _answer(self, wait: Wait) -> _Answer:
        if not _for_room(wait.reasons):
            return _Answer(None, None, Reason("never"))
        if self._runs is None:
            self._runs = self._prepared()
        job, runs = wait.job, self._runs
        latest_at, likely_at = runs.latest.until(job), runs.likely.until(job)
        promised = wait.forecast_start_at
        unknown = None
        if likely_at is None and promised is None:
            unknown = runs.likely.why_not(job)
        elif latest_at is None and promised is None:
            unknown = runs.latest.why_not(job)
        latest_at = promised if latest_at is None else latest_at
        likely_at = promised if likely_at is None else likely_at
        if latest_at is not None and likely_at is not None:
            # Short jobs may let others pass that hold a place for longer.
            latest_at = max(latest_at, likely_at)
        return _Answer(likely_at, latest_at, unknown)

    def _prepared(self) -> _Runs:
        state = self._state
        if _no_habits(state):
            run = Run(self._machine, state, latest_end)
            return _Runs(run, run)
        likely = twin_of((self._machine, state))
        habits = twin_of(state.forecast)
        return _Runs(Run(self._machine, state, latest_end), Run(*likely, likely_end(habits)))


def _no_habits(state: State) -> bool:
    """Nobody is expected to need less than the walltime, so that both runs would be the same."""
    for entry in state.entries.values():
        whole_s, walltime_s = state.forecast.expected_s(entry.job), entry.job.request.walltime_s
        if whole_s is not None and (walltime_s is None or whole_s < walltime_s):
            return False
        if entry.done_s or (entry.grants_held and entry.safe_at > entry.started_at):
            return False
    return True
