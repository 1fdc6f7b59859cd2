"""Carries the scheduler's decisions over into records and into what the engine is told next.

Everything lands in `Work` first: the engine hears of it only once it is stored.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from roost.core.model import EndReason, JobState
from roost.core.scheduler.decisions import (
    Decision,
    Finish,
    Preempt,
    Resume,
    Start,
    Stop,
    Suspend,
    Wait,
    Warn,
)
from roost.core.text.catalogue import say
from roost.core.text.job import plain_clock, said_text
from roost.server import told
from roost.server.bookings import due as bookings
from roost.server.engines.base import Engine
from roost.server.suspending import resume, suspend
from roost.server.work import Work
from roost.store.records import AttemptRecord, JobInput, JobRecord, Said
from roost.wire.messages import GpuGrant, LaunchSpec, SourceFile


def carry_out(work: Work, engine: Engine, decisions: Iterable[Decision]) -> None:
    """Applies decisions in their order. One about a job that has ended meanwhile is void."""
    for decision in decisions:
        job = work.jobs.get(decision.job)
        if job is None or job.ended_at is not None:
            continue
        match decision:
            case Start():
                _start(work, engine, job, decision)
            case Preempt():
                attempt = work.attempts[job.id]
                stop = msgspec.structs.replace(
                    attempt,
                    stop_reason=EndReason.PREEMPTED,
                    stop_at=work.now,
                    stop_grace_s=decision.grace_s,
                    stop_requeue=job.requeue,
                    stop_for_job=decision.for_job,
                    stop_rule=decision.rule,
                )
                _stop(work, engine, job, stop, JobState.PREEMPTING)
                told.gives_way(work, job, decision)
                for_whom = work.jobs.get(decision.for_job)
                work.audit(
                    None, "roost", "preempt", subject=f"job {job.id}", whom=job.user,
                    detail=f"for job {decision.for_job} of {for_whom.user if for_whom else '?'}"
                    f" (rules: {decision.rule})",
                )  # fmt: skip
            case Suspend():
                suspend(work, engine, job, decision)
            case Resume():
                resume(work, engine, job, decision)
            case Stop():
                attempt = work.attempts[job.id]
                stop = msgspec.structs.replace(
                    attempt,
                    stop_reason=decision.reason,
                    stop_at=work.now,
                    stop_grace_s=decision.grace_s,
                    stop_requeue=decision.requeue,
                    stop_rule=decision.rule or None,
                )
                _stop(work, engine, job, stop, JobState.COMPLETING)
                if decision.rule:
                    _stopped_by_rule(work, work.jobs[job.id], decision)
            case Warn():
                _warn(work, job, decision)
            case Finish():
                _finish(work, job, decision)
            case Wait():
                explained(work, job, decision)


def _start(work: Work, engine: Engine, job: JobRecord, decision: Start) -> None:
    started = msgspec.structs.replace(
        job,
        state=JobState.STARTING,
        attempt=decision.attempt,
        granted=decision.grants,
        started_at=None,
        checkpointed_at=None,
        suspended_at=None,
        suspended_s=0.0,
        wait=None,
        text="",
        said=None,
    )
    work.put(started)
    attempt = AttemptRecord(job=job.id, attempt=decision.attempt, decided_at=work.now)
    work.add_attempt(attempt)
    work.hold(started)
    bookings.started(work, started)
    launch(work, engine, started)


def explained(work: Work, job: JobRecord, wait: Wait) -> None:
    """Keeps why a job waits, in memory, where it changed."""
    if job.wait != wait:
        work.put(msgspec.structs.replace(job, wait=wait), stored=False)


def launch(work: Work, engine: Engine, job: JobRecord) -> None:
    """Asks the engine, after the commit, to launch the job's attempt. Raises StoreError."""
    given = work.input_of(job)
    spec = launch_spec(job, given if given is not None else JobInput())
    work.sends.append(lambda: engine.launch(spec))


def launch_spec(job: JobRecord, given: JobInput) -> LaunchSpec:
    """All that the agent needs to run this attempt."""
    source = job.source
    return LaunchSpec(
        job=job.id,
        attempt=job.attempt,
        user=job.user,
        group=job.group,
        priority_class=job.priority_class.value,
        argv=given.argv,
        script=given.script,
        script_args=given.script_args,
        name=job.name,
        environment=dict(given.environment),
        directory=job.directory,
        output=job.output_file(),
        umask=given.umask,
        gpus=tuple(GpuGrant(uuid=g.gpu_uuid, memory_bytes=g.memory_bytes) for g in job.granted),
        gpu_compute_percent=job.request.gpu_compute_percent,
        cpus=job.request.cpus,
        memory_bytes=job.request.memory_bytes,
        walltime_s=job.request.walltime_s,
        warn_signal=given.warn_signal,
        warn_before_s=given.warn_before_s,
        pty=job.pty,
        rows=given.rows,
        columns=given.columns,
        restart_count=job.restarts,
        array_id=job.array_id,
        array_index=job.array_index,
        env=job.env,
        env_path=given.env_path,
        source=None
        if source is None
        else SourceFile(
            path=source.path,
            sha256=source.sha256,
            git_commit=source.git_commit,
            git_dirty=source.git_dirty,
        ),
    )


def _stop(
    work: Work, engine: Engine, job: JobRecord, attempt: AttemptRecord, state: JobState
) -> None:
    work.put(msgspec.structs.replace(job, state=state))
    work.put_attempt(attempt)
    reason, grace_s = attempt.stop_reason, attempt.stop_grace_s or 0.0
    if reason is not None:
        number, which = job.id, attempt.attempt
        work.sends.append(lambda: engine.end(number, which, reason, grace_s))


def _stopped_by_rule(work: Work, job: JobRecord, decision: Stop) -> None:
    """Puts the rule on record, and says it where the job is shown."""
    booking = f" for booking {decision.booking}" if decision.booking else ""
    work.audit(
        None, "roost", "stop", subject=f"job {job.id}", whom=job.user,
        detail=f"{'requeued' if decision.requeue else 'ended'}{booking} (rules: {decision.rule})",
    )  # fmt: skip
    rule = decision.rule.split(".")[0]
    code = {"idle_reclaim": "idle_stopped", "windows": "window_closed"}.get(rule, "booked_away")
    said = _tell(work, job, code, {"rule": decision.rule})
    told.stopped(work, job, decision, said)


def _warn(work: Work, job: JobRecord, decision: Warn) -> None:
    numbers = {name: str(value) for name, value in decision.numbers}
    work.audit(
        None, "roost", "warn", subject=f"job {job.id}", whom=job.user, outcome="warned",
        detail=f"{decision.code} (rules: {decision.rule})",
    )  # fmt: skip
    work.event("warned", str(job.id), code=decision.code, rule=decision.rule, **numbers)
    said = _tell(work, job, decision.code, {**numbers, "rule": decision.rule})
    told.warned(work, job, decision.code, said)


def _tell(work: Work, job: JobRecord, code: str, numbers: dict[str, str]) -> Said:
    said = Said(f"job.{code}", numbers)
    text = said_text("en", said.message, said.numbers, plain_clock)
    work.put(msgspec.structs.replace(job, text=text, said=said))
    return said


def _finish(work: Work, job: JobRecord, decision: Finish) -> None:
    said = Said(f"wait.{decision.reason_code}")
    work.put(
        msgspec.structs.replace(
            job,
            state=JobState.CANCELLED,
            ended_at=work.now,
            end_reason=EndReason.CANCELLED,
            text=say("en", said.message),
            said=said,
            wait=None,
        )
    )
    if decision.reason_code == "dependency_failed":
        told.never(work, work.jobs[job.id])
    elif job.array_id is not None:
        told.ended(work, work.jobs[job.id], None)
