"""Rules as a flat list of settings, each by the key of the file: to be written out and compared.

The way back from `Rules` to TOML. It must not know where a text came from.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields

from roost.core.model import PriorityClass
from roost.core.rules.lines import Path, key_lines, line_of
from roost.core.rules.model import (
    ClassRules,
    GroupRules,
    IgnoreRule,
    Limit,
    Limits,
    OidcRules,
    Rules,
    Scheduling,
    Window,
)
from roost.core.rules.units import format_duration, format_size

Setting = str | bool | int | float | list[str] | list[str | int]
Settings = dict[Path, Setting]
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def settings_of(rules: Rules) -> Settings:
    """Every setting with its value as TOML has it, defaults too; what has no value (no limit) is
    not there. In the order in which a file is written."""
    found: Settings = {
        ("time_zone",): rules.time_zone,
        ("operators",): list(rules.operators),
        ("viewers",): list(rules.viewers),
        ("default_group",): rules.default_group,
        ("default_class",): rules.default_class.value,
        ("shared_gpus",): [int(g) if _index(g) else g for g in rules.shared_gpus],
        ("enforcement",): rules.enforcement,
        ("stray_gpu_use",): rules.stray_gpu_use,
        ("max_array",): rules.max_array,
        ("sample",): format_duration(rules.sample_s),
        ("days", "holidays"): list(rules.days.holidays),
        ("days", "working_days"): list(rules.days.working_days),
    }
    found |= {("periods", name): list(spans) for name, spans in rules.periods.items()}
    for name, group in rules.groups.items():
        found |= _under(("groups", name), _group(group))
    for which in PriorityClass:
        found |= _under(("classes", which.value), _class(rules.classes[which]))
    for path, limit in _limits(rules.limits):
        found |= _under(("limits", *path), _limit(limit))
    for name, window in rules.windows.items():
        found |= _under(("windows", name), _window(window))
    share, idle, booked = rules.fair_share, rules.idle_reclaim, rules.bookings
    found |= _under(
        ("fair_share",),
        {
            "half_life": format_duration(share.half_life_s),
            "weight": _plain(share.weight),
            "age_weight_per_day": _plain(share.age_weight_per_day),
            "charge": share.charge,
        },
    )
    found |= _under(("scheduling",), _scheduling(rules.scheduling))
    found |= _under(
        ("idle_reclaim",),
        {
            "enabled": idle.enabled,
            "after": format_duration(idle.after_s),
            "below_percent": _plain(idle.below_percent),
            "warn": format_duration(idle.warn_s),
            "exempt_users": list(idle.exempt_users),
            "exempt_groups": list(idle.exempt_groups),
            "exempt_classes": _names(idle.exempt_classes),
        },
    )
    per_user = booked.per_user_gpu_s
    found |= _under(
        ("bookings",),
        {
            "horizon": format_duration(booked.horizon_s),
            "longest": format_duration(booked.longest_s),
            "per_user_gpu_hours": None if per_user is None else _plain(per_user / 3600),
            "no_show": format_duration(booked.no_show_s),
            "reminder": format_duration(booked.reminder_s),
            "background_notice": format_duration(booked.background_notice_s),
            "maintenance_notice": format_duration(booked.maintenance_notice_s),
            "occupied": booked.occupied,
            "repeat": booked.repeat,
            "repeat_horizon": format_duration(booked.repeat_horizon_s),
        },
    )
    told = rules.notices
    found |= _under(
        ("notices",),
        {
            "long_wait": format_duration(told.long_wait_s),
            "long_run": format_duration(told.long_run_s),
            "time_limit": format_duration(told.time_limit_s),
        },
    )
    found |= _under(
        ("environments",),
        {
            "directory": rules.environments.directory,
            "share_limit": format_size(rules.environments.share_bytes),
        },
    )
    found |= _under(("bookings", "aliases"), dict(booked.aliases))
    found |= _under(("bookings", "slots"), dict(booked.slots))
    found |= _under(("audit",), {"places": list(rules.audit.places)})
    for n, one in enumerate(rules.audit.accept):
        subject = one.subject or None
        values = {"check": one.check, "subject": subject, "reason": one.reason}
        found |= _under(("audit", "accept", n), values)
    found |= _under(("data",), {"path": rules.data.path, "add": rules.data.add})
    if rules.oidc is not None:
        found |= _under(("oidc",), _oidc(rules.oidc))
        found |= _under(("oidc", "users"), dict(rules.oidc.users))
    for n, ignored in enumerate(rules.ignore):
        found |= _under(("ignore", n), _ignore(ignored))
    return found


def _under(path: Path, values: Mapping[str, Setting | None]) -> Settings:
    return {(*path, key): value for key, value in values.items() if value is not None}


def _oidc(oidc: OidcRules) -> dict[str, Setting | None]:
    return {
        "issuer": oidc.issuer,
        "client_id": oidc.client_id,
        "secret_file": oidc.secret_file,
        "claim": oidc.claim,
        "exact": oidc.exact,
        "hosts": list(oidc.hosts),
        "name": oidc.name,
    }


def _group(group: GroupRules) -> dict[str, Setting | None]:
    return {
        "members": list(group.members),
        "share": _plain(group.share),
        "parent": group.parent,
        "leads": list(group.leads) or None,
    }


def _class(rules: ClassRules) -> dict[str, Setting | None]:
    size = rules.suspend_bytes
    return {
        "preempts": _names(rules.preempts),
        "min_run": format_duration(rules.min_run_s),
        "grace": format_duration(rules.grace_s),
        "budget": None if rules.budget_gpu_s is None else _hours(rules.budget_gpu_s),
        "require_reason": rules.require_reason,
        "give_way": rules.give_way,
        "suspend_memory": None if size is None else format_size(size),
        "idle_for": format_duration(rules.idle_for_s),
    }


def _limits(limits: Limits) -> Iterator[tuple[Path, Limit]]:
    yield ("per_user",), limits.per_user
    for which in PriorityClass:
        if which in limits.classes:
            yield (which.value,), limits.classes[which]
        if which in limits.per_user_of_class:
            yield (which.value, "per_user"), limits.per_user_of_class[which]
    for name, limit in limits.groups.items():
        yield ("groups", name), limit
    for (name, which), limit in limits.group_of_class.items():
        yield ("groups", name, which.value), limit
    for name, limit in limits.users.items():
        yield ("users", name), limit
    for period, inner in limits.during.items():
        for path, limit in _limits(inner):
            yield ("during", period, *path), limit


def _limit(limit: Limit) -> dict[str, Setting | None]:
    walltime_s = limit.max_walltime_s
    return {
        "max_gpus": limit.max_gpus,
        "max_jobs": limit.max_jobs,
        "max_queued": limit.max_queued,
        "max_walltime": None if walltime_s is None else format_duration(walltime_s),
    }


def _window(window: Window) -> dict[str, Setting | None]:
    return {
        "jobs_over": format_duration(window.jobs_over_s),
        "open": list(window.open),
        "exempt": _names(window.exempt),
        "classes": _names(window.classes),
        "groups": list(window.groups),
        "at_close": window.at_close,
        "notice": format_duration(window.notice_s),
    }


def _scheduling(order: Scheduling) -> dict[str, Setting | None]:
    """Its keys are its fields, spans of time without their `_s`."""
    values = {each.name: getattr(order, each.name) for each in fields(order)}
    return {
        name.removesuffix("_s"): format_duration(value)
        if name.endswith("_s")
        else _plain(value)
        if isinstance(value, float)
        else value
        for name, value in values.items()
    }


def _ignore(rule: IgnoreRule) -> dict[str, Setting | None]:
    below = None if rule.below_bytes is None else format_size(rule.below_bytes)
    return {"command": rule.command, "user": rule.user, "below": below}


def _names(classes: tuple[PriorityClass, ...]) -> list[str]:
    return [which.value for which in classes]


def _index(gpu: str) -> bool:
    return gpu.isascii() and gpu.isdecimal() and str(int(gpu)) == gpu


def _plain(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _hours(gpu_s: float) -> str:
    """GPU time in hours where it is whole ones: "40h" and not "1d16h"."""
    return f"{int(gpu_s // 3600)}h" if gpu_s and gpu_s % 3600 == 0 else format_duration(gpu_s)


def literal(value: Setting) -> str:
    """The value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)
    return repr(value)


def key_word(part: str) -> str:
    return part if _BARE.fullmatch(part) else literal(part)


def lines_set(text: str) -> dict[Path, int]:
    """The keys that a text sets, with the line of each. The text must be TOML."""
    lines = key_lines(text)
    found: dict[Path, int] = {}

    def walk(path: Path, value: object) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk((*path, key), inner)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            for n, inner in enumerate(value):
                walk((*path, n), inner)
        else:
            found[path] = line_of(lines, path) or 1

    walk((), tomllib.loads(text))
    return found


def written(settings: Settings, notes: Mapping[Path, str] | None = None) -> str:
    """A rules file with these settings, each followed by its note as a comment."""
    out: list[str] = []
    table: Path = ()
    notes = notes or {}
    for path, value in settings.items():
        if path[:-1] != table:
            table = path[:-1]
            words = ".".join(key_word(part) for part in table if isinstance(part, str))
            out += ["", f"[[{words}]]" if isinstance(table[-1], int) else f"[{words}]"]
        line = f"{key_word(str(path[-1]))} = {literal(value)}"
        note = notes.get(path)
        out.append(f"{line}  # {note}" if note else line)
    return "\n".join(out) + "\n"
