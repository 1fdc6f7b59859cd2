"""What ran in a period, a page at a time: of each job what a replay needs, without its command.

Read by the index of ends, so that a page costs what is in it, however long the record is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, and_, func, or_, select

from roost.store.tables import attempts, bookings, jobs, usage

PART = 500
DAY_S = 86400
_COLUMNS = tuple(
    jobs.c[name]
    for name in (
        "id", "user", "uid", "group", "class", "state", "gpus", "gpu_memory_bytes", "gpu_model",
        "gpus_most", "gpu_compute_percent",
        "cpus", "memory_bytes", "walltime_s", "submitted_at", "begin_at", "started_at", "ended_at",
        "end_reason", "attempt", "after", "array_id", "array_limit", "requeue", "granted",
    )
)  # fmt: skip
Row = Mapping[str, Any]


def live_rows(connection: Connection, to_at: float) -> list[Row]:
    """Jobs without an end that were submitted before `to_at`, by number."""
    query = select(*_COLUMNS).where(jobs.c.ended_at.is_(None) & (jobs.c.submitted_at < to_at))
    return _rows(connection, query.order_by(jobs.c.id))


def ended_rows(
    connection: Connection,
    from_at: float,
    to_at: float,
    after: tuple[float, int] | None,
    limit: int,
) -> list[Row]:
    """Jobs that ended at or after `from_at` and were submitted before `to_at`, by end and number;
    `after`: end and number of the last that was seen."""
    end, number = jobs.c.ended_at, jobs.c.id
    query = select(*_COLUMNS).where((end >= from_at) & (jobs.c.submitted_at < to_at))
    if after is not None:
        query = query.where(end >= after[0])
        query = query.where(or_(end > after[0], and_(end == after[0], number > after[1])))
    return _rows(connection, query.order_by(end, number).limit(limit))


def attempts_of(connection: Connection, numbers: Sequence[int]) -> dict[int, list[Row]]:
    """Starts, ends and reasons of every attempt of these jobs, in their order."""
    found: dict[int, list[Row]] = {}
    names = ("job", "attempt", "started_at", "ended_at", "end_reason")
    for start in range(0, len(numbers), PART):
        part = numbers[start : start + PART]
        query = select(*(attempts.c[name] for name in names)).where(attempts.c.job.in_(part))
        for row in _rows(connection, query.order_by(attempts.c.job, attempts.c.attempt)):
            found.setdefault(row["job"], []).append(row)
    return found


def booking_rows(connection: Connection, from_at: float, to_at: float, limit: int) -> list[Row]:
    """Bookings of GPUs that somebody knew of in [from_at, to_at) and that were not over by then, by
    number; of more than `limit` the last ones."""
    names = (
        "id", "user", "state", "gpu_uuids", "memory_bytes", "starts_at", "ends_at", "made_at",
        "closed_at", "maintenance",
    )  # fmt: skip
    query = (
        select(*(bookings.c[name] for name in names))
        .where(bookings.c.made_at < to_at, bookings.c.ends_at > from_at)
        .where(or_(bookings.c.closed_at.is_(None), bookings.c.closed_at > from_at))
        .where(bookings.c.gpu_uuids != "[]")
        .order_by(bookings.c.id.desc())
    )
    return _rows(connection, query.limit(limit))[::-1]


def held_before(
    connection: Connection, from_at: float, to_at: float, offset_s: int = 0
) -> list[Row]:
    """`held_s`: GPU seconds that jobs held, by user, group, class and `day` (its start, where the
    clock is `offset_s` ahead of UTC), of the hours in [from_at, to_at)."""
    day = ((usage.c.hour + offset_s) // DAY_S).label("number")
    held = func.sum(usage.c.held_s).label("held_s")
    whose = usage.c.user, usage.c.group, usage.c["class"]
    query = (
        select(*whose, (day * DAY_S - offset_s).label("day"), held)
        .where((usage.c.hour >= from_at) & (usage.c.hour < to_at) & (usage.c.job > 0))
        .group_by(*whose, day)
        .order_by(day, *whose)
    )
    return _rows(connection, query)


def _rows(connection: Connection, query: Select[Any]) -> list[Row]:
    return [dict(row) for row in connection.execute(query).mappings()]
