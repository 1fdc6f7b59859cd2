"""The shapes of the API's answers and of a submission (docs/api.md), for type checkers and readers.

A key that is not there, and None, mean "not known"; never 0. Times are ISO 8601 with an offset.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Bytes = str | dict[Literal["base64"], str]


class Ping(TypedDict):
    roost: str
    server: str
    user: str
    uid: int
    operator: bool
    simulated: bool
    time_zone: str


class Holder(TypedDict):
    """Who a process's use of a GPU belongs to. `kind` "unattributed" always has a `reason`."""

    gpu_index: int
    gpu_uuid: str
    pid: int | None
    user: str | None
    group: str | None
    kind: Literal["job", "booking", "session", "container", "service", "unattributed"]
    container: str | None
    job: int | None
    booking: int | None
    memory_bytes: int | None
    command: str | None
    since: str | None
    idle_s: float | None
    right: str | None
    reason: str | None
    until: NotRequired[str | None]


class GpuBooking(TypedDict):
    """A booking of a GPU that is `on` now, or begins within a day."""

    booking: int
    user: str
    start: str
    end: str
    on: bool
    maintenance: bool
    gpu_memory_bytes: int | None


class GpuStatus(TypedDict):
    index: int
    uuid: str
    name: str
    memory_total_bytes: int | None
    memory_used_bytes: int | None
    utilisation_percent: float | None
    temperature_c: float | None
    power_w: float | None
    health: str
    drained: bool
    drain_reason: str | None
    holders: list[Holder]
    bookings: NotRequired[list[GpuBooking]]
    free_until: NotRequired[str | None]


class Queue(TypedDict):
    pending: int
    running: int


class Status(TypedDict):
    server: str
    driver_version: str | None
    gpus: list[GpuStatus]
    driver_state: str
    driver_remedy: str | None
    limits: list[str]
    reboot_needed: NotRequired[bool]
    mps: NotRequired[bool | None]
    simulated: bool
    time: str
    queue: Queue


class Who(TypedDict):
    holders: list[Holder]
    unattributed: NotRequired[list[dict[str, object]]]
    checks: NotRequired[list[dict[str, object]]]
    time: NotRequired[str]


class Request(TypedDict):
    gpus: int
    gpu_memory_bytes: int | None
    gpus_most: int | None
    gpu_compute_percent: int | None
    gpu_model: str | None
    cpus: int
    memory_bytes: int | None
    walltime_s: int | None


class Source(TypedDict):
    path: str
    sha256: str
    git_commit: NotRequired[str | None]
    git_dirty: NotRequired[bool | None]
    changed: NotRequired[bool | None]


Job = TypedDict(
    "Job",
    {
        "job": int,
        "name": str,
        "user": str,
        "group": str,
        "class": str,
        "state": str,
        "gpus": list[str],
        "gpu_indices": list[int],
        "request": Request,
        "submit_time": str,
        "begin_time": str | None,
        "start_time": str | None,
        "suspended_time": str | None,
        "suspended_s": float,
        "end_time": str | None,
        "exit_code": int | None,
        "signal": int | None,
        "end_reason": str | None,
        "text": str,
        "gpu_s": float | None,
        "energy_j": float | None,
        "mean_utilisation_percent": float | None,
        "peak_memory_bytes": int | None,
        "cpu_s": float | None,
        "restarts": int,
        "attempt": int,
        "after": list[int],
        "array_id": int | None,
        "array_index": int | None,
        "held": bool,
        "directory": str,
        "output": str | None,
        "command": list[str],
        "pty": bool,
        "source": Source | None,
        "wait": str | None,
        "forecast_start": str | None,
    },
    total=False,
)


class Jobs(TypedDict):
    jobs: list[Job]


class Reason(TypedDict):
    code: str
    text: str
    rule: str
    blocking_jobs: list[int]
    blocking_bookings: list[int]


class Unknown(TypedDict):
    code: str
    text: str
    blocking_jobs: list[int]


class Why(TypedDict):
    job: int
    state: str
    reasons: list[Reason]
    forecast_start: str | None
    forecast_latest: str | None
    forecast_unknown: Unknown | None
    startable_now: int | None


Submission = TypedDict(
    "Submission",
    {
        "command": list[Bytes],
        "script": Bytes,
        "script_name": str,
        "script_args": list[Bytes],
        "name": str,
        "group": str,
        "class": str,
        "gpus": int,
        "gpus_most": int,
        "gpu_memory_bytes": int,
        "gpu_compute_percent": int,
        "gpu_model": str,
        "cpus": int,
        "memory_bytes": int,
        "walltime_s": int,
        "array": str,
        "after": list[int],
        "begin_time": str,
        "held": bool,
        "directory": Bytes,
        "environment": dict[str, str] | list[list[Bytes]],
        "signal": str,
        "output": Bytes,
        "pty": bool,
        "rows": int,
        "columns": int,
        "umask": int,
        "requeue": bool,
        "reason": str,
        "source": Source,
    },
    total=False,
)


class Submitted(TypedDict):
    """`jobs` are the numbers of an array's elements; `notes` what the person should know."""

    job: int
    state: str
    jobs: NotRequired[list[int]]
    notes: NotRequired[list[str]]


class FreeItem(TypedDict):
    """A process by identity: pid and start time in clock ticks since boot."""

    pid: int
    start_ticks: int


class Event(TypedDict):
    event: str
    data: dict[str, object]
