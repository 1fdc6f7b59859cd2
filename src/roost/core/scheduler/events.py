"""What the scheduler is told. One small dataclass an event; every event carries its time `at`.

The server turns what happens into these; the replay and the tests write them by hand. Applying
the same events to the same state gives the same decisions, to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass

from roost.core.model import Booking, Gpu, Grant, Job, JobState, PriorityClass
from roost.core.rules.model import Rules


@dataclass(frozen=True, slots=True)
class InventoryChanged:
    """The GPUs, CPUs and memory that this server has. A UUID that is absent is gone."""

    at: float
    gpus: tuple[Gpu, ...]
    cpus: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class RulesChanged:
    at: float
    rules: Rules


@dataclass(frozen=True, slots=True)
class GpuChanged:
    """Health or drain of a GPU. `usable` False: nothing new starts on it; running jobs go on."""

    at: float
    gpu_uuid: str
    usable: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ForeignUse:
    """Memory on a GPU that no job of ours explains (a hand-started process), as of `at`.

    Complete each time: a GPU that is absent from `bytes_by_gpu` has none.
    """

    at: float
    bytes_by_gpu: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class GpuUse:
    """How busy each GPU was since the last one of these, 0 to 1. A GPU of which that is not known
    (a MIG instance, a card that does not say) is absent, and counts as busy."""

    at: float
    busy: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class BookingsChanged:
    """All bookings that are not over, complete each time. No GPU is booked twice at one time."""

    at: float
    bookings: tuple[Booking, ...]


@dataclass(frozen=True, slots=True)
class JobSubmitted:
    at: float
    job: Job


@dataclass(frozen=True, slots=True)
class JobStarted:
    """The first instruction of attempt `attempt` ran (STARTING -> RUNNING)."""

    at: float
    job: int
    attempt: int


@dataclass(frozen=True, slots=True)
class JobCheckpointed:
    """The job said that its work up to `at` is safe: lost work counts from here."""

    at: float
    job: int


@dataclass(frozen=True, slots=True)
class JobSuspended:
    """The attempt's processes stand still and compute nothing; its memory stays where it is."""

    at: float
    job: int
    attempt: int


@dataclass(frozen=True, slots=True)
class JobNotSuspended:
    """What `Suspend` asked for cannot be done: the attempt goes on as before."""

    at: float
    job: int
    attempt: int


@dataclass(frozen=True, slots=True)
class JobEnded:
    """The attempt's processes are all gone and its GPUs are free.

    `state` is the final state; `requeue` True puts the job back in its old place instead
    (preempted, or NODE_FAIL with requeue asked for).
    """

    at: float
    job: int
    attempt: int
    state: JobState
    requeue: bool = False


@dataclass(frozen=True, slots=True)
class JobCancelled:
    """A person cancelled it. Pending: it ends at once. Running: the scheduler decides `Stop`."""

    at: float
    job: int


@dataclass(frozen=True, slots=True)
class JobHeld:
    at: float
    job: int
    held: bool


@dataclass(frozen=True, slots=True)
class JobRequeued:
    """A person asked that a running job go back to the queue."""

    at: float
    job: int


@dataclass(frozen=True, slots=True)
class UsageRestored:
    """Past GPU seconds per user and group, decayed to `at`; for rebuilding from the store."""

    at: float
    gpu_s_by_user: tuple[tuple[str, float], ...] = ()
    gpu_s_by_group: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetsRestored:
    """GPU seconds of each (class, user) in this calendar month up to `at`, also by what runs."""

    at: float
    used_gpu_s: tuple[tuple[PriorityClass, str, float], ...]


@dataclass(frozen=True, slots=True)
class PastRun:
    """A job that ran to its own end, for so many seconds in all."""

    user: str
    group: str
    gpus: int
    walltime_s: float | None
    run_s: float


@dataclass(frozen=True, slots=True)
class HabitsRestored:
    """How long the last jobs ran, the oldest first: forecasts go by it. Before any JobRestored."""

    at: float
    runs: tuple[PastRun, ...]


@dataclass(frozen=True, slots=True)
class JobRestored:
    """A job as the store knew it, when state is rebuilt: `grants` where it holds GPUs.

    `started_at`: later by as long as the attempt was suspended before. `suspended_at`: since when
    it is. `suspend`: how it is just being suspended, "" for not at all. `gone_by`: until when one
    that was told to go has to be gone.
    """

    at: float
    job: Job
    state: JobState
    attempt: int
    grants: tuple[Grant, ...] = ()
    started_at: float | None = None
    checkpointed_at: float | None = None
    preempt_by: int | None = None
    suspended_at: float | None = None
    suspend: str = ""
    gone_by: float | None = None


@dataclass(frozen=True, slots=True)
class TimeReached:
    """Nothing happened but time: begin times, aging, minimum run and fair share move on."""

    at: float


Event = (
    InventoryChanged
    | RulesChanged
    | GpuChanged
    | ForeignUse
    | BookingsChanged
    | GpuUse
    | JobSubmitted
    | JobStarted
    | JobCheckpointed
    | JobSuspended
    | JobNotSuspended
    | JobEnded
    | JobCancelled
    | JobHeld
    | JobRequeued
    | UsageRestored
    | BudgetsRestored
    | HabitsRestored
    | JobRestored
    | TimeReached
)
