"""What the rules allow to be booked: how far ahead, how long, how much a person. Pure.

A maintenance of an operator's is under none of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from roost.core.model import Booking
from roost.core.rules.model import BookingRules


@dataclass(frozen=True, slots=True)
class Over:
    """A limit that would be passed. `code` of the area `booking`, `rule` the key of the file."""

    code: str
    rule: str
    limit_s: float
    used_s: float = 0.0


def over_limits(
    rules: BookingRules,
    mine: Iterable[Booking],
    count: int,
    spans: Iterable[tuple[float, float]],
    now: float,
    repeated: bool = False,
) -> Over | None:
    """The first limit that `count` GPUs over these spans pass; `mine` are the person's other
    bookings. A series may reach as far as `repeat_horizon`; what counts towards the quota is what
    lies within the horizon."""
    wanted = list(spans)
    reach_s = rules.repeat_horizon_s if repeated else rules.horizon_s
    if any(end - start > rules.longest_s for start, end in wanted):
        return Over("too_long", "bookings.longest", rules.longest_s)
    if any(start > now + reach_s for start, _ in wanted):
        key = "repeat_horizon" if repeated else "horizon"
        return Over("too_far", f"bookings.{key}", reach_s)
    most = rules.per_user_gpu_s
    if most is not None:
        last = now + rules.horizon_s
        used = sum(
            len(one.gpu_uuids) * _within(one.starts_at, one.ends_at, now, last)
            for one in mine
            if not one.maintenance
        )
        new = sum(count * _within(start, end, now, last) for start, end in wanted)
        if used + new > most:
            return Over("quota", "bookings.per_user_gpu_hours", most, used)
    return None


def _within(start: float, end: float, first: float, last: float) -> float:
    return max(0.0, min(end, last) - max(start, first))
