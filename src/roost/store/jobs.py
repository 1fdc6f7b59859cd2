"""Queries on jobs, their inputs, attempts and allocations. Knows rows, not what they mean."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, case, delete, func, insert, select, update

from roost.core.model import EndReason, Grant, JobState, PriorityClass, Request
from roost.store.prepared import Prepared
from roost.store.records import AllocationRecord, AttemptRecord, JobInput, JobRecord, Said, Source
from roost.store.tables import allocations, attempts, job_inputs, jobs

_packer = msgspec.msgpack.Encoder()
_input = msgspec.msgpack.Decoder(JobInput)
_words = msgspec.msgpack.Decoder(tuple[bytes, ...])
_granted = msgspec.json.Decoder(tuple[tuple[str, int | None], ...])
_said = msgspec.json.Decoder(Said)
_source = msgspec.json.Decoder(Source)
_PLAIN = (
    "id", "user", "uid", "group", "name", "submitted_at", "begin_at", "started_at", "ended_at",
    "checkpointed_at", "suspended_at", "suspended_s", "exit_code", "signal", "text", "gpu_s",
    "busy_s", "observed_s", "energy_j", "peak_memory_bytes", "cpu_s", "restarts", "attempt",
    "array_id", "array_index", "array_limit", "held", "requeue", "pty", "directory", "output",
    "input_id", "env",
)  # fmt: skip


CHANGING = (
    "state", "begin_at", "started_at", "ended_at", "checkpointed_at", "suspended_at", "suspended_s",
    "exit_code", "signal",
    "end_reason", "text", "said", "gpu_s", "busy_s", "observed_s", "energy_j", "peak_memory_bytes",
    "cpu_s", "restarts", "attempt", "held", "granted", "source",
)  # fmt: skip
_MOVING = tuple(name for name in _PLAIN if name in CHANGING)
_LASTING = tuple(name for name in _PLAIN if name not in CHANGING)
_moving = operator.attrgetter(*_MOVING)
_lasting = operator.attrgetter(*_LASTING)


def job_row(job: JobRecord) -> dict[str, Any]:
    """The job's row, all columns."""
    request = job.request
    row = _changing(job)
    row.update(zip(_LASTING, _lasting(job), strict=True))
    row.update(
        {
            "class": job.priority_class.value,
            "gpus": request.gpus,
            "gpu_memory_bytes": request.gpu_memory_bytes,
            "gpu_model": request.gpu_model,
            "gpus_most": request.gpus_most,
            "gpu_compute_percent": request.gpu_compute_percent,
            "cpus": request.cpus,
            "memory_bytes": request.memory_bytes,
            "walltime_s": request.walltime_s,
            "after": json.dumps(job.after),
            "command": _packer.encode(job.command),
        }
    )
    return row


def _changing(job: JobRecord) -> dict[str, Any]:
    """The columns that can change after the submission."""
    row: dict[str, Any] = dict(zip(_MOVING, _moving(job), strict=True))
    row["state"] = job.state.value
    row["end_reason"] = job.end_reason.value if job.end_reason else None
    granted = [(g.gpu_uuid, g.memory_bytes) for g in job.granted]
    row["granted"] = json.dumps(granted) if granted else "[]"
    row["source"] = msgspec.json.encode(job.source).decode() if job.source else None
    row["said"] = msgspec.json.encode(job.said).decode() if job.said else None
    return row


def job_of(row: Any) -> JobRecord:
    """The record that `job_row` made the row from."""
    found = dict(row._mapping)
    return JobRecord(
        **{name: found[name] for name in _PLAIN},
        priority_class=PriorityClass(found["class"]),
        state=JobState(found["state"]),
        request=Request(
            gpus=found["gpus"],
            gpu_memory_bytes=found["gpu_memory_bytes"],
            gpu_model=found["gpu_model"],
            cpus=found["cpus"],
            memory_bytes=found["memory_bytes"],
            walltime_s=found["walltime_s"],
            gpus_most=found["gpus_most"],
            gpu_compute_percent=found["gpu_compute_percent"],
        ),
        end_reason=EndReason(found["end_reason"]) if found["end_reason"] else None,
        after=tuple(json.loads(found["after"])),
        command=_words.decode(found["command"]),
        granted=tuple(Grant(*pair) for pair in _granted.decode(found["granted"])),
        source=_source.decode(found["source"]) if found["source"] else None,
        said=_said.decode(found["said"]) if found["said"] else None,
    )


def highest_job(connection: Connection) -> int:
    return connection.execute(select(func.max(jobs.c.id))).scalar() or 0


def add_jobs(connection: Connection, records: Sequence[JobRecord]) -> None:
    _add_jobs(connection, [job_row(job) for job in records])


_add_jobs = Prepared(lambda _: insert(jobs))


def save_jobs(connection: Connection, records: Iterable[JobRecord]) -> None:
    """Writes all columns that can change after the submission."""
    rows = []
    for job in records:
        row = {f"new_{name}": value for name, value in _changing(job).items()}
        row["which"] = job.id
        rows.append(row)
    _save_jobs(connection, rows)


@Prepared
def _save_jobs(_dialect: str) -> Any:
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in CHANGING}
    return update(jobs).where(jobs.c.id == bindparam("which")).values(values)


def live_jobs(connection: Connection) -> list[JobRecord]:
    """Every job without an end, by number."""
    rows = connection.execute(select(jobs).where(jobs.c.ended_at.is_(None)).order_by(jobs.c.id))
    return [job_of(row) for row in rows]


def find_job(connection: Connection, job: int) -> JobRecord | None:
    if not 0 < job < 2**63:
        return None
    row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
    return job_of(row) if row else None


def known_states(connection: Connection, numbers: Sequence[int]) -> dict[int, JobState]:
    """State of each of these jobs that exists."""
    found: dict[int, JobState] = {}
    for start in range(0, len(numbers), 500):
        part = numbers[start : start + 500]
        rows = connection.execute(select(jobs.c.id, jobs.c.state).where(jobs.c.id.in_(part)))
        found.update({row[0]: JobState(row[1]) for row in rows})
    return found


def ended_jobs(
    connection: Connection,
    limit: int,
    before: int | None = None,
    user: str | None = None,
    states: Sequence[str] = (),
) -> list[JobRecord]:
    """Ended jobs, newest first; `before` is the last number already seen."""
    query = select(jobs).where(jobs.c.ended_at.is_not(None))
    if before is not None:
        query = query.where(jobs.c.id < before)
    if user is not None:
        query = query.where(jobs.c.user == user)
    if states:
        query = query.where(jobs.c.state.in_(states))
    return [job_of(r) for r in connection.execute(query.order_by(jobs.c.id.desc()).limit(limit))]


def add_inputs(connection: Connection, given: Mapping[int, JobInput]) -> None:
    """What jobs are made of, by the number of the first that shares it."""
    rows = [{"id": number, "input": _packer.encode(one)} for number, one in given.items()]
    _add_inputs(connection, rows)


_add_inputs = Prepared(lambda _: insert(job_inputs))


def find_input(connection: Connection, number: int) -> JobInput | None:
    raw = connection.execute(
        select(job_inputs.c.input).where(job_inputs.c.id == number)
    ).scalar_one_or_none()
    return _input.decode(raw) if raw is not None else None


def drop_inputs(connection: Connection, before_at: float) -> int:
    """Removes what jobs were made of once all that share it ended before `before_at`."""
    needed = select(jobs.c.input_id).where(
        jobs.c.ended_at.is_(None) | (jobs.c.ended_at >= before_at)
    )
    return connection.execute(delete(job_inputs).where(job_inputs.c.id.not_in(needed))).rowcount


def _attempt_row(record: AttemptRecord) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    row["stop_reason"] = record.stop_reason.value if record.stop_reason else None
    row["end_reason"] = record.end_reason.value if record.end_reason else None
    return row


def add_attempts(connection: Connection, records: Iterable[AttemptRecord]) -> None:
    _add_attempts(connection, [_attempt_row(record) for record in records])


_add_attempts = Prepared(lambda _: insert(attempts))


def save_attempts(connection: Connection, records: Iterable[AttemptRecord]) -> None:
    rows = []
    for record in records:
        row = _attempt_row(record)
        rows.append(
            {f"new_{name}": row[name] for name in _ATTEMPT_CHANGING}
            | {"which_job": record.job, "which_attempt": record.attempt}
        )
    _save_attempts(connection, rows)


_ATTEMPT_CHANGING = tuple(c.name for c in attempts.c if c.name not in ("job", "attempt"))


@Prepared
def _save_attempts(_dialect: str) -> Any:
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _ATTEMPT_CHANGING}
    which = (attempts.c.job == bindparam("which_job")) & (
        attempts.c.attempt == bindparam("which_attempt")
    )
    return update(attempts).where(which).values(values)


def _attempt_of(row: Any) -> AttemptRecord:
    found = dict(row._mapping)
    for name in ("stop_reason", "end_reason"):
        found[name] = EndReason(found[name]) if found[name] else None
    return AttemptRecord(**found)


def open_attempts(connection: Connection) -> list[AttemptRecord]:
    """Attempts without an end."""
    rows = connection.execute(select(attempts).where(attempts.c.ended_at.is_(None)))
    return [_attempt_of(row) for row in rows]


def find_attempt(connection: Connection, job: int, attempt: int) -> AttemptRecord | None:
    query = select(attempts).where((attempts.c.job == job) & (attempts.c.attempt == attempt))
    row = connection.execute(query).first()
    return _attempt_of(row) if row else None


def highest_allocation(connection: Connection) -> int:
    return connection.execute(select(func.max(allocations.c.id))).scalar() or 0


def add_allocations(connection: Connection, records: Sequence[AllocationRecord]) -> None:
    _add_allocations(connection, [_allocation_row(r) for r in records])


_add_allocations = Prepared(lambda _: insert(allocations))


def _allocation_row(record: AllocationRecord) -> dict[str, Any]:
    row = msgspec.structs.asdict(record)
    row["class"] = row.pop("priority_class")
    return row


def save_allocations(connection: Connection, records: Iterable[AllocationRecord]) -> None:
    rows = [{"which": r.id, "to": r.to_at, "through": r.held_through} for r in records]
    _save_allocations(connection, rows)


@Prepared
def _save_allocations(_dialect: str) -> Any:
    return (
        update(allocations)
        .where(allocations.c.id == bindparam("which"))
        .values(to_at=bindparam("to"), held_through=bindparam("through"))
    )


def last_runs(connection: Connection, most: int) -> list[tuple[str, str, int, int | None, float]]:
    """User, group, GPUs, walltime and run time in seconds of the last jobs that ran to their own
    end, the oldest first. Of one that was started more than once the time that it held its GPUs."""
    own_end = [s.value for s in (JobState.COMPLETED, JobState.FAILED, JobState.TIMEOUT)]
    rows = connection.execute(
        select(
            jobs.c.user, jobs.c.group, jobs.c.gpus, jobs.c.walltime_s, jobs.c.restarts,
            jobs.c.gpu_s, jobs.c.ended_at - jobs.c.started_at,
        )
        .where(
            jobs.c.ended_at.is_not(None)
            & jobs.c.started_at.is_not(None)
            & jobs.c.state.in_(own_end)
            & jobs.c.gpus_most.is_(None)
        )
        .order_by(jobs.c.ended_at.desc())
        .limit(most)
    )  # fmt: skip
    return [
        (user, group, gpus, walltime_s, gpu_s / gpus if restarts and gpus else last_s)
        for user, group, gpus, walltime_s, restarts, gpu_s, last_s in rows
    ][::-1]


def held_since(connection: Connection, since: float) -> dict[tuple[str, str], float]:
    """GPU seconds by (class, user) that ended allocations held from `since` on."""
    begin = case((allocations.c.from_at < since, since), else_=allocations.c.from_at)
    rows = connection.execute(
        select(
            allocations.c["class"],
            allocations.c.user,
            func.sum((allocations.c.to_at - begin) * allocations.c.share),
        )
        .where(allocations.c.to_at > since)
        .group_by(allocations.c["class"], allocations.c.user)
    )
    return {(which, user): float(gpu_s) for which, user, gpu_s in rows}


def open_allocations(connection: Connection) -> list[AllocationRecord]:
    rows = connection.execute(
        select(allocations).where(allocations.c.to_at.is_(None)).order_by(allocations.c.id)
    )
    found = []
    for row in rows:
        values = dict(row._mapping)
        values["priority_class"] = values.pop("class")
        found.append(AllocationRecord(**values))
    return found
