"""An operator's maintenance over GPUs that people have booked: they get others where there are
any, else their booking is cancelled; either way they are told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import msgspec

from roost.core.bookings.assign import Timetable, assign
from roost.core.bookings.model import Want
from roost.core.model import Booking
from roost.server.bookings.room import clashes, no_room, site_of, table_of
from roost.server.intents import Person
from roost.server.work import Work
from roost.store.bookings import BookingRecord


def clear(work: Work, person: Person, want: Want, spans: Iterable[tuple[int, int]]) -> None:
    """Takes the GPUs chosen from whoever booked them over these spans. Raises RefusalError where
    another maintenance is in the way."""
    books, uuids = work.books, want.chosen
    wanted = list(spans)
    way: dict[int, BookingRecord] = {}
    for start, end in wanted:
        for one in books.booked():
            if clashes(one, uuids, start, end):
                if one.maintenance:
                    site = site_of(work, person.name)
                    raise no_room(work, site, table_of(work), want, [(start, end)])
                way[one.id] = one
    walls = [
        Booking(-1 - number, "", tuple(uuids), float(start), float(end), maintenance=True)
        for number, (start, end) in enumerate(wanted)
    ]
    for number in sorted(way):
        _move(work, person, way[number], walls)


def _move(work: Work, person: Person, record: BookingRecord, walls: list[Booking]) -> None:
    books, now = work.books, int(work.now)
    table = Timetable([*books.planned(), *walls], frozenset([record.id]))
    want = replace(record.want, chosen=())
    other = None
    if record.starts_at > now:
        site = site_of(work, record.user)
        other = assign(site, table, want, record.starts_at, record.ends_at)
    if other is not None:
        moved = books.put(msgspec.structs.replace(record, gpu_uuids=other, chosen=()))
        books.notice(
            work.now, "moved", moved, f"{moved.revision}", by=person.name, maintenance=True,
            old_gpu_uuids=list(record.gpu_uuids),
        )  # fmt: skip
        return
    first = min(wall.starts_at for wall in walls)
    if record.starts_at < first and record.starts_at < max(now, first):
        # What lies before the maintenance stays.
        closed = books.put(msgspec.structs.replace(record, ends_at=int(max(now, first))))
        books.notice(
            work.now, "moved", closed, f"{closed.revision}", by=person.name, maintenance=True,
            old_end_at=record.ends_at,
        )  # fmt: skip
        return
    closed = books.close(record, work.now)
    books.notice(work.now, "cancelled", closed, "", by=person.name, maintenance=True)
