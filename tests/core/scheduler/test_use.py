"""Held GPUs that do nothing, what fair share charges, and closes of windows that are only told."""

from __future__ import annotations

import pytest

from roost.core.model import EndReason, JobState
from roost.core.rules.load import load
from roost.core.scheduler.decisions import Decision, Stop, Warn
from roost.core.scheduler.events import GpuUse
from tests.core.scheduler.pictures import World

RECLAIM = """
[idle_reclaim]
enabled = true
after = "30m"
below_percent = 5
warn = "10m"
exempt_users = ["wu"]
exempt_groups = ["staff"]
[groups.staff]
[groups.guests]
parent = "staff"
"""


def report(world: World, minutes: int, **busy: float) -> list[Decision]:
    """A report each minute for so long; what was decided about the jobs that run."""
    before = len(world.log)
    for _ in range(minutes):
        world.now += 60.0
        world.used(**busy)
    return [one for one in world.log[before:] if isinstance(one, Warn | Stop)]


def test_who_holds_an_idle_gpu_is_told_and_then_stopped() -> None:
    world = World(1, RECLAIM)
    number = world.submit("alice")
    world.submit("bob")
    assert report(world, 30, g0=0.0) == []
    [warned] = report(world, 1, g0=0.02)
    assert isinstance(warned, Warn)
    assert (warned.job, warned.code, warned.rule) == (number, "idle", "idle_reclaim.after")
    assert dict(warned.numbers) == {"idle_s": 1800.0, "stop_at": world.now + 600.0}
    assert report(world, 9, g0=0.0) == []
    [stopped] = report(world, 1, g0=0.0)
    assert isinstance(stopped, Stop)
    assert (stopped.job, stopped.reason, stopped.requeue) == (number, EndReason.CANCELLED, False)
    assert report(world, 5, g0=0.0) == [], "it is stopped once"
    world.end(number, state=JobState.CANCELLED)
    assert world.picture() == "g0:bob"


def test_who_computes_again_is_left_alone() -> None:
    world = World(1, RECLAIM)
    world.submit("alice")
    assert len(report(world, 35, g0=0.0)) == 1
    [over] = report(world, 1, g0=0.5)
    assert isinstance(over, Warn) and over.code == "idle_over"
    assert report(world, 29, g0=0.0) == []
    assert len(report(world, 1, g0=0.0)) == 1


def test_a_job_is_idle_when_all_of_its_gpus_are() -> None:
    world = World(2, RECLAIM)
    world.submit("alice", 2)
    found = report(world, 120, g0=0.9, g1=0.0)
    assert [(one.code, dict(one.numbers)["gpus"]) for one in found if isinstance(one, Warn)] == [
        ("idle_part", "1")
    ]
    assert len(found) == 1, "and it is told once, and never stopped"


@pytest.mark.parametrize(
    "more", [{"user": "wu"}, {"group": "staff"}, {"group": "guests"}, {"gpus": 0}]
)
def test_exceptions_are_left_alone(more: dict[str, object]) -> None:
    world = World(1, RECLAIM)
    world.submit(**more)  # type: ignore[arg-type]
    assert report(world, 120, g0=0.0) == []


def test_what_a_gpu_does_not_say_is_no_idleness() -> None:
    world = World(1, RECLAIM)
    world.submit("alice")
    assert report(world, 120) == []


def test_after_a_gap_in_the_reports_idle_time_begins_anew() -> None:
    """The agent was away for an hour: nobody knows what the job did."""
    world = World(1, RECLAIM)
    world.submit("alice")
    report(world, 20, g0=0.0)
    world.now += 3600.0
    assert report(world, 30, g0=0.0) == []
    assert len(report(world, 2, g0=0.0)) == 1


def test_by_default_nobody_is_told_anything() -> None:
    world = World(1)
    world.submit("alice")
    assert report(world, 120, g0=0.0) == []


@pytest.mark.parametrize(("charge", "first"), [("held", "bob"), ("busy", "alice")])
def test_fair_share_charges_what_the_rules_say(charge: str, first: str) -> None:
    """alice holds two GPUs that compute a tenth of the time, bob one that computes always."""
    world = World(3, f'[fair_share]\ncharge = "{charge}"\n')
    world.submit("alice", 2)
    world.submit("bob", 1)
    for _ in range(600):
        world.now += 60.0
        world.step(GpuUse(world.now, (("GPU-0", 0.1), ("GPU-1", 0.1), ("GPU-2", 1.0))))
    world.submit("alice", 1)
    world.submit("bob", 1)
    world.end(2)
    assert world.picture() == f"g0:alice g1:alice g2:{first}"


def test_a_changed_rule_counts_from_then_on() -> None:
    world = World(1, '[fair_share]\ncharge = "busy"\n')
    number = world.submit("alice")
    world.used(g0=0.0)

    def used() -> float:
        world.tick()
        users: dict[str, float] = world.scheduler.snapshot()["usage"]["users"]
        return users.get("alice", 0.0)

    world.now += 3600.0
    assert used() == pytest.approx(0.0, abs=0.1)
    world.change_rules(load(""))
    world.now += 3600.0
    assert used() == pytest.approx(3600.0, rel=0.01)
    world.end(number)
    world.now += 3600.0
    assert used() == pytest.approx(3600.0, rel=0.02)


WINDOW = """
[periods]
night = ["daily 20:00-06:00"]
[windows.long]
jobs_over = "4h"
open = ["night"]
at_close = "warn"
notice = "30m"
"""


def test_a_close_that_is_only_told_lets_the_job_run_on() -> None:
    world = World(1, WINDOW)
    world.now = 20 * 3600.0
    number = world.submit("alice", time="12h")
    world.wait("9h29m")
    assert not [one for one in world.log if isinstance(one, Warn)]
    world.wait("1m")
    [warned] = [one for one in world.log if isinstance(one, Warn)]
    assert (warned.job, warned.code) == (number, "closing")
    assert warned.rule == "windows.long.at_close"
    assert dict(warned.numbers) == {"close_at": 30 * 3600.0}
    world.book()
    world.wait("2h")
    assert len([one for one in world.log if isinstance(one, Warn)]) == 1
    assert world.picture() == "g0:alice"


def test_a_close_that_is_told_does_not_hide_a_later_one_that_ends() -> None:
    hard = '[windows.hard]\njobs_over = "4h"\nopen = ["late"]\nat_close = "end"\nnotice = "30m"\n'
    periods = 'late = ["daily 20:00-08:00"]\n[windows'
    world = World(1, WINDOW.replace("[windows", periods, 1) + hard)
    world.now = 20 * 3600.0
    world.submit("alice")
    told = [(9 * 60 + 29, []), (1, ["Warn"]), (119, ["Warn"]), (1, ["Warn", "Stop"])]
    for minutes, kinds in told:
        world.wait(f"{minutes}m")
        assert [type(one).__name__ for one in world.log if isinstance(one, Warn | Stop)] == kinds
