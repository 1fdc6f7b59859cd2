"""The route of the people whom this Roost knows: role, groups, what they hold, wait for, came by.

Operators only. Whom to list comes from what is on record and from the rules, never from the whole
account database, which may be a company's.
"""

from __future__ import annotations

import grp
from collections import Counter
from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Response

from roost.core.model import JobState
from roost.core.rules import who
from roost.core.rules.model import Rules
from roost.server.api.context import Call, Caller, answer, operators_only
from roost.server.api.holders import holder_rows
from roost.server.api.operate_models import UsersOut
from roost.server.api.peer import look_up, placed, uid_of
from roost.server.api.render import iso
from roost.server.api.rights import role_of
from roost.store import operate

router = APIRouter(prefix="/v1", tags=["operate"])
HOUR_S, DAY_S = 3600.0, 86400.0
KNOWN_FOR_DAYS = 90
MOST = 1000


@router.get("/users", response_model=UsersOut)
async def users(call: Caller) -> Response:
    """Everybody who holds, waits for or has booked something, used a GPU in the last 90 days, is
    signed in, has a token, or is named by the rules; who holds most first. Operators only."""
    operators_only(call)
    context = call.context
    rules, now = context.board.rules.rules, context.clock()
    gpus = _held(call)
    live, access = context.board.live(), context.access
    running = Counter(job.user for job in live if job.state is not JobState.PENDING)
    waiting = Counter(job.user for job in live if job.state is JobState.PENDING)
    booked = Counter(
        one.user for one in list(context.board.bookings.values()) if one.live and one.ends_at > now
    )
    sessions, tokens = access.sessions(), access.tokens()
    signed, keys = Counter(one.user for one in sessions), Counter(one.user for one in tokens)
    seen: dict[str, float] = {}
    for user, at in [(s.user, s.seen_at) for s in sessions] + [(t.user, t.used_at) for t in tokens]:
        seen[user] = max(seen.get(user, 0.0), at or 0.0)

    def look() -> list[dict[str, Any]]:
        with context.store.read() as connection:
            used = operate.used_last(connection, now - KNOWN_FOR_DAYS * DAY_S)
        names = {*gpus, *running, *waiting, *booked, *signed, *keys, *used, *_named(rules)}
        found = [
            {
                **_account(name, rules),
                "user": name,
                "gpus": sorted(gpus.get(name, ())),
                "jobs_running": running[name],
                "jobs_waiting": waiting[name],
                "bookings": booked[name],
                "sessions": signed[name],
                "tokens": keys[name],
                "seen_time": iso(seen.get(name) or None, context.time_zone),
                "used_time": iso(_through(used.get(name), now), context.time_zone),
            }
            for name in sorted(names)[:MOST]
        ]
        return sorted(found, key=lambda one: (-len(one["gpus"]), -one["jobs_waiting"]))

    return answer({"users": await context.in_thread(look)})


def _through(hour: float | None, now: float) -> float | None:
    """The end of that hour, or now where it is not over."""
    return None if hour is None else min(hour + HOUR_S, now)


def _held(call: Call) -> dict[str, set[int]]:
    """The GPUs by person, by index: by a job, or by a process that counts as use."""
    attribution = call.context.board.attribution
    held: dict[str, set[int]] = {}
    for row in holder_rows(call, attribution) if attribution is not None else ():
        if row["user"] and not row["ignored"]:
            held.setdefault(row["user"], set()).add(row["gpu_index"])
    return held


def _named(rules: Rules) -> set[str]:
    """People whom the rules name, also as members of a Linux group. Blocks."""
    lists: list[Iterable[str]] = [rules.operators, rules.viewers]
    for group in rules.groups.values():
        lists += [group.members, group.leads]
    names: set[str] = set()
    for name in {name for each in lists for name in each}:
        if not name.startswith("@"):
            names.add(name)
            continue
        try:
            names |= set(grp.getgrnam(name[1:]).gr_mem)
        except KeyError:
            continue  # a group of another machine, or one that is not made yet
    return names


def _account(name: str, rules: Rules) -> dict[str, Any]:
    """What the account database and the rules say of that name. Blocks."""
    uid = uid_of(name)
    if uid is None:
        return {"uid": None, "name": "", "role": None, "groups": [], "leads": []}
    person = placed(look_up(uid), rules)
    return {
        "uid": uid,
        "name": person.full_name,
        "role": role_of(person).word,
        "groups": list(who.groups_of(rules, name, person.groups)),
        "leads": sorted(person.leads),
    }
