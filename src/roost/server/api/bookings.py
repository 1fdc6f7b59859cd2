"""Routes of bookings: who has which GPUs when, and taking, changing or giving back such a time."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Response

from roost.core.bookings.model import Want
from roost.server.api.booking_models import BookedOut, BookIn, BookingOut, BookingsOut
from roost.server.api.context import Call, Caller, answer
from roost.server.api.machine import gpu_uuid
from roost.server.api.render import iso
from roost.server.api.submitted import time_of
from roost.server.bookings.intents import Book, Close
from roost.server.refusal import RefusalError
from roost.store.bookings import BookingRecord, bookings_between

router = APIRouter(prefix="/v1/bookings", tags=["bookings"])
Number = Annotated[int, Path(ge=0, le=2**53, description="A booking's number")]
DAY_S = 86400.0
MAX_ROWS = 10_000


def booking_row(call: Call, one: BookingRecord) -> dict[str, Any]:
    """Its purpose is for the person, whoever leads the group and operators, unless it is public."""
    zone, gpus = call.context.time_zone, call.context.board.gpus
    shown = one.public or one.maintenance or call.person.may_handle(one.uid, one.group)
    return {
        "booking": one.id,
        "user": one.user,
        "group": one.group,
        "state": one.state,
        "gpus": list(one.gpu_uuids),
        "gpu_indices": [gpus[uuid].index for uuid in one.gpu_uuids if uuid in gpus],
        "wanted": one.gpus,
        "gpu_memory_bytes": one.memory_bytes,
        "start": iso(one.starts_at, zone),
        "end": iso(one.ends_at, zone),
        "purpose": one.purpose if shown else None,
        "public": one.public,
        "maintenance": one.maintenance,
        "made_time": iso(one.made_at, zone),
    }


@router.get("", response_model=BookingsOut)
async def bookings(
    call: Caller,
    from_: Annotated[str | None, Query(alias="from", max_length=64)] = None,
    to: Annotated[str | None, Query(max_length=64)] = None,
    user: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """What lies in [from, to), however it ended, by start; from now on where nothing is said."""
    context = call.context
    zone, now = context.time_zone, context.clock()
    start, end = time_of("from", from_, zone), time_of("to", to, zone)
    first = now if start is None else start
    last = first + 366 * DAY_S if end is None else end

    def look() -> list[BookingRecord]:
        with context.store.read() as connection:
            return bookings_between(connection, first, last, user, MAX_ROWS)

    found = await context.in_thread(look)
    await context.somebody(user, bool(found))
    return answer({"bookings": [booking_row(call, one) for one in found]})


@router.post("", response_model=BookedOut, status_code=201)
async def book(
    given: BookIn,
    call: Caller,
    key: Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)] = None,
) -> Response:
    """Take GPUs for a time: the server chooses them, or those named. 409 says who has it and what
    is free instead."""
    zone = call.context.time_zone
    start, end = time_of("start", given.start, zone), time_of("end", given.end, zone)
    if start is None or (end is None) == (given.duration_s is None):
        raise RefusalError(422, "booking.start_and_end", {"key": "end"})
    until = start + (given.duration_s or 0) if end is None else end
    chosen = tuple(dict.fromkeys(gpu_uuid(call, name) for name in given.chosen))
    want = Want(len(chosen) or given.gpus, chosen, given.gpu_memory_bytes, given.gpu_model)
    intent = Book(
        call.person, want, ((int(start), int(until)),), group=given.group,
        purpose=given.purpose.strip(), public=given.public, maintenance=given.maintenance,
        wait=given.wait, dry_run=given.dry_run, key=key,
    )  # fmt: skip
    made = await call.context.intend(intent)
    return answer({"bookings": [booking_row(call, one) for one in made]}, 201)


@router.post("/{number}/cancel", response_model=BookingOut)
async def cancel(number: Number, call: Caller) -> Response:
    """Cancel it, or give back what is left of it."""
    (closed,) = await call.context.intend(Close(call.person, number))
    return answer(booking_row(call, closed))
