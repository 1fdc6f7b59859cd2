"""The event log: what is written reads back to the bit, and a difference is named."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.model import Booking, EndReason, Gpu, Grant, Job, JobState, PriorityClass, Request
from roost.core.replay import eventlog
from roost.core.replay.eventlog import DECISIONS, EVENTS, LogError, rerun
from roost.core.rules.load import load
from roost.core.rules.model import Rules
from roost.core.scheduler.decisions import (
    Decision,
    Finish,
    Preempt,
    Resume,
    Start,
    Stop,
    Suspend,
    Warn,
)
from roost.core.scheduler.events import (
    BookingsChanged,
    BudgetsRestored,
    Event,
    ForeignUse,
    GpuChanged,
    GpuUse,
    HabitsRestored,
    InventoryChanged,
    JobCancelled,
    JobCheckpointed,
    JobEnded,
    JobHeld,
    JobNotSuspended,
    JobRequeued,
    JobRestored,
    JobStarted,
    JobSubmitted,
    JobSuspended,
    PastRun,
    RulesChanged,
    TimeReached,
    UsageRestored,
)
from roost.core.scheduler.scheduler import Scheduler

GPUS = tuple(Gpu(f"GPU-{n}", n, "A100", 80 << 30, 0, ("GPU-0",)) for n in range(4))
RULES = load(
    """
    default_class = "background"
    shared_gpus = ["3"]
    [classes.urgent]
    preempts = ["regular", "background"]
    [limits.per_user]
    max_gpus = 3
    [groups.vision]
    members = ["alice", "@students"]
    share = 2.5
    """
)


def job(number: int, user: str = "alice", gpus: int = 2, **more: Any) -> Job:
    which = more.pop("priority_class", PriorityClass.REGULAR)
    return Job(number, user, "vision", which, Request(gpus, walltime_s=60.5), 0.1 + 0.2, **more)


ALL: list[Event] = [
    InventoryChanged(0.1, GPUS, 64, 1 << 40),
    RulesChanged(0.1, RULES),
    UsageRestored(0.1, (("alice", 1 / 3),), (("vision", 2 / 3),)),
    GpuChanged(0.2, "GPU-0", False, "失效"),
    ForeignUse(0.2, (("GPU-1", 5),)),
    BookingsChanged(0.2, (Booking(7, "li", ("GPU-1",), 0.3, 9e9, True),)),
    GpuUse(0.2, (("GPU-1", 0.1 + 0.2),)),
    HabitsRestored(0.2, (PastRun("li", "vision", 2, None, 1 / 3), PastRun("li", "x", 1, 60.5, 7))),
    BudgetsRestored(0.2, ((PriorityClass.URGENT, "li", 1 / 3),)),
    JobSubmitted(0.3, job(1)),
    JobSubmitted(0.3, replace(job(9), request=Request(0, 1 << 30, gpu_compute_percent=30))),
    JobRestored(
        0.3, job(2, after=(1,), begin_at=7.5), JobState.RUNNING, 3, (Grant("GPU-2", 1 << 30),), 0.1
    ),
    JobStarted(0.4, 1, 1),
    JobCheckpointed(0.5, 1),
    JobSuspended(0.5, 1, 1),
    JobNotSuspended(0.5, 1, 1),
    JobHeld(0.5, 2, True),
    JobRequeued(0.6, 1),
    JobCancelled(0.7, 2),
    JobEnded(0.8, 1, 1, JobState.NODE_FAIL, requeue=True),
    TimeReached(1e300),
]
EVERY: list[Decision] = [
    Start(1, 1, (Grant("GPU-0"), Grant("GPU-1", 7))),
    Preempt(1, 1, 2, 60.0, "classes.urgent.preempts"),
    Suspend(1, 1, 2, "freeze", 4 << 30, "classes.urgent.preempts"),
    Resume(1, 1),
    Stop(1, 2, EndReason.TIMEOUT, 0.1 + 0.2),
    Stop(1, 3, EndReason.PREEMPTED, 0.3, True, "bookings", 7),
    Warn(1, 3, "idle", (("idle_s", 0.1 + 0.2), ("gpus", "0")), "idle_reclaim.after"),
    Finish(3, "dependency_failed"),
]


def read_back(line: str, key: str, kinds: dict[str, type]) -> list[Any]:
    return eventlog._read(json.loads(line)[key], kinds, 1)


def test_every_event_and_decision_reads_back_as_it_was() -> None:
    assert {type(one) for one in ALL} == set(EVENTS.values())
    line = eventlog.step(ALL, EVERY)
    assert line.isascii()
    assert line.count("\n") == 1
    assert read_back(line, "events", EVENTS) == ALL
    assert read_back(line, "decisions", DECISIONS) == EVERY


@given(st.floats(allow_nan=False), st.text(), st.integers(-(2**70), 2**70))
def test_numbers_and_names_read_back_to_the_bit(at: float, name: str, number: int) -> None:
    told: list[Event] = [JobSubmitted(at, replace(job(number), user=name, name=name))]
    assert read_back(eventlog.step(told, []), "events", EVENTS) == told


def recorded(*steps: list[Event], look_first: bool = False) -> list[str]:
    scheduler = Scheduler(look_first=look_first)
    lines = [eventlog.header("1.0"), eventlog.fresh(look_first)]
    return lines + [eventlog.step(events, scheduler.step(events)) for events in steps]


WORK: list[list[Event]] = [
    [InventoryChanged(0.0, GPUS, 64, 1 << 40), RulesChanged(0.0, Rules())],
    [JobSubmitted(1.0, job(1, "alice", 4, priority_class=PriorityClass.BACKGROUND))],
    [JobStarted(1.5, 1, 1)],
    [JobSubmitted(70.0, job(2, "bob", 1, priority_class=PriorityClass.URGENT))],
    [JobEnded(71.0, 1, 1, JobState.CANCELLED, requeue=True)],
    [TimeReached(72.0)],
]


def test_the_same_events_give_the_same_decisions() -> None:
    lines = recorded(*WORK)
    outcome = rerun(lines + recorded(*WORK[:2], look_first=True))
    assert outcome.difference is None
    assert (outcome.steps, outcome.schedulers, outcome.broken) == (8, 2, 0)
    assert outcome.decisions == 3, "start, preempt, start"


def test_the_first_difference_is_named() -> None:
    lines = recorded(*WORK)
    lines[5] = lines[5].replace('"grace_s":60.0', '"grace_s":61.0')
    assert lines[5] != recorded(*WORK)[5]
    differs = rerun(lines).difference
    assert differs is not None
    assert (differs.line, differs.at, differs.roost) == (6, 70.0, "1.0")
    assert "61.0" in differs.recorded
    assert "60.0" in differs.decided
    assert "JobSubmitted" in differs.events


def test_a_line_cut_by_the_end_of_its_daemon_is_skipped() -> None:
    lines = recorded(*WORK)
    cut = [*lines, lines[-1][:20] + "\n", *lines, lines[-1][:-5]]
    outcome = rerun(cut)
    assert (outcome.difference, outcome.broken, outcome.steps) == (None, 2, 12)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], "log_empty"),
        (["job_id,user\n"], "log_not_json"),
        (["[]\n"], "log_not_json"),
        (['{"events":[],"decisions":[]}\n'], "log_no_header"),
        (['{"roost_events":2}\n'], "log_version"),
        ([eventlog.header("1"), eventlog.step([], [])], "log_no_scheduler"),
        ([eventlog.header("1"), "{", eventlog.fresh(False)], "log_not_json"),
        ([eventlog.header("1"), eventlog.fresh(True), '{"events":3}'], "log_bad_step"),
        (
            [eventlog.header("1"), eventlog.fresh(True), '{"events":[["Tomorrow",{}]]}'],
            "log_unknown",
        ),
        (
            [eventlog.header("1"), eventlog.fresh(True), '{"events":[["TimeReached",{}]]}'],
            "log_bad_step",
        ),
        (
            [eventlog.header("1"), eventlog.fresh(True),
             '{"events":[["JobStarted",{"at":1,"job":true,"attempt":1}]]}'],
            "log_bad_step",
        ),
    ],
)  # fmt: skip
def test_what_is_no_event_log_is_named(lines: list[str], code: str) -> None:
    with pytest.raises(LogError) as refused:
        rerun(lines)
    assert refused.value.code == code
