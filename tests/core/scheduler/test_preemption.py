"""Urgent takes from background: from whom, from how many, and when not at all."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from roost.core.model import JobState
from roost.core.scheduler.decisions import Preempt
from tests.core.scheduler.pictures import NO_MIN_RUN, World, servers_of


def preempted(world: World) -> list[int]:
    return [d.job for d in world.log if isinstance(d, Preempt)]


def test_an_urgent_job_takes_from_background_and_starts_when_the_victim_is_gone() -> None:
    world = World(2, NO_MIN_RUN)
    world.submit("alice", 1, "background")
    world.submit("alice", 1, "background")
    urgent = world.submit("bob", 1, "urgent")
    assert world.picture() in ("g0:~alice g1:alice", "g0:alice g1:~alice")
    world.give_way()
    assert sorted(world.picture().replace("g0:", "").replace("g1:", "").split()) == ["alice", "bob"]
    assert urgent in world.running()


def test_the_victim_is_the_one_that_lost_the_least_work() -> None:
    world = World(3, NO_MIN_RUN)
    for _ in range(3):
        world.submit("alice", 1, "background")
        world.wait("10m")
    world.checkpoint(1)
    world.wait("1m")
    world.submit("bob", 1, "urgent")
    assert preempted(world) == [1]


def test_one_big_job_that_lost_little_goes_before_two_that_lost_much() -> None:
    world = World(4, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.submit("li", 1, "background")
    world.wait("10h")
    world.submit("wu", 2, "background")
    world.wait("1m")
    world.submit("bob", 2, "urgent")
    assert preempted(world) == [3]


def test_of_equal_losses_the_fewest_jobs_go() -> None:
    world = World(4, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.submit("li", 1, "background")
    world.submit("wu", 2, "background")
    world.submit("bob", 2, "urgent")
    assert preempted(world) == [3]


def test_two_urgent_jobs_of_one_gpu_evict_two_and_not_eleven() -> None:
    world = World(12, NO_MIN_RUN)
    for _ in range(12):
        world.submit("alice", 1, "background")
    world.submit("bob", 1, "urgent")
    world.submit("bob", 1, "urgent")
    assert len(preempted(world)) == 2
    world.give_way()
    assert {13, 14} <= set(world.running())
    assert len(preempted(world)) == 2


def test_nobody_is_preempted_where_it_would_not_help() -> None:
    world = World(4, NO_MIN_RUN)
    world.submit("carol", 2, "regular")
    world.submit("alice", 1, "background")
    world.submit("alice", 1, "background")
    world.submit("bob", 3, "urgent")
    assert preempted(world) == []
    assert world.picture() == "g0:carol g1:carol g2:alice g3:alice"


def test_nobody_is_preempted_for_a_job_that_a_limit_would_keep_waiting() -> None:
    world = World(2, NO_MIN_RUN + "[limits.urgent]\nmax_gpus = 1\n")
    world.submit("alice", 2, "background")
    world.submit("bob", 2, "urgent")
    assert preempted(world) == []


def test_a_claim_counts_towards_limits_so_that_no_second_victim_goes_for_nothing() -> None:
    world = World(4, NO_MIN_RUN + "[limits.urgent.per_user]\nmax_gpus = 1\n")
    for _ in range(4):
        world.submit("alice", 1, "background")
    world.submit("bob", 1, "urgent")
    world.submit("bob", 1, "urgent")
    assert len(preempted(world)) == 1
    world.give_way()
    assert len(preempted(world)) == 1


def test_regular_is_taken_from_only_where_the_rules_say_so() -> None:
    for preempts, expected in (("['background']", []), ("['regular', 'background']", [1])):
        world = World(
            1, "[classes.regular]\nmin_run = '0s'\n[classes.urgent]\npreempts = " + preempts
        )
        world.submit("alice", 1, "regular")
        world.submit("bob", 1, "urgent")
        assert preempted(world) == expected


def test_a_job_has_its_minimum_run_first_and_the_scheduler_asks_to_be_woken_for_it() -> None:
    world = World(1, "[classes.background]\nmin_run = '10m'\n")
    world.submit("alice", 1, "background")
    world.wait("4m")
    urgent = world.submit("bob", 1, "urgent")
    assert preempted(world) == []
    assert world.scheduler.next_time() == 1000 + 600
    assert "job 1 of alice may be preempted from 600s on" in world.why(urgent)
    world.wait("6m")
    assert preempted(world) == [1]


def test_nothing_slips_onto_gpus_that_are_being_freed_and_nothing_goes_to_and_fro() -> None:
    world = World(2, NO_MIN_RUN)
    world.submit("alice", 1, "background")
    world.submit("alice", 1, "background")
    world.submit("bob", 2, "urgent")
    carol = world.submit("carol", 1, "regular")
    world.end(1, state=JobState.CANCELLED, requeue=True)
    assert world.picture() == "g0:- g1:~alice"
    assert "being freed for job 3 of bob" in world.why(carol)
    world.end(2, state=JobState.CANCELLED, requeue=True)
    assert world.picture() == "g0:bob g1:bob"
    world.wait("1h")
    assert preempted(world) == [1, 2]


def test_jobs_that_are_ending_anyway_are_counted_before_anybody_is_preempted() -> None:
    world = World(2, NO_MIN_RUN)
    world.submit("alice", 1, "background")
    world.submit("li", 1, "regular")
    world.cancel(2)
    urgent = world.submit("bob", 1, "urgent")
    assert preempted(world) == []
    assert world.codes(urgent) == ["ending"]
    world.end(2, state=JobState.CANCELLED)
    assert world.picture() == "g0:alice g1:bob"


def test_a_victim_that_never_ends_does_not_hold_the_urgent_job_for_ever() -> None:
    world = World(2, NO_MIN_RUN)
    world.submit("alice", 1, "background")
    world.wait("1m")
    world.submit("li", 1, "background")
    world.submit("bob", 1, "urgent")
    assert preempted(world) == [2]
    world.wait("10m")
    assert preempted(world) == [2, 1]


def test_a_claimed_gpu_that_is_lost_leads_to_a_new_plan() -> None:
    world = World(2, NO_MIN_RUN)
    world.submit("alice", 1, "background")
    world.wait("1m")
    world.submit("li", 1, "background")
    world.submit("bob", 1, "urgent")
    assert preempted(world) == [2]
    world.usable(1, False, "lost")
    assert preempted(world) == [2, 1]


def test_a_victim_goes_back_to_its_old_place_with_the_next_attempt() -> None:
    world = World(1, NO_MIN_RUN)
    world.submit("alice", 1, "background")
    world.wait("1m")
    later = world.submit("alice", 1, "background")
    world.submit("bob", 1, "urgent")
    world.give_way()
    world.end(3)
    assert world.running() == [1]
    assert world.attempts[1] == 2
    assert world.codes(later)[0] == "gpus"


def test_cancelling_the_urgent_job_gives_the_freed_gpu_to_the_next() -> None:
    world = World(1, NO_MIN_RUN)
    world.submit("alice", 1, "background")
    world.submit("bob", 1, "urgent")
    world.cancel(2)
    world.give_way()
    assert world.running() == [1]


def test_all_shares_of_a_gpu_go_for_a_whole_job_and_only_the_needed_for_a_share() -> None:
    text = NO_MIN_RUN + "[classes.urgent]\npreempts = ['background']\n"
    for request, expected in (({}, [1, 2]), ({"share": "30G"}, [2])):
        world = World(1, "shared_gpus = [0]\n" + text)
        world.submit("alice", which="background", share="40G")
        world.wait("1h")
        world.submit("li", which="background", share="40G")
        world.submit("bob", 1, "urgent", **request)
        assert preempted(world) == expected
        world.give_way()
        assert 3 in world.running()


def test_shares_are_not_taken_where_one_of_the_gpu_may_not_be() -> None:
    world = World(1, "shared_gpus = [0]\n" + NO_MIN_RUN)
    world.submit("alice", which="background", share="10G")
    world.submit("carol", which="regular", share="10G")
    world.submit("bob", 1, "urgent")
    assert preempted(world) == []


def test_cpus_are_freed_as_well_as_gpus() -> None:
    world = World(4, NO_MIN_RUN, cpus=8)
    world.submit("alice", 1, "background", cpus=4)
    world.submit("li", 1, "background", cpus=4)
    world.submit("bob", 1, "urgent", cpus=3)
    assert len(preempted(world)) == 1
    world.give_way()
    assert 3 in world.running()


sizes = st.lists(st.integers(1, 3), min_size=1, max_size=6)


@given(sizes, st.lists(st.integers(0, 500), min_size=6, max_size=6), st.integers(1, 6))
def test_the_victims_are_the_cheapest_of_all_sets_and_each_is_needed(
    gpus: list[int], ages: list[int], need: int
) -> None:
    world = World(sum(gpus), NO_MIN_RUN)
    for size, age in zip(gpus, ages, strict=False):
        world.submit("alice", size, "background")
        world.wait(f"{age + 1}s")
    running = {n: world.now - world.started_at[n] for n in world.running()}
    assert len(running) == len(gpus)
    best = None
    for count in range(len(gpus) + 1):
        for victims in combinations(sorted(running), count):
            freed = sum(world.jobs[n].request.gpus for n in victims)
            if freed >= need:
                loss = sum(world.jobs[n].request.gpus * running[n] for n in victims)
                cost = (loss, count, victims)
                best = cost if best is None or cost < best else best
    urgent = world.submit("bob", need, "urgent")
    assert tuple(sorted(preempted(world))) == (best[2] if best else ())
    if best:
        world.give_way()
        assert urgent in world.running()


def test_free_gpus_on_two_servers_are_not_two_on_one() -> None:
    """One is free on each; the background job beside one of them makes room on its server."""
    world = World(gpus=servers_of(2, 2), text=NO_MIN_RUN)
    for user, which in (("li", "regular"), ("wu", "regular"), ("bob", "background")):
        world.submit(user, 1, which)
    assert world.picture() == "g0:li g1:wu g2:bob g3:-"
    world.end(2)
    world.submit("alice", 2, "urgent")
    assert world.picture() == "g0:li g1:- g2:~bob g3:-"
    world.give_way()
    assert world.picture() == "g0:li g1:bob g2:alice g3:alice"
