"""Jobs that can use from some to many GPUs: `roost run -g 2..8`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from roost.core.rules.load import load
from tests.core.scheduler.pictures import World, servers_of
from tests.core.scheduler.test_submission import refused

WAIT = '[scheduling]\nelastic_wait = "10m"\n'


def elastic(world: World, least: int, most: int, user: str = "alice", **more: Any) -> int:
    return world.submit(user, least, most=most, **more)


def test_it_takes_what_is_free_now() -> None:
    world = World(8)
    world.submit("li", 3)
    assert len(world.held[elastic(world, 2, 8)]) == 5


def test_it_takes_no_more_than_it_can_use() -> None:
    world = World(8)
    assert len(world.held[elastic(world, 2, 4)]) == 4


def test_with_less_than_the_least_free_it_waits_like_any_other() -> None:
    world = World(4)
    first = world.submit("li", 3, time="1h")
    number = elastic(world, 2, 4)
    assert world.why(number).startswith("waits for 2 GPUs: 1 is free; job 1 of li ends by 3600s")
    world.end(first)
    assert len(world.held[number]) == 4


def test_limits_cut_it_short_and_do_not_stop_it() -> None:
    world = World(8, "[limits.per_user]\nmax_gpus = 3\n")
    assert len(world.held[elastic(world, 2, 8)]) == 3


def test_a_budget_cuts_it_short_too() -> None:
    world = World(8, '[classes.urgent]\nbudget = "10h"\n')
    assert len(world.held[elastic(world, 1, 8, which="urgent", time="2h")]) == 5


def test_it_stays_on_one_server_where_one_can_hold_it() -> None:
    world = World(gpus=servers_of(2, 4))
    world.submit("li", 1)
    assert world.picture_after("wu", 2).count("wu") == 2
    number = elastic(world, 2, 4)
    servers = {world.gpus[grant.gpu_uuid].server for grant in world.held[number]}
    assert len(servers) == 1 and len(world.held[number]) == 4


def test_it_does_not_take_what_is_kept_for_the_first_in_line() -> None:
    world = World(4)
    world.submit("li", 2, time="1h")
    world.submit("wu", 3, time="1h")
    number = elastic(world, 1, 4, time="30m")
    assert len(world.held[number]) == 2, "it is gone before the first in line starts"
    late = elastic(world, 1, 4, time="2h")
    assert late not in world.held


def test_by_rule_it_waits_for_all_for_a_while_first() -> None:
    world = World(4, WAIT)
    first = world.submit("li", 1)
    number = elastic(world, 2, 4)
    assert world.why(number).split("; ") == [
        "waits for 4 GPUs: 3 are free",
        "job 1 of li runs without a time limit",
        "waits for as many until 600s, then takes what is free, 2 GPUs or more"
        " (rules: scheduling.elastic_wait)",
    ]
    world.wait("9m59s")
    assert number not in world.held
    world.wait("1s")
    assert len(world.held[number]) == 3
    assert first in world.held


def test_it_starts_at_once_when_all_are_there_and_never_waits_for_more_than_exist() -> None:
    world = World(4, WAIT)
    assert len(world.held[elastic(world, 2, 16)]) == 4


def test_a_rule_that_no_longer_asks_to_wait_lets_it_go() -> None:
    world = World(4, WAIT)
    world.submit("li", 1)
    number = elastic(world, 2, 4)
    world.change_rules(load(""))
    assert len(world.held[number]) == 3


def test_who_was_preempted_may_come_back_with_another_number() -> None:
    world = World(4, '[classes.background]\nmin_run = "0s"\n')
    number = elastic(world, 1, 4, which="background")
    assert len(world.held[number]) == 4
    world.submit("li", 3, "urgent")
    world.give_way()
    assert len(world.held[number]) == 1
    assert world.picture() == "g0:li g1:li g2:li g3:alice"


def test_a_range_the_wrong_way_round_is_refused() -> None:
    world = World(8)
    job = world.job("alice", 8)
    found = world.scheduler.check_submission(
        replace(job, request=replace(job.request, gpus_most=2))
    )
    assert [problem.code for problem in found] == ["gpus_range"]
    assert refused(World(8, "[groups.cv]\nmembers = ['alice']\n"), gpus=2) == []
