"""Runs a trace through the scheduler in simulated time: what it decides happens, at once.

A job that is preempted keeps its work up to its last checkpoint, and pays for each start after the
first. Nothing but the scheduler decides; what it is not told here it is not told by the daemon.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from roost.core.model import Booking, Gpu, Job, JobState, PriorityClass, Request
from roost.core.replay.trace import Trace, TraceBooking, TraceJob
from roost.core.rules.model import Rules
from roost.core.scheduler.decisions import (
    Decision,
    Finish,
    Preempt,
    Resume,
    Start,
    Stop,
    Suspend,
    Wait,
)
from roost.core.scheduler.events import (
    BookingsChanged,
    BudgetsRestored,
    Event,
    InventoryChanged,
    JobCheckpointed,
    JobEnded,
    JobRestored,
    JobStarted,
    JobSubmitted,
    JobSuspended,
    RulesChanged,
    TimeReached,
    UsageRestored,
)
from roost.core.scheduler.policy import Policy
from roost.core.scheduler.scheduler import Scheduler
from roost.core.scheduler.submission import Problem

PROGRESS_EVERY = 1000
# Periods of the rules come again and again; what did not start in so long never will.
NEVER_S = 400 * 86400.0
EXPLAINED = 100


# CPUs and memory are not in most traces, and then stand in nobody's way.
CPUS, MEMORY_BYTES = 1 << 40, 1 << 60
Used = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class World:
    """What a team's own history knows besides its jobs: CPUs and memory, the Linux groups of each
    user, and what had been used when it began: GPU seconds of users and groups, decayed to then,
    and of each user within each class since the month began."""

    cpus: int = CPUS
    memory_bytes: int = MEMORY_BYTES
    linux_groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    used_by_user: Used = ()
    used_by_group: Used = ()
    used_this_month: tuple[tuple[PriorityClass, str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Costs:
    """`checkpoint_s`: 0 a job saves when it is asked to go, None never, else every so many seconds.
    `restart_s`: held without doing work at each start after the first."""

    restart_s: float = 30.0
    checkpoint_s: float | None = 0.0


@dataclass(slots=True)
class Ran:
    """What became of one job. Times in seconds of the trace; `lost_s`: work done twice and starts
    paid for, in seconds of the whole job. `held`: (from, until) of every attempt. `ready_s`: when
    the last of the jobs that it had to wait for ended. What `refused` names kept it from being
    queued; `waits` is why it never started (of the first EXPLAINED such jobs)."""

    gpus: float
    first_at: float = -1.0
    end_at: float = -1.0
    preemptions: int = 0
    lost_s: float = 0.0
    held: list[tuple[float, float]] = field(default_factory=list)
    ready_s: float = -1.0
    refused: tuple[Problem, ...] = ()
    waits: Wait | None = None

    @property
    def done(self) -> bool:
        return self.end_at >= 0.0

    def since_s(self, job: TraceJob) -> float:
        """From when on its waiting counts: its submission, or the end of what it waits for."""
        return max(job.submit_s, self.ready_s)


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
    world: World | None = None,
) -> list[Ran]:
    """One `Ran` for each job, in their order. `policy` None: that of the rules.

    In a `world`, submissions are checked as the daemon checks them: what is refused, or never
    starts, is told in its `Ran`. Without, nothing is refused, and jobs that never start raise
    StuckError. `progress` is called with the number of jobs that have ended,
    every PROGRESS_EVERY of them.
    """
    return _Run(trace, gpus, walltimes, policy, rules or Rules(), costs, progress, world).run()


def _beginning(at: float, gpus: Sequence[Gpu], rules: Rules, world: World) -> list[Event]:
    """What the scheduler is told first."""
    told: list[Event] = [
        InventoryChanged(at, tuple(gpus), world.cpus, world.memory_bytes),
        RulesChanged(at, rules),
    ]
    if world.used_by_user:
        told.append(UsageRestored(at, world.used_by_user, world.used_by_group))
    if world.used_this_month:
        told.append(BudgetsRestored(at, world.used_this_month))
    return told


def _calendar(bookings: Sequence[TraceBooking]) -> list[tuple[float, tuple[Booking, ...]]]:
    """From when on, in seconds of the trace, which bookings are known: all of them each time."""
    changes: dict[float, list[tuple[bool, Booking]]] = {}
    for one in bookings:
        if one.gone_s is None or one.gone_s > max(0.0, one.known_s):
            changes.setdefault(max(0.0, one.known_s), []).append((True, one.booking))
            if one.gone_s is not None:
                changes.setdefault(one.gone_s, []).append((False, one.booking))
    known: dict[int, Booking] = {}
    found = []
    for at in sorted(changes):
        for comes, booking in changes[at]:
            if comes:
                known[booking.id] = booking
            else:
                known.pop(booking.id, None)
        found.append((at, tuple(known.values())))
    return found


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
        world: World | None,
    ) -> None:
        self._trace, self._walltimes, self._costs = trace, walltimes, costs
        self._progress = progress
        self._world = world
        self._scheduler = Scheduler(policy=policy)
        self._memory_bytes = gpus[0].memory_bytes if gpus else 0
        self._ran = [Ran(job.gpus) for job in trace.jobs]
        self._done_s = [0.0] * len(trace.jobs)
        # The attempt that runs, and how often a job has begun to run, or gone on.
        self._attempt = [0] * len(trace.jobs)
        self._begun = [0] * len(trace.jobs)
        self._began_at_s = [0.0] * len(trace.jobs)
        self._works_at = [0.0] * len(trace.jobs)
        self._ends: list[tuple[float, int, int]] = []
        self._over = 0
        self._began_at = trace.began_at
        self._calendar = _calendar(trace.bookings)
        self._places: dict[str, int] = {}
        self._dependents: dict[int, list[int]] = {}
        self._sizes: dict[int, int] = {}
        self._verdicts: dict[int, tuple[Problem, ...]] = {}
        self._look_up(trace.jobs)
        self._said: list[Event] = [
            *_beginning(trace.began_at, gpus, rules, world or World()),
            *(self._running(place) for place, job in enumerate(trace.jobs) if job.holds),
        ]

    def _look_up(self, jobs: Sequence[TraceJob]) -> None:
        """Who waits for whom, and how many jobs are in each array."""
        if any(job.after for job in jobs):
            self._places = {job.id: place for place, job in enumerate(jobs)}
        for place, job in enumerate(jobs):
            for other in job.after:
                if other in self._places:
                    self._dependents.setdefault(self._places[other], []).append(place)
            if job.array_id is not None:
                self._sizes[job.array_id] = self._sizes.get(job.array_id, 0) + 1

    def run(self) -> list[Ran]:
        jobs, ends, scheduler = self._trace.jobs, self._ends, self._scheduler
        began_at = self._began_at
        coming, count, last = 0, len(jobs), 0.0
        calendar, turned = self._calendar, 0
        if self._world is not None:  # submissions are checked against what is known
            events, self._said = self._said, []
            self._carry_out(0.0, scheduler.step(events))
        while self._over < count:
            now = ends[0][0] if ends else float("inf")
            if coming < count and jobs[coming].submit_s < now:
                now = jobs[coming].submit_s
            if turned < len(calendar) and calendar[turned][0] < now:
                now = calendar[turned][0]
            due = scheduler.next_time()
            if due is not None and due - began_at < now:
                if now == float("inf") and due - began_at > last + NEVER_S:
                    return self._stuck()
                now = due - began_at
            else:
                last = now
            if now == float("inf"):
                return self._stuck()
            events = self._said
            self._said = []
            while turned < len(calendar) and calendar[turned][0] <= now:
                events.append(BookingsChanged(began_at + now, calendar[turned][1]))
                turned += 1
            while ends and ends[0][0] <= now:
                self._ended(events, now)
            while coming < count and jobs[coming].submit_s <= now:
                self._comes(events, now, coming)
                coming += 1
            self._carry_out(now, scheduler.step(events or [TimeReached(began_at + now)]))
        return self._ran

    def _stuck(self) -> list[Ran]:
        """Nothing will ever happen again. Raises StuckError where nobody asked for reasons."""
        left = [n for n, ran in enumerate(self._ran) if not ran.done and not ran.refused]
        if self._world is None:
            raise StuckError([self._trace.jobs[place].id for place in left])
        for place in left[:EXPLAINED]:
            self._ran[place].waits = self._scheduler.explain(place + 1)
        return self._ran

    def _comes(self, events: list[Event], now: float, place: int) -> None:
        one = self._trace.jobs[place]
        if one.holds:
            return
        job = self._job(place, one)
        if self._world is not None:
            problems = self._problems(job, self._world.linux_groups.get(job.user, ()))
            if problems:
                self._ran[place].refused = problems
                self._over += 1
                return
        events.append(JobSubmitted(self._began_at + now, job))

    def _problems(self, job: Job, linux_groups: Sequence[str]) -> tuple[Problem, ...]:
        """What the daemon would say against it. An array is queued, or refused, as a whole."""
        array = job.array_id
        if array is None:
            return tuple(self._scheduler.check_submission(job, tuple(linux_groups)))
        if array not in self._verdicts:
            found = self._scheduler.check_submission(job, tuple(linux_groups), self._sizes[array])
            self._verdicts[array] = tuple(found)
        return self._verdicts[array]

    def _running(self, place: int) -> JobRestored:
        """A job that ran when the trace began."""
        one = self._trace.jobs[place]
        self._ran[place].first_at = 0.0
        self._attempt[place] = 1
        heappush(self._ends, (one.duration_s, place + 1, 0))
        started_at = self._began_at + one.started_s
        job = self._job(place, one)
        return JobRestored(self._began_at, job, JobState.RUNNING, 1, one.holds, started_at)

    def _job(self, place: int, job: TraceJob) -> Job:
        walltime_s = self._walltimes[place]
        share = job.gpu_memory_bytes
        if share is None and job.gpus < 1:
            share = int(job.gpus * self._memory_bytes)
        request = Request(
            int(job.gpus) if share is None else 0, share, job.gpu_model, job.cpus,
            job.memory_bytes, walltime_s, None, job.gpu_compute_percent,
        )  # fmt: skip
        which = job.priority_class or PriorityClass.REGULAR
        after: tuple[int, ...] = ()
        if job.after:
            after = tuple(self._places[each] + 1 for each in job.after if each in self._places)
        return Job(
            place + 1, job.user, job.group, which, request, self._began_at + job.submit_s, after,
            None, False, job.array_id, job.array_limit, job.requeue,
        )  # fmt: skip

    def _ended(self, events: list[Event], now: float) -> None:
        _, number, begun = heappop(self._ends)
        place = number - 1
        attempt = self._attempt[place]
        if not attempt or self._begun[place] != begun:
            return
        self._stops(place, now)
        self._ran[place].end_at = now
        self._over += 1
        for other in self._dependents.get(place, ()):
            self._ran[other].ready_s = now
        events.append(JobEnded(self._began_at + now, number, attempt, JobState.COMPLETED))
        if self._progress is not None and self._over % PROGRESS_EVERY == 0:
            self._progress(self._over)

    def _carry_out(self, now: float, decisions: Sequence[Decision]) -> None:
        more: list[Event] = []
        for decision in decisions:
            match decision:
                case Start():
                    self._start(now, decision)
                case Suspend():
                    more.append(self._suspend(now, decision))
                case Resume():
                    self._runs(now, now, decision.job, decision.attempt)
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
        self._runs(now, works_at, decision.job, decision.attempt)
        self._said.append(JobStarted(self._began_at + now, decision.job, decision.attempt))

    def _runs(self, now: float, works_at: float, number: int, attempt: int) -> None:
        """From now, doing work from `works_at`."""
        place = number - 1
        self._began_at_s[place], self._works_at[place] = now, works_at
        self._attempt[place] = attempt
        self._begun[place] += 1
        left_s = self._trace.jobs[place].duration_s - self._done_s[place]
        heappush(self._ends, (works_at + left_s, number, self._begun[place]))

    def _stops(self, place: int, now: float) -> float:
        """It holds nothing any more, and has paid for its start; for how long it did work since."""
        ran, began, works_at = self._ran[place], self._began_at_s[place], self._works_at[place]
        ran.lost_s += min(now, works_at) - began
        ran.held.append((began, now))
        self._attempt[place] = 0
        return max(0.0, now - works_at)

    def _suspend(self, now: float, decision: Suspend) -> Event:
        """It stands still at once, whatever memory it has, which no trace tells."""
        place = decision.job - 1
        self._ran[place].preemptions += 1
        self._done_s[place] += self._stops(place, now)
        return JobSuspended(self._began_at + now, decision.job, decision.attempt)

    def _give_way(self, now: float, decision: Preempt | Stop) -> list[Event]:
        number, place = decision.job, decision.job - 1
        ran, costs = self._ran[place], self._costs
        works_at, did_s = self._works_at[place], self._stops(place, now)
        every_s = costs.checkpoint_s
        if every_s is None:
            kept_s = -self._done_s[place]
        elif every_s > 0:
            kept_s = did_s - did_s % every_s
        else:
            kept_s = did_s
        ran.lost_s += did_s - kept_s
        ran.preemptions += 1
        self._done_s[place] += kept_s
        events: list[Event] = []
        at = self._began_at
        if kept_s > 0:
            events.append(JobCheckpointed(at + works_at + kept_s, number))
        ended = JobEnded(at + now, number, decision.attempt, JobState.CANCELLED, requeue=True)
        return [*events, ended]
