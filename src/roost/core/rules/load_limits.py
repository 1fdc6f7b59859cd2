"""From the table `limits` of a rules file to `Limits`, those of each period among them.

Part of `roost.core.rules.load`.
"""

from __future__ import annotations

from collections.abc import Sequence

from roost.core.model import PriorityClass
from roost.core.rules.load_times import CLASSES, Periods, check_period
from roost.core.rules.model import Limit, Limits
from roost.core.rules.read import Table

_KEYS = ("max_gpus", "max_jobs", "max_queued", "max_walltime")


def limits_of(
    table: Table, groups: Sequence[str], periods: Periods, nested: bool = False
) -> Limits:
    """`nested`: the table stands below `limits.during`, and may not hold another."""
    per_user = table.table("per_user")
    classes: dict[PriorityClass, Limit] = {}
    per_user_of_class: dict[PriorityClass, Limit] = {}
    by_group: dict[str, Limit] = {}
    group_of_class: dict[tuple[str, PriorityClass], Limit] = {}
    users: dict[str, Limit] = {}
    limits_per_user = _limit(per_user)
    per_user.close()
    for which in PriorityClass:
        if which.value in table.names:
            one = table.table(which.value)
            classes[which] = _limit(one)
            if "per_user" in one.names:
                inner = one.table("per_user")
                per_user_of_class[which] = _limit(inner)
                inner.close()
            one.refuse_names((*_KEYS, "per_user"), "unknown")
    named = table.table("groups")
    named.refuse_names(groups, "unknown_group")
    for name in (name for name in named.names if name in groups):
        one = named.table(name)
        by_group[name] = _limit(one)
        for which in (which for which in PriorityClass if which.value in one.names):
            inner = one.table(which.value)
            group_of_class[name, which] = _limit(inner)
            inner.close()
        one.refuse_names((*_KEYS, *CLASSES), "unknown")
    persons = table.table("users")
    for name in persons.names:
        one = persons.table(name)
        users[name] = _limit(one)
        one.close()
    during: dict[str, Limits] = {}
    if not nested:
        times = table.table("during")
        for name in times.names:
            check_period(times, name, name, periods)
            during[name] = limits_of(times.table(name), groups, periods, nested=True)
    names = ("per_user", *CLASSES, "groups", "users", *(() if nested else ("during",)))
    table.refuse_names(names, "unknown")
    return Limits(
        limits_per_user, classes, per_user_of_class, by_group, users, group_of_class, during
    )


def _limit(table: Table) -> Limit:
    walltime_s = table.span("max_walltime", None, least_s=1.0)
    return Limit(
        max_gpus=table.whole("max_gpus", 0),
        max_jobs=table.whole("max_jobs", 0),
        max_queued=table.whole("max_queued", 0),
        max_walltime_s=None if walltime_s is None else int(walltime_s),
    )
