"""Shapes of the answers about what is on record: usage, audit, rules and their versions."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from roost.server.api.shapes import Out


class UsageOut(Out):
    usage: list[dict[str, Any]]
    gaps: list[dict[str, Any]]


class AuditOut(Out):
    audit: list[dict[str, Any]]


class RulesOut(Out):
    version: int
    time: str | None
    user: str
    text: str
    rules: dict[str, Any]
    problem: str | None
    mistakes: list[dict[str, Any]]


class RulesVersionOut(Out):
    version: int
    time: str | None
    user: str
    uid: int | None
    sha256: str
    text: str
    in_force: bool


class RulesHistoryOut(Out):
    history: list[dict[str, Any]]


class HistoryOut(Out):
    history: list[dict[str, Any]]
    next: str | None
    from_: str | None = Field(alias="from")
    to: str | None
    people: dict[str, list[str]]
    usage: list[dict[str, Any]]
    gpus: list[dict[str, Any]]
    cpus: int | None
    memory_bytes: int | None
