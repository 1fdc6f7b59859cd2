"""Queries on what people want to be told, and on their channels. Knows rows, not how to send."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from roost.core.notices.choices import DIGEST_HOUR, Choices
from roost.store.prepared import Prepared, insert_for
from roost.store.tables import notices, notify_channels, notify_choices, outbox


class ChannelRecord(msgspec.Struct, frozen=True):
    """`address` is secret. `trouble` "" while it takes what is sent."""

    id: str
    uid: int
    user: str
    name: str
    address: str
    made_at: float
    trouble: str = ""

    def __repr__(self) -> str:
        return f"ChannelRecord({self.id!r}, {self.user!r})"


def choices_of(connection: Connection, uid: int, user: str) -> Choices:
    query = select(notify_choices).where(notify_choices.c.uid == uid, notify_choices.c.user == user)
    row = connection.execute(query).first()
    if row is None:
        return Choices()
    return Choices(row.language, row.quiet, row.digest_hour, json.loads(row.wanted))


def put_choices(connection: Connection, uid: int, user: str, choices: Choices) -> None:
    _put(connection, [_row(uid, user, choices)])


@Prepared
def _put(dialect: str) -> Any:
    statement = insert_for(dialect, notify_choices)
    names = ("user", "language", "quiet", "digest_hour", "wanted")
    return statement.on_conflict_do_update(
        index_elements=[notify_choices.c.uid],
        set_={name: statement.excluded[name] for name in names},
    )


def _row(uid: int, user: str, choices: Choices) -> dict[str, Any]:
    wanted = {channel: dict(topics) for channel, topics in choices.wanted.items()}
    return {
        "uid": uid, "user": user, "language": choices.language, "quiet": choices.quiet,
        "digest_hour": choices.digest_hour, "wanted": json.dumps(wanted), "read_through": 0,
    }  # fmt: skip


def channels_of(connection: Connection, uid: int, user: str) -> list[ChannelRecord]:
    """A person's own, the oldest first."""
    query = select(notify_channels).where(
        notify_channels.c.uid == uid, notify_channels.c.user == user
    )
    rows = connection.execute(query.order_by(notify_channels.c.made_at, notify_channels.c.id))
    return [ChannelRecord(**row._mapping) for row in rows]


def add_channel(connection: Connection, record: ChannelRecord) -> None:
    connection.execute(insert(notify_channels), [msgspec.structs.asdict(record)])


def drop_channel(connection: Connection, number: str) -> None:
    """It is gone, and what was on its way to it."""
    connection.execute(delete(outbox).where(outbox.c.channel == number))
    connection.execute(delete(notify_channels).where(notify_channels.c.id == number))


def channel_trouble(connection: Connection, number: str, trouble: str) -> None:
    change = update(notify_channels).where(notify_channels.c.id == number)
    connection.execute(change.values(trouble=trouble))


def unread(connection: Connection, uid: int, user: str) -> int:
    """How many notices of the person's are newer than the last that was read."""
    return int(
        connection.execute(
            select(func.count())
            .select_from(notices)
            .where(notices.c.user == user, notices.c.id > _read_through(connection, uid))
        ).scalar_one()
    )


def _read_through(connection: Connection, uid: int) -> int:
    query = select(notify_choices.c.read_through).where(notify_choices.c.uid == uid)
    return connection.execute(query).scalar_one_or_none() or 0


def mark_read(connection: Connection, uid: int, user: str, through: int) -> None:
    """Notices up to that id were seen by the person."""
    if connection.execute(select(notify_choices.c.uid).where(notify_choices.c.uid == uid)).first():
        change = update(notify_choices).where(notify_choices.c.uid == uid)
        connection.execute(change.values(read_through=through))
    else:
        row = _row(uid, user, Choices(digest_hour=DIGEST_HOUR))
        connection.execute(insert(notify_choices), [{**row, "read_through": through}])
