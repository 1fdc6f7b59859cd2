"""A notice of a job or of a budget as a subject and at most five lines. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import Any

from roost.core.rules.units import format_duration
from roost.core.text.catalogue import say
from roost.core.text.job import said_text
from roost.core.text.notice_job import MESSAGES
from roost.core.text.printable import printable

FAILED = {
    "TIMEOUT": "failed_timeout",
    "OUT_OF_MEMORY": "failed_memory",
    "NODE_FAIL": "failed_lost",
}
GIVES_WAY = ("job_preempted", "job_stopped")
LONGEST = 200
MOST_LINES = 5


def job_message(
    kind: str, detail: Mapping[str, Any], language: str, zone: tzinfo, zone_name: str
) -> tuple[str, tuple[str, ...]]:
    """As `message_of`, for kinds that are not of bookings."""

    def clock(at: float) -> str:
        return clock_at(at, zone)

    numbers = _numbers(detail, clock)
    subject = say(language, f"notice_job.{_code(kind, detail)}", **numbers)
    lines = [subject]
    name = one_line(str(detail.get("name") or ""))
    if name:
        lines.append(say(language, "notice_job.name", name=name))
    if kind == "budget":
        lines.append(say(language, "notice_job.used", **numbers))
    why = _why(detail, language, clock)
    if why:
        lines.append(say(language, "notice_job.why", why=why))
    elif detail.get("rule"):
        lines.append(say(language, "notice_job.rule", rule=one_line(str(detail["rule"]))))
    lines.append(say(language, f"notice_job.{_do(kind, detail)}", **numbers))
    said = detail.get("said") or {"numbers": {}}
    if "end_at" in detail or any(one.endswith("_at") for one in said["numbers"]):
        lines.append(say(language, "notice_job.zone", zone=zone_name))
    return subject, tuple(lines[:MOST_LINES])


def clock_at(at: float, zone: tzinfo) -> str:
    return datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M")


def one_line(text: str) -> str:
    """Text of somebody's, as part of a line: without control characters, and not too long."""
    return printable(text.encode("utf-8", "surrogatepass"))[:LONGEST]


def _numbers(detail: Mapping[str, Any], clock: Callable[[float], str]) -> dict[str, object]:
    return {
        "job": detail.get("job", 0),
        "gpus": detail.get("gpus", 0),
        "count": detail.get("count", 0),
        "completed": detail.get("completed", 0),
        "exit_code": detail.get("exit_code"),
        "signal": detail.get("signal"),
        "waited": format_duration(round(float(detail.get("waited_s") or 0.0))),
        "ran": format_duration(round(float(detail.get("ran_s") or 0.0))),
        "grace": format_duration(round(float(detail.get("grace_s") or 0.0))),
        "end": clock(float(detail.get("end_at") or 0.0)),
        "by": one_line(str(detail.get("by") or "Roost")),
        "for_job": detail.get("for_job", 0),
        "for_user": one_line(str(detail.get("for_user") or "?")),
        "class": detail.get("class", ""),
        "percent": detail.get("percent", 0),
        "used": f"{float(detail.get('used_s') or 0.0) / 3600.0:.1f}",
        "budget": f"{float(detail.get('budget_s') or 0.0) / 3600.0:.1f}",
    }


def _code(kind: str, detail: Mapping[str, Any]) -> str:
    if kind != "job_failed":
        return kind if kind in MESSAGES else "job_warned"
    found = FAILED.get(str(detail.get("state")))
    if found is not None:
        return found
    if detail.get("signal") is not None:
        return "failed_signal"
    return "failed_exit" if detail.get("exit_code") is not None else "failed_launch"


def _why(detail: Mapping[str, Any], language: str, clock: Callable[[float], str]) -> str:
    said = detail.get("said")
    if said:
        return one_line(said_text(language, said["message"], said["numbers"], clock))
    return one_line(str(detail.get("text") or ""))


def _do(kind: str, detail: Mapping[str, Any]) -> str:
    if kind in GIVES_WAY:
        return "again" if detail.get("requeue") else "not_again"
    return {
        "job_suspended": "goes_on", "job_requeued": "again", "job_time_limit": "limit",
        "array_ended": "see_array", "array_failed": "see_array", "budget": "see_budget",
    }.get(kind, "see")  # fmt: skip
