"""Queries on the usage ledger and on the readings kept by minute and hour.

Rows add up while their hour is open; a closed hour is corrected by new rows, never rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, delete, func, select

from roost.store.prepared import Prepared, insert_for
from roost.store.records import Reading, UsageAmount, UsageKey
from roost.store.tables import gpus, hours, minutes, usage

_SUMS = ("observed_s", "utilisation_s", "busy_s", "memory_byte_s", "joules")
_HIGHEST = ("memory_max_bytes", "power_max_w", "temperature_max_c")


def add_usage(connection: Connection, amounts: Mapping[UsageKey, UsageAmount]) -> None:
    """Adds to the rows of open hours, making those that are not there."""
    rows = [
        {
            "hour": key.hour, "gpu_uuid": key.gpu_uuid, "user": key.user, "group": key.group,
            "job": key.job, "class": key.priority_class, "correction": 0,
            "held_s": amount.held_s, "observed_s": amount.observed_s, "busy_s": amount.busy_s,
            "gb_s": amount.gb_s, "joules": amount.joules,
        }
        for key, amount in amounts.items()
    ]  # fmt: skip
    _add_usage(connection, rows)


@Prepared
def _add_usage(dialect: str) -> Any:
    statement = insert_for(dialect, usage)
    sums = {n: usage.c[n] + statement.excluded[n]
            for n in ("held_s", "observed_s", "busy_s", "gb_s", "joules")}  # fmt: skip
    return statement.on_conflict_do_update(index_elements=list(usage.primary_key), set_=sums)


def add_readings(
    connection: Connection,
    by_minute: Mapping[tuple[int, str], Reading],
    by_hour: Mapping[tuple[int, str], Reading],
) -> None:
    """Adds integrals to minutes and hours; keys are (start of it, GPU)."""
    for add, step, readings in ((_add_minutes, "minute", by_minute), (_add_hours, "hour", by_hour)):
        rows = [
            {step: start, "gpu_uuid": gpu, **{n: getattr(r, n) for n in (*_SUMS, *_HIGHEST)}}
            for (start, gpu), r in readings.items()
        ]
        add(connection, rows)


def _adding(table: Table, dialect: str) -> Any:
    statement = insert_for(dialect, table)
    new = statement.excluded
    highest = func.max if dialect == "sqlite" else func.greatest
    values: dict[str, Any] = {n: table.c[n] + new[n] for n in _SUMS}
    for n in _HIGHEST:
        # Either may be unknown: SQLite's max() of two would then be unknown too.
        values[n] = highest(func.coalesce(table.c[n], new[n]), func.coalesce(new[n], table.c[n]))
    return statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=values)


_add_minutes = Prepared(lambda dialect: _adding(minutes, dialect))
_add_hours = Prepared(lambda dialect: _adding(hours, dialect))


def usage_rows(
    connection: Connection,
    from_at: float,
    to_at: float,
    user: str | None = None,
    limit: int = 100_000,
) -> list[dict[str, Any]]:
    """Ledger rows of the hours that begin in [from_at, to_at), oldest first."""
    query = select(usage).where((usage.c.hour >= from_at) & (usage.c.hour < to_at))
    if user is not None:
        query = query.where(usage.c.user == user)
    query = query.order_by(usage.c.hour, usage.c.gpu_uuid, usage.c.user, usage.c.job).limit(limit)
    return [dict(row._mapping) for row in connection.execute(query)]


def held_by(
    connection: Connection, column: str, at: float, half_life_s: float, what: str = "held"
) -> tuple[tuple[str, float], ...]:
    """GPU seconds "held" or "busy" of jobs, per "user" or "group", halved for every `half_life_s`
    since their hour."""
    query = (
        select(usage.c[column], usage.c.hour, func.sum(usage.c[f"{what}_s"]))
        .where((usage.c.hour >= at - 12 * half_life_s) & (usage.c.job > 0))
        .group_by(usage.c[column], usage.c.hour)
        .order_by(usage.c[column], usage.c.hour)
    )
    totals: dict[str, float] = {}
    for name, hour, gpu_s in connection.execute(query):
        age_s = max(0.0, at - min(at, hour + 1800.0))
        totals[name] = totals.get(name, 0.0) + gpu_s * 0.5 ** (age_s / half_life_s)
    return tuple(sorted(totals.items()))


def drop_minutes(connection: Connection, before_at: float) -> int:
    return connection.execute(delete(minutes).where(minutes.c.minute < before_at)).rowcount


def minutes_of(connection: Connection, gpu: str, from_at: float) -> list[dict[str, Any]]:
    """Minute rows of one GPU since `from_at`, oldest first."""
    query = select(minutes).where((minutes.c.gpu_uuid == gpu) & (minutes.c.minute >= from_at))
    return [dict(r._mapping) for r in connection.execute(query.order_by(minutes.c.minute))]


def save_gpus(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """The GPUs that are there now; all others are kept as not present.

    `first_seen_at` and a drain stay as they were.
    """
    values = [{**row, "present": True, "drained": False, "drain_reason": ""} for row in rows]
    connection.execute(gpus.update().values(present=False))
    if not values:
        return
    statement = insert_for(connection.dialect.name, gpus)
    kept = ("index", "name", "memory_bytes", "last_seen_at", "inventory", "present")
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[gpus.c.uuid], set_={n: statement.excluded[n] for n in kept}
        ),
        values,
    )


def set_drain(connection: Connection, uuid: str, drained: bool, reason: str) -> None:
    connection.execute(
        gpus.update().where(gpus.c.uuid == uuid).values(drained=drained, drain_reason=reason)
    )


def all_gpus(connection: Connection) -> list[dict[str, Any]]:
    """Every GPU ever seen, with its drain and what is known of it."""
    return [dict(row._mapping) for row in connection.execute(select(gpus).order_by(gpus.c.index))]
