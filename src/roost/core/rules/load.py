"""From the text of a rules file to `Rules`, or to a list of everything that is wrong with it.

Nothing is ever ignored: a key that is not known is refused, with the nearest known name.
"""

from __future__ import annotations

import re
import tomllib
import zoneinfo
from dataclasses import replace

from roost.core.model import PriorityClass
from roost.core.rules.lines import key_lines
from roost.core.rules.load_audit import audit_of
from roost.core.rules.load_data import data_of
from roost.core.rules.load_environments import environments_of
from roost.core.rules.load_limits import limits_of
from roost.core.rules.load_oidc import oidc_of
from roost.core.rules.load_scheduling import scheduling_of
from roost.core.rules.load_times import (
    CLASSES,
    bookings_of,
    days_of,
    idle_reclaim_of,
    notices_of,
    periods_of,
    windows_of,
)
from roost.core.rules.model import (
    ClassRules,
    FairShare,
    GroupRules,
    IgnoreRule,
    Rules,
)
from roost.core.rules.read import Collected, RulesError, RulesProblem, Table

ENFORCEMENT = ("observe", "warn", "strict")
STRAY = ("ignore", "warn", "stop")
GIVE_WAY = ("requeue", "suspend", "checkpoint")
CHARGE = ("held", "busy")


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
    periods = periods_of(top.table("periods"))
    known = (*groups, default_group)
    rules = Rules(
        time_zone=_time_zone(top, base.time_zone),
        operators=top.texts("operators", base.operators),
        viewers=top.texts("viewers", base.viewers),
        groups=groups,
        default_group=default_group,
        default_class=PriorityClass(default_class),
        classes=_classes(top.table("classes"), base),
        limits=limits_of(top.table("limits"), known, periods),
        fair_share=_fair_share(top.table("fair_share"), base.fair_share),
        scheduling=scheduling_of(top.table("scheduling"), base.scheduling),
        shared_gpus=top.numbers_or_texts("shared_gpus", base.shared_gpus),
        enforcement=top.text("enforcement", base.enforcement, ENFORCEMENT),
        ignore=tuple(_ignore(table) for table in top.tables("ignore")),
        max_array=base.max_array if max_array is None else max_array,
        sample_s=base.sample_s if sample_s is None else sample_s,
        stray_gpu_use=top.text("stray_gpu_use", base.stray_gpu_use, STRAY),
        days=days_of(top.table("days")),
        periods=periods,
        windows=windows_of(top.table("windows"), known, periods),
        idle_reclaim=idle_reclaim_of(top.table("idle_reclaim"), base.idle_reclaim, known),
        bookings=bookings_of(top.table("bookings"), base.bookings),
        notices=notices_of(top.table("notices"), base.notices),
        audit=audit_of(top.table("audit"), base.audit),
        environments=environments_of(top.table("environments"), base.environments),
        data=data_of(top.table("data"), base.data),
        oidc=oidc_of(top.table("oidc")),
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
    if not table.fits(name):
        table.wrong(key, "name", value=name)
    return name


def _groups(table: Table) -> dict[str, GroupRules]:
    groups = {}
    for name in table.names:
        if not table.fits(name):
            table.wrong(name, "name", value=name)
        group = table.table(name)
        members = group.texts("members")
        share = group.number("share", 1.0, 0.0, strict=True)
        parent = group.name_among("parent", table.names, "unknown_group")
        groups[name] = GroupRules(members, share, parent, group.texts("leads"))
        group.close()
    _refuse_cycles(table, groups)
    return groups


def _refuse_cycles(table: Table, groups: dict[str, GroupRules]) -> None:
    """Names each cycle of parents once, at the first of its groups, and cuts it."""
    for name in groups:
        path = [name]
        while (parent := groups[path[-1]].parent) is not None and parent not in path:
            path.append(parent)
        if parent == name:
            table.table(name).wrong("parent", "parent_cycle", cycle=" → ".join((*path, name)))
            groups[name] = replace(groups[name], parent=None)


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
        give_way = one.text("give_way", default.give_way, GIVE_WAY)
        suspend_bytes = one.size("suspend_memory")
        if give_way == "suspend" and "suspend_memory" not in one.names:
            one.wrong("give_way", "suspend_memory")
        classes[which] = ClassRules(
            preempts=taken,
            min_run_s=min_run_s or 0.0,
            grace_s=grace_s or 0.0,
            budget_gpu_s=one.span("budget", default.budget_gpu_s),
            require_reason=one.flag("require_reason", default.require_reason),
            give_way=give_way,
            suspend_bytes=suspend_bytes,
            idle_for_s=one.span("idle_for", default.idle_for_s) or 0.0,
        )
        one.close()
    return classes


def _fair_share(table: Table, base: FairShare) -> FairShare:
    half_life_s = table.span("half_life", base.half_life_s, least_s=60.0)
    share = FairShare(
        half_life_s=base.half_life_s if half_life_s is None else half_life_s,
        weight=table.number("weight", base.weight, 0.0),
        age_weight_per_day=table.number("age_weight_per_day", base.age_weight_per_day, 0.0),
        charge=table.text("charge", base.charge, CHARGE),
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
