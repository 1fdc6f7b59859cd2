"""What the scheduler wants done. The server stores a decision before an engine carries it out."""

from __future__ import annotations

from dataclasses import dataclass, field

from roost.core.model import EndReason, Grant


@dataclass(frozen=True, slots=True)
class Start:
    """Start attempt `attempt` of the job on these GPUs (PENDING -> STARTING)."""

    job: int
    attempt: int
    grants: tuple[Grant, ...]


@dataclass(frozen=True, slots=True)
class Preempt:
    """Signal the victim, wait `grace_s`, end it, requeue it (RUNNING -> PREEMPTING)."""

    job: int
    attempt: int
    for_job: int
    grace_s: float
    rule: str


@dataclass(frozen=True, slots=True)
class Suspend:
    """Let the victim's processes stand still where they are (RUNNING -> PREEMPTING -> SUSPENDED).

    `how`: "freeze", what it has in GPU memory stays there, at most `most_bytes` on each GPU, else
    it cannot be; or "checkpoint", that is moved into the memory of the host. `JobSuspended` or
    `JobNotSuspended` is the answer.
    """

    job: int
    attempt: int
    for_job: int
    how: str
    most_bytes: int | None
    rule: str


@dataclass(frozen=True, slots=True)
class Resume:
    """Let a suspended job go on, on the GPUs that it had (SUSPENDED -> RUNNING)."""

    job: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Stop:
    """End a running job (RUNNING -> COMPLETING) because of `reason`; requeue where asked.

    `rule`: the key of the rules file behind it; `booking`: the one that it makes room for, or 0.
    """

    job: int
    attempt: int
    reason: EndReason
    grace_s: float
    requeue: bool = False
    rule: str = ""
    booking: int = 0


@dataclass(frozen=True, slots=True)
class Warn:
    """Tell whoever has the running job something about it; it goes on. `code` names a message of
    the `job` catalogue, which `numbers` fill; `rule` is the key of the rules file behind it."""

    job: int
    attempt: int
    code: str
    numbers: tuple[tuple[str, str | int | float], ...]
    rule: str


@dataclass(frozen=True, slots=True)
class Finish:
    """A job that holds nothing reached its end without running (cancelled, dependency failed)."""

    job: int
    reason_code: str


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason for a wait. `code` names a message of the `wait` catalogue, `numbers` fill it.

    `rule` is the key of the rules file behind it ("limits.regular.max_gpus"), or "".
    """

    code: str
    numbers: tuple[tuple[str, str | int | float], ...] = ()
    rule: str = ""
    blocking_jobs: tuple[int, ...] = ()
    blocking_bookings: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """Why a waiting job waits, first reason first. Asked for with `Scheduler.explain`, for a queue
    of ten thousand cannot be explained at every step; `step` does not return these.

    `forecast_start_at`: when it is likely to start, `forecast_latest_at`: when it does at the
    latest, if nobody comes before it; None: cannot be said, for the reason `forecast_unknown`.
    `explain` gives what is promised as both, `Scheduler.forecast` what comes of running it forward.
    `startable_now` is the number of GPUs that the same user could start with at once in this class
    (0 if none), None where it was not worked out.
    """

    job: int
    reasons: tuple[Reason, ...] = field(default=())
    forecast_start_at: float | None = None
    startable_now: int | None = None
    forecast_latest_at: float | None = None
    forecast_unknown: Reason | None = None


Decision = Start | Preempt | Suspend | Resume | Stop | Warn | Finish | Wait
