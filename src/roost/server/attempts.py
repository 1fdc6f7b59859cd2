"""What the agent says of attempts, taken into records and told to the scheduler.

The database is the truth: an attempt that it does not know is reported and left alone, never ended.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import structlog

from roost.core.model import EndReason, JobState
from roost.core.observation import GpuState
from roost.core.scheduler.events import GpuChanged, JobCheckpointed, JobEnded, JobStarted
from roost.core.text.printable import printable
from roost.server import told
from roost.server.deciding import launch
from roost.server.engines.base import NOT_THE_JOBS, Engine, LaunchRefused
from roost.server.outcome import outcome_of
from roost.server.suspending import ask_again, taken_in
from roost.server.work import Work
from roost.store.jobs import find_attempt
from roost.store.records import JobRecord, Said
from roost.wire.messages import AttemptEnd, AttemptState

log = structlog.get_logger()


def attempt_changed(work: Work, engine: Engine, state: AttemptState, strangers: set[str]) -> None:
    """Takes one attempt's state in; saying the same again changes nothing."""
    job = work.jobs.get(state.job)
    if (
        job is None
        or job.ended_at is not None
        or job.attempt != state.attempt
        or not job.state.holds_gpus
    ):
        _not_live(work, engine, state, strangers)
        return
    attempt = work.attempts[job.id]
    changed = job
    if state.started_at is not None and attempt.started_at is None:
        attempt = msgspec.structs.replace(attempt, started_at=state.started_at)
        work.put_attempt(attempt)
        changed = msgspec.structs.replace(changed, started_at=state.started_at)
        if changed.state is JobState.STARTING:
            changed = msgspec.structs.replace(changed, state=JobState.RUNNING)
            work.events.append(JobStarted(work.now, job.id, job.attempt))
            told.started(work, changed)
    if state.source_changed is not None and changed.source is not None:
        source = msgspec.structs.replace(changed.source, changed=state.source_changed)
        changed = msgspec.structs.replace(changed, source=source)
    saved_at = state.checkpointed_at
    if saved_at is not None and saved_at > (changed.checkpointed_at or 0.0):
        changed = msgspec.structs.replace(changed, checkpointed_at=saved_at)
        work.events.append(JobCheckpointed(min(saved_at, work.now), job.id))
    if changed is not job:
        work.put(changed)
    changed = taken_in(work, changed, state)
    if state.end is not None:
        attempt_ended(work, engine, changed, state.end)


def attempt_ended(
    work: Work, engine: Engine, job: JobRecord, end: AttemptEnd, *, launched: bool = True
) -> None:
    """The end of the live attempt of a job: its final state, or its way back to the queue.

    `launched` False: the machine could not, so the job goes back and it counts as no restart.
    """
    attempt = work.attempts[job.id]
    outcome = outcome_of(attempt, end, job.requeue or not launched)
    ended_at = min(work.now, max(end.ended_at, attempt.decided_at, attempt.started_at or 0.0))
    work.release(job.id, ended_at)
    text = printable(end.text.encode("utf-8", "surrogateescape"))
    work.put_attempt(
        msgspec.structs.replace(
            attempt, ended_at=ended_at, end_reason=outcome.reason, exit_code=end.exit_code,
            signal=end.signal, done=end.done, text=text,
        )
    )  # fmt: skip
    job = msgspec.structs.replace(
        job,
        peak_memory_bytes=_highest(job.peak_memory_bytes, end.peak_memory_bytes),
        cpu_s=job.cpu_s if end.cpu_s is None else (job.cpu_s or 0.0) + end.cpu_s,
    )
    if outcome.requeue:
        job = msgspec.structs.replace(
            job, state=JobState.PENDING, restarts=job.restarts + launched, granted=(),
            started_at=None, checkpointed_at=None, suspended_at=None, suspended_s=0.0,
        )  # fmt: skip
    else:
        said = Said(end.message, end.numbers) if end.message else job.said
        job = msgspec.structs.replace(
            job, state=outcome.state, ended_at=ended_at, end_reason=outcome.reason,
            exit_code=end.exit_code, signal=end.signal, text=text or job.text, said=said,
            suspended_at=None,
        )  # fmt: skip
        told.ended(work, job, attempt.started_at)
    work.put(job)
    work.events.append(
        JobEnded(work.now, job.id, job.attempt, outcome.state, requeue=outcome.requeue)
    )
    number, which = job.id, job.attempt
    work.sends.append(lambda: engine.forget(number, which))


def _not_live(work: Work, engine: Engine, state: AttemptState, strangers: set[str]) -> None:
    with work.store.read() as connection:
        known = find_attempt(connection, state.job, state.attempt)
    if known is not None and known.ended_at is not None and state.end is not None:
        work.sends.append(lambda: engine.forget(state.job, state.attempt))
        return
    if known is not None and known.ended_at is not None and known.stop_reason is not None:
        # Told to stop before it was seen to start, and launched all the same: it has no right.
        reason = known.stop_reason
        work.sends.append(lambda: engine.end(state.job, state.attempt, reason, 0.0))
        return
    if known is not None and known.ended_at is None:
        # Its end is on its way in this very batch.
        return
    name = f"{state.job}.{state.attempt}"
    if name not in strangers:
        strangers.add(name)
        log.warning("an attempt that the database does not know", attempt=name, state=state.state)
        work.audit(
            None, "roost", "unknown_attempt", subject=f"attempt {name}", outcome="left alone",
            detail=f"the agent reports it as {state.state}; the database does not know it",
        )  # fmt: skip


def reconcile(
    work: Work, engine: Engine, attempts: Sequence[AttemptState], strangers: set[str]
) -> None:
    """After a connect: takes in what happened, and asks again for what should be."""
    known = {(a.job, a.attempt): a for a in attempts}
    for state in attempts:
        attempt_changed(work, engine, state, strangers)
    for job in list(work.jobs.values()):
        if not job.state.holds_gpus or job.ended_at is not None:
            continue
        attempt = work.attempts[job.id]
        if (job.id, job.attempt) not in known:
            if attempt.started_at is None and attempt.stop_reason is None:
                launch(work, engine, job)
            elif attempt.started_at is None and attempt.stop_reason is not None:
                never = AttemptEnd(reason=attempt.stop_reason, ended_at=work.now)
                attempt_ended(work, engine, job, never)
                continue
            else:
                lost = AttemptEnd(
                    reason=EndReason.LOST,
                    ended_at=work.now,
                    text="the agent has no record of this attempt any more",
                    message="job.record_lost",
                )
                attempt_ended(work, engine, job, lost)
                continue
        elif job.id in work.jobs and work.jobs[job.id].ended_at is None:
            ask_again(work, engine, work.jobs[job.id], known[job.id, job.attempt])
        if attempt.stop_reason is not None:
            left_s = (attempt.stop_at or 0.0) + (attempt.stop_grace_s or 0.0) - work.now
            _end_again(work, engine, job, attempt.stop_reason, max(0.0, left_s))


def _end_again(
    work: Work, engine: Engine, job: JobRecord, reason: EndReason, grace_s: float
) -> None:
    number, which = job.id, job.attempt
    work.sends.append(lambda: engine.end(number, which, reason, grace_s))


def _highest(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return max(a, b)


def launch_refused(work: Work, engine: Engine, refused: LaunchRefused) -> None:
    """The agent will not launch it: the job fails with the agent's sentence.

    Where a GPU is the reason, the job goes back to its place, and nothing is started on that GPU
    before it has been seen again.
    """
    job = work.jobs.get(refused.job)
    if job is None or job.attempt != refused.attempt or not job.state.holds_gpus:
        return
    if refused.code in NOT_THE_JOBS:
        for grant in job.granted:
            work.told_usable[grant.gpu_uuid] = (False, GpuState.MISSING.value)
            work.events.append(GpuChanged(work.now, grant.gpu_uuid, False, GpuState.MISSING.value))
        lost = AttemptEnd(reason=EndReason.LOST, ended_at=work.now, text=refused.text)
        attempt_ended(work, engine, job, lost, launched=False)
        return
    end = AttemptEnd(reason=EndReason.LAUNCH_FAILED, ended_at=work.now, text=refused.text)
    attempt_ended(work, engine, job, end)
