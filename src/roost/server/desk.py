"""What people ask for, checked against rules and owner, turned into records and scheduler events.

Every handler checks first and changes afterwards: a RefusalError leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from roost.core.model import JobState
from roost.core.rules.model import Rules
from roost.core.scheduler.events import (
    GpuChanged,
    JobCancelled,
    JobHeld,
    JobRequeued,
    RulesChanged,
)
from roost.server import told
from roost.server.board import RulesInForce
from roost.server.bookings import desk as bookings
from roost.server.bookings.intents import Book, BookAll, Change, Close, Give, Swap
from roost.server.engines.base import Engine
from roost.server.intents import (
    AdoptRules,
    Cancel,
    Drain,
    Explain,
    Hold,
    Intent,
    Keep,
    Note,
    Person,
    Requeue,
    RulesWrong,
    Submit,
)
from roost.server.queueing import queue
from roost.server.refusal import RefusalError
from roost.server.restore import budgets_used
from roost.server.work import Work
from roost.store import jobs as job_queries
from roost.store import ledger as ledger_queries
from roost.store import log as log_queries
from roost.store.records import JobRecord
from roost.wire.messages import Configure, HostFacts


def handle(work: Work, engine: Engine, intent: Intent) -> Callable[[], Any]:
    """Does it in memory; what is returned gives the caller's answer after the commit.

    Raises RefusalError, StoreError.
    """
    person = getattr(intent, "person", None)
    work.origin = person.via if isinstance(person, Person) else ""
    try:
        return _handle(work, engine, intent)
    finally:
        work.origin = ""


def _handle(work: Work, engine: Engine, intent: Intent) -> Callable[[], Any]:
    match intent:
        case Submit():
            return queue(work, intent)
        case Cancel():
            return _cancel(work, intent)
        case Hold():
            return _hold(work, intent)
        case Requeue():
            return _requeue(work, intent)
        case Drain():
            return _drain(work, intent)
        case Note():
            record = msgspec.structs.replace(intent.record, at=work.now)
            work.audits.append(record)
            return lambda: None
        case Keep():
            work.extra.append(intent.write)
            work.audits += [msgspec.structs.replace(one, at=work.now) for one in intent.records]
            return lambda: None
        case AdoptRules():
            return _adopt(work, engine, intent)
        case Book() | BookAll() | Change() | Close() | Give() | Swap():
            return bookings.handle(work, intent)
        case Explain():
            number, scheduler = intent.job, work.scheduler
            return lambda: (scheduler.explain(number), scheduler.future())
        case RulesWrong():
            work.rules = replace(work.rules, problem=intent.problem, mistakes=intent.mistakes)
            work.event("rules", "", problem=intent.problem)
            return lambda: None


def _live(work: Work, person: Person, number: int, action: str) -> JobRecord:
    """The caller's live job. Raises RefusalError: unknown, ended, somebody else's."""
    job = work.jobs.get(number)
    if job is None:
        with work.store.read() as connection:
            job = job_queries.find_job(connection, number)
    if job is None:
        raise RefusalError(404, "problem.no_job", {"job": number}, job=number)
    if not person.may_handle(job.uid, job.group):
        raise RefusalError(403, "problem.not_your_job", {"job": number}, job=number, user=job.user)
    if job.ended_at is not None:
        raise RefusalError(
            409, "problem.job_ended", {"job": number, "state": job.state.value},
            job=number, state=job.state.value, action=action,
        )  # fmt: skip
    return job


def _answer(work: Work, number: int) -> Callable[[], Any]:
    ended, live = work.ended, work.jobs

    def answer() -> JobRecord | None:
        return ended.get(number) or live.get(number)

    return answer


def _by(work: Work, person: Person, action: str, job: JobRecord) -> None:
    work.audit(person.uid, person.name, action, subject=f"job {job.id}", whom=job.user)


def _cancel(work: Work, wanted: Cancel) -> Callable[[], Any]:
    job = _live(work, wanted.person, wanted.job, "cancel")
    work.events.append(JobCancelled(work.now, job.id))
    _by(work, wanted.person, "cancel", job)
    if wanted.person.uid != job.uid:
        told.by_another(work, job, "job_cancelled", wanted.person.name)
    return _answer(work, job.id)


def _hold(work: Work, wanted: Hold) -> Callable[[], Any]:
    action = "hold" if wanted.held else "release"
    job = _live(work, wanted.person, wanted.job, action)
    if job.state is not JobState.PENDING:
        raise RefusalError(
            409, "problem.not_pending", {"job": job.id, "state": job.state.value},
            job=job.id, state=job.state.value, action=action,
        )  # fmt: skip
    if job.held != wanted.held:
        work.put(msgspec.structs.replace(job, held=wanted.held))
        work.events.append(JobHeld(work.now, job.id, wanted.held))
        _by(work, wanted.person, action, job)
    return _answer(work, job.id)


def _requeue(work: Work, wanted: Requeue) -> Callable[[], Any]:
    job = _live(work, wanted.person, wanted.job, "requeue")
    if not job.state.holds_gpus:
        raise RefusalError(
            409, "problem.not_running", {"job": job.id, "state": job.state.value},
            job=job.id, state=job.state.value,
        )  # fmt: skip
    work.events.append(JobRequeued(work.now, job.id))
    _by(work, wanted.person, "requeue", job)
    if wanted.person.uid != job.uid:
        told.by_another(work, job, "job_requeued", wanted.person.name)
    return _answer(work, job.id)


def _drain(work: Work, wanted: Drain) -> Callable[[], Any]:
    if not wanted.person.operator:
        raise RefusalError(403, "problem.operators_only")
    uuid, drained = wanted.gpu_uuid, wanted.drained
    if drained:
        work.drained[uuid] = wanted.reason
    else:
        work.drained.pop(uuid, None)
    reason = f"drained: {wanted.reason}".rstrip(": ") if drained else ""
    work.extra.append(lambda c: ledger_queries.set_drain(c, uuid, drained, wanted.reason))
    if drained or work.told_usable.get(uuid, (True, ""))[1].startswith("drained"):
        # Taken up again, unless the next look at the card finds something else.
        work.told_usable[uuid] = (not drained, reason)
        work.events.append(GpuChanged(work.now, uuid, not drained, reason))
    work.audit(
        wanted.person.uid, wanted.person.name, "drain" if drained else "undrain",
        subject=f"gpu {uuid}", detail=wanted.reason,
    )  # fmt: skip
    work.topics.add("status")
    return lambda: None


def _adopt(work: Work, engine: Engine, wanted: AdoptRules) -> Callable[[], Any]:
    rules = wanted.rules
    with work.store.read() as connection:
        last = log_queries.last_rules(connection)
    if last is not None and last["sha256"] == wanted.sha256:
        version, at, user = last["version"], last["at"], last["user"]
    else:
        version, at, user = (last["version"] if last else 0) + 1, work.now, wanted.user
        work.extra.append(
            lambda c: log_queries.add_rules(
                c, at, wanted.uid, wanted.user, wanted.sha256, wanted.text
            )
        )
        work.audit(wanted.uid, wanted.user, "rules", subject=f"version {version}")
    work.rules = RulesInForce(rules, version, at, user, wanted.text)
    work.events += [RulesChanged(work.now, rules), budgets_used(work, rules)]
    settings = settings_of(rules)
    work.sends.append(lambda: engine.configure(settings))
    work.topics |= {"jobs", "status"}
    return lambda: version


def settings_of(rules: Rules) -> Configure:
    """What the agent is told of the rules."""
    return Configure(
        sample_s=rules.sample_s, shared_gpus=rules.shared_gpus, enforcement=rules.enforcement
    )


def keep_host(work: Work, host: HostFacts) -> None:
    """Remembers the machine's size, for a restart before the agent is there."""
    work.host = host
    text = msgspec.json.encode(host).decode()
    work.extra.append(lambda c: log_queries.set_meta(c, "host", text))
