"""Queries for who runs this Roost: who used it last, who drained what, how old the record is.

Knows rows, not what is made of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, func, select, text

from roost.store.outbox import FAILED, WAITING
from roost.store.tables import audit, hours, outbox, usage

MOST_DRAINS = 1000


def used_last(connection: Connection, since_at: float) -> dict[str, float]:
    """The last hour in which each person held a GPU, of those since then."""
    query = (
        select(usage.c.user, func.max(usage.c.hour))
        .where((usage.c.hour >= since_at) & (usage.c.user != ""))
        .group_by(usage.c.user)
    )
    return {user: float(hour) for user, hour in connection.execute(query)}


def drained_by(connection: Connection, uuids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Who drained each of these GPUs last, and when."""
    query = (
        select(audit.c.subject, audit.c.user, audit.c.at)
        .where((audit.c.action == "drain") & audit.c.subject.in_([f"gpu {u}" for u in uuids]))
        .order_by(audit.c.id.desc())
        .limit(MOST_DRAINS)
    )
    found: dict[str, dict[str, Any]] = {}
    for subject, user, at in connection.execute(query):
        found.setdefault(subject.removeprefix("gpu "), {"user": user, "at": float(at)})
    return found


def record_from(connection: Connection) -> float | None:
    """The first hour that the GPUs were looked at in."""
    first = connection.execute(select(func.min(hours.c.hour))).scalar()
    return None if first is None else float(first)


def database_bytes(connection: Connection) -> int | None:
    """How large the database is, as it says itself."""
    if connection.dialect.name == "sqlite":
        pages = connection.execute(text("PRAGMA page_count")).scalar()
        size = connection.execute(text("PRAGMA page_size")).scalar()
        return int(pages or 0) * int(size or 0)
    found = connection.execute(text("SELECT pg_database_size(current_database())")).scalar()
    return None if found is None else int(found)


def mail_trouble(connection: Connection, since_at: float) -> tuple[int, int, str]:
    """How many notices wait after a try that went wrong, how many were given up since then, and the
    last error."""
    stuck = (outbox.c.state == WAITING) & (outbox.c.tries > 0)
    lost = (outbox.c.state == FAILED) & (outbox.c.next_at >= since_at)
    count = select(func.count()).select_from(outbox)
    error = connection.execute(
        select(outbox.c.error).where(stuck | lost).order_by(outbox.c.notice.desc()).limit(1)
    ).scalar()
    waiting = connection.execute(count.where(stuck)).scalar() or 0
    failed = connection.execute(count.where(lost)).scalar() or 0
    return waiting, failed, error or ""
