"""Who comes first: class, fair share, age, size, number; and who may pass a job that waits."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.model import JobState
from roost.core.rules.model import GroupRules
from roost.core.scheduler.events import JobSubmitted, UsageRestored
from roost.core.scheduler.usage import Usage
from tests.core.scheduler.pictures import World

DAY = 86400.0


def started_in_order(world: World) -> list[int]:
    """Ends whatever runs until nothing waits; the order in which jobs started after now."""
    order: list[int] = []
    while True:
        running = [n for n in world.running() if n not in order]
        order += sorted(running, key=lambda n: world.started_at[n])
        if not world.running():
            return order
        world.wait("1s")
        world.end(*world.running())


def test_classes_are_served_in_their_order() -> None:
    world = World(1)
    world.submit("alice", 1, "regular", time="1h")
    background = world.submit("li", 1, "background")
    regular = world.submit("li", 1, "regular")
    urgent = world.submit("wu", 1, "urgent")
    assert started_in_order(world) == [1, urgent, regular, background]


def test_who_used_less_of_their_share_goes_first() -> None:
    world = World(1)
    world.step(UsageRestored(world.now, (("alice", 90000.0),), (("default", 90000.0),)))
    world.submit("carol")
    alice = world.submit("alice")
    bob = world.submit("bob")
    assert started_in_order(world) == [1, bob, alice]


def test_a_group_with_twice_the_share_may_have_used_twice_as_much() -> None:
    text = "[groups.big]\nshare = 2\n[groups.small]\n"
    for big_use, first in ((1.8, "big"), (2.2, "small")):
        world = World(1, text)
        used = (("big", big_use * 1e6), ("small", 1e6))
        world.step(UsageRestored(world.now, (), used))
        world.submit("carol", group="default")
        jobs = {
            "small": world.submit("li", group="small"),
            "big": world.submit("alice", group="big"),
        }
        assert started_in_order(world)[1] == jobs[first]


def test_waiting_counts_so_that_even_a_heavy_user_comes_first_some_day() -> None:
    world = World(1)
    world.submit("carol")
    world.step(UsageRestored(world.now, (("alice", 1e9), ("bob", 0.0)), (("default", 1e9),)))
    alice = world.submit("alice")
    world.wait("11d")
    world.step(UsageRestored(world.now, (("alice", 1e9), ("bob", 0.0)), (("default", 1e9),)))
    bob = world.submit("bob")
    assert started_in_order(world) == [1, alice, bob]


def test_of_two_jobs_of_one_instant_the_smaller_goes_first_then_the_lower_number() -> None:
    world = World(2)
    world.submit("carol", 2)
    jobs = [world.job("alice", 2), world.job("alice", 1), world.job("alice", 1)]
    world.step(*(JobSubmitted(world.now, job) for job in jobs))
    assert started_in_order(world) == [1, 3, 4, 2]


def test_a_requeued_job_is_back_in_its_old_place() -> None:
    world = World(1)
    world.submit("alice")
    world.wait("1m")
    second = world.submit("alice")
    world.end(1, state=JobState.NODE_FAIL, requeue=True)
    assert world.running() == [1]
    assert world.attempts[1] == 2
    world.end(1)
    assert world.running() == [second]


def test_a_big_job_keeps_the_free_gpus_it_waits_for_when_no_end_is_known() -> None:
    world = World(4)
    world.submit("carol", 2)
    big = world.submit("alice", 4)
    world.wait("1s")
    small = world.submit("bob", 1)
    assert world.picture() == "g0:carol g1:carol g2:- g3:-"
    assert world.scheduler.explain(small).reasons[-1].blocking_jobs == (big,)
    assert "job 2 of alice goes first" in world.why(small)
    world.end(1)
    assert world.picture() == "g0:alice g1:alice g2:alice g3:alice"


def test_a_short_job_passes_a_big_one_if_it_ends_before_that_can_start() -> None:
    world = World(4)
    world.submit("carol", 2, time="2h")
    big = world.submit("alice", 4)
    world.wait("1m")
    short = world.submit("bob", 1, time="119m")
    long = world.submit("bob", 1, time="120m")
    assert short in world.running()
    assert long not in world.running()
    assert world.scheduler.explain(big).forecast_start_at == 1000 + 7200
    assert "at 7200s at the latest" in world.why(long)


def test_of_a_thousand_equal_jobs_the_short_one_behind_a_reservation_is_found() -> None:
    world = World(2)
    world.submit("carol", 1, time="1h")
    world.submit("alice", 2)
    world.wait("1s")
    for _ in range(30):
        world.submit("bob", 1, time="5h")
    short = world.submit("bob", 1, time="30m")
    assert world.running() == [1, short]


def test_a_job_on_gpus_that_the_first_one_does_not_need_passes_it() -> None:
    world = World(4)
    world.submit("carol", 1, time="1h")
    world.submit("dan", 1, time="5h")
    world.submit("alice", 3)
    world.wait("1s")
    long = world.submit("bob", 1, time="9h")
    assert long not in world.running()
    other = World(4)
    other.submit("carol", 2, time="1h")
    other.submit("dan", 1, time="5h")
    other.submit("alice", 2)
    other.wait("1s")
    passed = other.submit("bob", 1, time="9h")
    assert passed in other.running()
    other.end(1)
    assert other.picture() == "g0:alice g1:alice g2:dan g3:bob"


def test_a_job_that_cannot_start_for_now_at_all_keeps_nobody_waiting() -> None:
    world = World(4)
    world.usable(3, False, "fan")
    big = world.submit("alice", 4)
    world.wait("1s")
    small = world.submit("bob", 1)
    assert small in world.running()
    assert "1 GPU cannot be used (GPU 3: fan)" in world.why(big)


def test_cpus_are_kept_for_the_first_job_too() -> None:
    world = World(4, cpus=8)
    world.submit("carol", 1, cpus=6)
    first = world.submit("alice", 1, cpus=4)
    behind = world.submit("bob", 1, cpus=1)
    assert world.running() == [1]
    assert "waits for CPU cores: needs 4, 2 of 8 free" in world.why(first)
    assert world.codes(behind) == ["behind"]
    world.end(1)
    assert world.running() == [first, behind]


amounts = st.floats(0, 1e9)


@given(
    st.dictionaries(st.sampled_from("abc"), amounts),
    st.dictionaries(st.sampled_from(["x", "y"]), amounts),
    st.floats(0, 400 * DAY),
)
def test_use_decays_by_half_in_a_half_life_whatever_time_passes(
    users: dict[str, float], groups: dict[str, float], span: float
) -> None:
    usage = Usage()
    usage.advance(5000.0)
    usage.restore(tuple(users.items()), tuple(groups.items()))
    usage.advance(5000.0 + span)
    after, _ = usage.gpu_s()
    for name, amount in users.items():
        assert after[name] == pytest.approx(amount * 2 ** (-span / (7 * DAY)), rel=1e-6, abs=1e-6)


def test_use_of_what_is_held_is_the_integral_of_what_decays() -> None:
    usage = Usage()
    usage.advance(0.0)
    usage.change_rate("g", "alice", 2_000_000)
    usage.advance(3600.0)
    assert usage.gpu_s()[0]["alice"] == pytest.approx(7200, rel=0.01)
    usage.advance(1000 * DAY)
    limit = 2 * 7 * DAY / 0.6931471805599453
    assert usage.gpu_s()[0]["alice"] == pytest.approx(limit, rel=1e-6)


@given(st.lists(amounts, min_size=2, max_size=5), st.lists(st.floats(0.1, 9), min_size=3))
def test_more_use_is_never_a_smaller_penalty(used: list[float], shares: list[float]) -> None:
    usage = Usage()
    usage.advance(0.0)
    names = [f"u{n}" for n in range(len(used))]
    for name in names:
        usage.enter("g", name)
    usage.restore(tuple(zip(names, used, strict=True)), (("g", sum(used)),))
    penalties = usage.penalties({"g": GroupRules(share=shares[0])})
    ranked = sorted(names, key=lambda name: used[int(name[1:])])
    for less, more in pairwise(ranked):
        assert penalties["g", less] <= penalties["g", more] + 1e-12
    assert all(0.0 <= penalty <= 1.0 for penalty in penalties.values())
