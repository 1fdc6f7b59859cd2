"""Queries on notices that are on their way to people. Knows rows, not how they travel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, func, insert, select, update

from roost.store.log import get_meta, set_meta
from roost.store.tables import notices, outbox

WAITING, SENDING, SENT, FAILED, UNKNOWN, LATE = (
    "waiting", "sending", "sent", "failed", "unknown", "late",
)  # fmt: skip
THROUGH = "outbox_through"


class Parcel(msgspec.Struct, frozen=True, kw_only=True):
    """One notice for one channel. `state`: "waiting"; "sending" (given to the other side at this
    moment); "sent"; "failed" (refused for good); "unknown" (the other side may have it or not: it
    is not sent again); "late" (no longer worth sending). Times in seconds."""

    notice: int
    channel: str
    state: str = WAITING
    tries: int = 0
    next_at: float = 0.0
    error: str = ""


def newest_notice(connection: Connection) -> int:
    return connection.execute(select(func.max(notices.c.id))).scalar() or 0


def through(connection: Connection) -> int:
    """The last notice that was looked at for sending; 0 where none ever was."""
    return int(get_meta(connection, THROUGH) or 0)


def add_parcels(connection: Connection, made: Iterable[Parcel], last: int) -> None:
    """Takes up new ones, and that notices up to `last` were looked at."""
    rows = [msgspec.structs.asdict(one) for one in made]
    if rows:
        connection.execute(insert(outbox), rows)
    set_meta(connection, THROUGH, str(last))


def put_parcel(connection: Connection, parcel: Parcel) -> None:
    connection.execute(
        update(outbox)
        .where(outbox.c.notice == parcel.notice, outbox.c.channel == parcel.channel)
        .values(
            state=parcel.state, tries=parcel.tries, next_at=parcel.next_at, error=parcel.error
        )
    )  # fmt: skip


def due_to(connection: Connection, now: float) -> list[tuple[str, str]]:
    """Channel and user of each pair that something waits for whose time has come, the one that has
    waited longest first."""
    query = (
        select(outbox.c.channel, notices.c.user)
        .join(notices, notices.c.id == outbox.c.notice)
        .where(outbox.c.state == WAITING, outbox.c.next_at <= now)
        .group_by(outbox.c.channel, notices.c.user)
        .order_by(func.min(outbox.c.next_at), outbox.c.channel, notices.c.user)
    )
    return [(row.channel, row.user) for row in connection.execute(query)]


def put_off(connection: Connection, channel: str, until: float) -> None:
    """Nothing that waits for that channel is tried before."""
    connection.execute(
        update(outbox)
        .where(
            outbox.c.channel == channel, outbox.c.state == WAITING, outbox.c.next_at < until
        )
        .values(next_at=until)
    )  # fmt: skip


def parcels_in(
    connection: Connection,
    state: str,
    until: float,
    limit: int = 100,
    to: tuple[str, str] | None = None,
) -> list[tuple[Parcel, Mapping[str, Any]]]:
    """Those in that state whose time has come by `until`, with their notices, oldest first. `to`:
    only for that channel and user."""
    query = (
        select(outbox, notices)
        .join(notices, notices.c.id == outbox.c.notice)
        .where(outbox.c.state == state, outbox.c.next_at <= until)
        .order_by(outbox.c.next_at, outbox.c.notice)
        .limit(limit)
    )
    if to is not None:
        query = query.where(outbox.c.channel == to[0], notices.c.user == to[1])
    found: list[tuple[Parcel, Mapping[str, Any]]] = []
    for row in connection.execute(query):
        parcel = Parcel(**{name: getattr(row, name) for name in Parcel.__struct_fields__})
        about = {column.name: row._mapping[column] for column in notices.c}
        found.append((parcel, {**about, "detail": json.loads(about["detail"])}))
    return found
