"""A trace of the team's own past: jobs as the daemon keeps them, made into work that can be
replayed, and what of them cannot. Pure; who reads the store, and how, it must not know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from roost.core.model import Booking, EndReason, Grant, PriorityClass, Request
from roost.core.replay.drive import Costs, Used
from roost.core.replay.trace import Trace, TraceBooking, TraceError, TraceJob
from roost.core.rules.calendar import Calendar
from roost.core.rules.model import Rules
from roost.core.rules.who import group_of, groups_of

# Why a job is left out, or takes part without being counted.
CANCELLED_WAITING, STILL_WAITING, NEVER_RAN = "cancelled_waiting", "still_waiting", "never_ran"
BEFORE, STILL_RUNNING = "before", "still_running"


@dataclass(frozen=True, slots=True)
class PastAttempt:
    """None: it did not start, or has not ended."""

    started_at: float | None
    ended_at: float | None = None
    reason: EndReason | None = None


@dataclass(frozen=True, slots=True)
class PastJob:
    """A job on record. `grants`: what its last attempt held; `ended_at` None: it is not over."""

    id: int
    user: str
    group: str
    priority_class: PriorityClass
    request: Request
    submitted_at: float
    begin_at: float | None = None
    ended_at: float | None = None
    state: str = ""
    after: tuple[int, ...] = ()
    array_id: int | None = None
    array_limit: int | None = None
    requeue: bool = True
    grants: tuple[Grant, ...] = ()
    attempts: tuple[PastAttempt, ...] = ()


@dataclass(frozen=True, slots=True)
class PastBooking:
    """A booking on record, as it was in the end: made, and over (or given up) at these times."""

    booking: Booking
    made_at: float
    closed_at: float | None = None


@dataclass(frozen=True, slots=True)
class PastUse:
    """GPU seconds that were held around `at`, before the history begins."""

    user: str
    group: str
    at: float
    gpu_s: float
    priority_class: PriorityClass = PriorityClass.REGULAR


@dataclass(frozen=True, slots=True)
class Past:
    """The trace; by reason, how many of its jobs are not counted (BEFORE, STILL_RUNNING); how long
    those that are counted really waited, on average, in seconds."""

    trace: Trace
    cut_off: tuple[tuple[str, int], ...]
    waited_s: float


def read_history(
    jobs: Sequence[PastJob],
    from_at: float,
    until_at: float,
    gpu_bytes: Mapping[str, int],
    costs: Costs,
    bookings: Sequence[PastBooking] = (),
) -> Past:
    """What ran in [from_at, until_at), seconds since the epoch. `gpu_bytes`: memory by GPU, by
    which a share of one is a part of it. Raises TraceError where nothing ran.

    A job's work is what it ran in all, less what it did twice. Of an attempt that gave way, what
    `costs` says is kept of one that gives way in a replay: all of it (saved when it was asked to
    go), or up to a multiple of `checkpoint_s`, or nothing, and then of the attempts before neither;
    of one that was lost with the machine nothing, for nobody asked it. Of each start after the
    first, `restart_s` was no work. Time between attempts is none. So a job that was replayed, put
    on record and read again has the work that it had.

    It is submitted when it was, or at its begin time, before which it could not have started; jobs
    that it had to wait for are kept where they are in the trace, the others had ended. Walltime,
    class, user, group, GPUs or share, CPUs, memory, array and --no-requeue are as asked for. How it
    ended does not matter: it held its GPUs for so long. Time on hold is not on record.

    At the edges: what ran when the period began takes part with what it then still had to do, on
    the GPUs that it held; what waited then is submitted at that moment; what runs at the end takes
    part with what it did until then. None of these three is counted. What never started is left
    out: nobody knows how long it would have run.

    Bookings are walls from when they were made until they were over, with the times and GPUs that
    they had in the end: what they were before they were moved is not on record.
    """
    found: list[tuple[PastJob, TraceJob]] = []
    left_out: dict[str, int] = {}
    cut_off: dict[str, int] = {}
    early = any(job.submitted_at < from_at for job in jobs)
    began_at = from_at if early else min((_ready(job) for job in jobs), default=from_at)
    for job in jobs:
        if job.submitted_at >= until_at or (job.ended_at is not None and job.ended_at <= from_at):
            continue
        one = _trace_job(job, from_at, until_at, began_at, gpu_bytes, costs)
        if isinstance(one, str):
            left_out[one] = left_out.get(one, 0) + 1
            continue
        if not one.counted:
            why = BEFORE if job.submitted_at < from_at else STILL_RUNNING
            cut_off[why] = cut_off.get(why, 0) + 1
        found.append((job, one))
    if not any(one.counted for _, one in found):
        raise TraceError("no_history")
    found.sort(key=lambda pair: (pair[1].submit_s, pair[0].id))
    kept = {one.id for _, one in found}
    walls = [
        TraceBooking(
            one.booking,
            one.made_at - began_at,
            None if one.closed_at is None else one.closed_at - began_at,
        )
        for one in bookings
    ]
    trace = Trace(
        tuple(_known(one, kept) for _, one in found),
        tuple(sorted(left_out.items())),
        began_at,
        tuple(walls),
    )
    return Past(trace, tuple(sorted(cut_off.items())), _waited_s(found, began_at))


def _ready(job: PastJob) -> float:
    """When it could have started, as far as it depends on its own request."""
    return job.submitted_at if job.begin_at is None else max(job.submitted_at, job.begin_at)


def _trace_job(
    job: PastJob,
    from_at: float,
    until_at: float,
    began_at: float,
    gpu_bytes: Mapping[str, int],
    costs: Costs,
) -> TraceJob | str:
    """The job of the trace, or why it is left out."""
    running = None
    if job.submitted_at < from_at:
        running = next((each for each in job.attempts if _runs_at(each, from_at)), None)
    work_s = work_of(job.attempts, from_at, until_at, costs)
    if work_s is None:
        if job.ended_at is None:
            return STILL_WAITING
        return CANCELLED_WAITING if job.state == "CANCELLED" else NEVER_RAN
    last = bool(job.attempts) and running is job.attempts[-1]
    request = job.request
    return TraceJob(
        id=str(job.id),
        user=job.user,
        group=job.group,
        submit_s=max(0.0, _ready(job) - began_at),
        gpus=_gpus(request, job.grants, gpu_bytes),
        duration_s=work_s,
        estimate_s=request.walltime_s,
        priority_class=job.priority_class,
        state=job.state,
        gpu_memory_bytes=request.gpu_memory_bytes,
        gpu_compute_percent=request.gpu_compute_percent,
        gpu_model=request.gpu_model,
        cpus=request.cpus,
        memory_bytes=request.memory_bytes,
        after=tuple(str(other) for other in job.after),
        array_id=job.array_id,
        array_limit=job.array_limit,
        requeue=job.requeue,
        counted=job.submitted_at >= from_at and job.ended_at is not None,
        holds=job.grants if last else (),
        started_s=(running.started_at or from_at) - began_at if running is not None else 0.0,
    )


def _runs_at(attempt: PastAttempt, at: float) -> bool:
    return (
        attempt.started_at is not None
        and attempt.started_at < at
        and (attempt.ended_at is None or attempt.ended_at > at)
    )


def work_of(
    attempts: Sequence[PastAttempt], from_at: float, until_at: float, costs: Costs
) -> float | None:
    """Seconds of work done in [from_at, until_at) (see `read_history`); None: it never ran then."""
    ran = [
        (max(each.started_at, from_at), min(each.ended_at or until_at, until_at), each)
        for each in attempts
        if each.started_at is not None
        and each.started_at < until_at
        and (each.started_at >= from_at or (each.ended_at or until_at) > from_at)
    ]
    if not ran:
        return None
    done_s = 0.0
    for place, (begin, over, attempt) in enumerate(ran):
        did_s = max(0.0, over - begin - (costs.restart_s if place else 0.0))
        if place == len(ran) - 1:
            done_s += did_s
        elif costs.checkpoint_s is None:
            done_s = 0.0
        elif costs.checkpoint_s > 0:
            done_s += did_s - did_s % costs.checkpoint_s
        elif attempt.reason is not EndReason.LOST:
            done_s += did_s
    return done_s


def _gpus(request: Request, grants: Sequence[Grant], gpu_bytes: Mapping[str, int]) -> float:
    """Whole GPUs, those it had where it could use some to many; or the part of one that the share
    was of the GPU that it was on, of its memory or its compute, whichever was more."""
    share = request.gpu_memory_bytes
    if share is None:
        had = len(grants) if request.gpus_most is not None else 0
        return float(had or request.gpus)
    own = [gpu_bytes[grant.gpu_uuid] for grant in grants if gpu_bytes.get(grant.gpu_uuid)]
    size = own[0] if own else max(gpu_bytes.values(), default=0)
    if not size:
        return 1.0
    return min(1.0, max(share / size, (request.gpu_compute_percent or 0) / 100))


def _known(job: TraceJob, kept: set[str]) -> TraceJob:
    if not job.after:
        return job
    return replace(job, after=tuple(other for other in job.after if other in kept))


def _waited_s(found: Sequence[tuple[PastJob, TraceJob]], began_at: float) -> float:
    """How long the counted jobs really waited, on average: from when each was ready to its end,
    less its work."""
    ends = {one.id: job.ended_at for job, one in found}
    waited = count = 0.0
    for job, one in found:
        if not one.counted or job.ended_at is None:
            continue
        ready = began_at + one.submit_s
        for other in one.after:
            ready = max(ready, ends.get(other) or ready)
        waited += max(0.0, job.ended_at - ready - one.duration_s)
        count += 1
    return waited / count if count else 0.0


Charged = Callable[[str, str], str]


def charged(in_force: Rules, rules: Rules, linux_groups: Mapping[str, Sequence[str]]) -> Charged:
    """(user, group on record) -> the group that `rules` would have charged: the user's usual one,
    except where another than the usual one of the rules in force was named: that stays, and whoever
    may not charge it any more would be refused. Of people whose Linux groups nobody told, the one
    on record."""
    usual: dict[str, tuple[str, str, tuple[str, ...]]] = {}

    def group_for(user: str, group: str) -> str:
        if user not in usual:
            if user not in linux_groups:
                return group
            own = linux_groups[user]
            then = groups_of(in_force, user, own)
            usual[user] = then[0], group_of(rules, user, own), then
        then_usual, now_usual, might = usual[user]
        return group if group != then_usual and group in might else now_usual

    return group_for


def regrouped(trace: Trace, group_for: Charged) -> Trace:
    """The trace with everybody in the group that is charged."""
    jobs = []
    for job in trace.jobs:
        group = group_for(job.user, job.group)
        jobs.append(job if group == job.group else replace(job, group=group))
    return replace(trace, jobs=tuple(jobs))


def used_before(
    used: Sequence[PastUse], at: float, half_life_s: float, group_for: Charged
) -> tuple[Used, Used]:
    """GPU seconds of each user and of each group, halved for every half-life up to `at`."""
    users: dict[str, float] = {}
    groups: dict[str, float] = {}
    for one in used:
        left = one.gpu_s * 0.5 ** (max(0.0, at - one.at) / half_life_s)
        group = group_for(one.user, one.group)
        users[one.user] = users.get(one.user, 0.0) + left
        groups[group] = groups.get(group, 0.0) + left
    return tuple(sorted(users.items())), tuple(sorted(groups.items()))


def used_in_month(
    used: Sequence[PastUse], at: float, rules: Rules
) -> tuple[tuple[PriorityClass, str, float], ...]:
    """GPU seconds of each user within each class since the month of the rules' time zone began."""
    begin = Calendar(rules).month_of(at)[0]
    found: dict[tuple[PriorityClass, str], float] = {}
    for one in used:
        if begin <= one.at < at:
            key = one.priority_class, one.user
            found[key] = found.get(key, 0.0) + one.gpu_s
    return tuple((which, user, gpu_s) for (which, user), gpu_s in sorted(found.items()))
