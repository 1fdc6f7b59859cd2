"""Situations of queues that hurt people elsewhere, as far as they are the scheduler's to get right,
as pictures. Each docstring says what went wrong there.
"""

from __future__ import annotations

import pytest

from roost.core.model import Booking, JobState
from roost.core.scheduler.decisions import Preempt, Stop
from roost.core.scheduler.events import (
    Event,
    JobEnded,
    JobRestored,
    JobSubmitted,
    TimeReached,
)
from roost.core.scheduler.scheduler import Scheduler
from tests.core.scheduler.pictures import NO_MIN_RUN, World
from tests.core.scheduler.test_submission import refused

GROUPS = "[groups.cv]\nmembers = ['alice']\n"


def preempted(world: World) -> list[int]:
    return [decision.job for decision in world.log if isinstance(decision, Preempt)]


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ({"gpus": 10}, "this server has 2 GPUs"),
        ({"gpus": 0}, "a job needs at least 1, this server has 2"),
        ({"gpus": -1}, "a job needs at least 1, this server has 2"),
        ({"gpus": 1, "model": "H200"}, "this server has 2 × NVIDIA A100"),
    ],
)
def test_what_can_never_be_is_refused_at_once_with_what_there_is(
    request_: dict[str, object], told: str
) -> None:
    """A request for ten GPUs of a server of two waited for ever."""
    world = World(2, GROUPS)
    (sentence,) = refused(world, **request_)  # type: ignore[arg-type]
    assert told in sentence
    assert world.picture() == "g0:- g1:-"


def test_128_jobs_in_one_step_are_counted_by_what_they_were_promised() -> None:
    """All started at once, since none had allocated memory yet."""
    world = World(2, "shared_gpus = [0, 1]")
    world.step(*(JobSubmitted(world.now, world.job(f"u{n}", share="40G")) for n in range(128)))
    assert len(world.held) == 4
    assert world.picture() == "g0:u0+u1 g1:u2+u3"


def test_128_whole_jobs_in_one_step_get_a_gpu_each_and_no_more() -> None:
    """Several jobs were put on one GPU that was free when each was looked at."""
    world = World(2)
    world.step(*(JobSubmitted(world.now, world.job(f"u{n}")) for n in range(128)))
    assert world.picture() == "g0:u0 g1:u1"


def test_a_job_of_82_gb_is_not_put_beside_a_hand_started_server_of_60_gb() -> None:
    """Only promises were counted, and the job died for want of memory."""
    world = World(2, "shared_gpus = [0]")
    world.strangers(g0="60G")
    big = world.submit("alice", share="70G")
    assert world.picture() == "g0:- g1:-"
    assert "the most that is free on a shared GPU is 20 GiB" in world.why(big)
    world.strangers()
    assert world.picture() == "g0:alice g1:-"


def test_two_jobs_of_one_gpu_evict_two_and_not_eleven() -> None:
    """Two jobs for one GPU each evicted eleven."""
    world = World(4, NO_MIN_RUN)
    for user in ("li", "wu", "bob", "eve"):
        world.submit(user, 1, "background")
        world.wait("1m")
    world.submit("alice", 1, "urgent")
    assert world.picture_after("alice", 1, "urgent") == "g0:li g1:wu g2:~bob g3:~eve"
    world.give_way()
    assert world.picture() == "g0:li g1:wu g2:alice g3:alice"


def test_ten_are_not_evicted_where_one_of_them_is_enough() -> None:
    """Ten were evicted where one was needed."""
    world = World(12, NO_MIN_RUN)
    for _ in range(10):
        world.submit("li", 1, "background")
    world.submit("wu", 2, "background")
    world.submit("alice", 2, "urgent")
    assert preempted(world) == [11]


def test_nobody_is_evicted_for_a_job_that_then_fails_to_start() -> None:
    """Jobs were evicted although the urgent one could not start even so."""
    world = World(2, NO_MIN_RUN)
    world.submit("carol")
    world.submit("li", 1, "background")
    assert world.picture_after("alice", 2, "urgent") == "g0:carol g1:li"
    assert preempted(world) == []


def test_evict_and_admit_does_not_go_on_for_ever() -> None:
    """The evicted job was admitted again on what had been freed, evicted again, and so on."""
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.submit("alice", 1, "urgent", time="10h")
    world.give_way()
    for _ in range(10):
        world.wait("1h")
        assert world.picture() == "g0:alice"
    assert preempted(world) == [1]


def test_a_gpu_is_given_on_only_when_the_one_before_has_really_gone() -> None:
    """A job was killed while it wrote its checkpoint, for the next one had started beside it."""
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.submit("alice", 1, "urgent")
    world.wait("20m")
    assert world.picture() == "g0:~li", "it says that it saves, and still holds the GPU"
    world.give_way()
    assert world.picture() == "g0:alice"


@pytest.mark.parametrize("final", [JobState.FAILED, JobState.TIMEOUT, JobState.OUT_OF_MEMORY])
def test_no_job_is_dropped_silently_when_what_it_waited_for_failed(final: JobState) -> None:
    """A chain broke in the middle, and the rest waited for ever or was never heard of again."""
    world = World(2)
    world.submit("alice")
    world.submit("alice", after=(1,))
    world.submit("alice", after=(2,))
    world.end(1, state=final)
    assert world.finished == {2: "dependency_failed", 3: "dependency_failed"}


def test_after_a_reboot_who_waited_starts_and_who_ran_is_waited_for() -> None:
    """After a reboot, jobs waited for ever for GPUs that nobody held any more."""
    world = World(2)
    world.submit("li")
    world.submit("wu")
    world.submit("alice")
    restored: list[Event] = [
        *world.events[:2],
        *(
            JobRestored(
                world.now, world.jobs[n], world.states[n], world.attempts[n], world.held.get(n, ()),
                world.started_at.get(n),
            )
            for n in world.jobs
        ),
    ]  # fmt: skip
    world.scheduler = Scheduler()
    assert world.step(*restored) == [], "both GPUs are still held"
    world.end(1, state=JobState.NODE_FAIL)
    assert world.picture() == "g0:alice g1:wu"


def test_a_long_job_does_not_start_a_minute_before_a_booking() -> None:
    """It started, and kept the GPU for as long as it liked."""
    world = World(1)
    world.book(Booking(1, "li", ("GPU-0",), world.now + 3600, world.now + 7200))
    world.wait("59m")
    assert world.picture_after("alice", time="2h") == "g0:-"
    assert world.picture_after("wu") == "g0:-", "it says no length, so it is long"
    assert world.picture_after("li", time="1h") == "g0:li", "the booking is li's own"


def test_an_array_of_ten_thousand_starts_what_fits_and_keeps_nobody_from_the_queue() -> None:
    """The array filled the queue, and nobody else's job was looked at."""
    world = World(4, "[limits.per_user]\nmax_gpus = 2\n")
    jobs = [world.job("alice", array_id=1, array_limit=2) for _ in range(10_000)]
    world.step(*(JobSubmitted(world.now, job) for job in jobs))
    world.run_all()
    world.wait("1m")
    assert world.picture_after("bob", 2) == "g0:alice g1:alice g2:bob g3:bob"


def test_a_user_whose_name_is_a_format_or_an_emoji_is_said_as_it_is() -> None:
    """A name with braces or an emoji broke the sentence."""
    world = World(1)
    world.submit("{job}🦆")
    assert world.why(world.submit("alice")) == (
        "waits for 1 GPU: 0 are free; job 1 of {job}🦆 runs without a time limit"
    )


def test_time_alone_ends_nobody_and_frees_nothing() -> None:
    """A heartbeat was lost, and a GPU that was still in use was given to the next."""
    world = World(1)
    world.submit("li", time="1h")
    world.submit("alice")
    world.wait("9h")
    assert world.picture() == "g0:li", (
        "it is over its time, and whoever watches it says when it ends"
    )
    assert not [decision for decision in world.log if isinstance(decision, Stop)]


def test_a_card_that_says_nothing_any_more_is_not_taken_from_its_holder() -> None:
    """The machine's answers stopped for a while, and running jobs were written off."""
    world = World(2)
    world.submit("li", 2)
    for index in (0, 1):
        world.usable(index, False, "driver: not_answering")
    world.submit("alice", 2)
    world.wait("1h")
    assert world.picture() == "g0:li g1:li"
    assert not [decision for decision in world.log if isinstance(decision, Stop)]


def test_an_end_that_is_told_twice_frees_the_gpu_once() -> None:
    """The end of a first attempt came late, and freed the GPU of the second."""
    world = World(1)
    world.submit("li")
    world.end(1, state=JobState.NODE_FAIL, requeue=True)
    assert world.scheduler.step([JobEnded(world.now, 1, 1, JobState.NODE_FAIL, True)]) == []
    assert world.scheduler.step([TimeReached(world.now + 60)]) == []
    assert world.picture_after("alice") == "g0:li"


def test_at_the_boundary_of_two_bookings_the_second_is_entitled() -> None:
    """At twelve o'clock both were, or neither."""
    world = World(1)
    noon = world.now + 3600
    world.book(
        Booking(1, "li", ("GPU-0",), world.now, noon),
        Booking(2, "wu", ("GPU-0",), noon, noon + 3600),
    )
    world.wait("59m59s")
    assert world.picture_after("wu", time="10m") == "g0:-"
    world.wait("1s")
    assert world.picture() == "g0:wu"


def test_two_who_ask_for_the_last_gpu_at_once_get_one_answer_each() -> None:
    """Both were given it."""
    world = World(1)
    world.step(*(JobSubmitted(world.now, world.job(user)) for user in ("li", "wu")))
    assert world.picture() == "g0:li"
    assert world.codes(2)[0] == "gpus"
