"""Jobs that give way where they are, as pictures: "=" stands before one that stands still."""

from __future__ import annotations

from roost.core.model import Booking, JobState
from roost.core.scheduler.decisions import Preempt, Resume, Stop, Suspend
from tests.core.scheduler.pictures import IN_PLACE, World, servers_of


def told(world: World, *kinds: type) -> list[int]:
    return [decision.job for decision in world.log if isinstance(decision, kinds)]


def test_a_job_stands_still_under_an_urgent_one_and_goes_on_after_it() -> None:
    world = World(1, IN_PLACE)
    world.submit("li", which="background")
    assert world.picture_after("bob", which="urgent") == "g0:~li"
    world.give_way()
    assert world.picture() == "g0:=li+bob"
    world.end(2)
    assert world.picture() == "g0:li"
    assert not told(world, Preempt)


def test_what_it_has_run_is_not_lost_and_its_time_stands_still() -> None:
    world = World(1, IN_PLACE)
    world.submit("li", which="background", time="2h")
    world.wait("1h")
    world.submit("bob", which="urgent")
    world.give_way()
    world.wait("5h")
    world.end(2)
    waits = world.submit("alice")
    assert "ends by 25200s" in world.why(waits), "5 h later than it would have: after 7 h in all"


def test_one_that_cannot_stand_still_goes_back_to_the_queue() -> None:
    world = World(1, IN_PLACE)
    world.submit("li", which="background")
    world.submit("bob", which="urgent")
    world.give_way(can=False)
    assert world.picture() == "g0:~li"
    world.give_way()
    assert world.picture() == "g0:bob"
    assert world.states[1] is JobState.PENDING


def test_nobody_is_asked_twice_to_stand_still_who_could_not() -> None:
    world = World(1, IN_PLACE)
    world.submit("li", which="background")
    world.submit("bob", which="urgent")
    world.cancel(2)
    world.give_way(can=False)
    assert world.picture() == "g0:li", "nobody waits for its GPU any more"
    world.submit("bob", which="urgent")
    assert (told(world, Suspend), told(world, Preempt)) == ([1], [1])


def test_one_whose_room_nobody_wants_any_more_goes_on_at_once() -> None:
    world = World(1, IN_PLACE)
    world.submit("li", which="background")
    world.submit("bob", which="urgent")
    world.cancel(2)
    world.give_way()
    assert world.picture() == "g0:li"


def test_the_next_urgent_job_comes_before_it() -> None:
    world = World(1, IN_PLACE)
    world.submit("li", which="background")
    world.submit("bob", which="urgent")
    world.give_way()
    world.submit("eve", which="urgent")
    world.end(2)
    assert world.picture() == "g0:=li+eve"
    assert not told(world, Resume)


def test_a_regular_job_does_not_come_before_it() -> None:
    world = World(2, IN_PLACE)
    world.submit("li", 2, "background")
    world.submit("bob", which="urgent")
    world.give_way()
    assert world.picture_after("alice") == "g0:=li+bob g1:=li", "it would keep li's job from it"
    world.end(2)
    assert world.picture() == "g0:li g1:li"


def test_an_urgent_job_takes_the_rest_of_the_gpus_of_one_that_stands_still() -> None:
    world = World(2, IN_PLACE)
    world.submit("li", 2, "background")
    world.submit("bob", which="urgent")
    world.give_way()
    assert world.picture_after("eve", which="urgent") == "g0:=li+bob g1:=li+eve"


def test_an_urgent_job_waits_for_another_one_over_one_that_stands_still() -> None:
    world = World(1, IN_PLACE)
    world.submit("li", which="background")
    world.submit("bob", which="urgent")
    world.give_way()
    assert world.picture_after("eve", which="urgent") == "g0:=li+bob"
    assert told(world, Suspend) == [1]


def test_a_share_does_not_come_over_one_that_stands_still_but_sends_it_back() -> None:
    world = World(1, "shared_gpus = [0]\n" + IN_PLACE)
    world.submit("li", which="background")
    world.submit("bob", which="urgent", time="1h")
    world.give_way()
    world.submit("eve", which="urgent", share="10G")
    world.end(2)
    assert world.picture() == "g0:~li"
    world.give_way()
    assert world.picture() == "g0:eve"


def test_shares_go_back_to_the_queue() -> None:
    world = World(1, "shared_gpus = [0]\n" + IN_PLACE)
    world.submit("li", which="background", share="50G")
    world.submit("bob", which="urgent", share="50G")
    assert (told(world, Suspend), told(world, Preempt)) == ([], [1])


def test_where_the_host_s_memory_is_short_they_go_back_to_the_queue() -> None:
    world = World(1, IN_PLACE, memory="100G")
    world.submit("li", which="background", memory="60G")
    world.submit("bob", which="urgent", memory="60G")
    assert (told(world, Suspend), told(world, Preempt)) == ([], [1])


def test_those_whose_time_a_budget_counts_go_back_to_the_queue() -> None:
    world = World(1, IN_PLACE + 'budget = "9h"\n')
    world.submit("li", which="background", time="1h")
    world.submit("bob", which="urgent")
    assert (told(world, Suspend), told(world, Preempt)) == ([], [1])


def test_what_stands_still_loses_nothing_and_goes_before_what_would() -> None:
    rules = IN_PLACE + (
        "[classes.urgent]\npreempts = ['regular', 'background']\n"
        '[classes.regular]\nmin_run = "0s"\n'
    )
    world = World(2, rules)
    world.submit("li", which="background")
    world.wait("5h")
    world.submit("wu")
    world.wait("1m")
    assert world.picture_after("bob", which="urgent") == "g0:~li g1:wu"


def test_its_cpus_are_free_meanwhile_and_needed_again_before_it_goes_on() -> None:
    world = World(1, IN_PLACE, cpus=8)
    world.submit("li", which="background", cpus=6)
    world.submit("bob", which="urgent", cpus=2)
    world.give_way()
    world.submit("wu", 0, cpus=6)
    world.end(2)
    assert world.picture() == "g0:=li"
    world.end(3)
    assert world.picture() == "g0:li"


def test_a_gang_on_two_servers_stands_still_and_goes_on_together() -> None:
    world = World(gpus=servers_of(2, 2), text=IN_PLACE)
    world.submit("li", 4, "background")
    world.submit("bob", which="urgent")
    world.give_way()
    assert world.picture() == "g0:=li+bob g1:=li g2:=li g3:=li"
    world.end(2)
    assert world.picture() == "g0:li g1:li g2:li g3:li"


def test_before_a_booking_it_goes_back_to_the_queue() -> None:
    world = World(1, IN_PLACE)
    world.submit("li", which="background")
    world.submit("bob", which="urgent", time="1h")
    world.give_way()
    world.book(Booking(1, "wu", ("GPU-0",), world.now + 3 * 3600, world.now + 4 * 3600))
    world.wait("3h")
    assert told(world, Stop) == [1, 2]
    assert world.states[1] is JobState.COMPLETING


def test_one_that_was_cancelled_while_it_stands_still_is_stopped() -> None:
    world = World(1, IN_PLACE)
    world.submit("li", which="background")
    world.submit("bob", which="urgent")
    world.give_way()
    world.cancel(1)
    assert world.picture() == "g0:~li+bob"
    world.end(1, state=JobState.CANCELLED)
    assert world.picture() == "g0:bob"


def test_limits_count_what_stands_still() -> None:
    world = World(2, IN_PLACE + "[limits.per_user]\nmax_gpus = 1\n")
    world.submit("li", which="background")
    world.submit("eve")
    world.submit("bob", which="urgent")
    world.give_way()
    waits = world.submit("li")
    world.end(2)
    assert world.picture() == "g0:=li+bob g1:-"
    assert world.codes(waits) == ["limit_gpus"]
