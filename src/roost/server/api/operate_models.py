"""Shapes of the answers for operators: the people, the drains, the health."""

from __future__ import annotations

from roost.server.api.shapes import Out


class UserOut(Out):
    user: str
    uid: int | None
    name: str
    role: str | None
    groups: list[str]
    leads: list[str]
    gpus: list[int]
    jobs_running: int
    jobs_waiting: int
    bookings: int
    sessions: int
    tokens: int
    seen_time: str | None
    used_time: str | None


class UsersOut(Out):
    users: list[UserOut]


class DrainJobOut(Out):
    job: int
    user: str
    name: str
    state: str
    gpus: int
    latest_end: str | None


class DrainBookingOut(Out):
    booking: int
    user: str
    start: str | None
    end: str | None
    maintenance: bool


class DrainOut(Out):
    gpu_uuid: str
    gpu_index: int
    name: str
    drained: bool
    reason: str | None
    time: str | None
    by: str | None
    jobs: list[DrainJobOut]
    bookings: list[DrainBookingOut]


class DrainsOut(Out):
    gpus: list[DrainOut]
    jobs_waiting: int
    jobs_without_gpus: int


class CheckOut(Out):
    part: str
    subject: str
    code: str
    state: str
    text: str
    remedy: str | None


class HealthOut(Out):
    state: str
    checks: list[CheckOut]
    roost: str
    server: str
    started_time: str | None
    observed_time: str | None
    recorded_time: str | None
    time: str | None
