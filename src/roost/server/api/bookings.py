"""Routes of bookings: who has which GPUs when, and taking, changing or giving back such a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Response

from roost.core.bookings.model import Want
from roost.server.api.booking_models import (
    BatchIn,
    BookedOut,
    BookIn,
    BookingOut,
    BookingsOut,
    CancelIn,
    ChangeIn,
    ClosedOut,
    GiveIn,
    SwapIn,
    SwappedOut,
)
from roost.server.api.context import Call, Caller, Context, answer
from roost.server.api.machine import gpu_uuid
from roost.server.api.render import iso
from roost.server.api.render import zone as zone_of
from roost.server.api.submitted import time_of
from roost.server.bookings.change import may_change
from roost.server.bookings.intents import Book, BookAll, Change, Close, Give, Owner, Swap
from roost.server.bookings.repeat import Times, times
from roost.server.intents import Person
from roost.server.refusal import RefusalError
from roost.store.bookings import (
    BookingRecord,
    SeriesRecord,
    all_series,
    bookings_between,
    find_booking,
)

router = APIRouter(prefix="/v1/bookings", tags=["bookings"])
Number = Annotated[int, Path(ge=0, le=2**53, description="A booking's number")]
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)]
Series = dict[int, SeriesRecord]
DAY_S = 86400.0
MAX_ROWS = 10_000


def booking_row(call: Call, one: BookingRecord, series: Series) -> dict[str, Any]:
    """Its purpose is for the person, whoever leads the group and operators, unless it is public."""
    zone, gpus = call.context.time_zone, call.context.board.gpus
    shown = one.public or one.maintenance or call.person.may_handle(one.uid, one.group)
    repeat = series.get(one.series) if one.series is not None else None
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
        "made_by": one.made_by,
        "gpu_model": one.gpu_model,
        "used_time": iso(one.used_at, zone),
        "closed_time": iso(one.closed_at, zone),
        "series": one.series,
        "repeat": repeat.rule if repeat is not None else None,
        "may_change": not call.person.viewer and may_change(call.person, one),
        "swap_with": one.swap_with,
    }


async def booking_rows(call: Call, records: Iterable[BookingRecord]) -> list[dict[str, Any]]:
    """As answers have them, each with the rule of its series."""
    found = list(records)
    numbers = {one.series for one in found if one.series is not None}

    def look() -> Series:
        with call.context.store.read() as connection:
            return all_series(connection, numbers)

    series: Series = await call.context.in_thread(look) if numbers else {}
    return [booking_row(call, one, series) for one in found]


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
    return answer({"bookings": await booking_rows(call, found)})


@router.post("", response_model=BookedOut, status_code=201)
async def book(given: BookIn, call: Caller, key: Key = None) -> Response:
    """Take GPUs for a time, or again and again by a rule of RFC 5545: the server chooses them, or
    those named. 409 says who has them and what is free instead."""
    made = await call.context.intend(await book_of(call, given, key))
    return answer({"bookings": await booking_rows(call, made)}, 201)


@router.post("/batch", response_model=BookedOut, status_code=201)
async def batch(given: BatchIn, call: Caller, key: Key = None) -> Response:
    """Several bookings at once, all or none. Operators only. A refusal says which `row`, from 0."""
    books = []
    for place, one in enumerate(given.bookings):
        for name in ("repeat", "wait", "dry_run"):
            if getattr(one, name):
                raise RefusalError(
                    422, "booking.not_in_batch", {"key": name, "row": place}, key=name
                )
        try:
            books.append(await book_of(call, one, None))
        except RefusalError as no:
            no.extra["row"] = place
            raise
    intent = BookAll(call.person, tuple(books), given.skip, given.dry_run, key)
    made = await call.context.intend(intent)
    return answer({"bookings": await booking_rows(call, made)}, 201)


@router.get("/{number}", response_model=BookingOut)
async def booking(number: Number, call: Caller) -> Response:
    """One booking, also one that is over."""

    def look() -> BookingRecord | None:
        with call.context.store.read() as connection:
            return find_booking(connection, number)

    found = await call.context.in_thread(look)
    if found is None:
        raise RefusalError(404, "booking.no_booking", {"booking": number}, booking=number)
    (row,) = await booking_rows(call, [found])
    return answer(row)


@router.post("/{number}/cancel", response_model=ClosedOut)
async def cancel(number: Number, call: Caller, given: CancelIn | None = None) -> Response:
    """Cancel it, or give back what is left of it; `series`: and all that follow it."""
    whole = given is not None and given.series
    closed = await call.context.intend(Close(call.person, number, whole))
    rows = await booking_rows(call, closed)
    named = next((row for row in rows if row["booking"] == number), rows[0])
    return answer({**named, "closed": [one.id for one in closed]})


@router.post("/{number}/change", response_model=BookingOut)
async def change(number: Number, given: ChangeIn, call: Caller) -> Response:
    """Another time, other GPUs, another purpose: all that is asked, or nothing. A start alone moves
    it as long as it is. Of one that has begun, the end can be changed. 409 as when booking."""
    zone = call.context.time_zone
    start, end = time_of("start", given.start, zone), time_of("end", given.end, zone)
    if end is not None and given.duration_s is not None:
        raise RefusalError(422, "booking.end_or_length", {"key": "end"})
    chosen = tuple(dict.fromkeys(gpu_uuid(call, name) for name in given.chosen or ()))
    intent = Change(
        call.person, number, None if start is None else int(start),
        None if end is None else int(end), given.duration_s, given.gpus, chosen or None,
        given.gpu_memory_bytes, given.gpu_model,
        None if given.purpose is None else given.purpose.strip(), given.public, given.dry_run,
    )  # fmt: skip
    changed = await call.context.intend(intent)
    (row,) = await booking_rows(call, [changed])
    return answer(row)


@router.post("/{number}/give", response_model=BookingOut)
async def give(number: Number, given: GiveIn, call: Caller) -> Response:
    """Hand it over to somebody, who is told."""
    to = owner_of(await call.context.account(given.to))
    given_away = await call.context.intend(Give(call.person, number, to))
    (row,) = await booking_rows(call, [given_away])
    return answer(row)


@router.post("/{number}/swap", response_model=SwappedOut)
async def swap(number: Number, given: SwapIn, call: Caller) -> Response:
    """Exchange the owners of two bookings, once both have asked for it."""
    found = await call.context.intend(Swap(call.person, number, given.with_))
    swapped = found[0].swap_with != given.with_
    return answer({"swapped": swapped, "bookings": await booking_rows(call, found)})


def owner_of(person: Person) -> Owner:
    return Owner(person.uid, person.name, person.groups)


async def book_of(call: Call, given: BookIn, key: str | None) -> Book:
    """What is asked, as an intent. Raises RefusalError."""
    context, zone = call.context, call.context.time_zone
    start, end = time_of("start", given.start, zone), time_of("end", given.end, zone)
    if start is None or (end is None) == (given.duration_s is None):
        raise RefusalError(422, "booking.start_and_end", {"key": "end"})
    until = start + (given.duration_s or 0) if end is None else end
    chosen = tuple(dict.fromkeys(gpu_uuid(call, name) for name in given.chosen))
    want = Want(len(chosen) or given.gpus, chosen, given.gpu_memory_bytes, given.gpu_model)
    found = Times(((int(start), int(until)),), "", ())
    if given.repeat:
        rule, begin, reach_s = given.repeat, start, repeat_reach_s(context)
        found = await context.in_thread(
            lambda: times(rule, begin, until, given.except_, zone_of(zone), reach_s)
        )
    owner = None if given.user is None else owner_of(await context.account(given.user))
    return Book(
        call.person, want, found.spans, owner=owner, group=given.group,
        purpose=given.purpose.strip(), public=given.public, maintenance=given.maintenance,
        rule=found.rule, except_days=found.days, wait=given.wait, skip=given.skip,
        over=given.maintenance and bool(chosen), dry_run=given.dry_run, key=key,
    )  # fmt: skip


def repeat_reach_s(context: Context) -> float:
    return context.board.rules.rules.bookings.repeat_horizon_s
