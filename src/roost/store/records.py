"""Rows as frozen data: a job as the daemon keeps it, an attempt, an allocation, a line of the log.

Knows neither SQL nor the API. Bytes are what Unix takes; times are seconds since the epoch.
"""

from __future__ import annotations

import msgspec

from roost.core.model import (
    EndReason,
    Grant,
    Job,
    JobState,
    PriorityClass,
    Request,
)
from roost.core.output import output_path
from roost.core.scheduler.decisions import Wait


class JobInput(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a job is made of, which is large or private; the elements of an array share one."""

    argv: tuple[bytes, ...] = ()
    script: bytes | None = None
    script_args: tuple[bytes, ...] = ()
    environment: tuple[tuple[bytes, bytes], ...] = ()
    umask: int | None = None
    rows: int = 24
    columns: int = 80
    warn_signal: int | None = None
    warn_before_s: float = 60.0
    env_path: bytes = b""


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """The file that was to run, as it was at submission; `changed` None until it started."""

    path: str
    sha256: str
    git_commit: str | None = None
    git_dirty: bool | None = None
    changed: bool | None = None


class Said(msgspec.Struct, frozen=True):
    """A sentence to be said in any language: `say(language, message, **numbers)`."""

    message: str
    numbers: dict[str, str] = {}


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A job, whole. `wait` is kept in memory only; `command` is cut for showing.

    `output` is the pattern as it was given, the same for all elements of an array.
    """

    id: int
    user: str
    uid: int
    group: str
    priority_class: PriorityClass
    state: JobState
    name: str
    request: Request
    submitted_at: float
    begin_at: float | None = None
    started_at: float | None = None
    ended_at: float | None = None
    checkpointed_at: float | None = None
    suspended_at: float | None = None
    suspended_s: float = 0.0
    exit_code: int | None = None
    signal: int | None = None
    end_reason: EndReason | None = None
    text: str = ""
    said: Said | None = None
    gpu_s: float = 0.0
    busy_s: float = 0.0
    observed_s: float = 0.0
    energy_j: float | None = None
    peak_memory_bytes: int | None = None
    cpu_s: float | None = None
    restarts: int = 0
    attempt: int = 0
    after: tuple[int, ...] = ()
    array_id: int | None = None
    array_index: int | None = None
    array_limit: int | None = None
    held: bool = False
    requeue: bool = True
    pty: bool = False
    directory: bytes = b""
    output: bytes | None = None
    command: tuple[bytes, ...] = ()
    granted: tuple[Grant, ...] = ()
    source: Source | None = None
    input_id: int = 0
    env: str = ""
    wait: Wait | None = None

    @property
    def latest_end(self) -> float | None:
        """When its walltime is over; None where it has none, does not run or is suspended."""
        walltime_s = self.request.walltime_s
        if self.started_at is None or walltime_s is None or self.suspended_at is not None:
            return None
        return self.started_at + self.suspended_s + walltime_s

    def output_file(self) -> bytes | None:
        """The path that `output` stands for in this job."""
        return self.output and output_path(
            self.output, job=self.id, array_id=self.array_id, array_index=self.array_index,
            name=self.name, user=self.user,
        )  # fmt: skip

    def scheduled(self, after: tuple[int, ...] | None = None) -> Job:
        """What the scheduler is told of it; `after`: those of `self.after` still waited for."""
        return Job(
            id=self.id,
            user=self.user,
            group=self.group,
            priority_class=self.priority_class,
            request=self.request,
            submitted_at=self.submitted_at,
            after=self.after if after is None else after,
            begin_at=self.begin_at,
            held=self.held,
            array_id=self.array_id,
            array_limit=self.array_limit,
            requeue=self.requeue,
            name=self.name,
        )


class AttemptRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt: when it was decided, why it was told to stop, how it ended. `suspend`: how it
    is suspended, or just being, keeping `suspend_bytes` of each GPU at the most; "" if not."""

    job: int
    attempt: int
    decided_at: float
    started_at: float | None = None
    ended_at: float | None = None
    stop_reason: EndReason | None = None
    stop_at: float | None = None
    stop_grace_s: float | None = None
    stop_requeue: bool | None = None
    stop_for_job: int | None = None
    stop_rule: str | None = None
    suspend: str = ""
    suspend_bytes: int | None = None
    end_reason: EndReason | None = None
    exit_code: int | None = None
    signal: int | None = None
    done: bool | None = None
    text: str = ""


class AllocationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU, or `share` of it (1.0: whole), held by an attempt over [from_at, to_at).

    `held_through`: up to when the ledger has its held seconds.
    """

    id: int
    gpu_uuid: str
    job: int
    attempt: int
    user: str
    group: str
    priority_class: str
    memory_bytes: int | None
    share: float
    from_at: float
    held_through: float
    to_at: float | None = None


class UsageKey(msgspec.Struct, frozen=True):
    """Whose use of which GPU in which hour. `user` "" is nobody, `job` 0 no job."""

    hour: int
    gpu_uuid: str
    user: str
    group: str
    job: int
    priority_class: str


class UsageAmount(msgspec.Struct):
    """`observed_s` says for how much of the hour utilisation is known: the rest is a gap."""

    held_s: float = 0.0
    observed_s: float = 0.0
    busy_s: float = 0.0
    gb_s: float = 0.0
    joules: float = 0.0


class Reading(msgspec.Struct):
    """Integrals of one GPU over a minute or an hour, and the highest values in it."""

    observed_s: float = 0.0
    utilisation_s: float = 0.0
    busy_s: float = 0.0
    memory_byte_s: float = 0.0
    joules: float = 0.0
    memory_max_bytes: int | None = None
    power_max_w: float | None = None
    temperature_max_c: int | None = None


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Who (`uid` None: Roost itself) did what to which job or GPU of whom, and what came of it.
    `origin`: from which address and by which token; "" on the server itself."""

    at: float
    uid: int | None
    user: str
    action: str
    subject: str = ""
    whom: str = ""
    outcome: str = "done"
    detail: str = ""
    origin: str = ""
