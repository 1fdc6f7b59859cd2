"""What a team used in a period, added up by the database itself: by person, day, hour; and waits.

A period of months is hundreds of thousands of ledger rows; what comes out of here is a few
thousand at most. Knows no time zone: hours are hours since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, case, func, select
from sqlalchemy.sql.elements import ColumnElement

from roost.store.tables import attempts, hours, jobs, usage

Row = Mapping[str, Any]
DAY_S = 86_400
SUMS = ("held_s", "observed_s", "busy_s", "joules")


def used_by(connection: Connection, from_at: float, to_at: float) -> list[Row]:
    """Sums by user, group and class of the hours that begin in [from_at, to_at)."""
    whose = usage.c.user, usage.c.group, usage.c["class"]
    sums = (func.sum(usage.c[name]).label(name) for name in SUMS)
    query = select(*whose, *sums).where(_in(usage.c.hour, from_at, to_at)).group_by(*whose)
    return [dict(row) for row in connection.execute(query.order_by(*whose)).mappings()]


def used_by_day(connection: Connection, from_at: float, to_at: float) -> list[tuple[Any, ...]]:
    """(day, user, group, class, then the sums in their order) of the hours that begin in [from_at,
    to_at); a day is UTC's, counted since the epoch."""
    day = (usage.c.hour // DAY_S).label("day")
    whose = day, usage.c.user, usage.c.group, usage.c["class"]
    sums = (func.sum(usage.c[name]) for name in SUMS)
    query = select(*whose, *sums).where(_in(usage.c.hour, from_at, to_at)).group_by(*whose)
    return [tuple(row) for row in connection.execute(query)]


def used_in(connection: Connection, from_at: float, to_at: float) -> list[Row]:
    """By `hour`: `held_s`, `busy_s`, and of that busy time what nobody is known for, `lost_s`."""
    lost = case((usage.c.user == "", usage.c.busy_s), else_=0.0)
    query = (
        select(
            usage.c.hour,
            func.sum(usage.c.held_s).label("held_s"),
            func.sum(usage.c.busy_s).label("busy_s"),
            func.sum(lost).label("lost_s"),
        )
        .where(_in(usage.c.hour, from_at, to_at))
        .group_by(usage.c.hour)
        .order_by(usage.c.hour)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def looked_in(connection: Connection, from_at: float, to_at: float) -> dict[int, float]:
    """By hour, the GPU seconds in which somebody looked. An hour that is not there is a gap."""
    query = (
        select(hours.c.hour, func.sum(hours.c.observed_s))
        .where(_in(hours.c.hour, from_at, to_at))
        .group_by(hours.c.hour)
    )
    return {int(hour): float(seconds) for hour, seconds in connection.execute(query)}


def waits(connection: Connection, from_at: float, to_at: float) -> dict[str, list[Row]]:
    """By "class" and by "group": `jobs` whose first start lies in the period, and the `median_s`
    and `p90_s` of how long they had waited (nearest rank), from the submission or from the time
    that they asked not to start before."""
    begin = jobs.c.begin_at
    from_when = case((begin > jobs.c.submitted_at, begin), else_=jobs.c.submitted_at)
    query = (
        select(jobs.c["class"], jobs.c.group, attempts.c.started_at - from_when)
        .select_from(attempts.join(jobs, jobs.c.id == attempts.c.job))
        .where((attempts.c.attempt == 1) & _in(attempts.c.started_at, from_at, to_at))
    )
    found: dict[str, dict[str, list[float]]] = {"class": {}, "group": {}}
    for kind, group, waited in connection.execute(query):
        found["class"].setdefault(kind, []).append(waited)
        found["group"].setdefault(group, []).append(waited)
    for by_name in found.values():
        for every in by_name.values():
            every.sort()
    return {
        column: [
            {
                "name": name,
                "jobs": len(every),
                "median_s": _nearest_rank(every, 50),
                "p90_s": _nearest_rank(every, 90),
            }
            for name, every in sorted(by_name.items())
        ]
        for column, by_name in found.items()
    }


def _nearest_rank(ordered: Sequence[float], percent: int) -> float:
    """The first that has so many hundredths at or below it."""
    return ordered[-(-len(ordered) * percent // 100) - 1]


def _in(column: ColumnElement[Any], from_at: float, to_at: float) -> ColumnElement[bool]:
    return (column >= from_at) & (column < to_at)
