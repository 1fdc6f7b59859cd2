"""The kinds of notices, and the topics by which people choose among them. Must not know channels.

A topic is what a person wants or not; a kind is one sentence of it. `ON` are the topics that
everybody gets who said nothing: what costs something if it is missed, each of them seldom.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TOPICS: Mapping[str, tuple[str, ...]] = {
    "booking_reminder": ("booking_starts", "booking_ends"),
    "booking_changed": (
        "booking_made", "booking_expired", "booking_no_show", "booking_turn", "booking_moved",
        "booking_cancelled", "booking_given", "booking_taken", "booking_swap_asked",
        "booking_swapped",
    ),
    "maintenance": ("booking_maintenance",),
    "job_started": ("job_started", "job_resumed"),
    "job_ended": ("job_ended", "array_ended"),
    "job_failed": ("job_failed", "job_never", "array_failed"),
    "job_preempted": (
        "job_preempted", "job_suspended", "job_stopped", "job_cancelled", "job_requeued",
    ),
    "job_warning": ("job_time_limit", "job_idle", "job_warned"),
    "budget": ("budget",),
}  # fmt: skip
ON = frozenset(TOPICS) - {"job_ended"}
_TOPIC_OF = {kind: topic for topic, kinds in TOPICS.items() for kind in kinds}
_URGENT = TOPICS["job_failed"] + TOPICS["job_preempted"] + TOPICS["job_warning"]


def topic_of(kind: str) -> str:
    """Of a kind that is not known (made by a newer Roost): the nearest."""
    return _TOPIC_OF.get(kind, "booking_changed" if kind.startswith("booking") else "job_warning")


def is_urgent(kind: str, detail: Mapping[str, Any]) -> bool:
    """Whether it passes quiet hours: an urgent job fails, gives way or is about to end."""
    return kind in _URGENT and detail.get("class") == "urgent"
