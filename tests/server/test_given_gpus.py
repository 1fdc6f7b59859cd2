"""A GPU that a job was given is not free, also while no process of the job has opened it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from roost.core.attribution.model import (
    Attribution,
    GpuAttribution,
    Holder,
    Kind,
    Right,
    RightCode,
    phrase,
)
from roost.core.model import Grant, JobState, PriorityClass, Request
from roost.server.api.holders import holder_rows
from roost.server.board import Board
from roost.store.records import JobRecord

START = 1_764_600_000.0


def _record(state: JobState, *uuids: str, walltime_s: int | None = 3600) -> JobRecord:
    return JobRecord(
        id=7, user="alice", uid=1001, group="cv", priority_class=PriorityClass.REGULAR,
        state=state, name="train", request=Request(gpus=len(uuids), walltime_s=walltime_s),
        submitted_at=START - 5, started_at=START, granted=tuple(Grant(uuid) for uuid in uuids),
    )  # fmt: skip


def _gpu(index: int, *holders: Holder) -> GpuAttribution:
    return GpuAttribution(index, f"GPU-{index}", 0, 0, 80, tuple(holders), None)


def _holder(index: int, job: int | None) -> Holder:
    return Holder(
        gpu_index=index, gpu_uuid=f"GPU-{index}", pid=50, start_ticks=1, uid=1001, user="alice",
        group="cv", kind=Kind.JOB, container=None, container_id=None, job=job, attempt=1,
        booking=None, memory_bytes=10, claimed_bytes=10, command="python", since=START,
        idle_s=None, right=Right(RightCode.JOB, phrase("right_job", job=job), True),
    )  # fmt: skip


def _rows(record: JobRecord, *gpus: GpuAttribution) -> list[dict[str, Any]]:
    board = Board(jobs={record.id: record})
    call: Any = SimpleNamespace(
        language="en", person=SimpleNamespace(uid=1001, operator=False),
        context=SimpleNamespace(board=board, time_zone="UTC"),
    )  # fmt: skip
    return holder_rows(call, Attribution(START, "gpu1", gpus))


def test_a_given_gpu_without_a_process_has_a_row_of_its_job() -> None:
    record = _record(JobState.RUNNING, "GPU-0", "GPU-1")
    rows = _rows(record, _gpu(0), _gpu(1, _holder(1, 7)), _gpu(2))
    assert [(row["gpu_index"], row["pid"], row["job"], row["user"]) for row in rows] == [
        (0, None, 7, "alice"),
        (1, 50, 7, "alice"),
    ]
    assert rows[0]["right"] == "job 7"
    assert set(rows[0]) == set(rows[1])


def test_until_is_the_end_by_walltime() -> None:
    row = _rows(_record(JobState.RUNNING, "GPU-0"), _gpu(0))[0]
    assert row["until"] == "2025-12-01T15:40:00.000+00:00"
    row = _rows(_record(JobState.RUNNING, "GPU-0", walltime_s=None), _gpu(0))[0]
    assert row["until"] is None


def test_a_job_that_holds_nothing_any_more_has_no_row() -> None:
    assert _rows(_record(JobState.PENDING, "GPU-0"), _gpu(0)) == []
