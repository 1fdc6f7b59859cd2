"""Holds, begin times, dependencies, limits, arrays: what stands before a start, and its words."""

from __future__ import annotations

from time import perf_counter

import pytest

from roost.core.model import EndReason, JobState
from roost.core.scheduler.decisions import Finish, Start, Stop
from roost.core.scheduler.events import (
    Event,
    ForeignUse,
    JobCancelled,
    JobEnded,
    JobRequeued,
    JobStarted,
    JobSubmitted,
    TimeReached,
)
from roost.core.scheduler.scheduler import Scheduler
from roost.core.text.wait import render_wait
from tests.core.scheduler.pictures import World


def test_a_held_job_waits_until_it_is_released() -> None:
    world = World(1)
    held = world.submit("alice", held=True)
    assert world.codes(held) == ["held"]
    world.hold(held, False)
    assert world.running() == [held]


def test_a_hold_on_a_running_job_counts_when_it_is_requeued() -> None:
    world = World(1)
    world.submit("alice")
    world.hold(1)
    assert world.running() == [1]
    world.end(1, state=JobState.NODE_FAIL, requeue=True)
    assert world.codes(1) == ["held"]


def test_a_job_with_a_begin_time_starts_when_it_is_reached() -> None:
    world = World(1)
    later = world.submit("alice", begin_at=1600.0)
    assert "begins at 600s at the earliest" in world.why(later)
    assert world.scheduler.next_time() == 1600.0
    world.wait("9m")
    assert world.running() == []
    world.wait("1m")
    assert world.running() == [later]


def test_a_dependent_job_starts_when_the_other_has_completed() -> None:
    world = World(2)
    first = world.submit("alice")
    second = world.submit("bob", after=(first,))
    assert world.why(second) == "waits until job 1 of alice has completed"
    world.end(first)
    assert world.running() == [second]


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.TIMEOUT, JobState.CANCELLED])
def test_dependents_of_a_job_that_ended_otherwise_end_with_a_reason_down_the_chain(
    state: JobState,
) -> None:
    world = World(2)
    first = world.submit("alice")
    second = world.submit("bob", after=(first,))
    third = world.submit("bob", after=(second,))
    world.end(first, state=state)
    assert world.finished == {second: "dependency_failed", third: "dependency_failed"}
    assert world.scheduler.state_of(third) is JobState.CANCELLED


def test_a_dependency_that_is_requeued_is_waited_for_on() -> None:
    world = World(1)
    first = world.submit("alice")
    second = world.submit("bob", after=(first,))
    world.end(first, state=JobState.NODE_FAIL, requeue=True)
    assert world.finished == {}
    world.end(first)
    assert world.running() == [second]


def test_a_dependency_on_a_job_that_is_not_there_or_on_itself_never_waits_for_ever() -> None:
    world = World(1)
    world.submit("alice", after=(77,))
    world.submit("alice", after=(2,))
    assert world.finished == {1: "dependency_missing", 2: "dependency_missing"}


def test_a_dependency_on_what_has_completed_already_is_met() -> None:
    world = World(1)
    world.submit("alice")
    world.end(1)
    assert world.submit("bob", after=(1,)) in world.running()


def test_cancelling_what_waits_ends_it_and_what_runs_is_stopped_once() -> None:
    world = World(1)
    world.submit("alice")
    waiting = world.submit("alice")
    world.cancel(waiting)
    assert world.finished == {waiting: "cancelled"}
    assert world.step(JobCancelled(world.now, 1)) == [Stop(1, 1, EndReason.CANCELLED, 60.0)]
    assert world.step(JobCancelled(world.now, 1)) == []


def test_a_cancelled_job_is_not_requeued_by_its_end() -> None:
    world = World(1)
    world.submit("alice")
    world.cancel(1)
    assert world.scheduler.step([JobEnded(world.now, 1, 1, JobState.CANCELLED, True)]) == [
        Finish(1, "cancelled")
    ]


def test_a_requeue_asked_for_by_a_person_stops_the_job_and_puts_it_back() -> None:
    world = World(1)
    world.submit("alice")
    (stop,) = world.step(JobRequeued(world.now, 1))
    assert isinstance(stop, Stop)
    assert stop.requeue
    world.end(1, state=JobState.CANCELLED, requeue=True)
    assert world.attempts[1] == 2


def test_late_news_of_an_earlier_attempt_changes_nothing() -> None:
    world = World(1)
    world.submit("alice")
    world.end(1, state=JobState.NODE_FAIL, requeue=True)
    before = world.scheduler.snapshot()
    late: list[Event] = [JobEnded(world.now, 1, 1, JobState.FAILED), JobStarted(world.now, 1, 1)]
    assert world.scheduler.step(late) == []
    assert world.scheduler.step([JobEnded(world.now, 99, 1, JobState.FAILED)]) == []
    assert world.scheduler.snapshot() == before


def test_time_never_goes_back() -> None:
    world = World(1)
    world.scheduler.step([JobCancelled(5.0, 1)])
    assert world.scheduler.now == 1000.0


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (
            "[limits.per_user]\nmax_gpus = 2",
            "alice may hold 2 GPUs, 2 are held, this job needs 1 (rules: limits.per_user.max_gpus)",
        ),
        (
            "[limits.users.alice]\nmax_jobs = 2",
            "alice may run 2 jobs at once (rules: limits.users.alice.max_jobs)",
        ),
        (
            "[limits.regular]\nmax_gpus = 2",
            "regular jobs together may hold 2 GPUs, 2 are held, this job needs 1"
            " (rules: limits.regular.max_gpus)",
        ),
        (
            "[limits.regular.per_user]\nmax_jobs = 2",
            "regular jobs of alice may run 2 jobs at once"
            " (rules: limits.regular.per_user.max_jobs)",
        ),
        (
            "[limits.groups.default]\nmax_gpus = 2",
            "group default may hold 2 GPUs, 2 are held, this job needs 1"
            " (rules: limits.groups.default.max_gpus)",
        ),
        (
            "[limits.groups.default.regular]\nmax_gpus = 2",
            "regular jobs of group default may hold 2 GPUs, 2 are held, this job needs 1"
            " (rules: limits.groups.default.regular.max_gpus)",
        ),
    ],
)
def test_each_kind_of_limit_holds_and_names_its_rule(limits: str, sentence: str) -> None:
    world = World(4, limits)
    for _ in range(4):
        world.submit("alice")
    assert world.running() == [1, 2]
    assert world.why(3) == sentence
    assert world.scheduler.explain(3).reasons[0].blocking_jobs == (1, 2)
    assert world.scheduler.explain(3).startable_now == 0
    world.end(1)
    assert world.running() == [2, 3]


def test_a_job_at_its_limit_keeps_nobody_else_waiting() -> None:
    world = World(4, "[limits.users.alice]\nmax_gpus = 1")
    world.submit("alice")
    world.submit("alice", 1)
    assert world.submit("bob", 3) in world.running()


def test_a_job_beyond_a_limit_that_came_later_says_that_it_never_will() -> None:
    world = World(4)
    world.submit("bob", 4)
    big = world.submit("alice", 3)
    world.change_rules(World(1, "[limits.per_user]\nmax_gpus = 2").rules)
    world.end(1)
    assert "needs 3 GPUs, but alice may hold 2 at most" in world.why(big)


def test_an_array_runs_as_many_at_once_as_it_says() -> None:
    world = World(4)
    for _ in range(5):
        world.submit("alice", array_id=1, array_limit=2)
    assert world.running() == [1, 2]
    assert world.why(3) == "of array 1 at most 2 jobs may run at once"
    world.end(2)
    assert world.running() == [1, 3]


def test_an_array_of_ten_thousand_is_queued_explained_and_stepped_over_quickly() -> None:
    world = World(2)
    jobs = [world.job("alice", array_id=1, array_limit=9000) for _ in range(10_000)]
    begun = perf_counter()
    world.step(*(JobSubmitted(world.now, job) for job in jobs))
    for _ in range(100):
        world.scheduler.step([TimeReached(world.now)])
    words = {render_wait("en", world.scheduler.explain(job.id), str) for job in jobs}
    assert len(world.running()) == 2
    assert len(words) == 3  # running, the first that waits, those behind it
    assert perf_counter() - begun < 10


def test_what_would_start_now_is_said() -> None:
    world = World(4, "[limits.per_user]\nmax_gpus = 4")
    world.submit("carol", 1)
    big = world.submit("alice", 4)
    assert world.scheduler.explain(big).startable_now == 3
    world.wait("1s")
    behind = world.submit("bob", 1)
    assert world.scheduler.explain(behind).startable_now == 0


def test_a_wait_names_whose_job_ends_when() -> None:
    world = World(4)
    world.submit("li", 2, time="2h")
    world.submit("wu", 2)
    waits = world.submit("alice", 4)
    assert world.why(waits) == (
        "waits for 4 GPUs: 0 are free; job 1 of li ends by 7200s at the latest;"
        " job 2 of wu runs without a time limit"
    )
    assert world.why(waits, "zh") == (
        "等待 4 张 GPU：现有 0 张空闲；li 的作业 1 最迟 7200s 结束；wu 的作业 2 没有运行时限"
    )


def test_a_scheduler_that_looks_first_starts_nothing_before_it_knows_of_strangers() -> None:
    world = World(2)
    scheduler = Scheduler(look_first=True)
    job = world.job("alice", 2)
    assert scheduler.step([*world.events, JobSubmitted(world.now, job)]) == []
    assert [reason.code for reason in scheduler.explain(1).reasons] == ["no_inventory"]
    (start,) = scheduler.step([ForeignUse(world.now, ())])
    assert isinstance(start, Start)


def test_before_the_machine_is_known_a_job_says_so() -> None:
    scheduler = Scheduler()
    job = World(1).job("alice")
    assert scheduler.step([JobSubmitted(1.0, job)]) == []
    assert [reason.code for reason in scheduler.explain(1).reasons] == ["no_inventory"]
