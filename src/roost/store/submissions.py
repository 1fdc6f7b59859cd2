"""Keys of recent submissions: who asks twice for lack of an answer queues once."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, delete, insert, select

from roost.store.prepared import Prepared
from roost.store.tables import submissions

KEPT_S = 3600.0
Key = tuple[int, str]
Jobs = tuple[int, int]


def add_submissions(connection: Connection, made: Mapping[Key, Jobs], at: float) -> None:
    """`made`: (uid, key) -> (first job's number, how many jobs)."""
    rows = [
        {"uid": uid, "key": key, "first_job": first, "jobs": count, "at": at}
        for (uid, key), (first, count) in made.items()
    ]
    _add(connection, rows)


_add = Prepared(lambda _: insert(submissions))


def recent_submissions(connection: Connection, now: float) -> dict[Key, Jobs]:
    """Those of the last hour."""
    found = connection.execute(select(submissions).where(submissions.c.at > now - KEPT_S))
    return {(row.uid, row.key): (row.first_job, row.jobs) for row in found}


def drop_submissions(connection: Connection, now: float) -> None:
    connection.execute(delete(submissions).where(submissions.c.at <= now - KEPT_S))
