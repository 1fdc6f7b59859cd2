"""Days, periods, windows, budgets, parents, idle use, bookings: every key, every mistake."""

from __future__ import annotations

import pytest

from roost.core.model import PriorityClass
from roost.core.rules.load import load
from roost.core.rules.model import (
    BookingRules,
    Days,
    IdleReclaim,
    Limit,
    Limits,
    Window,
)
from roost.core.rules.read import RulesError

URGENT, REGULAR, BACKGROUND = PriorityClass


def test_every_key_about_time_is_read() -> None:
    rules = load(
        """
        [days]
        holidays = ["2026-10-01..2026-10-07", "2026-12-25"]
        working_days = ["2026-10-10"]
        [periods]
        night = ["20:00-08:00", "freedays"]
        [groups.lab]
        [groups.vision]
        parent = "lab"
        [classes.urgent]
        budget = "40h"
        require_reason = true
        give_way = "suspend"
        suspend_memory = "4G"
        [classes.background]
        idle_for = "10m"
        give_way = "checkpoint"
        [limits.during.night.per_user]
        max_gpus = 8
        [limits.during."not night".groups.lab.regular]
        max_jobs = 2
        [fair_share]
        charge = "busy"
        [windows.long]
        jobs_over = "4h"
        open = ["night", "fri 18:00-24:00"]
        exempt = ["urgent"]
        classes = ["regular", "background"]
        groups = ["lab", "default"]
        at_close = "end"
        notice = "20m"
        [idle_reclaim]
        enabled = true
        after = "45m"
        below_percent = 2.5
        warn = "5m"
        exempt_users = ["li"]
        exempt_groups = ["lab"]
        exempt_classes = ["urgent"]
        [bookings]
        horizon = "7d"
        longest = "1d"
        per_user_gpu_hours = 96
        no_show = "10m"
        reminder = "1h"
        background_notice = "5m"
        """
    )
    assert rules.days == Days(("2026-10-01..2026-10-07", "2026-12-25"), ("2026-10-10",))
    assert rules.periods == {"night": ("20:00-08:00", "freedays")}
    assert rules.groups["vision"].parent == "lab"
    urgent, background = rules.classes[URGENT], rules.classes[BACKGROUND]
    assert (urgent.budget_gpu_s, urgent.require_reason) == (40 * 3600.0, True)
    assert (urgent.give_way, background.give_way) == ("suspend", "checkpoint")
    assert background.idle_for_s == 600.0
    assert rules.limits.during == {
        "night": Limits(per_user=Limit(max_gpus=8)),
        "not night": Limits(
            groups={"lab": Limit()}, group_of_class={("lab", REGULAR): Limit(max_jobs=2)}
        ),
    }
    assert rules.fair_share.charge == "busy"
    assert rules.windows == {
        "long": Window(
            jobs_over_s=4 * 3600.0,
            open=("night", "fri 18:00-24:00"),
            exempt=(URGENT,),
            classes=(REGULAR, BACKGROUND),
            groups=("lab", "default"),
            at_close="end",
            notice_s=1200.0,
        )
    }
    assert rules.idle_reclaim == IdleReclaim(True, 2700.0, 2.5, 300.0, ("li",), ("lab",), (URGENT,))
    assert rules.bookings == BookingRules(7 * 86400.0, 86400.0, 96 * 3600.0, 600.0, 3600.0, 300.0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[days]\nholidays = ['2026-02-29']", (2, "days.holidays", "dates")),
        ("[days]\nholidays = ['2026-10-07..2026-10-01']", (2, "days.holidays", "dates")),
        ("[days]\nholiday = []", (2, "days.holiday", "unknown_near")),
        ("[periods]\nnight = '20:00-08:00'", (2, "periods.night", "texts")),
        ("[periods]\nnight = []", (2, "periods.night", "period_empty")),
        ("[periods]\nnight = ['20-08']", (2, "periods.night", "span")),
        ("[periods]\nnight = ['mon 25:00-26:00']", (2, "periods.night", "span_time")),
        ("[periods]\nworkdays = ['mon-fri']", (2, "periods.workdays", "period_reserved")),
        ("[periods]\n'a b' = ['mon']", (2, "periods.a b", "period_name")),
        (
            "[groups.a]\nparent = 'b'\n[groups.b]\nparent = 'a'",
            (2, "groups.a.parent", "parent_cycle"),
        ),
        ("[groups.a]\nparent = 'a'", (2, "groups.a.parent", "parent_cycle")),
        ("[groups.a]\nparent = 'x'", (2, "groups.a.parent", "unknown_group")),
        ("[groups.abc]\n[groups.b]\nparent = 'abd'", (3, "groups.b.parent", "unknown_group_near")),
        ("[classes.urgent]\nbudget = 40", (2, "classes.urgent.budget", "duration_without_unit")),
        ("[classes.urgent]\nrequire_reason = 1", (2, "classes.urgent.require_reason", "flag")),
        ("[classes.regular]\ngive_way = 'stop'", (2, "classes.regular.give_way", "one_of")),
        ("[limits.during.night]", (1, "limits.during.night", "unknown_period")),
        (
            "[periods]\nnight = ['mon']\n[limits.during.nigth]",
            (3, "limits.during.nigth", "unknown_period_near"),
        ),
        ("[limits.during.mon.during.tue]", (1, "limits.during.mon.during", "unknown")),
        ("[windows.w]", (1, "windows.w.open", "window_without_open")),
        ("[windows.w]\nopen = []", (2, "windows.w.open", "window_without_open")),
        ("[windows.w]\nopen = ['night']", (2, "windows.w.open", "unknown_period")),
        (
            "[windows.w]\nopen = ['mon']\nexempt = ['urgnt']",
            (3, "windows.w.exempt", "unknown_class_near"),
        ),
        ("[windows.w]\nopen = ['mon']\ngroups = ['x']", (3, "windows.w.groups", "unknown_group")),
        ("[windows.w]\nopen = ['mon']\nat_close = 'kill'", (3, "windows.w.at_close", "one_of")),
        ("[windows.w]\nopen = ['mon']\njobs_ovr = '4h'", (3, "windows.w.jobs_ovr", "unknown_near")),
        ("[idle_reclaim]\nbelow_percent = 101", (2, "idle_reclaim.below_percent", "percent")),
        ("[idle_reclaim]\nafter = '1s'", (2, "idle_reclaim.after", "span_least")),
        ("[bookings]\nper_user_gpu_hours = '96h'", (2, "bookings.per_user_gpu_hours", "number")),
        ("[bookings]\nhorizon = '1s'", (2, "bookings.horizon", "span_least")),
        ("[fair_share]\ncharge = 'used'", (2, "fair_share.charge", "one_of")),
    ],
)
def test_a_mistake_is_named_with_its_key_and_line(text: str, found: tuple[int, str, str]) -> None:
    with pytest.raises(RulesError) as caught:
        load(text)
    assert [(p.line, p.key, p.code) for p in caught.value.problems] == [found]


def test_a_cycle_of_parents_is_said_whole() -> None:
    with pytest.raises(RulesError, match="a → b → c → a"):
        load("".join(f"[groups.{a}]\nparent = '{b}'\n" for a, b in ("ab", "bc", "ca")))


def test_a_period_that_is_not_there_is_said_with_the_nearest() -> None:
    with pytest.raises(RulesError) as caught:
        load("[periods]\nnight = ['mon']\n[windows.w]\nopen = ['nihgt']\n")
    (problem,) = caught.value.problems
    assert "did you mean night?" in problem.text("en")
    assert "是否想写 night" in problem.text("zh")
