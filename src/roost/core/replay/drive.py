"""Runs a trace through the scheduler in simulated time: what it decides happens, at once.

A job that is preempted keeps its work up to its last checkpoint, and pays for each start after the
first. Nothing but the scheduler decides; what it is not told here it is not told by the daemon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from roost.core.model import Gpu, Job, JobState, PriorityClass, Request
from roost.core.replay.trace import Trace, TraceJob
from roost.core.rules.model import Rules
from roost.core.scheduler.decisions import Decision, Finish, Preempt, Start, Stop
from roost.core.scheduler.events import (
    Event,
    InventoryChanged,
    JobCheckpointed,
    JobEnded,
    JobStarted,
    JobSubmitted,
    RulesChanged,
    TimeReached,
)
from roost.core.scheduler.policy import Policy
from roost.core.scheduler.scheduler import Scheduler

PROGRESS_EVERY = 1000
# CPUs and memory are not in the traces, and stand in nobody's way.
CPUS, MEMORY_BYTES = 1 << 40, 1 << 60


@dataclass(frozen=True, slots=True)
class Costs:
    """`checkpoint_s`: 0 a job saves when it is asked to go, None never, else every so many seconds.
    `restart_s`: held without doing work at each start after the first."""

    restart_s: float = 30.0
    checkpoint_s: float | None = 0.0


@dataclass(slots=True)
class Ran:
    """What became of one job. Times in seconds of the trace; `lost_s`: work done twice and starts
    paid for, in seconds of the whole job. `held`: (from, until) of every attempt."""

    gpus: float
    first_at: float = -1.0
    end_at: float = -1.0
    preemptions: int = 0
    lost_s: float = 0.0
    held: list[tuple[float, float]] = field(default_factory=list)


class StuckError(Exception):
    """Jobs that can never start by these rules on these servers; `jobs` are their ids."""

    def __init__(self, jobs: Sequence[str]) -> None:
        super().__init__(f"{len(jobs)} jobs never start")
        self.jobs = tuple(jobs)


def replay(
    trace: Trace,
    gpus: Sequence[Gpu],
    walltimes: Sequence[float | None],
    policy: Policy | None = None,
    rules: Rules | None = None,
    costs: Costs = Costs(),
    progress: Callable[[int], None] | None = None,
) -> list[Ran]:
    """One `Ran` for each job, in their order. Raises StuckError. `policy` None: that of the rules.

    `progress` is called with the number of jobs that have ended, every PROGRESS_EVERY of them.
    """
    return _Run(trace, gpus, walltimes, policy, rules or Rules(), costs, progress).run()


class _Run:
    def __init__(
        self,
        trace: Trace,
        gpus: Sequence[Gpu],
        walltimes: Sequence[float | None],
        policy: Policy | None,
        rules: Rules,
        costs: Costs,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._trace, self._walltimes, self._costs = trace, walltimes, costs
        self._progress = progress
        self._scheduler = Scheduler(policy=policy)
        self._memory_bytes = gpus[0].memory_bytes if gpus else 0
        self._ran = [Ran(job.gpus) for job in trace.jobs]
        self._done_s = [0.0] * len(trace.jobs)
        self._attempt = [0] * len(trace.jobs)
        self._works_at = [0.0] * len(trace.jobs)
        self._ends: list[tuple[float, int, int]] = []
        self._over = 0
        self._said: list[Event] = [
            InventoryChanged(0.0, tuple(gpus), CPUS, MEMORY_BYTES),
            RulesChanged(0.0, rules),
        ]

    def run(self) -> list[Ran]:
        jobs, ends, scheduler = self._trace.jobs, self._ends, self._scheduler
        coming, count = 0, len(jobs)
        while self._over < count:
            now = ends[0][0] if ends else float("inf")
            if coming < count and jobs[coming].submit_s < now:
                now = jobs[coming].submit_s
            due = scheduler.next_time()
            if due is not None and due < now:
                now = due
            if now == float("inf"):
                pairs = zip(jobs, self._ran, strict=True)
                raise StuckError([job.id for job, ran in pairs if ran.end_at < 0])
            events = self._said
            self._said = []
            while ends and ends[0][0] <= now:
                self._ended(events, now)
            while coming < count and jobs[coming].submit_s <= now:
                events.append(JobSubmitted(now, self._job(coming, jobs[coming])))
                coming += 1
            self._carry_out(now, scheduler.step(events or [TimeReached(now)]))
        return self._ran

    def _job(self, place: int, job: TraceJob) -> Job:
        whole = int(job.gpus)
        walltime_s = self._walltimes[place]
        if job.gpus < 1:
            share = int(job.gpus * self._memory_bytes)
            request = Request(0, share, walltime_s=walltime_s)
        else:
            request = Request(whole, walltime_s=walltime_s)
        which = job.priority_class or PriorityClass.REGULAR
        return Job(place + 1, job.user, job.group, which, request, job.submit_s)

    def _ended(self, events: list[Event], now: float) -> None:
        _, number, attempt = heappop(self._ends)
        if self._attempt[number - 1] != attempt:
            return
        ran = self._ran[number - 1]
        began = self._began(number)
        ran.end_at = now
        ran.lost_s += self._works_at[number - 1] - began
        ran.held.append((began, now))
        self._attempt[number - 1] = 0
        self._over += 1
        events.append(JobEnded(now, number, attempt, JobState.COMPLETED))
        if self._progress is not None and self._over % PROGRESS_EVERY == 0:
            self._progress(self._over)

    def _began(self, number: int) -> float:
        """When the attempt that is running was started."""
        paid_s = self._costs.restart_s if self._ran[number - 1].preemptions else 0.0
        return self._works_at[number - 1] - paid_s

    def _carry_out(self, now: float, decisions: Sequence[Decision]) -> None:
        more: list[Event] = []
        for decision in decisions:
            match decision:
                case Start():
                    self._start(now, decision)
                case Preempt() | Stop():
                    more += self._give_way(now, decision)
                case Finish():
                    self._over += 1
        if more:
            events = [*self._said, *more]
            self._said = []
            self._carry_out(now, self._scheduler.step(events))

    def _start(self, now: float, decision: Start) -> None:
        place = decision.job - 1
        ran = self._ran[place]
        if ran.first_at < 0:
            ran.first_at = now
        works_at = now + self._costs.restart_s if ran.preemptions else now
        self._works_at[place] = works_at
        self._attempt[place] = decision.attempt
        left_s = self._trace.jobs[place].duration_s - self._done_s[place]
        heappush(self._ends, (works_at + left_s, decision.job, decision.attempt))
        self._said.append(JobStarted(now, decision.job, decision.attempt))

    def _give_way(self, now: float, decision: Preempt | Stop) -> list[Event]:
        number, place = decision.job, decision.job - 1
        ran, costs = self._ran[place], self._costs
        began, works_at = self._began(number), self._works_at[place]
        did_s = max(0.0, now - works_at)
        every_s = costs.checkpoint_s
        if every_s is None:
            kept_s = -self._done_s[place]
        elif every_s > 0:
            kept_s = did_s - did_s % every_s
        else:
            kept_s = did_s
        ran.lost_s += did_s - kept_s + min(now, works_at) - began
        ran.held.append((began, now))
        ran.preemptions += 1
        self._done_s[place] += kept_s
        self._attempt[place] = 0
        events: list[Event] = []
        if kept_s > 0:
            events.append(JobCheckpointed(works_at + kept_s, number))
        events.append(JobEnded(now, number, decision.attempt, JobState.CANCELLED, requeue=True))
        return events
