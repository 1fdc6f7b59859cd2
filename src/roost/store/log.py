"""Queries on what is only ever added to: audit, events, versions of the rules; and on `meta`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from roost.store.prepared import Prepared, insert_for
from roost.store.records import AuditRecord
from roost.store.tables import audit, events, meta, rules_versions


def add_audit(connection: Connection, records: Sequence[AuditRecord]) -> None:
    _add_audit(connection, [msgspec.structs.asdict(r) for r in records])


_add_audit = Prepared(lambda _: insert(audit))


def audit_rows(
    connection: Connection,
    limit: int,
    user: str | None = None,
    before: int | None = None,
    action: str | None = None,
    from_at: float | None = None,
    to_at: float | None = None,
) -> list[dict[str, Any]]:
    """Newest first; with `user` only what that person did or what was done to them, with `before`
    below that `id`, with `action` of that one alone, in [from_at, to_at)."""
    query = select(audit)
    if from_at is not None:
        query = query.where(audit.c.at >= from_at)
    if to_at is not None:
        query = query.where(audit.c.at < to_at)
    if before is not None:
        query = query.where(audit.c.id < before)
    if action is not None:
        query = query.where(audit.c.action == action)
    if user is not None:
        query = query.where((audit.c.user == user) | (audit.c.whom == user))
    rows = connection.execute(query.order_by(audit.c.id.desc()).limit(limit))
    return [dict(row._mapping) for row in rows]


def add_event(connection: Connection, at: float, kind: str, subject: str, **detail: object) -> None:
    """Something that happened to the machine or to Roost itself."""
    row = {"at": at, "kind": kind, "subject": subject, "detail": json.dumps(detail)}
    _add_event(connection, [row])


_add_event = Prepared(lambda _: insert(events))


def event_rows(connection: Connection, limit: int, kind: str | None = None) -> list[dict[str, Any]]:
    query = select(events)
    if kind is not None:
        query = query.where(events.c.kind == kind)
    rows = connection.execute(query.order_by(events.c.id.desc()).limit(limit))
    return [dict(r._mapping) | {"detail": json.loads(r.detail)} for r in rows]


def gaps(
    connection: Connection, from_at: float, to_at: float, limit: int = 1000
) -> list[tuple[float, float]]:
    """The newest spans (start, end) that nobody looked in and that meet [from_at, to_at), oldest
    first. A gap is on record from its end on."""
    query = select(events.c.detail).where((events.c.kind == "gap") & (events.c.at >= from_at))
    rows = connection.execute(query.order_by(events.c.id.desc()).limit(limit))
    found = [json.loads(row.detail) for row in rows]
    spans = ((float(each["start"]), float(each["end"])) for each in found)
    return sorted((start, end) for start, end in spans if start < to_at and end > from_at)


def drop_events(connection: Connection, before_at: float) -> int:
    return connection.execute(delete(events).where(events.c.at < before_at)).rowcount


def last_rules(connection: Connection) -> dict[str, Any] | None:
    """The newest accepted version of the rules, with its text."""
    query = select(rules_versions).order_by(rules_versions.c.version.desc()).limit(1)
    row = connection.execute(query).first()
    return dict(row._mapping) if row else None


def rules_rows(
    connection: Connection, limit: int, before: int | None = None
) -> list[dict[str, Any]]:
    """The newest accepted versions (below `before`), with their texts, newest first."""
    query = select(rules_versions)
    if before is not None:
        query = query.where(rules_versions.c.version < before)
    rows = connection.execute(query.order_by(rules_versions.c.version.desc()).limit(limit))
    return [dict(row._mapping) for row in rows]


def rules_row(connection: Connection, version: int) -> dict[str, Any] | None:
    """That accepted version, with its text."""
    query = select(rules_versions).where(rules_versions.c.version == version)
    row = connection.execute(query).first()
    return dict(row._mapping) if row else None


def add_rules(
    connection: Connection, at: float, uid: int | None, user: str, sha256: str, text: str
) -> int:
    """Keeps an accepted text of the rules; its version number."""
    version = (connection.execute(select(func.max(rules_versions.c.version))).scalar() or 0) + 1
    connection.execute(
        insert(rules_versions),
        [{"version": version, "at": at, "uid": uid, "user": user, "sha256": sha256, "text": text}],
    )
    return version


def get_meta(connection: Connection, key: str) -> str | None:
    return connection.execute(select(meta.c.value).where(meta.c.key == key)).scalar_one_or_none()


def set_meta(connection: Connection, key: str, value: str) -> None:
    _set_meta(connection, [{"key": key, "value": value}])


@Prepared
def _set_meta(dialect: str) -> Any:
    statement = insert_for(dialect, meta)
    return statement.on_conflict_do_update(
        index_elements=[meta.c.key], set_={"value": statement.excluded.value}
    )
