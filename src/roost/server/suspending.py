"""Jobs that give way where they are: from decision to order, and from what the engine says of them
to records. While a job is suspended nobody is charged for it.

`AttemptRecord.suspend` is what is wanted of the attempt, so that it can be asked for again.
"""

from __future__ import annotations

import msgspec

from roost.core.model import JobState
from roost.core.scheduler.decisions import Resume, Suspend
from roost.core.scheduler.events import JobNotSuspended, JobSuspended
from roost.core.text.printable import printable
from roost.server import told
from roost.server.engines.base import Engine
from roost.server.work import Work
from roost.store.records import JobRecord
from roost.wire.messages import AttemptState


def suspend(work: Work, engine: Engine, job: JobRecord, decision: Suspend) -> None:
    """Asks for it, if the job has as little on its GPUs as the rules want."""
    attempt = msgspec.structs.replace(
        work.attempts[job.id], suspend=decision.how, suspend_bytes=decision.most_bytes,
        stop_for_job=decision.for_job, stop_rule=decision.rule,
    )  # fmt: skip
    work.put_attempt(attempt)
    job = msgspec.structs.replace(job, state=JobState.PREEMPTING)
    work.put(job)
    for_whom = work.jobs.get(decision.for_job)
    work.audit(
        None, "roost", "suspend", subject=f"job {job.id}", whom=job.user,
        detail=f"for job {decision.for_job} of {for_whom.user if for_whom else '?'}"
        f" (rules: {decision.rule})",
    )  # fmt: skip
    _ask(work, engine, job)


def _ask(work: Work, engine: Engine, job: JobRecord) -> None:
    attempt = work.attempts[job.id]
    if attempt.suspend_bytes is not None:
        most = _most_bytes(work, job)
        if most is None or most > attempt.suspend_bytes:
            why = "nobody can say what of its GPUs is used" if most is None else (
                f"{most} bytes of one of its GPUs are used, and it may keep {attempt.suspend_bytes}"
            )  # fmt: skip
            not_suspended(work, job, why)
            return
    number, which, how = job.id, job.attempt, attempt.suspend
    work.sends.append(lambda: engine.suspend(number, which, how))


def _most_bytes(work: Work, job: JobRecord) -> int | None:
    """What was used, by the last look, of that of its GPUs of which most is, by whomever; None
    where that is not known of each of them."""
    attribution = work.board.attribution
    if attribution is None:
        return None
    seen = {gpu.uuid: gpu.used_bytes for gpu in attribution.gpus}
    used = [seen.get(grant.gpu_uuid) for grant in job.granted]
    known = [size for size in used if size is not None]
    return max(known, default=0) if len(known) == len(used) else None


def not_suspended(work: Work, job: JobRecord, why: str) -> None:
    """It goes on, until the scheduler has decided what is to become of it instead."""
    attempt = msgspec.structs.replace(
        work.attempts[job.id], suspend="", suspend_bytes=None, stop_for_job=None, stop_rule=None
    )
    work.put_attempt(attempt)
    work.put(msgspec.structs.replace(job, state=JobState.RUNNING))
    work.audit(
        None, "roost", "suspend", subject=f"job {job.id}", whom=job.user, outcome="not possible",
        detail=why,
    )  # fmt: skip
    work.events.append(JobNotSuspended(work.now, job.id, job.attempt))


def taken_in(work: Work, job: JobRecord, state: AttemptState) -> JobRecord:
    """What the engine says of an attempt that was asked to stand still; the job as it is now."""
    attempt = work.attempts[job.id]
    if job.state is not JobState.PREEMPTING or not attempt.suspend or attempt.stop_reason:
        return job
    if state.state == "suspended":
        told.gives_way(work, job, Suspend(
            job.id, job.attempt, attempt.stop_for_job or 0, attempt.suspend, None,
            attempt.stop_rule or "",
        ))  # fmt: skip
        work.release(job.id, work.now)
        job = msgspec.structs.replace(job, state=JobState.SUSPENDED, suspended_at=work.now)
        work.put(job)
        work.events.append(JobSuspended(work.now, job.id, job.attempt))
    elif state.state == "running" and state.refusal:
        refusal = printable(state.refusal.encode("utf-8", "surrogateescape"))
        not_suspended(work, job, refusal)
        job = work.jobs[job.id]
    return job


def resume(work: Work, engine: Engine, job: JobRecord, decision: Resume) -> None:
    """It has its GPUs again from now, and is charged for them."""
    stood_s = 0.0 if job.suspended_at is None else max(0.0, work.now - job.suspended_at)
    attempt = msgspec.structs.replace(
        work.attempts[job.id], suspend="", suspend_bytes=None, stop_for_job=None, stop_rule=None
    )
    work.put_attempt(attempt)
    job = msgspec.structs.replace(
        job, state=JobState.RUNNING, suspended_at=None, suspended_s=job.suspended_s + stood_s
    )
    work.put(job)
    work.hold(job)
    told.went_on(work, job, stood_s)
    work.audit(None, "roost", "resume", subject=f"job {job.id}", whom=job.user)
    number, which = decision.job, decision.attempt
    work.sends.append(lambda: engine.resume(number, which))


def ask_again(work: Work, engine: Engine, job: JobRecord, state: AttemptState) -> None:
    """After a connect: what was asked while the engine was away may have been lost."""
    attempt = work.attempts[job.id]
    if attempt.stop_reason is not None:
        return
    number, which, how = job.id, job.attempt, attempt.suspend
    if how and state.state == "running" and job.state is JobState.SUSPENDED:
        work.sends.append(lambda: engine.suspend(number, which, how))
    elif how and state.state == "running":
        _ask(work, engine, job)
    elif state.state == "suspended" and job.state is JobState.RUNNING:
        work.sends.append(lambda: engine.resume(number, which))
