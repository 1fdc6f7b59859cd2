"""The bookings that are not over, and what of them the next commit stores. Belongs to the control
thread; thrown away with its `Work` when storing fails. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection

from roost.core.model import Booking
from roost.store import bookings as queries
from roost.store.bookings import BOOKED, BookingRecord, NoticeRecord, SeriesRecord

KEYS_OF_S = 40 * 86400.0


class Books:
    """`records` by number. `watched_from`: since when somebody looks whether bookings are used.
    `told_at`: since when a process knows that it is in a booking's way, `ended`: those (pid and
    start) that the agent was asked to end; both are of this memory alone."""

    def __init__(self) -> None:
        self.records: dict[int, BookingRecord] = {}
        self.next_number = 1
        self.told: set[str] = set()
        self.watched_from: float | None = None
        self.told_at: dict[tuple[int, str], float] = {}
        self.ended: set[tuple[int, int]] = set()
        self.next_due = 0.0
        self._clear()

    def _clear(self) -> None:
        self.new: dict[int, BookingRecord] = {}
        self.changed: dict[int, BookingRecord] = {}
        self.series: list[SeriesRecord] = []
        self.notices: list[NoticeRecord] = []
        self.moved = False

    @classmethod
    def restored(cls, connection: Connection, now: float) -> Books:
        """As of the last commit."""
        books = cls()
        books.records = {one.id: one for one in queries.live_bookings(connection)}
        books.next_number = queries.highest_booking(connection) + 1
        books.told = queries.notice_keys(connection, now - KEYS_OF_S)
        return books

    # -- looking ---------------------------------------------------------------------------------

    def booked(self) -> list[BookingRecord]:
        """Those that have GPUs, now or ahead, by number."""
        return [one for one in self.records.values() if one.state == BOOKED]

    def planned(self) -> tuple[Booking, ...]:
        return tuple(one.planned() for one in self.booked())

    def on(self, now: float) -> list[BookingRecord]:
        return [one for one in self.booked() if one.starts_at <= now < one.ends_at]

    # -- changing --------------------------------------------------------------------------------

    def add(self, record: BookingRecord) -> BookingRecord:
        """Takes it up under the next number."""
        record = msgspec.structs.replace(record, id=self.next_number)
        self.next_number += 1
        self.records[record.id] = self.new[record.id] = record
        self.moved, self.next_due = True, 0.0
        return record

    def mark(self) -> tuple[int, int, int]:
        return self.next_number, len(self.notices), len(self.series)

    def undo(self, mark: tuple[int, int, int]) -> None:
        """Takes back what was added since that mark."""
        first, notices, series = mark
        for number in range(first, self.next_number):
            self.records.pop(number, None)
            self.new.pop(number, None)
        self.told.difference_update(one.key for one in self.notices[notices:])
        del self.notices[notices:], self.series[series:]
        self.next_number = first

    def put(self, record: BookingRecord, *, quiet: bool = False) -> BookingRecord:
        """Replaces one; it is gone from memory when it is over. `quiet`: nothing that others see
        changed, as when it was first used."""
        if not quiet:
            record = msgspec.structs.replace(record, revision=record.revision + 1)
            self.moved, self.next_due = True, 0.0
        (self.new if record.id in self.new else self.changed)[record.id] = record
        if record.live:
            self.records[record.id] = record
        else:
            self.records.pop(record.id, None)
        return record

    def close(self, record: BookingRecord, now: float) -> BookingRecord:
        """Ended where it has begun, cancelled where not."""
        if record.state == BOOKED and record.starts_at < int(now):
            record = msgspec.structs.replace(record, state="ended", ends_at=int(now))
        else:
            record = msgspec.structs.replace(record, state="cancelled")
        return self.put(msgspec.structs.replace(record, closed_at=now))

    def notice(self, now: float, kind: str, record: BookingRecord, key: str, **detail: Any) -> bool:
        """Something that the booking's person must be told of, once for each `key` of its kind;
        False where it was told before."""
        whole = f"{kind}:{record.id}:{record.uid}:{key}"
        if whole in self.told:
            return False
        self.told.add(whole)
        about = {
            "booking": record.id, "user": record.user, "start_at": record.starts_at,
            "end_at": record.ends_at, "gpu_uuids": list(record.gpu_uuids), "gpus": record.gpus,
            "purpose": record.purpose, **detail,
        }  # fmt: skip
        self.notices.append(
            NoticeRecord(
                at=now, user=record.user, uid=record.uid, kind=f"booking_{kind}",
                subject=f"booking {record.id}", key=whole, detail=about,
            )
        )  # fmt: skip
        return True

    # -- storing ---------------------------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        return bool(self.new or self.changed or self.series or self.notices)

    def save(self, connection: Connection) -> None:
        queries.store_bookings(connection, list(self.new.values()), list(self.changed.values()))
        queries.add_series(connection, self.series)
        queries.add_notices(connection, self.notices)

    def committed(self) -> Mapping[int, BookingRecord]:
        """After the commit: what is live now, for the board."""
        self._clear()
        return dict(self.records)
