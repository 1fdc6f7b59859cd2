"""Booked GPUs: who may use them before, during and at the end, and what others are told."""

from __future__ import annotations

import pytest

from roost.core.model import Booking
from roost.core.scheduler.decisions import Stop
from tests.core.scheduler.pictures import NO_MIN_RUN, World

HOUR = 3600.0


def booked(world: World, *bookings: tuple[str, str, float, float]) -> None:
    """(person, "0 1", from, until), in hours from now; "maintenance" is nobody's."""
    world.book(
        *(
            Booking(
                n, user, tuple(f"GPU-{index}" for index in gpus.split()),
                world.now + begin * HOUR, world.now + end * HOUR, user == "maintenance",
            )
            for n, (user, gpus, begin, end) in enumerate(bookings, 1)
        )
    )  # fmt: skip


def test_nobody_else_starts_on_a_booked_gpu() -> None:
    world = World(2)
    booked(world, ("li", "0", 0, 2))
    world.submit("alice", time="30m")
    late = world.submit("alice", time="30m")
    assert world.picture() == "g0:- g1:alice"
    assert world.why(late).split("; ") == [
        "waits for 1 GPU: 0 are free",
        "job 1 of alice ends by 1800s at the latest",
        "GPU 0 booked by li until 7200s",
    ]
    wait = world.scheduler.explain(late)
    assert [r.blocking_bookings for r in wait.reasons if r.code == "booked"] == [(1,)]


def test_who_booked_starts_at_once_though_others_wait_longer() -> None:
    world = World(2, "[limits.per_user]\nmax_gpus = 2\n")
    booked(world, ("li", "0 1", 1, 3))
    for user in ("alice", "bob", "wu"):
        world.submit(user, 2)
    assert world.picture() == "g0:- g1:-", "no walltime is said, and the booking lies ahead"
    own = world.submit("li", 2, time="1h")
    assert world.picture() == "g0:li g1:li", "it ends in time for whoever comes, and is its owner"
    world.end(own)
    world.wait("1h")
    world.submit("li", 2, time="1h")
    assert world.picture() == "g0:li g1:li"


def test_a_short_job_fills_the_time_before_a_booking() -> None:
    world = World(1, '[classes.regular]\ngrace = "60s"\n')
    booked(world, ("li", "0", 1, 2))
    assert world.picture_after("alice", time="1h") == "g0:-", "its grace would reach into it"
    assert world.picture_after("bob", time="58m") == "g0:bob"
    assert "a job that ends before could run now (--time)" in world.why(1)


def test_a_job_too_long_for_the_gap_is_promised_the_end_of_the_booking() -> None:
    world = World(1)
    booked(world, ("li", "0", 1, 3))
    number = world.submit("alice", time="2h")
    assert world.scheduler.explain(number).forecast_start_at == world.now + 3 * HOUR
    world.wait("3h")
    assert world.picture() == "g0:alice"


def test_background_uses_a_booked_gpu_until_shortly_before_and_is_told() -> None:
    world = World(1, '[bookings]\nbackground_notice = "10m"\n')
    booked(world, ("li", "0", 1, 2))
    number = world.submit("bob", which="background")
    assert world.picture() == "g0:bob"
    world.wait("49m")
    assert world.picture() == "g0:bob"
    world.wait("1m")
    assert world.picture() == "g0:~bob"
    told = next(one for one in world.log if isinstance(one, Stop))
    assert (told.requeue, told.grace_s, told.booking) == (True, 600.0, 1)
    assert told.rule == "bookings.background_notice"
    world.end(number, requeue=True)
    assert world.picture() == "g0:-", "it does not come back for the last minutes"
    world.wait("2h")
    assert world.picture() == "g0:bob"


def test_background_that_cannot_go_back_is_kept_off_like_others() -> None:
    world = World(1)
    booked(world, ("li", "0", 1, 2))
    world.submit("bob", which="background", requeue=False)
    assert world.picture() == "g0:-"


def test_what_runs_by_a_booking_leaves_when_it_ends() -> None:
    world = World(1, '[bookings]\nbackground_notice = "10m"\n')
    booked(world, ("li", "0", 0, 2))
    number = world.submit("li", time="5h")
    assert world.picture() == "g0:li"
    world.wait("1h50m")
    assert world.picture() == "g0:~li"
    told = next(one for one in world.log if isinstance(one, Stop))
    assert (told.job, told.rule, told.grace_s) == (number, "bookings", 600.0)


def test_a_booking_that_follows_lets_the_job_go_on() -> None:
    world = World(1)
    booked(world, ("li", "0", 0, 2), ("li", "0", 2, 4))
    world.submit("li", time="3h")
    world.wait("2h30m")
    assert world.picture() == "g0:li"


def test_what_ran_before_the_booking_of_the_same_person_goes_on_after_it() -> None:
    world = World(1)
    number = world.submit("li", time="8h")
    booked(world, ("li", "0", 1, 2))
    world.wait("3h")
    assert world.picture() == "g0:li" and number in world.held


def test_a_booking_opens_a_window_that_is_shut() -> None:
    """The calendar says when; the window is for those who have no such right."""
    text = '[periods]\nnight = ["daily 20:00-06:00"]\n[windows.long]\njobs_over = "4h"\n'
    world = World(2, text + 'open = ["night"]\n')
    world.now += 10 * HOUR
    booked(world, ("li", "0", 0, 6))
    world.submit("alice", time="5h")
    world.submit("li", time="5h")
    assert world.picture() == "g0:li g1:-"


def test_limits_hold_within_a_booking_too() -> None:
    world = World(2, "[limits.per_user]\nmax_gpus = 1\n")
    booked(world, ("li", "0 1", 0, 6))
    world.submit("li", time="1h")
    second = world.submit("li", time="1h")
    assert world.picture() == "g0:li g1:-"
    assert world.codes(second)[0] == "limit_gpus"


def test_maintenance_stops_everybody_and_tells_who_runs() -> None:
    world = World(2, '[bookings]\nbackground_notice = "10m"\n')
    world.submit("alice", time="8h")
    booked(world, ("maintenance", "0 1", 1, 3))
    waiting = world.submit("maintenance", time="2h")
    cpu = world.submit("bob", 0, time="2h")
    assert world.picture() == "g0:alice g1:-"
    assert "GPU 0, 1 under maintenance from 3600s on" in world.why(waiting)
    assert "this server is under maintenance from 3600s on" in world.why(cpu)
    assert world.submit("bob", 0, time="30m") in world.held
    world.wait("50m")
    assert world.picture() == "g0:~alice g1:-"


def test_a_booking_made_over_a_running_job_gives_it_notice() -> None:
    world = World(1, '[bookings]\nbackground_notice = "10m"\n')
    number = world.submit("alice", time="8h")
    booked(world, ("li", "0", -1, 3))
    stop = world.log[-1]
    assert isinstance(stop, Stop) and (stop.job, stop.grace_s) == (number, 600.0)
    booked(world, ("li", "0", -1, 4))
    assert world.log[-1] is stop, "it is told once"


def test_a_booking_that_is_moved_onto_this_moment_gives_notice_now() -> None:
    world = World(1, '[bookings]\nbackground_notice = "10m"\n')
    world.submit("alice", time="8h")
    booked(world, ("li", "0", 2, 3))
    booked(world, ("li", "0", 0, 1))
    assert world.picture() == "g0:~alice"


def test_a_cancelled_booking_lets_the_next_in_at_once() -> None:
    world = World(1)
    booked(world, ("li", "0", 1, 3))
    world.submit("alice", time="2h")
    assert world.picture() == "g0:-"
    booked(world)
    assert world.picture() == "g0:alice"


def test_the_urgent_take_nothing_that_is_booked_ahead() -> None:
    """A preemption that could not be used in the end would have killed for nothing."""
    world = World(1, NO_MIN_RUN)
    world.submit("bob", which="background")
    booked(world, ("li", "0", 1, 3))
    urgent = world.submit("wu", which="urgent", time="2h")
    assert world.picture() == "g0:bob"
    assert "booked_from" in world.codes(urgent)
    world.submit("wu", which="urgent", time="30m")
    assert world.picture() == "g0:~bob"


def test_a_share_of_a_booked_gpu_waits_too() -> None:
    world = World(2, "shared_gpus = [0, 1]\n")
    booked(world, ("li", "0", 1, 3))
    world.submit("alice", share="60G", time="2h")
    late = world.submit("alice", share="60G", time="2h")
    assert world.picture() == "g0:- g1:alice"
    assert world.scheduler.explain(late).forecast_start_at == world.now + 2 * HOUR


@pytest.mark.parametrize("which", ["regular", "urgent"])
def test_a_hole_before_a_booking_goes_to_the_first_that_fits_it(which: str) -> None:
    """Jobs alike but for their walltime: the long one ahead does not hide the short one."""
    world = World(1)
    booked(world, ("li", "0", 1, 3))
    world.submit("alice", which=which, time="5h")
    world.submit("alice", which=which, time="3h")
    short = world.submit("alice", which=which, time="20m")
    assert list(world.held) == [short]


# -- memory of a shared GPU ------------------------------------------------------------------------

SHARED = "shared_gpus = [0]\n"


def booked_memory(world: World, *bookings: tuple[str, int, float, float]) -> None:
    """(person, GiB of GPU 0, from, until), in hours from now."""
    world.book(
        *(
            Booking(
                n, user, ("GPU-0",), world.now + begin * HOUR, world.now + end * HOUR, False,
                size * 2**30,
            )
            for n, (user, size, begin, end) in enumerate(bookings, 1)
        )
    )  # fmt: skip


def test_booked_memory_walls_off_so_much_and_no_more() -> None:
    world = World(1, SHARED)  # 80 GiB
    booked_memory(world, ("li", 30, 0, 2))
    fits = world.submit("alice", share="50G")
    assert world.states[fits].holds_gpus
    late = world.submit("bob", share="20G")
    assert world.states[late].waits, "30 GiB are free, and li's"
    wait = world.scheduler.explain(late)
    assert [1] in [list(reason.blocking_bookings) for reason in wait.reasons]
    own = world.submit("li", share="30G")
    assert world.states[own].holds_gpus
    world.end(fits)
    assert world.states[late].holds_gpus, "what li uses of it does not count twice"


def test_booked_memory_ahead_bars_who_would_not_fit_beside_it_then() -> None:
    world = World(1, SHARED)
    booked_memory(world, ("li", 30, 1, 3))
    assert world.states[world.submit("alice", share="50G")].holds_gpus
    long = world.submit("bob", share="20G", time="2h")
    short = world.submit("bob", share="20G", time="30m")
    assert world.states[long].waits
    assert world.states[short].holds_gpus


def test_booked_memory_is_a_wall_for_whole_gpus() -> None:
    world = World(1, SHARED)
    booked_memory(world, ("li", 10, 1, 3))
    assert world.states[world.submit("alice", time="2h")].waits
    assert world.states[world.submit("alice", time="30m")].holds_gpus


def test_booked_memory_gives_no_right_to_the_whole_gpu_nor_to_more_memory() -> None:
    world = World(1, SHARED)
    booked_memory(world, ("li", 10, 0, 2))
    before = world.submit("bob", share="60G")
    waits = [world.submit(user, share="15G") for user in ("wu", "li")]
    world.end(before)
    assert [world.states[n].holds_gpus for n in waits] == [True, True]


def test_of_those_who_were_there_first_as_many_stay_as_fit_beside_booked_memory() -> None:
    world = World(1, SHARED + '[bookings]\nbackground_notice = "10m"\n')
    first = world.submit("alice", share="30G")
    second = world.submit("bob", share="40G")
    booked_memory(world, ("li", 20, 1, 2))
    world.wait("1h")
    assert world.states[first].holds_gpus
    assert not world.states[second].holds_gpus or world.ending_since.get(second) is not None


def test_two_who_booked_memory_of_one_gpu_each_use_theirs() -> None:
    world = World(1, SHARED)
    booked_memory(world, ("li", 40, 0, 2), ("wu", 40, 0, 2))
    assert world.states[world.submit("alice", share="1G")].waits
    assert world.states[world.submit("li", share="40G")].holds_gpus
    assert world.states[world.submit("wu", share="40G")].holds_gpus
