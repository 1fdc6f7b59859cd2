"""Queries of calendar feeds: secret addresses, known by their SHA-256 alone."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from roost.store.tables import calendar_feeds


class FeedRecord(msgspec.Struct, frozen=True):
    """Whose calendar can be read at a secret address. `of`: "mine", "gpu", "group" or "all";
    `target` the GPU's UUID or the group. `language` is that of its sentences."""

    id: str
    sha256: str
    uid: int
    user: str
    of: str
    target: str
    language: str
    made_at: float
    used_at: float | None = None


def feeds(connection: Connection, uid: int | None) -> list[FeedRecord]:
    """Of one account, or of all; the oldest first."""
    query = select(calendar_feeds).order_by(calendar_feeds.c.made_at, calendar_feeds.c.id)
    if uid is not None:
        query = query.where(calendar_feeds.c.uid == uid)
    return [FeedRecord(**row._mapping) for row in connection.execute(query)]


def feed_by_secret(connection: Connection, sha256: str) -> FeedRecord | None:
    query = select(calendar_feeds).where(calendar_feeds.c.sha256 == sha256)
    row = connection.execute(query).first()
    return None if row is None else FeedRecord(**row._mapping)


def add_feed(connection: Connection, record: FeedRecord) -> None:
    connection.execute(insert(calendar_feeds), [msgspec.structs.asdict(record)])


def feed_used(connection: Connection, number: str, at: float) -> None:
    change = update(calendar_feeds).where(calendar_feeds.c.id == number)
    connection.execute(change.values(used_at=at))


def drop_feed(connection: Connection, number: str) -> None:
    connection.execute(delete(calendar_feeds).where(calendar_feeds.c.id == number))


def feed_users(connection: Connection) -> dict[str, int]:
    """Accounts that have any, with their uids."""
    query = select(calendar_feeds.c.user, calendar_feeds.c.uid).distinct()
    return {row.user: row.uid for row in connection.execute(query)}


def drop_feeds_of(connection: Connection, accounts: Mapping[str, int]) -> None:
    """All that these have, by name and uid alike."""
    mine = calendar_feeds.c
    for user, uid in accounts.items():
        connection.execute(delete(calendar_feeds).where(mine.user == user, mine.uid == uid))
