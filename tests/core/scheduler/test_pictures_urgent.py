"""Who gives way to whom, as pictures: nobody for nothing, nobody twice, and never for ever."""

from __future__ import annotations

from roost.core.model import Booking
from roost.core.scheduler.decisions import Preempt
from tests.core.scheduler.living import LivingWorld
from tests.core.scheduler.pictures import NO_MIN_RUN, World, servers_of

URGENT_TAKES_ALL = NO_MIN_RUN + "[classes.urgent]\npreempts = ['regular', 'background']\n"
THROUGHPUT = '[scheduling]\nmode = "throughput"\n'


def evicted(world: World) -> list[int]:
    return [decision.job for decision in world.log if isinstance(decision, Preempt)]


def test_an_urgent_job_that_would_not_fit_even_then_takes_nobody_s_gpus() -> None:
    world = World(4, NO_MIN_RUN)
    world.submit("carol", 1)
    world.submit("li", 3, "background")
    assert world.picture_after("bob", 4, "urgent") == "g0:carol g1:li g2:li g3:li"


def test_an_urgent_job_that_lacks_cpus_takes_nobody_s_gpus() -> None:
    world = World(2, NO_MIN_RUN, cpus=16)
    world.submit("carol", cpus=12)
    world.submit("li", 1, "background", cpus=2)
    assert world.picture_after("bob", 1, "urgent", cpus=8) == "g0:carol g1:li"


def test_an_urgent_job_that_a_stranger_keeps_out_takes_nobody_s_gpus() -> None:
    world = World(2, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.strangers(g1="60G")
    assert world.picture_after("bob", 2, "urgent") == "g0:li g1:-"


def test_an_urgent_job_takes_nobody_s_gpus_where_it_would_run_into_a_booking() -> None:
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.book(Booking(1, "wu", ("GPU-0",), world.now + 3600, world.now + 7200))
    assert world.picture_after("bob", 1, "urgent", time="2h") == "g0:li"


def test_an_urgent_job_for_the_whole_machine_waits_for_all_and_then_has_all() -> None:
    world = World(4, NO_MIN_RUN)
    for user in ("li", "wu", "bob", "eve"):
        world.submit(user, 1, "background")
    assert world.picture_after("alice", 4, "urgent") == "g0:~li g1:~wu g2:~bob g3:~eve"
    world.end(1, 2)
    assert world.picture_after("carol") == "g0:- g1:- g2:~bob g3:~eve", "kept for alice"
    world.end(3, 4)
    assert world.picture() == "g0:alice g1:alice g2:alice g3:alice"


def test_an_urgent_gang_of_two_servers_takes_from_both() -> None:
    world = World(gpus=servers_of(2, 2), text=NO_MIN_RUN)
    for user in ("li", "wu"):
        world.submit(user, 2, "background")
    assert world.picture_after("alice", 4, "urgent") == "g0:~li g1:~li g2:~wu g3:~wu"
    world.give_way()
    assert world.picture() == "g0:alice g1:alice g2:alice g3:alice"


def test_a_free_gpu_is_used_before_anybody_is_asked_to_go() -> None:
    world = World(2, NO_MIN_RUN)
    world.submit("li", 1, "background")
    assert world.picture_after("bob", 1, "urgent") == "g0:li g1:bob"


def test_one_gpu_is_taken_where_one_is_free_and_two_are_needed() -> None:
    world = World(4, NO_MIN_RUN)
    for user in ("li", "wu", "eve"):
        world.submit(user, 1, "background")
        world.wait("10m")
    assert world.picture_after("bob", 2, "urgent") == "g0:li g1:wu g2:~eve g3:-"


def test_background_goes_before_regular_where_both_may_be_taken() -> None:
    world = World(2, URGENT_TAKES_ALL)
    world.submit("li", 1, "background")
    world.submit("carol")
    assert world.picture_after("bob", 1, "urgent") == "g0:~li g1:carol"


def test_urgent_never_takes_from_urgent() -> None:
    world = World(1, URGENT_TAKES_ALL)
    world.submit("li", 1, "urgent")
    assert world.picture_after("bob", 1, "urgent") == "g0:li"


def test_a_regular_job_takes_from_nobody_under_the_default_rules() -> None:
    world = World(1)
    world.submit("li", 1, "background")
    world.wait("1h")
    assert world.picture_after("alice") == "g0:li"


def test_who_gave_way_comes_back_when_the_urgent_job_has_gone_and_takes_from_nobody() -> None:
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.submit("bob", 1, "urgent")
    world.give_way()
    for _ in range(6):
        world.wait("10m")
        assert world.picture() == "g0:bob"
    world.end(2)
    assert world.picture() == "g0:li"
    assert evicted(world) == [1]


def test_a_victim_that_asked_for_no_second_start_is_not_queued_again() -> None:
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "background", requeue=False)
    world.submit("bob", 1, "urgent")
    world.give_way()
    world.end(2)
    assert world.picture() == "g0:-"


def test_one_urgent_job_after_another_keeps_its_minimum_run_to_the_victim() -> None:
    world = World(1, "[classes.background]\nmin_run = '10m'\n")
    world.submit("li", 1, "background")
    for _ in range(3):
        world.wait("9m")
        urgent = world.submit("bob", 1, "urgent")
        assert world.picture() == "g0:li", "it has had nine minutes of its ten"
        world.wait("1m")
        assert world.picture() == "g0:~li"
        world.give_way()
        world.end(urgent)
        assert world.picture() == "g0:li"


def test_in_throughput_two_long_jobs_do_not_evict_each_other_for_ever() -> None:
    world = LivingWorld(1, THROUGHPUT)
    for user in ("li", "wu"):
        world.submit(user, time="10h")
    world.live(40 * 3600.0, lambda number, now: now + 9 * 3600.0)
    assert len(evicted(world)) <= 1
    assert not world.waiting() and not world.held


def test_in_throughput_a_short_job_takes_from_a_long_one_once_and_both_end() -> None:
    world = LivingWorld(1, THROUGHPUT)
    world.submit("li", time="20h")
    world.live(world.now + 3600.0, lambda number, now: now + 20 * 3600.0)
    world.submit("wu", time="30m")
    assert world.picture() == "g0:~li"
    world.live(40 * 3600.0, lambda number, now: now + (1700.0 if number == 2 else 19 * 3600.0))
    assert evicted(world) == [1]
    assert not world.waiting() and not world.held


def test_in_throughput_a_share_takes_no_gpu_on_which_it_may_not_be() -> None:
    world = World(2, "shared_gpus = [0]\n" + THROUGHPUT)
    world.submit("li", 1, share="70G", time="20h")
    world.submit("bob", time="20h")
    world.wait("1h")
    assert world.picture_after("wu", share="40G", time="10m") == "g0:li g1:bob"
    world.end(1)
    assert world.picture() == "g0:wu g1:bob"


def test_in_throughput_a_short_share_takes_a_shared_gpu_from_a_long_whole_job() -> None:
    world = World(1, "shared_gpus = [0]\n" + THROUGHPUT)
    world.submit("bob", time="20h")
    world.wait("1h")
    assert world.picture_after("wu", share="40G", time="10m") == "g0:~bob"
    world.give_way()
    assert world.picture() == "g0:wu"
