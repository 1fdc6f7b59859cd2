"""The route of the team's past: what ran in a period, for everybody to replay under other rules.

All may read it: it says of a job what `GET /v1/jobs?ended=1` says of it to everybody (who, which
class, what was asked for, from when to when), and nothing of its command, folder or output. Whoever
argues about the rules must be able to reckon for himself.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Response

from roost.server.api.context import Call, Caller, answer
from roost.server.api.recorded import HistoryOut
from roost.server.api.render import iso, offset_of
from roost.server.api.submitted import time_of
from roost.server.refusal import RefusalError
from roost.store import history as queries

router = APIRouter(prefix="/v1", tags=["records"])
DAYS_S = 30 * 86400.0
# What fair share remembers of use before: a dozen of its usual half-lives.
REMEMBERED_S = 90 * 86400.0
Rows = list[queries.Row]
Attempts = dict[int, Rows]
PAGE, MOST = 1000, 5000
MOST_BOOKINGS = 20_000
BREATH, PAUSE_S = 25, 0.0002


@router.get("/history", response_model=HistoryOut)
async def history(
    call: Caller,
    from_: Annotated[str | None, Query(alias="from", max_length=64)] = None,
    to: Annotated[str | None, Query(max_length=64)] = None,
    after: Annotated[str | None, Query(max_length=64, description="`next` of a page")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = PAGE,
) -> Response:
    """Jobs that ran or waited in [from, to), the last thirty days where nothing is said: first the
    live ones, beside the first page, then those that ended, by their ends, until `next` is null.
    And what there is to run them on, the Linux groups of the people on this page, and, beside the
    first, what was held before, by the day, and the bookings that were known of in that time."""
    context = call.context
    zone, now = context.time_zone, context.clock()
    start, end = time_of("from", from_, zone), time_of("to", to, zone)
    end = now if end is None else end
    start = end - DAYS_S if start is None else start
    seen = _place(after)

    def look() -> tuple[list[queries.Row], list[queries.Row], Attempts, Rows, Rows]:
        with context.store.read() as connection:
            # Those that end meanwhile are then in a later page; they are told twice, not never.
            live = queries.live_rows(connection, end) if seen is None else []
            ended = queries.ended_rows(connection, start, end, seen, limit)
            again = [row["id"] for row in (*live, *ended) if _several(row)]
            attempts = queries.attempts_of(connection, again)
            if seen is not None:
                return live, ended, attempts, [], []
            offset_s = offset_of(start, zone)
            used = queries.held_before(connection, start - REMEMBERED_S, start, offset_s)
            booked = queries.booking_rows(connection, start, end, MOST_BOOKINGS)
            return live, ended, attempts, used, booked

    live, ended, attempts, used, booked = await context.in_thread(look)
    rows = [*live, *ended]
    people = await _people(call, rows)

    def written() -> Response:
        last = ended[-1] if len(ended) == limit else None
        host = context.board.host
        return answer(
            {
                "history": list(_jobs(rows, attempts, zone)),
                "next": None if last is None else f"{last['ended_at']!r}:{last['id']}",
                "from": iso(start, zone),
                "to": iso(end, zone),
                "people": people,
                "usage": [
                    {**row, "day": iso(row["day"], zone), "held_s": round(row["held_s"], 3)}
                    for row in used
                ],
                "bookings": [_booking(row, zone) for row in booked],
                "gpus": [msgspec.to_builtins(gpu) for gpu in context.board.gpus.values()],
                "cpus": None if host is None else host.cpus,
                "memory_bytes": None if host is None else host.memory_bytes,
            }
        )

    return await context.in_thread(written)


def _several(row: queries.Row) -> bool:
    """Whether its own row does not tell of every attempt: it holds the last alone, and of one that
    went back to the queue nothing."""
    return bool(row["attempt"] > 1 or (row["attempt"] and row["started_at"] is None))


def _place(text: str | None) -> tuple[float, int] | None:
    """The end and number that `next` stands for. Raises RefusalError."""
    if text is None:
        return None
    end, _, number = text.partition(":")
    try:
        found = float(end), int(number)
        if 0.0 <= found[0] < 1e15 and 0 <= found[1] < 2**63:
            return found
    except ValueError:
        pass
    raise RefusalError(
        422, "problem.invalid", {"key": "after"}, key="after", problem=f"{text!r} ≠ next"
    )


async def _people(call: Call, rows: Sequence[queries.Row]) -> dict[str, list[str]]:
    """The Linux groups of each user, by which the rules say what they may charge."""
    context, rules = call.context, call.context.board.rules.rules
    found = {}
    for name, uid in {row["user"]: row["uid"] for row in rows}.items():
        person = await context.people.person(uid, rules)
        found[name] = sorted(person.groups) if person.name == name else []
    return found


def _jobs(
    rows: Sequence[queries.Row], attempts: Mapping[int, Sequence[queries.Row]], zone: str
) -> Iterator[dict[str, Any]]:
    """The jobs of a page. Every few of them the interpreter is left to those who wait for it: a
    history has time, an intent has none."""
    for place, row in enumerate(rows):
        if place % BREATH == 0:
            time.sleep(PAUSE_S)
        yield _job(row, attempts.get(row["id"]), zone)


def _booking(row: queries.Row, zone: str) -> dict[str, Any]:
    """A booking as it was in the end, without its purpose."""
    return {
        "booking": row["id"],
        "user": row["user"],
        "state": row["state"],
        "gpus": json.loads(row["gpu_uuids"]),
        "gpu_memory_bytes": row["memory_bytes"],
        "start": iso(row["starts_at"], zone),
        "end": iso(row["ends_at"], zone),
        "made_time": iso(row["made_at"], zone),
        "closed_time": iso(row["closed_at"], zone),
        "maintenance": bool(row["maintenance"]),
    }


def _job(row: queries.Row, attempts: Sequence[queries.Row] | None, zone: str) -> dict[str, Any]:
    """One job; of one that was started once its only attempt is in its own row."""
    if attempts is None:
        attempts = [row] if row["attempt"] else []
    return {
        "job": row["id"],
        "user": row["user"],
        "group": row["group"],
        "class": row["class"],
        "state": row["state"],
        "request": {
            "gpus": row["gpus"],
            "gpus_most": row["gpus_most"],
            "gpu_memory_bytes": row["gpu_memory_bytes"],
            "gpu_compute_percent": row["gpu_compute_percent"],
            "gpu_model": row["gpu_model"],
            "cpus": row["cpus"],
            "memory_bytes": row["memory_bytes"],
            "walltime_s": row["walltime_s"],
        },
        "submit_time": iso(row["submitted_at"], zone),
        "begin_time": iso(row["begin_at"], zone),
        "end_time": iso(row["ended_at"], zone),
        "after": json.loads(row["after"]),
        "array_id": row["array_id"],
        "array_limit": row["array_limit"],
        "requeue": row["requeue"],
        "granted": [
            {"gpu_uuid": uuid, "memory_bytes": share} for uuid, share in json.loads(row["granted"])
        ],
        "attempts": [
            {
                "start_time": iso(one["started_at"], zone),
                "end_time": iso(one["ended_at"], zone),
                "end_reason": one["end_reason"],
            }
            for one in attempts
        ],
    }
