"""Whether an interval can be booked at all, and whether the rules allow a person so much of it."""

from __future__ import annotations

from roost.core.bookings.limits import over_limits
from roost.core.bookings.model import Want
from roost.core.rules.units import format_duration
from roost.server.refusal import RefusalError
from roost.server.work import Work

LEAST_S = 60
MOST_SPANS = 1000
Spans = tuple[tuple[int, int], ...]


def check_spans(spans: Spans, now: float, least_s: int | None = None) -> None:
    """Raises RefusalError for what is no interval, or over. `least_s`: in place of a minute."""
    shortest_s = LEAST_S if least_s is None else least_s
    if not spans or len(spans) > MOST_SPANS:
        raise RefusalError(
            422, "booking.no_times" if not spans else "booking.too_many_times", {"key": "repeat"},
            most=MOST_SPANS,
        )  # fmt: skip
    for start, end in spans:
        if end - start < shortest_s:
            raise RefusalError(422, "booking.too_short", {"key": "end"})
        if end <= now:
            raise RefusalError(422, "booking.past", {"key": "end"})


def check_owner(uid: int, maintenance: bool = False) -> None:
    """Raises RefusalError for root, who runs no jobs and could only keep others off the GPUs; a
    maintenance is nobody's to run on."""
    if uid == 0 and not maintenance:
        raise RefusalError(422, "booking.not_root", {"key": "user"})


def check_limits(
    work: Work, user: str, want: Want, spans: Spans, *,
    repeated: bool = False, without: int = 0,
) -> None:  # fmt: skip
    """Raises RefusalError 422 naming the rule and the numbers."""
    rules = work.rules.rules.bookings
    mine = [one.planned() for one in work.books.booked() if one.user == user and one.id != without]
    count = 0 if want.memory_bytes is not None else want.count
    over = over_limits(rules, mine, count, spans, work.now, repeated)
    if over is not None:
        raise RefusalError(
            422, f"booking.{over.code}",
            {"rule": over.rule, "limit_s": over.limit_s, "used_s": over.used_s},
            rule=over.rule, limit=format_duration(over.limit_s), hours=f"{over.limit_s / 3600:g}",
            used=f"{over.used_s / 3600:.1f}",
        )  # fmt: skip
