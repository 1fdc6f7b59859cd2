"""Short jobs first, and running ones that give way: pictures, and the bound on anybody's wait."""

from __future__ import annotations

import pytest

from roost.core.model import JobState
from roost.core.scheduler.decisions import Preempt
from roost.core.scheduler.events import UsageRestored
from tests.core.scheduler.pictures import World, servers_of

RULES = '[scheduling]\nmode = "throughput"\nmin_run = "10m"\nmargin = "1h"\ndelay = "1d"\n'


def preempted(world: World) -> list[tuple[int, int]]:
    return [(d.job, d.for_job) for d in world.log if isinstance(d, Preempt)]


def test_a_short_job_is_started_before_a_long_one_that_came_first() -> None:
    world = World(1, RULES)
    world.submit("carol", time="1h")
    long = world.submit("alice", time="9h")
    short = world.submit("bob", time="30m")
    world.end(1)
    assert world.running() == [short]
    world.end(short)
    assert world.running() == [long]


def test_under_fair_rules_the_first_that_came_is_the_first() -> None:
    world = World(1)
    world.submit("carol", time="1h")
    long = world.submit("alice", time="9h")
    world.submit("bob", time="30m")
    world.end(1)
    assert world.running() == [long]


def test_a_long_job_gives_way_to_a_short_one_and_has_its_turn_again() -> None:
    world = World(1, RULES)
    long = world.submit("alice", time="20h")
    world.wait("2h")
    world.checkpoint(long)
    short = world.submit("bob", time="20m")
    assert world.picture() == "g0:~alice"
    assert "(rules: scheduling.mode)" in world.why(short)
    world.give_way()
    assert world.running() == [short]
    world.end(short)
    assert world.running() == [long]
    assert world.attempts[long] == 2
    assert preempted(world) == [(long, short)]


def test_nobody_gives_way_before_the_minimum_run() -> None:
    world = World(1, RULES)
    long = world.submit("alice", time="20h")
    world.wait("9m")
    short = world.submit("bob", time="20m")
    assert preempted(world) == []
    world.wait("1m")
    assert preempted(world) == [(long, short)]


def test_a_job_that_is_little_shorter_takes_nothing_away() -> None:
    world = World(1, RULES)
    world.submit("alice", time="1h")
    world.wait("11m")
    world.submit("bob", time="45m")
    assert preempted(world) == []


def test_a_job_that_cannot_be_started_again_keeps_its_gpu() -> None:
    world = World(1, RULES)
    world.submit("alice", time="20h", requeue=False)
    world.wait("2h")
    world.submit("bob", time="20m")
    assert preempted(world) == []


def test_a_job_gives_way_on_the_server_where_the_fewest_gpus_change_hands() -> None:
    world = World(gpus=servers_of(2, 2), text=RULES)
    world.submit("alice", 2, time="20h")
    world.submit("li", 1, time="10h")
    one = world.submit("wu", 1, time="20h")
    world.wait("11m")
    short = world.submit("bob", 1, time="20m")
    assert preempted(world) == [(one, short)]


def test_a_short_job_takes_nothing_from_one_who_comes_first_by_fair_share() -> None:
    """Else alice's job, first in line by fair share, would be started again at once, and lose its
    GPU again, for ever."""
    world = World(1, RULES)
    world.step(UsageRestored(world.now, (("bob", 360_000.0),), (("default", 360_000.0),)))
    world.submit("alice", time="20h")
    world.wait("2h")
    world.submit("bob", time="20m")
    assert preempted(world) == []


def test_of_two_the_one_that_has_longest_to_go_gives_way() -> None:
    world = World(2, RULES)
    world.submit("alice", time="10h")
    longer = world.submit("li", time="20h")
    world.wait("11m")
    short = world.submit("bob", time="20m")
    assert preempted(world) == [(longer, short)]


def test_nobody_gives_way_where_too_little_would_come_free() -> None:
    world = World(2, RULES)
    world.submit("alice", time="20h")
    world.submit("li", time="20m")
    world.wait("11m")
    world.submit("bob", 2, time="20m")
    assert preempted(world) == []


def test_what_is_expected_is_learnt_from_a_persons_last_jobs() -> None:
    """bob asks for a day and needs a tenth of it; who asks for five hours comes after him."""
    world = World(1, RULES + "[fair_share]\nweight = 0\n")
    for _ in range(3):
        number = world.submit("bob", time="1d")
        world.wait("144m")
        world.end(number)
    world.submit("carol", time="3h")
    five = world.submit("alice", time="5h")
    day = world.submit("bob", time="1d")
    world.end(4)
    assert day in world.running()
    assert five not in world.running()


@pytest.mark.parametrize("hours", [6, 48])
def test_no_job_waits_longer_than_the_bound_although_shorter_ones_keep_coming(hours: int) -> None:
    """Nothing that came after `delay` + `delay_factor` × the drain time of the queue that it found
    passes it; what came before drains. Here the queue is empty but for one job."""
    world = World(1, RULES + "delay_factor = 1\n")
    world.submit("bob", time="1h")
    long = world.submit("alice", time=f"{hours}h")
    begun = world.now
    drain_s = (1 + hours) * 3600
    while world.states[long] is JobState.PENDING:
        world.wait("30m")
        if world.running():
            number = world.running()[0]
            if world.now - world.started_at[number] >= 3600:
                world.end(number)
        world.submit("bob", time="1h")
        assert world.now - begun < 86400 + drain_s + 3600 * 2


def test_changing_the_mode_lays_the_queue_anew() -> None:
    world = World(1)
    world.submit("carol", time="1h")
    long = world.submit("alice", time="9h")
    short = world.submit("bob", time="30m")
    from roost.core.rules.load import load

    world.change_rules(load(RULES))
    world.end(1)
    assert world.running() == [short]
    world.change_rules(load(""))
    world.submit("dan", time="10m")
    world.end(short)
    assert world.running() == [long]
