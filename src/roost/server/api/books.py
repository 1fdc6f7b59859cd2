"""Routes of what is on record: the usage ledger and the audit log."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from roost.server.api.context import Caller, answer
from roost.server.api.recorded import AuditOut, UsageOut
from roost.server.api.render import iso
from roost.server.api.submitted import time_of
from roost.store import ledger, log

router = APIRouter(prefix="/v1", tags=["records"])
DAY_S = 86400.0
MAX_ROWS = 100_000


@router.get("/usage", response_model=UsageOut)
async def usage(
    call: Caller,
    from_: Annotated[str | None, Query(alias="from", max_length=64)] = None,
    to: Annotated[str | None, Query(max_length=64)] = None,
    user: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Hourly ledger rows of [from, to); the last thirty days where nothing is said. And when nobody
    looked: of such a gap only what jobs held is known."""
    context = call.context
    zone, now = context.time_zone, context.clock()
    start = time_of("from", from_, zone)
    end = time_of("to", to, zone)
    first = now - 30 * DAY_S if start is None else start
    last = now + 3600.0 if end is None else end

    def look() -> tuple[list[dict[str, Any]], list[tuple[float, float]]]:
        with context.store.read() as connection:
            rows = ledger.usage_rows(connection, first, last, user, MAX_ROWS)
            return rows, log.gaps(connection, first, last)

    rows, gaps = await context.in_thread(look)
    await context.somebody(user, bool(rows))
    return answer(
        {
            "usage": [
                {
                    "hour": iso(row["hour"], zone),
                    "gpu_uuid": row["gpu_uuid"],
                    "user": row["user"] or None,
                    "group": row["group"] or None,
                    "job": row["job"] or None,
                    "class": row["class"] or None,
                    "correction": row["correction"],
                    **{
                        name: round(row[name], 3)
                        for name in ("held_s", "observed_s", "busy_s", "gb_s", "joules")
                    },
                }
                for row in rows
            ],
            "gaps": [
                {"start": iso(start, zone), "end": iso(end, zone), "seconds": round(end - start, 3)}
                for start, end in gaps
            ],
        }
    )


@router.get("/audit", response_model=AuditOut)
async def audit(
    call: Caller,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="`id` of a row")] = None,
    action: Annotated[str | None, Query(max_length=100)] = None,
    user: Annotated[str | None, Query(max_length=200)] = None,
    from_: Annotated[str | None, Query(alias="from", max_length=64)] = None,
    to: Annotated[str | None, Query(max_length=64)] = None,
) -> Response:
    """Who did what to whom, newest first; members see what concerns themselves. `user` narrows an
    operator's answer to one person, [from, to) to a time; `next` is the `before` of the next page,
    null on the last."""
    context, person = call.context, call.person
    whose = user if person.operator else person.name
    start = time_of("from", from_, context.time_zone)
    end = time_of("to", to, context.time_zone)

    def look() -> list[dict[str, Any]]:
        with context.store.read() as connection:
            return log.audit_rows(connection, limit + 1, whose, before, action, start, end)

    rows = await context.in_thread(look)
    shown = rows[:limit]
    return answer(
        {
            "audit": [
                {
                    "id": row["id"],
                    "time": iso(row["at"], context.time_zone),
                    "user": row["user"],
                    "uid": row["uid"],
                    "action": row["action"],
                    "subject": row["subject"],
                    "whom": row["whom"] or None,
                    "outcome": row["outcome"],
                    "detail": row["detail"],
                    # Where an operator sits is nothing for whom it was done to.
                    "origin": row["origin"] if person.operator or row["uid"] == person.uid else "",
                }
                for row in shown
            ],
            "next": shown[-1]["id"] if len(rows) > limit else None,
        }
    )
