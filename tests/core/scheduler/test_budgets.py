"""What each person may use of a class in a month: kept ahead, in the months of the rules' zone."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.core.model import JobState, PriorityClass
from roost.core.rules.load import load
from roost.core.scheduler.events import BudgetsRestored
from tests.core.scheduler.pictures import World
from tests.core.scheduler.test_submission import refused

BUDGET = '[classes.urgent]\nbudget = "10h"\n'


def at(zone: str, *moment: int) -> float:
    return datetime(*moment, tzinfo=ZoneInfo(zone)).timestamp()  # type: ignore[arg-type]


def world_at(now: float, count: int = 4, text: str = BUDGET) -> World:
    world = World(count, text)
    world.now = now
    world.wait("1s")
    return world


def urgent(world: World, user: str = "li", gpus: int = 1, time: str | None = "2h") -> int:
    return world.submit(user, gpus, "urgent", time=time)


def test_what_runs_is_counted_by_its_walltime_until_it_has_ended() -> None:
    world = world_at(at("UTC", 2026, 5, 4))
    first = urgent(world, gpus=2, time="4h")
    late = urgent(world, gpus=1, time="3h")
    assert world.picture() == "g0:li g1:li g2:- g3:-"
    assert world.codes(late) == ["budget"]
    reason = dict(world.scheduler.explain(late).reasons[0].numbers)
    assert (reason["used_h"], reason["planned_h"], reason["need_h"]) == (0, 8, 3)
    assert reason["renewed_at"] == at("UTC", 2026, 6, 1)
    assert world.scheduler.explain(late).reasons[0].rule == "classes.urgent.budget"
    world.wait("2h")
    world.end(first)
    assert world.picture() == "g0:li g1:- g2:- g3:-", "4 of 10 hours were used, 3 are wanted"


def test_everybody_has_a_budget_of_their_own_and_other_classes_none() -> None:
    world = world_at(at("UTC", 2026, 5, 4))
    urgent(world, gpus=2, time="5h")
    world.submit("li", time="9h")
    urgent(world, "wu", time="5h")
    assert world.picture() == "g0:li g1:li g2:li g3:wu"


def test_a_shorter_job_behind_one_that_the_budget_stops_is_let_in() -> None:
    world = world_at(at("UTC", 2026, 5, 4))
    urgent(world, gpus=1, time="7h")
    urgent(world, gpus=1, time="5h")
    short = urgent(world, gpus=1, time="3h")
    assert short in world.held and world.picture() == "g0:li g1:li g2:- g3:-"


def test_a_new_month_brings_a_new_budget_by_itself() -> None:
    zone = "Asia/Shanghai"
    world = world_at(at(zone, 2026, 5, 31, 22), text=f'time_zone = "{zone}"\n{BUDGET}')
    world.end(urgent(world, gpus=4, time="2h"))
    first = urgent(world, gpus=4, time="2h")
    assert first in world.held, "nothing of it was used"
    world.wait("1h59m")
    world.end(first)
    waiting = urgent(world, gpus=4, time="90m")
    assert waiting in world.held, "it needs a minute of this month"
    world.end(waiting)
    blocked = urgent(world, gpus=4, time="2h30m")
    assert blocked in world.held


def test_a_job_over_the_end_of_the_month_takes_of_both() -> None:
    world = world_at(at("UTC", 2026, 5, 31, 22))
    number = urgent(world, gpus=2, time="5h")
    world.wait("3h")
    late = urgent(world, gpus=2, time="3h")
    assert late not in world.held, "of June 2 hours were used, 4 are planned, 6 are wanted"
    reason = dict(world.scheduler.explain(late).reasons[0].numbers)
    assert (reason["used_h"], reason["planned_h"], reason["need_h"]) == (2, 4, 6)
    world.end(number)
    assert late in world.held


@pytest.mark.parametrize(
    "zone", ["Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]
)
@pytest.mark.parametrize(("year", "month"), [(2026, 4), (2028, 3), (2026, 11), (2027, 1)])
def test_the_month_turns_at_midnight_of_the_zone(zone: str, year: int, month: int) -> None:
    """Also after a February of 29 days, and in months in which the clocks are changed."""
    turn = at(zone, year, month, 1)
    world = world_at(turn - 3600.0, text=f'time_zone = "{zone}"\n{BUDGET}')
    world.step(BudgetsRestored(world.now, ((PriorityClass.URGENT, "li", 36e3),)))
    number = urgent(world)
    assert world.picture() == "g0:- g1:- g2:- g3:-"
    assert world.scheduler.next_time() == turn
    world.wait("59m58s")
    assert number not in world.held
    world.wait("1s")
    assert number in world.held and world.started_at[number] == turn


def test_the_clock_stepped_back_over_the_turn_gives_no_budget_twice() -> None:
    turn = at("UTC", 2026, 6, 1)
    world = world_at(turn + 60.0)
    number = urgent(world, gpus=4, time="2h")
    world.wait("2h")
    world.end(number)
    world.now = turn - 1800.0
    assert urgent(world, gpus=2, time="2h") not in world.held


def test_a_changed_time_zone_moves_the_turn() -> None:
    """West of Greenwich it is May still; what was used is restored by the server beside it."""
    world = world_at(at("UTC", 2026, 6, 1, 2))
    world.change_rules(load('time_zone = "America/New_York"\n' + BUDGET))
    world.step(BudgetsRestored(world.now, ((PriorityClass.URGENT, "li", 36e3),)))
    number = urgent(world, time="5h")
    assert number not in world.held
    assert world.scheduler.next_time() == at("America/New_York", 2026, 6, 1)


def test_claims_of_one_person_do_not_exceed_the_budget_together() -> None:
    """Nobody is preempted for a job that may then not start."""
    text = BUDGET + '[classes.background]\nmin_run = "0s"\n'
    world = world_at(at("UTC", 2026, 5, 4), 2, text)
    world.submit("bob", 1, "background")
    world.submit("bob", 1, "background")
    urgent(world, time="6h")
    second = urgent(world, time="6h")
    assert world.picture() == "g0:~bob g1:bob"
    assert world.codes(second) == ["budget"]


def test_a_share_that_the_budget_stops_says_so() -> None:
    """How much of a GPU it is shows only on the GPU that it would get."""
    world = world_at(at("UTC", 2026, 5, 4), 2, "shared_gpus = [0]\n" + BUDGET)
    fits = world.submit("li", which="urgent", share="20G", time="32h")
    late = world.submit("li", which="urgent", share="20G", time="32h")
    assert fits in world.held
    assert world.codes(late) == ["budget"]


def test_a_submission_that_no_budget_covers_is_refused() -> None:
    world = World(4, BUDGET)
    assert refused(world, "li", 2, which="urgent", time="6h", group="default") == [
        "12 GPU hours were asked for; li may use 10 a month for urgent jobs"
        " (rules: classes.urgent.budget)"
    ]
    assert refused(world, "li", which="urgent", group="default") == [
        "li may use 10 GPU hours a month for urgent jobs, so say how long this one runs at most,"
        " as --time 2h (rules: classes.urgent.budget)"
    ]
    assert refused(world, "li", 2, which="urgent", time="5h", group="default") == []


def test_a_job_that_was_queued_before_the_budget_came_says_that_it_is_too_large() -> None:
    world = World(1)
    world.submit("wu")
    number = world.submit("li", which="urgent", time="30h")
    world.change_rules(load(BUDGET))
    assert world.codes(number) == ["budget_never"]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),  # GPUs
            st.integers(1, 300),  # walltime in minutes
            st.integers(0, 100),  # used of it, in percent
            st.integers(0, 400),  # minutes until the next one comes
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 3000),
)
def test_no_month_holds_more_than_the_budget(
    jobs: list[tuple[int, int, int, int]], minutes_before: int
) -> None:
    """Added up by hand from starts and ends, over the turn of a month."""
    turn = at("UTC", 2026, 6, 1)
    world = world_at(turn - 60.0 * minutes_before)
    ends: dict[int, float] = {}
    spans: list[tuple[int, float, float]] = []

    def until(moment: float) -> None:
        while True:
            due = min(((world.started_at[n] + ends[n], n) for n in world.held), default=None)
            wake = world.scheduler.next_time()
            soonest = min(due[0] if due else moment, moment if wake is None else wake)
            if soonest >= moment:
                break
            if due and due[0] <= soonest:
                world.now = due[0]
                gpus = world.jobs[due[1]].request.gpus
                spans.append((gpus, world.started_at[due[1]], world.now))
                world.end(due[1], state=JobState.COMPLETED)
            else:
                world.now = soonest
                world.tick()
        world.now = moment

    for gpus, walltime, used, pause in jobs:
        number = len(world.jobs) + 1
        ends[number] = max(1.0, walltime * 0.6 * used)
        urgent(world, gpus=gpus, time=f"{walltime}m")
        until(world.now + 60.0 * pause + 1.0)
    until(world.now + 40 * 86400.0)
    for begin, end in ((0.0, turn), (turn, at("UTC", 2026, 7, 1))):
        held = sum(g * max(0.0, min(b, end) - max(a, begin)) for g, a, b in spans)
        assert held <= 10 * 3600.0 + 1e-3
