"""A notice as a subject and at most five lines; those of bookings here. Must not know where it
goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any

from roost.core.notices.job_message import clock_at, job_message, one_line
from roost.core.text.catalogue import say
from roost.core.text.notice import MESSAGES

RULES = {
    "booking_starts": "bookings.reminder",
    "booking_ends": "bookings.reminder",
    "booking_no_show": "bookings.no_show",
    "booking_in_way": "bookings.occupied",
    "booking_maintenance": "bookings.maintenance_notice",
}
HOW_ON = {"booking_in_way": "leave", "booking_occupied": "ask"}
DIGEST_LINES = 20
CAN_GIVE_BACK = {"booking_starts", "booking_turn", "booking_given", "booking_made", "booking_moved"}


def message_of(
    kind: str, detail: Mapping[str, Any], language: str, zone: tzinfo, zone_name: str
) -> tuple[str, tuple[str, ...]]:
    """The subject, enough by itself, and the lines under it; neither holds a control character,
    whatever a purpose or a name has in it."""
    if not kind.startswith("booking"):
        return job_message(kind, detail, language, zone, zone_name)
    numbers = {
        "booking": detail["booking"],
        "by": one_line(str(detail.get("by") or "Roost")),
        "start": clock_at(detail["start_at"], zone),
        "end": clock_at(detail.get("old_end_at") or detail["end_at"], zone),
        "gpus": len(detail.get("gpu_uuids") or ()) or detail.get("gpus", 0),
    }
    numbers["gpu"] = detail.get("gpu", "?")
    held_by = "job" if "job" in detail else "process"
    which = {name: detail.get(name, "?") for name in ("job", "pid")}
    numbers["what"] = say(language, f"notice.what_{held_by}", **which)
    if kind == "booking_moved":
        numbers["end"] = clock_at(detail["end_at"], zone)
    subject = say(language, f"notice.{kind if kind in MESSAGES else 'other'}", **numbers)
    lines = [subject]
    purpose = one_line(str(detail.get("purpose") or ""))
    if purpose and kind != "booking_maintenance":
        lines.append(say(language, "notice.purpose", purpose=purpose))
    if kind in RULES:
        lines.append(say(language, "notice.rule", rule=RULES[kind]))
    lines.append(
        say(
            language,
            f"notice.{'do' if kind in CAN_GIVE_BACK else HOW_ON.get(kind, 'see')}",
            **numbers,
        )
    )
    lines.append(say(language, "notice.zone", zone=zone_name))
    return subject, tuple(lines)


def digest_of(
    language: str, said: Sequence[tuple[str, tuple[str, ...]]]
) -> tuple[str, tuple[str, ...]]:
    """Many notices as one: their subjects, the first of them that fit."""
    subjects = [subject for subject, _ in said[:DIGEST_LINES]]
    more = len(said) - len(subjects)
    lines = [f"- {one}" for one in subjects]
    if more:
        lines.append(say(language, "notice.more", count=more))
    lines.append(say(language, "notice.digest_see"))
    return say(language, "notice.digest", count=len(said), first=subjects[0]), tuple(lines)
