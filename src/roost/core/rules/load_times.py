"""From tables of a rules file to what depends on time: days, periods, windows, idle use, bookings.

Part of `roost.core.rules.load`; it must not know how the periods are computed.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from functools import partial

from roost.core.model import PriorityClass
from roost.core.rules.load_sheets import aliases_of, slots_of
from roost.core.rules.model import BookingRules, Days, IdleReclaim, NoticeRules, Window
from roost.core.rules.periods import PeriodError, parse_dates, parse_span, parse_term, reserved
from roost.core.rules.read import Table, shown

CLASSES = tuple(c.value for c in PriorityClass)
AT_CLOSE = ("finish", "warn", "end")
REPEAT = ("all", "operators", "nobody")
OCCUPIED = ("leave", "end")
DAY_S = 86400.0

Periods = Mapping[str, Sequence[str]]


def days_of(table: Table) -> Days:
    days = Days(table.texts("holidays"), table.texts("working_days"))
    for key, words in (("holidays", days.holidays), ("working_days", days.working_days)):
        for word in words:
            try:
                parse_dates(word)
            except PeriodError as error:
                table.wrong(key, error.code, value=shown(word))
    table.close()
    return days


def periods_of(table: Table) -> dict[str, tuple[str, ...]]:
    found = {}
    for name in table.names:
        if not table.fits(name):
            table.wrong(name, "period_name", value=name)
        elif reserved(name):
            table.wrong(name, "period_reserved", value=name)
        spans = table.texts(name, empty="period_empty")
        good = []
        for word in spans:
            try:
                parse_span(word)
                good.append(word)
            except PeriodError as error:
                table.wrong(name, error.code, value=shown(word))
        found[name] = tuple(good)
    table.close()
    return found


def check_period(table: Table, key: str, text: str, periods: Periods) -> bool:
    """Names what is wrong with a period that a key refers to, and the nearest one."""
    try:
        parse_term(text, periods)
    except PeriodError as error:
        code, near = error.code, []
        if code == "unknown_period":
            near = difflib.get_close_matches(error.given, error.allowed, 1, 0.6)
            code = "unknown_period_near" if near else code
        allowed = ", ".join(error.allowed) or "–"
        table.wrong(key, code, value=shown(text), near=near[0] if near else "", allowed=allowed)
        return False
    return True


def class_names(table: Table, key: str) -> tuple[PriorityClass, ...]:
    return tuple(
        PriorityClass(n) for n in names_among(table, key, CLASSES, "unknown_class") if n in CLASSES
    )


def names_among(table: Table, key: str, allowed: Sequence[str], code: str) -> tuple[str, ...]:
    """A list of names that must be among `allowed`."""
    names = table.texts(key)
    for name in names:
        if name not in allowed:
            near = difflib.get_close_matches(name, allowed, 1, 0.6)
            which = f"{code}_near" if near else code
            words = ", ".join(allowed)
            table.wrong(key, which, name=name, near=near[0] if near else "", allowed=words)
    return names


def windows_of(table: Table, groups: Sequence[str], periods: Periods) -> dict[str, Window]:
    windows = {}
    base = Window()
    for name in table.names:
        if not table.fits(name):
            table.wrong(name, "period_name", value=name)
        one = table.table(name)
        over_s = one.span("jobs_over", base.jobs_over_s)
        notice_s = one.span("notice", base.notice_s)
        opened = one.texts("open", empty="window_without_open")
        good = tuple(word for word in opened if check_period(one, "open", word, periods))
        windows[name] = Window(
            jobs_over_s=over_s or 0.0,
            open=good,
            exempt=class_names(one, "exempt"),
            classes=class_names(one, "classes"),
            groups=names_among(one, "groups", groups, "unknown_group"),
            at_close=one.text("at_close", base.at_close, AT_CLOSE),
            notice_s=base.notice_s if notice_s is None else notice_s,
        )
        one.close()
    return windows


def idle_reclaim_of(table: Table, base: IdleReclaim, groups: Sequence[str]) -> IdleReclaim:
    below = table.number("below_percent", base.below_percent, 0.0)
    if below > 100.0:
        table.wrong("below_percent", "percent", value=f"{below:g}")
    found = IdleReclaim(
        enabled=table.flag("enabled", base.enabled),
        after_s=_span(table, "after", base.after_s, 60.0),
        below_percent=below,
        warn_s=_span(table, "warn", base.warn_s),
        exempt_users=table.texts("exempt_users"),
        exempt_groups=names_among(table, "exempt_groups", groups, "unknown_group"),
        exempt_classes=class_names(table, "exempt_classes"),
    )
    table.close()
    return found


def bookings_of(table: Table, base: BookingRules) -> BookingRules:
    span = partial(_span, table)
    found = BookingRules(
        horizon_s=span("horizon", base.horizon_s, 60.0),
        longest_s=span("longest", base.longest_s, 60.0),
        per_user_gpu_s=gpu_hours(table, "per_user_gpu_hours"),
        no_show_s=span("no_show", base.no_show_s),
        reminder_s=span("reminder", base.reminder_s),
        background_notice_s=span("background_notice", base.background_notice_s),
        maintenance_notice_s=span("maintenance_notice", base.maintenance_notice_s),
        occupied=table.text("occupied", base.occupied, OCCUPIED),
        repeat=table.text("repeat", base.repeat, REPEAT),
        repeat_horizon_s=span("repeat_horizon", base.repeat_horizon_s, 60.0),
        aliases=aliases_of(table.table("aliases")),
        slots=slots_of(table.table("slots")),
    )
    table.close()
    return found


def notices_of(table: Table, base: NoticeRules) -> NoticeRules:
    found = NoticeRules(
        _span(table, "long_wait", base.long_wait_s),
        _span(table, "long_run", base.long_run_s),
        _span(table, "time_limit", base.time_limit_s),
    )
    table.close()
    return found


def _span(table: Table, key: str, default: float, least_s: float = 0.0) -> float:
    """Seconds of a key that cannot be without any."""
    found = table.span(key, default, least_s)
    return default if found is None else found


def gpu_hours(table: Table, key: str) -> float | None:
    """GPU seconds of a number of GPU hours; None where the key is not there."""
    if key not in table.names:
        return None
    return table.number(key, 0.0, 0.0) * 3600.0
