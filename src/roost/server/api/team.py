"""The route of the Team view: a period's use by person, group, day and hour of the week, and waits.

The database adds up; here hours become days and weekdays of the rules' zone, beside the event loop.
All may read it: it says of people what `GET /v1/usage` says to everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from roost.core.rules.model import Rules
from roost.core.rules.shares import portions
from roost.server.api.context import Caller, answer
from roost.server.api.recorded import TeamOut
from roost.server.api.render import iso, zone
from roost.server.api.submitted import time_of
from roost.server.refusal import RefusalError
from roost.store import log, team

router = APIRouter(prefix="/v1", tags=["records"])
HOUR_S, DAY_S = 3600, 86400.0
MOST_DAYS = 400
Hours = dict[int, dict[str, float]]


@router.get("/team", response_model=TeamOut)
async def usage_of_the_team(
    call: Caller,
    from_: Annotated[str | None, Query(alias="from", max_length=64)] = None,
    to: Annotated[str | None, Query(max_length=64)] = None,
) -> Response:
    """The hours that begin in [from, to), the last thirty days where nothing is said, at most 400
    days. `observed_s` is GPU seconds in which Roost looked; where it is 0 nothing is known but what
    jobs held; `held_seen_s` is what they held in hours with a look. `due` and `part` are parts of
    1: of the shares, and of what jobs held."""
    context = call.context
    rules, name, now = context.board.rules.rules, context.time_zone, context.clock()
    start, end = time_of("from", from_, name), time_of("to", to, name)
    end = now if end is None else min(end, now)
    start = end - 30 * DAY_S if start is None else start
    if end - start > MOST_DAYS * DAY_S:
        raise RefusalError(
            422, "problem.invalid", {"key": "from"}, key="from", problem=f"> {MOST_DAYS} d"
        )

    def look() -> dict[str, Any]:
        writes = context.team_days.writes()
        with context.store.read() as connection:
            period = context.team_days.look(connection, start, end, writes)
            waited = {
                column: [_wait(row) for row in rows]
                for column, rows in team.waits(connection, start, end).items()
            }
            gaps = log.gaps(connection, start, end)
        people = period.rows()
        each = _hours(period.used, period.looked, start, end)
        return {
            "from": iso(start, name),
            "to": iso(end, name),
            "time_zone": name,
            "gpus": len(context.board.gpus),
            "people": _people(people),
            "groups": _groups(people, rules),
            "days": _days(each, name),
            "heat": _heat(each, name),
            "waits_by_class": waited["class"],
            "waits_by_group": waited["group"],
            "gaps": [
                {"start": iso(a, name), "end": iso(b, name), "seconds": round(b - a, 3)}
                for a, b in gaps
            ],
        }

    return answer(await context.in_thread(look))


def _hours(
    used: Iterable[Mapping[str, Any]], looked: Mapping[int, float], start: float, end: float
) -> Hours:
    """Every hour of the period, also those of which nothing is on record."""
    first = -(-int(start) // HOUR_S) * HOUR_S
    each: Hours = {
        hour: {"held_s": 0.0, "busy_s": 0.0, "lost_s": 0.0, "observed_s": looked.get(hour, 0.0)}
        for hour in range(first, int(end) + 1, HOUR_S)
        if start <= hour < end
    }
    for row in used:
        if row["hour"] in each:
            each[row["hour"]] |= {n: float(row[n]) for n in ("held_s", "busy_s", "lost_s")}
    for one in each.values():
        one["held_seen_s"] = one["held_s"] if one["observed_s"] > 0 else 0.0
    return each


def _summed(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total = dict.fromkeys(("held_s", "held_seen_s", "busy_s", "lost_s", "observed_s"), 0.0)
    for row in rows:
        for name in total:
            total[name] += row[name]
    return {name: round(value, 3) for name, value in total.items()}


def _days(each: Hours, name: str) -> list[dict[str, Any]]:
    """By day of the zone; the day of a clock change has 23 or 25 `hours`, and `gap_hours` of them
    are without any look."""
    found: dict[str, list[dict[str, float]]] = {}
    for hour, row in each.items():
        found.setdefault(f"{datetime.fromtimestamp(hour, zone(name)):%Y-%m-%d}", []).append(row)
    return [
        {"day": day, "hours": len(rows), "gap_hours": _unseen(rows), **_summed(rows)}
        for day, rows in found.items()
    ]


def _heat(each: Hours, name: str) -> list[dict[str, Any]]:
    """By weekday (0 is Monday) and hour of the zone's clock. The hour that comes twice counts
    twice, the one that is skipped not at all."""
    found: dict[tuple[int, int], list[dict[str, float]]] = {}
    for hour, row in each.items():
        when = datetime.fromtimestamp(hour, zone(name))
        found.setdefault((when.weekday(), when.hour), []).append(row)
    return [
        {"weekday": day, "hour": hour, "hours": len(rows), "gap_hours": _unseen(rows)}
        | _summed(rows)
        for (day, hour), rows in sorted(found.items())
    ]


def _unseen(rows: Iterable[Mapping[str, float]]) -> int:
    return sum(row["observed_s"] <= 0 for row in rows)


def _people(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """By person and group, who held most first; `user` null is what nobody is known for."""
    return [
        {"user": user or None, "group": group or None, **sums}
        for (user, group), sums in _by(rows, "user", "group").items()
    ]


def _groups(rows: Iterable[Mapping[str, Any]], rules: Rules) -> list[dict[str, Any]]:
    """By group: `part` is its part of what was held, `due` what its shares give it among the groups
    that held anything, as fair share reckons it."""
    found = {key[0]: sums for key, sums in _by(rows, "group").items() if key[0]}
    due = portions(rules.groups, [name for name, sums in found.items() if sums["held_s"] > 0])
    whole = sum(sums["held_s"] for sums in found.values())
    return [
        {
            "group": name,
            **sums,
            "due": None if name not in due else round(due[name], 6),
            "part": round(sums["held_s"] / whole, 6) if whole > 0 else None,
        }
        for name, sums in found.items()
    ]


def _by(rows: Iterable[Mapping[str, Any]], *names: str) -> dict[tuple[str, ...], dict[str, float]]:
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        sums = found.setdefault(
            tuple(row[name] for name in names),
            {"held_s": 0.0, "observed_s": 0.0, "busy_s": 0.0, "joules": 0.0},
        )
        for name in sums:
            sums[name] += row[name]
    ordered = sorted(found.items(), key=lambda one: (-one[1]["held_s"], one[0]))
    return {key: {n: round(v, 3) for n, v in sums.items()} for key, sums in ordered}


def _wait(row: Mapping[str, Any]) -> dict[str, Any]:
    """A clock that was set back makes no wait shorter than none."""
    seconds = {
        name: None if row[name] is None else round(max(0.0, row[name]), 3)
        for name in ("median_s", "p90_s")
    }
    return {"name": row["name"], "jobs": row["jobs"], **seconds}
