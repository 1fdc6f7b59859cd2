"""Shares of a GPU's compute: at most the whole of it is promised, beside the memory, and who stated
none takes turns and is not counted.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.core.model import Gpu, JobState, Request
from roost.core.rules.load import load
from roost.core.scheduler.events import JobRestored, JobSubmitted
from roost.core.scheduler.limits import UNITS, least_units, share_units
from roost.core.scheduler.placement import choose_share
from roost.core.scheduler.slot import Slot
from tests.core.scheduler.pictures import GIB, NO_MIN_RUN, World

ONE = "shared_gpus = [0]\n"
TWO = "shared_gpus = [0, 1]\n"


def test_a_third_share_waits_for_compute_though_there_is_memory_and_starts_once_one_ends() -> None:
    world = World(1, ONE)
    first = world.submit("li", share="10G", compute=50)
    world.submit("wu", share="10G", compute=40)
    late = world.submit("alice", share="10G", compute=30)
    assert world.picture() == "g0:li+wu"
    assert world.codes(late) == ["share_compute", "compute_used", "compute_used"]
    world.end(first)
    assert world.picture() == "g0:wu+alice"


def test_shares_come_to_exactly_the_whole_gpu() -> None:
    world = World(1, ONE)
    world.submit("li", share="10G", compute=99)
    assert world.picture_after("wu", share="10G", compute=1) == "g0:li+wu"
    assert world.picture_after("bob", share="10G", compute=1) == "g0:li+wu"


def test_who_stated_no_compute_fits_wherever_the_memory_does() -> None:
    world = World(1, ONE)
    world.submit("li", share="10G", compute=100)
    assert world.picture_after("wu", share="10G") == "g0:li+wu"


def test_who_stated_no_compute_takes_none_from_others() -> None:
    world = World(1, ONE)
    world.submit("wu", share="10G")
    assert world.picture_after("li", share="10G", compute=100) == "g0:wu+li"


def test_memory_decides_which_gpu_and_then_the_tighter_compute() -> None:
    slots = [Slot(Gpu(f"GPU-{n}", n, "NVIDIA A100", 80 * GIB), n) for n in range(3)]
    slots[0].hold_share(1, 20 * GIB, 10)
    slots[1].hold_share(2, 20 * GIB, 60)
    slots[2].hold_share(3, 40 * GIB, 90)
    chosen = {percent: choose_share(slots, 10 * GIB, percent) for percent in (None, 10, 30, 50, 95)}
    names = {percent: slot and slot.gpu.index for percent, slot in chosen.items()}
    assert names == {None: 2, 10: 2, 30: 1, 50: 0, 95: None}


def test_a_gpu_that_is_held_whole_has_no_compute_to_give() -> None:
    world = World(1, ONE)
    world.submit("li")
    late = world.submit("wu", share="10G", compute=10)
    assert world.picture() == "g0:li"
    assert world.codes(late)[0] == "share"


def test_both_memory_and_compute_have_to_be_there_on_one_gpu() -> None:
    """GPU 0 has the memory, GPU 1 the compute: neither will do."""
    world = World(2, TWO)
    world.submit("li", share="60G", compute=10)
    world.submit("wu", share="40G", compute=90)
    assert world.picture() == "g0:li g1:wu"
    late = world.submit("bob", share="30G", compute=30)
    assert world.picture() == "g0:li g1:wu"
    assert "the most that is free is 10 % (GPU 1)" in world.why(late)


def test_memory_is_what_is_named_where_it_is_short() -> None:
    world = World(1, ONE)
    world.submit("li", share="75G", compute=90)
    assert world.codes(world.submit("wu", share="10G", compute=30))[0] == "share"


def test_the_compute_of_a_reservation_is_free_when_the_first_enough_have_ended() -> None:
    world = World(1, ONE)
    world.submit("li", share="10G", compute=40, time="1h")
    world.submit("wu", share="10G", compute=40, time="2h")
    late = world.submit("bob", share="10G", compute=60, time="1h")
    assert world.scheduler.explain(late).forecast_start_at == world.now + 3600
    assert world.scheduler.forecast(late).forecast_latest_at == world.now + 3600
    world.wait("1h")
    assert world.picture() == "g0:li+wu"
    world.end(1)
    assert world.picture() == "g0:wu+bob"


def test_a_small_share_of_compute_passes_a_large_one_only_where_it_is_gone_in_time() -> None:
    world = World(1, ONE)
    world.submit("li", share="10G", compute=60, time="1h")
    world.submit("wu", share="10G", compute=90, time="1h")
    assert world.picture_after("alice", share="10G", compute=20, time="2h") == "g0:li"
    assert world.picture_after("bob", share="10G", compute=20, time="30m") == "g0:li+bob"


def test_shares_that_leave_the_first_its_compute_pass_it_for_as_long_as_they_like() -> None:
    """In an hour 80 % are wanted and 100 are free: twenty may be held beyond, and no more."""
    world = World(1, ONE)
    world.submit("li", share="10G", compute=60, time="1h")
    late = world.submit("wu", share="10G", compute=80, time="1h")
    assert world.picture_after("bob", share="10G", compute=25, time="2h") == "g0:li"
    assert world.picture_after("alice", share="10G", compute=15, time="2h") == "g0:li+alice"
    assert world.picture_after("carol", share="10G", compute=10, time="2h") == "g0:li+alice"
    assert world.picture_after("eve", share="10G") == "g0:li+alice+eve"
    world.wait("59m")
    world.end(1)
    assert late in world.running()


def test_who_states_no_compute_passes_one_that_waits_for_it_without_a_known_hour() -> None:
    world = World(1, ONE)
    world.submit("li", share="10G", compute=60)
    late = world.submit("wu", share="30G", compute=80)
    assert world.picture_after("bob", share="40G") == "g0:li+bob"
    assert world.picture_after("alice", share="1G") == "g0:li+bob", "30 GiB are kept for wu"
    assert world.codes(late)[0] == "share_compute"
    world.end(1)
    assert world.picture() == "g0:wu+bob+alice"


shares = st.tuples(
    st.sampled_from(["5G", "20G", "40G", "70G"]),
    st.sampled_from([None, None, 20, 50, 90]),
    st.sampled_from(["20m", "1h", "3h"]),
)


@settings(max_examples=150)
@given(st.lists(shares, min_size=3, max_size=14))
def test_no_share_behind_it_delays_the_first_that_waits(jobs: list[tuple[str, int | None, str]]):
    """All of one user and a minute apart, so that they stay in their order; each lasts to its
    walltime. What is promised to the first is kept."""
    world = World(1, ONE)
    promised: dict[int, float] = {}
    ends: dict[int, float] = {}
    coming = list(jobs)
    for _ in range(3000):
        if not coming and not world.held:
            break
        if coming:
            size, percent, time = coming.pop(0)
            world.submit("li", share=size, compute=percent, time=time)
        for number in world.held:
            walltime_s = world.jobs[number].request.walltime_s or 0.0
            ends.setdefault(number, world.started_at[number] + walltime_s)
        for number in (n for n, end in ends.items() if n in world.held and end <= world.now):
            world.end(number)
        for number, state in world.states.items():
            if state is JobState.PENDING:
                at = world.scheduler.explain(number).forecast_start_at
                if at is not None:
                    assert at <= promised.setdefault(number, at) + 60.0, (number, at)
        world.wait("1m")
    assert not world.held
    for number, at in promised.items():
        assert world.started_at[number] <= at + 60.0, number


def test_urgent_takes_compute_from_whom_it_costs_least() -> None:
    """Without li or wu there would be memory, but compute only without wu."""
    world = World(1, ONE + NO_MIN_RUN)
    world.submit("li", 1, "background", share="10G")
    world.submit("wu", 1, "background", share="40G", compute=70)
    world.submit("bob", 1, "background", share="10G", compute=20)
    world.wait("10m")
    urgent = world.submit("alice", 1, "urgent", share="10G", compute=60)
    assert world.picture() == "g0:li+~wu+bob"
    world.give_way()
    assert urgent in world.running()


def test_urgent_takes_what_brings_memory_and_what_brings_compute() -> None:
    world = World(1, ONE + NO_MIN_RUN)
    world.submit("li", 1, "background", share="60G")
    world.submit("wu", 1, "background", share="10G", compute=80)
    world.submit("bob", 1, "background", share="5G", compute=10)
    world.wait("10m")
    world.submit("alice", 1, "urgent", share="30G", compute=60)
    assert world.picture() == "g0:~li+~wu+bob"


def test_many_sharers_are_taken_from_without_trying_every_set() -> None:
    world = World(1, ONE + NO_MIN_RUN)
    for _ in range(14):
        world.submit("li", 1, "background", share="2G", compute=7)
    world.wait("10m")
    urgent = world.submit("alice", 1, "urgent", share="2G", compute=30)
    assert world.picture().count("~li") == 4
    world.give_way()
    assert urgent in world.running()


def test_compute_given_up_for_an_urgent_job_goes_to_nobody_else() -> None:
    world = World(1, ONE + NO_MIN_RUN)
    world.submit("li", 1, "background", share="10G", compute=90)
    world.wait("10m")
    world.submit("alice", 1, "urgent", share="10G", compute=50)
    late = world.submit("wu", 1, "urgent", share="10G", compute=10)
    assert world.picture() == "g0:~li"
    assert "claimed" in world.codes(late)


def test_limits_count_the_larger_of_memory_and_compute() -> None:
    """An eighth of the memory and six tenths of the compute are six tenths of a GPU."""
    world = World(2, TWO + "[limits.per_user]\nmax_gpus = 1\n")
    world.submit("li", share="10G", compute=60)
    late = world.submit("li", share="10G", compute=50)
    assert world.picture() == "g0:li g1:-"
    assert "li may hold 1 GPU, 0.6 are held, this job needs 0.5" in world.why(late)
    assert world.picture_after("li", share="32G") == "g0:li+li g1:-"


@pytest.mark.parametrize(
    ("size", "percent", "units"),
    [(40, None, 500_000), (40, 30, 500_000), (40, 70, 700_000), (1, 100, UNITS), (80, 1, UNITS)],
)
def test_a_share_counts_its_larger_part(size: int, percent: int | None, units: int) -> None:
    request = Request(0, size * GIB, gpu_compute_percent=percent)
    assert share_units(request, Gpu("GPU-0", 0, "NVIDIA A100", 80 * GIB)) == units


def test_fair_share_charges_the_larger_part() -> None:
    world = World(1, ONE)
    world.submit("li", share="8G", compute=50)
    world.submit("wu", share="8G")
    world.wait("10h")
    used = world.scheduler.snapshot()["usage"]["users"]
    assert used["li"] == pytest.approx(5 * used["wu"])


def test_of_a_share_the_compute_is_known_before_its_gpu_is() -> None:
    world = World(1, ONE)
    assert least_units(world.job("li", share="10G", compute=30)) == 300_000
    assert least_units(world.job("li", share="10G")) == 1


def test_a_restart_knows_what_compute_was_promised() -> None:
    world = World(1, ONE)
    one = world.job("li", share="10G", compute=80)
    world.step(JobSubmitted(world.now, one))
    again = World(1, ONE)
    job = again.job("li", share="10G", compute=80)
    again.states[1], again.attempts[1] = world.states[1], 1
    again.held[1], again.started_at[1] = world.held[1], again.now
    again.step(
        JobRestored(again.now, job, world.states[1], 1, world.held[1], again.now, None, None)
    )
    assert again.scheduler.snapshot()["gpus"][0]["promised_percent"] == 80
    assert again.picture_after("wu", share="10G", compute=30) == "g0:li"
    again.end(1)
    assert again.picture() == "g0:wu"


def test_a_gpu_that_is_not_shared_any_more_keeps_the_compute_it_promised() -> None:
    world = World(1, ONE)
    world.submit("li", share="10G", compute=80)
    world.change_rules(load(""))
    world.change_rules(load(ONE))
    assert world.picture_after("wu", share="10G", compute=30) == "g0:li"


def halves() -> list[Gpu]:
    """A GPU that is split into two instances, of which each has 40 GiB."""
    whole = Gpu("GPU-0", 0, "NVIDIA A100", 80 * GIB)
    half = "NVIDIA A100 MIG 3g.40gb"
    return [whole, *(Gpu(f"GPU-{n}", n, half, 40 * GIB, parent="GPU-0") for n in (1, 2))]


def test_a_share_of_an_instance_is_a_share_of_the_compute_of_the_instance() -> None:
    world = World(gpus=halves(), text="shared_gpus = [1, 2]\n")
    world.submit("li", share="10G", compute=60)
    world.submit("wu", share="10G", compute=60)
    world.submit("bob", share="10G", compute=40)
    assert world.picture() == "g0:- g1:li+bob g2:wu"
    late = world.submit("alice", share="10G", compute=50)
    assert "the most that is free is 40 % (GPU 2)" in world.why(late)


def test_an_instance_is_marked_shared_by_its_uuid_alone() -> None:
    world = World(gpus=halves(), text='shared_gpus = ["GPU-2"]\n')
    world.submit("li", share="10G", compute=60)
    assert world.picture() == "g0:- g1:- g2:li"
    assert world.picture_after("wu") == "g0:- g1:wu g2:li"


def test_a_whole_job_drains_a_gpu_of_which_compute_is_shared() -> None:
    world = World(1, ONE)
    first = world.submit("li", share="10G", compute=10)
    world.submit("wu")
    world.wait("1h")
    assert world.picture_after("bob", share="10G", compute=10) == "g0:li"
    world.end(first)
    assert world.picture() == "g0:wu"


def test_what_would_start_now_is_told_for_a_job_with_a_share_of_compute() -> None:
    world = World(2, ONE)
    world.submit("li", share="10G", compute=90)
    late = world.submit("wu", share="10G", compute=20)
    assert world.scheduler.explain(late).startable_now == 1
