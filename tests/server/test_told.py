"""What is put down for people to be told of their jobs, by the whole control loop."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from sqlalchemy import select

from roost.core.model import EndReason, JobState, PriorityClass
from roost.server import told
from roost.server.work import Work
from roost.store.records import Said
from roost.store.tables import notices
from tests.server.notify.told_rig import job, work_of


def kinds(work: Work) -> list[str]:
    return [one.kind for one in work.notices]


def stored(work: Work) -> list[tuple[str, dict[str, Any]]]:
    with work.store.write() as connection:
        work.save(connection)
    with work.store.read() as connection:
        rows = connection.execute(select(notices).order_by(notices.c.id))
        return [(row.kind, json.loads(row.detail)) for row in rows]


def test_a_start_is_told_after_a_long_wait_alone() -> None:
    with work_of("") as work:
        told.started(work, job(1, submitted_at=work.now - 60.0, started_at=work.now))
        assert kinds(work) == []
        told.started(work, job(2, submitted_at=work.now - 7200.0, started_at=work.now))
        assert kinds(work) == ["job_started"]
        assert work.notices[0].detail["waited_s"] == 7200.0


def test_a_bad_end_is_told_always_a_good_one_after_a_long_run() -> None:
    with work_of("") as work:
        short = job(1, state=JobState.COMPLETED, ended_at=work.now)
        told.ended(work, short, work.now - 5.0)
        assert kinds(work) == []
        told.ended(work, short, work.now - 6000.0)
        bad = job(2, state=JobState.FAILED, exit_code=3, ended_at=work.now)
        told.ended(work, bad, work.now - 5.0)
        assert kinds(work) == ["job_ended", "job_failed"]


def test_of_an_array_one_failure_and_the_end_are_told_and_nothing_twice() -> None:
    with work_of("") as work:
        elements = [job(n, array_id=10, array_index=n - 10) for n in range(10, 14)]
        work.add_array(elements)
        states = (JobState.FAILED, JobState.COMPLETED, JobState.FAILED, JobState.COMPLETED)
        for one, state in zip(elements, states, strict=True):
            over = msgspec.structs.replace(one, state=state, ended_at=work.now, exit_code=1)
            told.ended(work, over, work.now - 5.0)
            work.put(over)
            # An array is stored as it was made; what changed of it, besides.
            work.changed_jobs[one.id] = None
        found = stored(work)
    assert [kind for kind, _ in found] == ["job_failed", "array_failed"]
    assert (found[1][1]["completed"], found[1][1]["count"]) == (2, 4)


def test_a_walltime_that_is_almost_over_is_told_once_and_not_of_a_short_job() -> None:
    with work_of("") as work:
        running = {"state": JobState.RUNNING, "started_at": work.now - 3000.0}
        for number, walltime_s in ((1, 3600.0), (2, 1500.0), (3, 9000.0)):
            work.jobs[number] = job(number, walltime_s=walltime_s, **running)
        told.due(work)
        work.notices_due = 0.0
        told.due(work)
        assert [(one.kind, one.detail["job"]) for one in work.notices] == [("job_time_limit", 1)]


def test_a_warning_of_idle_gpus_is_told_and_that_it_is_over_is_not() -> None:
    with work_of("") as work:
        idle = Said("job.idle", {"idle_s": "1800", "stop_at": "1e9", "rule": "idle_reclaim.after"})
        told.warned(work, job(1), "idle", idle)
        told.warned(work, job(1), "idle_over", Said("job.idle_over"))
        assert kinds(work) == ["job_idle"]


def test_an_urgent_job_says_so_of_itself() -> None:
    with work_of("") as work:
        urgent = msgspec.structs.replace(
            job(1, state=JobState.NODE_FAIL, ended_at=work.now),
            priority_class=PriorityClass.URGENT, end_reason=EndReason.LOST,
        )  # fmt: skip
        told.ended(work, urgent, None)
        assert work.notices[0].detail["class"] == "urgent"


def test_most_of_a_budget_is_told_at_four_fifths_and_at_its_end() -> None:
    with work_of('[classes.urgent]\nbudget = "10h"\n') as work:
        work.jobs[1] = job(1)
        used = {(PriorityClass.URGENT, "li"): 8.5 * 3600.0}
        work.scheduler.budgets_used_s = lambda: used  # type: ignore[method-assign]
        told.due(work)
        used[PriorityClass.URGENT, "li"] = 10.0 * 3600.0
        work.notices_due = 0.0
        told.due(work)
        assert [one.detail["percent"] for one in work.notices] == [80, 100]
