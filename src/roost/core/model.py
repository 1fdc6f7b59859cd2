"""The words of Roost as data: GPUs, requests, jobs and their states.

Pure data. Times are seconds since the Unix epoch in UTC (`*_at`); the rules' time zone is applied
at the edges only. Sizes are bytes (`*_bytes`), spans are seconds (`*_s`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PriorityClass(StrEnum):
    """The three classes of the queue, in the order in which they are served."""

    URGENT = "urgent"
    REGULAR = "regular"
    BACKGROUND = "background"

    @property
    def rank(self) -> int:
        """0 for the class that is served first."""
        return _RANKS[self]


_RANKS = {PriorityClass.URGENT: 0, PriorityClass.REGULAR: 1, PriorityClass.BACKGROUND: 2}


class JobState(StrEnum):
    PENDING = "PENDING"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    PREEMPTING = "PREEMPTING"
    SUSPENDED = "SUSPENDED"
    COMPLETING = "COMPLETING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMEOUT = "TIMEOUT"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    NODE_FAIL = "NODE_FAIL"

    @property
    def ended(self) -> bool:
        return self in ENDED_STATES

    @property
    def waits(self) -> bool:
        return self in WAITING_STATES

    @property
    def holds_gpus(self) -> bool:
        return self in HOLDING_STATES


ENDED_STATES = frozenset(
    {
        JobState.COMPLETED,
        JobState.FAILED,
        JobState.CANCELLED,
        JobState.TIMEOUT,
        JobState.OUT_OF_MEMORY,
        JobState.NODE_FAIL,
    }
)
# What goes on by itself, and says why not yet.
WAITING_STATES = frozenset({JobState.PENDING, JobState.SUSPENDED})
HOLDING_STATES = frozenset(
    {
        JobState.STARTING,
        JobState.RUNNING,
        JobState.PREEMPTING,
        JobState.SUSPENDED,
        JobState.COMPLETING,
    }
)


class EndReason(StrEnum):
    """Why a job's processes ended, as its supervisor recorded it."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    PREEMPTED = "preempted"
    OUT_OF_MEMORY = "out_of_memory"
    LAUNCH_FAILED = "launch_failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as the scheduler sees it; a MIG instance is a GPU with a `parent`.

    `links` are the UUIDs of GPUs reachable without leaving NVLink; `numa_node` None is unknown.
    `server` tells the machines of a replay apart; the daemon schedules one, which needs no name.
    """

    uuid: str
    index: int
    model: str
    memory_bytes: int
    numa_node: int | None = None
    links: tuple[str, ...] = ()
    parent: str | None = None
    server: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What a job asks for: `gpus` whole GPUs, or `gpu_memory_bytes` on one GPU marked shared.

    `gpu_compute_percent`, with a share alone: of the GPU's compute, 1 to 100; None: no part is kept
    for it, it takes its turn with whatever else is on the GPU.
    `gpus` may be 0 for a job on CPUs alone. `gpus_most`: it can use up to so many, and `gpus` are
    the least. `cpus` 0: none are kept for it, it shares those of the
    machine with everybody. `walltime_s` None means no limit was given.
    """

    gpus: int = 1
    gpu_memory_bytes: int | None = None
    gpu_model: str | None = None
    cpus: int = 0
    memory_bytes: int | None = None
    walltime_s: float | None = None
    gpus_most: int | None = None
    gpu_compute_percent: int | None = None

    @property
    def shared(self) -> bool:
        return self.gpu_memory_bytes is not None


@dataclass(frozen=True, slots=True)
class Grant:
    """A GPU, or a share of its memory, held by a job. `memory_bytes` None is the whole GPU."""

    gpu_uuid: str
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Booking:
    """GPUs that one person has to themselves from `starts_at` until before `ends_at`.

    `maintenance`: no job runs on them then, not the person's own either. `memory_bytes`: only so
    much of the memory of one GPU that is marked shared.
    """

    id: int
    user: str
    gpu_uuids: tuple[str, ...]
    starts_at: float
    ends_at: float
    maintenance: bool = False
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """What the scheduler knows of a submitted job. It never changes except through events."""

    id: int
    user: str
    group: str
    priority_class: PriorityClass
    request: Request
    submitted_at: float
    after: tuple[int, ...] = ()
    begin_at: float | None = None
    held: bool = False
    array_id: int | None = None
    array_limit: int | None = None
    requeue: bool = True
    name: str = ""
