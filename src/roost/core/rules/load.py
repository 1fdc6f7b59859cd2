"""From the text of a rules file to `Rules`, or to a list of everything that is wrong with it.

Nothing is ever ignored: a key that is not known is refused, with the nearest known name.
"""

from __future__ import annotations

import re
import tomllib
import zoneinfo

from roost.core.model import PriorityClass
from roost.core.rules.lines import key_lines
from roost.core.rules.model import (
    ClassRules,
    FairShare,
    GroupRules,
    IgnoreRule,
    Limit,
    Limits,
    Rules,
)
from roost.core.rules.read import Collected, RulesError, RulesProblem, Table

CLASSES = tuple(c.value for c in PriorityClass)
ENFORCEMENT = ("observe", "warn", "strict")
STRAY = ("ignore", "warn", "stop")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", re.ASCII)
_LIMIT_KEYS = ("max_gpus", "max_jobs", "max_queued", "max_walltime")


def load(text: str | bytes) -> Rules:
    """The rules of that TOML text; "" gives `Rules()`. Raises RulesError with every problem."""
    if isinstance(text, bytes):
        text = _decoded(text)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RulesError([_syntax(str(error), text)]) from None
    except RecursionError:
        raise RulesError([RulesProblem("", "too_deep")]) from None
    found = Collected(key_lines(text))
    rules = _rules(Table(found, (), data), Rules())
    if found.problems:
        raise RulesError(found.problems)
    return rules


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise RulesError([RulesProblem("", "not_utf8", line)]) from None


def _syntax(message: str, text: str) -> RulesProblem:
    match = re.search(r"\(at line (\d+), column \d+\)", message)
    line = int(match[1]) if match else text.count("\n") + 1
    detail = re.sub(r"\s*\(at .*\)", "", message)
    return RulesProblem("", "syntax", line, (("detail", detail),))


def _rules(top: Table, base: Rules) -> Rules:
    groups = _groups(top.table("groups"))
    default_group = _name(top, "default_group", base.default_group)
    default_class = top.text("default_class", base.default_class.value, CLASSES)
    sample_s = top.span("sample", base.sample_s, least_s=0.1)
    max_array = top.whole("max_array", 1, 1_000_000)
    rules = Rules(
        time_zone=_time_zone(top, base.time_zone),
        operators=top.texts("operators", base.operators),
        groups=groups,
        default_group=default_group,
        default_class=PriorityClass(default_class),
        classes=_classes(top.table("classes"), base),
        limits=_limits(top.table("limits"), (*groups, default_group)),
        fair_share=_fair_share(top.table("fair_share"), base.fair_share),
        shared_gpus=top.numbers_or_texts("shared_gpus", base.shared_gpus),
        enforcement=top.text("enforcement", base.enforcement, ENFORCEMENT),
        ignore=tuple(_ignore(table) for table in top.tables("ignore")),
        max_array=base.max_array if max_array is None else max_array,
        sample_s=base.sample_s if sample_s is None else sample_s,
        stray_gpu_use=top.text("stray_gpu_use", base.stray_gpu_use, STRAY),
    )
    top.close()
    return rules


def _time_zone(top: Table, default: str) -> str:
    name = top.text("time_zone", default)
    if name != default and name not in zoneinfo.available_timezones():
        top.wrong("time_zone", "time_zone", value=name)
    return name


def _name(table: Table, key: str, default: str) -> str:
    name = table.text(key, default)
    if not _NAME.fullmatch(name):
        table.wrong(key, "name", value=name)
    return name


def _groups(table: Table) -> dict[str, GroupRules]:
    groups = {}
    for name in table.names:
        if not _NAME.fullmatch(name):
            table.wrong(name, "name", value=name)
        group = table.table(name)
        members = group.texts("members")
        groups[name] = GroupRules(members, group.number("share", 1.0, 0.0, strict=True))
        group.close()
    return groups


def _classes(table: Table, base: Rules) -> dict[PriorityClass, ClassRules]:
    table.refuse_names(CLASSES, "unknown_class")
    classes = {}
    for which in PriorityClass:
        default = base.classes[which]
        one = table.table(which.value)
        preempts = one.texts("preempts", tuple(c.value for c in default.preempts))
        for name in preempts:
            if name not in CLASSES or PriorityClass(name).rank <= which.rank:
                lower = ", ".join(f'"{c}"' for c in PriorityClass if c.rank > which.rank)
                one.wrong("preempts", "preempts", value=name, allowed=lower or "[]")
        taken = tuple(c for c in PriorityClass if c.value in preempts)
        min_run_s = one.span("min_run", default.min_run_s)
        grace_s = one.span("grace", default.grace_s)
        classes[which] = ClassRules(taken, min_run_s or 0.0, grace_s or 0.0)
        one.close()
    return classes


def _limit(table: Table) -> Limit:
    walltime_s = table.span("max_walltime", None, least_s=1.0)
    return Limit(
        max_gpus=table.whole("max_gpus", 0),
        max_jobs=table.whole("max_jobs", 0),
        max_queued=table.whole("max_queued", 0),
        max_walltime_s=None if walltime_s is None else int(walltime_s),
    )


def _limits(table: Table, groups: tuple[str, ...]) -> Limits:
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
            _close(one, (*_LIMIT_KEYS, "per_user"))
    named = table.table("groups")
    named.refuse_names(groups, "unknown_group")
    for name in (name for name in named.names if name in groups):
        one = named.table(name)
        by_group[name] = _limit(one)
        for which in (which for which in PriorityClass if which.value in one.names):
            inner = one.table(which.value)
            group_of_class[name, which] = _limit(inner)
            inner.close()
        _close(one, (*_LIMIT_KEYS, *CLASSES))
    persons = table.table("users")
    for name in persons.names:
        one = persons.table(name)
        users[name] = _limit(one)
        one.close()
    _close(table, ("per_user", *CLASSES, "groups", "users"))
    return Limits(limits_per_user, classes, per_user_of_class, by_group, users, group_of_class)


def _close(table: Table, names: tuple[str, ...]) -> None:
    table.refuse_names(names, "unknown")


def _fair_share(table: Table, base: FairShare) -> FairShare:
    half_life_s = table.span("half_life", base.half_life_s, least_s=60.0)
    share = FairShare(
        half_life_s=base.half_life_s if half_life_s is None else half_life_s,
        weight=table.number("weight", base.weight, 0.0),
        age_weight_per_day=table.number("age_weight_per_day", base.age_weight_per_day, 0.0),
    )
    table.close()
    return share


def _ignore(table: Table) -> IgnoreRule:
    command, user = table.text("command", ""), table.text("user", "")
    rule = IgnoreRule(command or None, user or None, table.size("below"))
    if rule == IgnoreRule() and not table.names:
        table.wrong("command", "ignore_empty")
    table.close()
    return rule
