"""Queries on bookings, on the GPUs that they hold, and on what people are to be told of.

Knows rows, not what they mean. That no GPU is booked twice the database holds by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from roost.core.bookings.model import Want
from roost.core.model import Booking
from roost.store.prepared import Prepared, insert_for
from roost.store.tables import booked, booking_series, bookings, notices, outbox

BOOKED, WAITING = "booked", "waiting"
LIVE = (BOOKED, WAITING)
HOLDING = (BOOKED, "ended", "no_show")


class BookingRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One booking. `state`: "booked" (also while it is on), "waiting" for room, or how it closed:
    "ended", "cancelled", "no_show", "expired". Times are whole seconds. `chosen`: the UUIDs that
    were asked for by name. `series`: the number of the first booking of its series.
    """

    id: int
    user: str
    uid: int
    group: str
    starts_at: int
    ends_at: int
    made_at: float
    made_by: str
    state: str = BOOKED
    gpus: int = 1
    gpu_uuids: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    memory_bytes: int | None = None
    gpu_model: str | None = None
    purpose: str = ""
    public: bool = False
    maintenance: bool = False
    series: int | None = None
    used_at: float | None = None
    closed_at: float | None = None
    revision: int = 0
    swap_with: int | None = None

    @property
    def live(self) -> bool:
        return self.state in LIVE

    @property
    def want(self) -> Want:
        """What was asked for."""
        return Want(self.gpus, self.chosen, self.memory_bytes, self.gpu_model)

    def planned(self) -> Booking:
        """As the scheduler and the assignment know it."""
        return Booking(
            id=self.id, user=self.user, gpu_uuids=self.gpu_uuids, starts_at=float(self.starts_at),
            ends_at=float(self.ends_at), maintenance=self.maintenance,
            memory_bytes=self.memory_bytes,
        )  # fmt: skip


class SeriesRecord(msgspec.Struct, frozen=True, kw_only=True):
    """`rule` and `except_days` of RFC 5545 (RRULE; dates of EXDATE), in `time_zone`."""

    id: int
    rule: str
    except_days: tuple[str, ...]
    time_zone: str


class NoticeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a person must be told of. `key` is the same for the same event for ever."""

    at: float
    user: str
    uid: int | None
    kind: str
    subject: str
    key: str
    detail: dict[str, Any]


def gpu_key(uuid: str) -> int:
    """A number for the GPU that fits 56 bits; two GPUs share one in no installation there is."""
    return int.from_bytes(hashlib.blake2b(uuid.encode(), digest_size=7).digest(), "big")


def _row(record: BookingRecord) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    row["gpu_uuids"] = json.dumps(record.gpu_uuids)
    row["chosen"] = json.dumps(record.chosen)
    return row


def _record(row: Any) -> BookingRecord:
    found = dict(row._mapping)
    found["gpu_uuids"] = tuple(json.loads(found["gpu_uuids"]))
    found["chosen"] = tuple(json.loads(found["chosen"]))
    return BookingRecord(**found)


_NAMES = tuple(column.name for column in bookings.c)
_add = Prepared(lambda _: insert(bookings))
_change = Prepared(
    lambda _: (
        update(bookings)
        .where(bookings.c.id == bindparam("which"))
        .values({name: bindparam(f"new_{name}") for name in _NAMES if name != "id"})
    )
)
_drop_held = Prepared(lambda _: delete(booked).where(booked.c.booking == bindparam("which")))
_hold = Prepared(lambda _: insert(booked))
_add_series = Prepared(lambda _: insert(booking_series))


def store_bookings(
    connection: Connection, new: Sequence[BookingRecord], changed: Sequence[BookingRecord]
) -> None:
    """Writes them, and what they hold: first all that was held is let go, so that two may swap."""
    _add(connection, [_row(record) for record in new])
    rows = []
    for record in changed:
        row = {f"new_{name}": value for name, value in _row(record).items() if name != "id"}
        rows.append({**row, "which": record.id})
    _change(connection, rows)
    _drop_held(connection, [{"which": record.id} for record in changed])
    _hold(connection, [row for record in (*changed, *new) for row in _held(record)])


def _held(record: BookingRecord) -> list[dict[str, Any]]:
    """What it holds or held; nothing while it waits, and where it never began."""
    if record.state not in HOLDING or record.ends_at <= record.starts_at:
        return []
    return [
        {"booking": record.id, "gpu_uuid": uuid, "gpu_key": gpu_key(uuid),
         "from_at": record.starts_at, "to_at": record.ends_at,
         "memory_bytes": record.memory_bytes}
        for uuid in record.gpu_uuids
    ]  # fmt: skip


def live_bookings(connection: Connection) -> list[BookingRecord]:
    """Those that are not over, by number."""
    query = select(bookings).where(bookings.c.state.in_(LIVE)).order_by(bookings.c.id)
    return [_record(row) for row in connection.execute(query)]


def highest_booking(connection: Connection) -> int:
    return connection.execute(select(func.max(bookings.c.id))).scalar() or 0


def find_booking(connection: Connection, number: int) -> BookingRecord | None:
    row = connection.execute(select(bookings).where(bookings.c.id == number)).first()
    return None if row is None else _record(row)


def bookings_between(
    connection: Connection, start: float, end: float, user: str | None, limit: int
) -> list[BookingRecord]:
    """What lies in [start, end), however it closed, by start."""
    query = select(bookings).where(bookings.c.starts_at < end, bookings.c.ends_at > start)
    if user is not None:
        query = query.where(bookings.c.user == user)
    rows = connection.execute(query.order_by(bookings.c.starts_at, bookings.c.id).limit(limit))
    return [_record(row) for row in rows]


def add_series(connection: Connection, records: Sequence[SeriesRecord]) -> None:
    rows = [
        {**msgspec.structs.asdict(one), "except_days": json.dumps(one.except_days)}
        for one in records
    ]
    _add_series(connection, rows)


def all_series(connection: Connection, numbers: Iterable[int]) -> dict[int, SeriesRecord]:
    wanted = sorted(set(numbers))
    if not wanted:
        return {}
    found = connection.execute(select(booking_series).where(booking_series.c.id.in_(wanted)))
    return {
        row.id: SeriesRecord(
            id=row.id, rule=row.rule, except_days=tuple(json.loads(row.except_days)),
            time_zone=row.time_zone,
        )
        for row in found
    }  # fmt: skip


@Prepared
def _add_notices(dialect: str) -> Any:
    return insert_for(dialect, notices).on_conflict_do_nothing(index_elements=[notices.c.key])


def add_notices(connection: Connection, records: Iterable[NoticeRecord]) -> None:
    """Adds them; one whose key was told before is left out."""
    _add_notices(
        connection,
        [{**msgspec.structs.asdict(one), "detail": json.dumps(one.detail)} for one in records],
    )


def notice_keys(connection: Connection, since: float) -> set[str]:
    """Keys of the notices of bookings made since then."""
    query = select(notices.c.key).where(
        notices.c.at >= since, notices.c.kind.startswith("booking_", autoescape=True)
    )
    return set(connection.execute(query).scalars())


def drop_notices(connection: Connection, before_at: float) -> int:
    """Removes old ones, and what is known of their delivery."""
    old = select(notices.c.id).where(notices.c.at < before_at)
    connection.execute(delete(outbox).where(outbox.c.notice.in_(old)))
    return connection.execute(delete(notices).where(notices.c.at < before_at)).rowcount


def notices_after(connection: Connection, last: int, limit: int = 500) -> list[Mapping[str, Any]]:
    """Notices with a higher id, oldest first: for whoever delivers them."""
    query = select(notices).where(notices.c.id > last).order_by(notices.c.id).limit(limit)
    rows = [dict(row._mapping) for row in connection.execute(query)]
    return [{**row, "detail": json.loads(row["detail"])} for row in rows]


def notices_of(connection: Connection, user: str, limit: int) -> list[Mapping[str, Any]]:
    """The newest notices of a person, newest first."""
    query = select(notices).where(notices.c.user == user).order_by(notices.c.id.desc())
    rows = [dict(row._mapping) for row in connection.execute(query.limit(limit))]
    return [{**row, "detail": json.loads(row["detail"])} for row in rows]
