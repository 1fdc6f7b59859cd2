"""What people are told of their jobs, put down in the transaction in which it becomes true.

Each has a key of its own, so that it is told once whatever is asked again or ends in between. It
must not know where notices go.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select

from roost.core.model import JobState
from roost.core.rules.calendar import Calendar
from roost.core.scheduler.decisions import Preempt, Stop, Suspend
from roost.server.work import Work
from roost.store.bookings import NoticeRecord, add_notices
from roost.store.jobs import find_attempt
from roost.store.records import JobRecord, Said
from roost.store.tables import jobs

EVERY_S = 5.0
BUDGET_PERCENT = (80, 100)
BAD = (JobState.FAILED, JobState.TIMEOUT, JobState.OUT_OF_MEMORY, JobState.NODE_FAIL)


def tell(work: Work, job: JobRecord, kind: str, key: str, **detail: Any) -> None:
    """Something that the job's person must be told of, once for each `key` of its kind."""
    about = {
        "job": job.id, "name": job.name, "class": job.priority_class.value,
        "gpus": len(job.granted) or job.request.gpus, **detail,
    }  # fmt: skip
    work.notices.append(
        NoticeRecord(
            at=work.now, user=job.user, uid=job.uid, kind=kind, subject=f"job {job.id}",
            key=f"{kind}:{key}", detail=about,
        )
    )  # fmt: skip


def started(work: Work, job: JobRecord) -> None:
    """An attempt runs: told where it waited long, for the first time or for another one."""
    long_s = work.rules.rules.notices.long_wait_s
    if not long_s or job.started_at is None or job.started_at - job.submitted_at < long_s:
        return
    since, kind = max(job.submitted_at, job.begin_at or 0.0), "job_started"
    if job.restarts and job.attempt > 1:
        with work.store.read() as connection:
            before = find_attempt(connection, job.id, job.attempt - 1)
        if before is not None and before.ended_at is not None:
            since, kind = before.ended_at, "job_resumed"
    waited_s = job.started_at - since
    if waited_s >= long_s:
        tell(work, job, kind, f"{job.id}:{job.attempt}", waited_s=waited_s)


def went_on(work: Work, job: JobRecord, stood_s: float) -> None:
    """It was suspended, and is let go on."""
    long_s = work.rules.rules.notices.long_wait_s
    if long_s and stood_s >= long_s:
        tell(work, job, "job_resumed", f"{job.id}:{job.attempt}:{job.suspended_s}",
             waited_s=stood_s)  # fmt: skip


def ended(work: Work, job: JobRecord, started_at: float | None) -> None:
    """A job is over. Of an array its first failure is told, and its whole end; of a job that was
    cancelled who did that is told, where it was somebody else."""
    ran_s = 0.0 if started_at is None else max(0.0, (job.ended_at or work.now) - started_at)
    if job.state in BAD:
        about = {
            "state": job.state.value, "exit_code": job.exit_code, "signal": job.signal,
            "ran_s": ran_s, "text": job.text,
            "said": None if job.said is None else _kept(job.said),
        }  # fmt: skip
        tell(work, job, "job_failed", _once(job), **about)
    elif (
        job.state is JobState.COMPLETED
        and job.array_id is None
        and ran_s >= work.rules.rules.notices.long_run_s
    ):
        tell(work, job, "job_ended", f"{job.id}", ran_s=ran_s)
    if job.array_id is not None:
        _one_of_array(work, job, job.array_id)


def never(work: Work, job: JobRecord) -> None:
    """It waits for a job that did not complete, and is over without having run."""
    tell(work, job, "job_never", _once(job))
    if job.array_id is not None:
        _one_of_array(work, job, job.array_id)


def _once(job: JobRecord) -> str:
    """A key: of all the jobs of an array the first is told."""
    return f"{job.id}" if job.array_id is None else f"array {job.array_id}"


def _one_of_array(work: Work, job: JobRecord, array: int) -> None:
    left = work.array_left.get(array, 1) - 1
    if left > 0:
        work.array_left[array] = left
        return
    work.array_left.pop(array, None)
    now = work.now

    def write(connection: Connection) -> None:
        """After the states of all of them are stored."""
        query = select(jobs.c.state, func.count()).where(jobs.c.array_id == array)
        states = {row[0]: row[1] for row in connection.execute(query.group_by(jobs.c.state))}
        count, completed = sum(states.values()), states.get(JobState.COMPLETED.value, 0)
        bad = any(states.get(one.value) for one in BAD)
        if not completed and not bad:
            return  # cancelled as a whole
        kind = "array_failed" if completed < count else "array_ended"
        about = {"job": array, "name": job.name, "class": job.priority_class.value,
                 "count": count, "completed": completed}  # fmt: skip
        record = NoticeRecord(
            at=now, user=job.user, uid=job.uid, kind=kind, subject=f"job {array}",
            key=f"array:{array}", detail=about,
        )  # fmt: skip
        add_notices(connection, [record])

    work.extra.append(write)


def gives_way(work: Work, job: JobRecord, decision: Preempt | Suspend) -> None:
    """It makes room for another: for whose, by which rule, and whether it comes back."""
    other = work.jobs.get(decision.for_job)
    about = {"for_job": decision.for_job, "for_user": other.user if other else None,
             "rule": decision.rule}  # fmt: skip
    key = f"{job.id}:{job.attempt}"
    if isinstance(decision, Suspend):
        tell(work, job, "job_suspended", f"{key}:{job.suspended_s}", **about)
        return
    tell(work, job, "job_preempted", key, grace_s=decision.grace_s, requeue=job.requeue, **about)


def stopped(work: Work, job: JobRecord, decision: Stop, said: Said) -> None:
    """A rule ends it, or sends it back to the queue."""
    tell(
        work, job, "job_stopped", f"{job.id}:{job.attempt}", rule=decision.rule,
        grace_s=decision.grace_s, requeue=decision.requeue, said=_kept(said),
    )  # fmt: skip


def warned(work: Work, job: JobRecord, code: str, said: Said) -> None:
    """Something is about to happen to it, unless it is seen to."""
    if code == "idle_over":
        return
    kind = "job_idle" if code == "idle" else "job_warned"
    # That some of its GPUs do nothing is told once; that it will be stopped, each time.
    key = code if code != "idle" else f"{code}:{work.now:.0f}"
    tell(work, job, kind, f"{job.id}:{job.attempt}:{key}", said=_kept(said))


def by_another(work: Work, job: JobRecord, kind: str, by: str) -> None:
    """Somebody else did something to it (`kind` job_cancelled or job_requeued)."""
    tell(work, job, kind, f"{job.id}:{job.attempt}", by=by)


def due(work: Work) -> None:
    """What becomes true by time alone: walltimes that are almost over, budgets that are used."""
    if work.now < work.notices_due:
        return
    work.notices_due = work.now + EVERY_S
    early_s = work.rules.rules.notices.time_limit_s
    if early_s:
        for job in work.jobs.values():
            _almost_over(work, job, early_s)
    if any(one.budget_gpu_s is not None for one in work.rules.rules.classes.values()):
        _budgets(work)


def _almost_over(work: Work, job: JobRecord, early_s: float) -> None:
    end = job.latest_end
    if job.state is not JobState.RUNNING or end is None or job.started_at is None:
        return
    key = f"{job.id}:{job.attempt}"
    long = end - job.started_at > 2 * early_s
    if long and end - early_s <= work.now < end and key not in work.limits_told:
        work.limits_told.add(key)
        tell(work, job, "job_time_limit", key, end_at=end)


def _budgets(work: Work) -> None:
    month = int(Calendar(work.rules.rules).month_of(work.now)[0])
    whose = {job.user: job.uid for job in work.jobs.values()}
    for (which, user), used_s in work.scheduler.budgets_used_s().items():
        budget_s = work.rules.rules.classes[which].budget_gpu_s
        if not budget_s or user not in whose:
            continue
        reached = [one for one in BUDGET_PERCENT if used_s * 100.0 >= one * budget_s]
        key = f"budget:{which.value}:{user}:{month}:{max(reached, default=0)}"
        if not reached or key in work.limits_told:
            continue
        work.limits_told.add(key)
        work.notices.append(
            NoticeRecord(
                at=work.now, user=user, uid=whose[user], kind="budget",
                subject=f"class {which.value}", key=key,
                detail={"class": which.value, "percent": max(reached), "used_s": used_s,
                        "budget_s": budget_s, "rule": f"classes.{which.value}.budget"},
            )
        )  # fmt: skip


def _kept(said: Said) -> dict[str, Any]:
    return {"message": said.message, "numbers": dict(said.numbers)}
