"""Shapes of the answers about what is on record: usage, audit, rules and their versions."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from roost.server.api.shapes import Out


class UsageOut(Out):
    usage: list[dict[str, Any]]
    gaps: list[dict[str, Any]]


class TeamOut(Out):
    from_: str = Field(alias="from")
    to: str
    time_zone: str
    gpus: int
    people: list[TeamPersonOut]
    groups: list[TeamGroupOut]
    days: list[TeamDayOut]
    heat: list[TeamHourOut]
    waits_by_class: list[TeamWaitOut]
    waits_by_group: list[TeamWaitOut]
    gaps: list[dict[str, Any]]


class _Sums(Out):
    held_s: float
    observed_s: float
    busy_s: float


class TeamPersonOut(_Sums):
    user: str | None
    group: str | None
    joules: float


class TeamGroupOut(_Sums):
    group: str
    joules: float
    due: float | None
    part: float | None


class TeamDayOut(_Sums):
    day: str
    hours: int
    gap_hours: int
    held_seen_s: float
    lost_s: float


class TeamHourOut(_Sums):
    weekday: int
    hour: int
    hours: int
    gap_hours: int
    held_seen_s: float
    lost_s: float


class TeamWaitOut(Out):
    name: str
    jobs: int
    median_s: float | None
    p90_s: float | None


class AuditRowOut(Out):
    id: int
    time: str | None
    user: str
    uid: int | None
    action: str
    subject: str
    whom: str | None
    outcome: str
    detail: str
    origin: str


class AuditOut(Out):
    audit: list[AuditRowOut]
    next: int | None


class RulesOut(Out):
    version: int
    time: str | None
    user: str
    text: str
    path: str
    rules: dict[str, Any]
    problem: str | None
    mistakes: list[RulesFileMistakeOut]


class RulesFileMistakeOut(Out):
    key: str
    line: int | None
    text: str


class RulesVersionOut(Out):
    version: int
    time: str | None
    user: str
    uid: int | None
    sha256: str
    text: str
    in_force: bool


class RulesMistakeOut(Out):
    key: str
    line: int | None
    code: str
    value: str | None
    allowed: str | None
    text: str


class RulesChangeOut(Out):
    key: str
    old: str | None
    new: str | None
    text: str


class RulesCheckOut(Out):
    ok: bool
    mistakes: list[RulesMistakeOut]
    changes: list[RulesChangeOut] | None


class RulesHistoryRowOut(Out):
    version: int
    time: str | None
    user: str
    uid: int | None
    sha256: str
    changes: list[RulesChangeOut] | None
    problem: str | None


class RulesHistoryOut(Out):
    history: list[RulesHistoryRowOut]


class HistoryOut(Out):
    history: list[dict[str, Any]]
    next: str | None
    from_: str | None = Field(alias="from")
    to: str | None
    people: dict[str, list[str]]
    usage: list[dict[str, Any]]
    bookings: list[dict[str, Any]] = Field(default=[])
    gpus: list[dict[str, Any]]
    cpus: int | None
    memory_bytes: int | None
