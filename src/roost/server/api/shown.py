"""Shapes of the answers about the machine as it is seen: GPUs, holders, the last hour."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from roost.server.api.shapes import Out


class CheckOut(Out):
    reason: str
    found: bool | None
    result: str


class HolderOut(Out):
    """Of others' processes `command` is the program alone."""

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
    until: str | None
    ignored: bool
    lawful: bool | None
    reason_text: str | None
    sign: str | None
    remedy: str | None
    sure: str | None
    start_ticks: int | None
    uid: int | None
    workers: list[int]
    owner_evidence: str | None
    owner_sure: str | None
    free: str | None
    candidates: list[int]
    checks: list[CheckOut]


class GpuBookingOut(Out):
    """A booking of the GPU that is `on` now, or begins within a day."""

    booking: int
    user: str
    start: str
    end: str
    on: bool
    maintenance: bool
    gpu_memory_bytes: int | None


class GpuOut(Out):
    index: int
    uuid: str
    name: str
    memory_total_bytes: int | None
    memory_used_bytes: int | None
    memory_reserved_bytes: int | None
    utilisation_percent: int | None
    memory_utilisation_percent: int | None
    temperature_c: int | None
    temperature_slowdown_c: int | None
    power_w: float | None
    power_limit_w: float | None
    sm_clock_mhz: int | None
    fan_percent: int | None
    mig_mode: bool | None
    health: str
    health_text: str | None
    holders: list[HolderOut]
    drained: bool
    drain_reason: str | None
    bookings: list[GpuBookingOut] = Field(default=[])
    free_until: str | None


class QueueOut(Out):
    pending: int
    running: int


class StatusOut(Out):
    server: str
    driver_version: str | None
    gpus: list[GpuOut]
    driver_state: str
    driver_remedy: str | None
    reboot_needed: bool
    mps: bool | None
    simulated: bool
    limits: list[str]
    time: str
    observed_time: str | None
    agent: bool
    trouble: str | None
    queue: QueueOut


class RecentOut(Out):
    """Readings of the last hour by GPU (UUID): means over `step_s`, the first beginning at `from`;
    null where nobody looked, or the card does not say."""

    from_: Annotated[str, Field(alias="from")]
    step_s: float
    gpus: dict[str, dict[str, list[float | None]]]


class WhoOut(Out):
    holders: list[HolderOut]
    unattributed: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    time: str
