"""Memory rebuilt from the database: live jobs, allocations, the ledger's end, and the events that
bring a fresh scheduler to where the last one was. Runs at start, and after a failed transaction.
"""

from __future__ import annotations

import msgspec

from roost.core.model import Gpu, JobState, PriorityClass
from roost.core.rules.calendar import Calendar
from roost.core.rules.model import Rules
from roost.core.scheduler.events import (
    BookingsChanged,
    BudgetsRestored,
    Event,
    GpuChanged,
    HabitsRestored,
    InventoryChanged,
    JobRestored,
    PastRun,
    RulesChanged,
    UsageRestored,
)
from roost.server.board import Board, RulesInForce
from roost.server.bookings.books import Books
from roost.server.ledger import Ledger
from roost.server.work import Work
from roost.store import jobs as job_queries
from roost.store import ledger as ledger_queries
from roost.store.database import Store
from roost.store.log import get_meta
from roost.store.submissions import recent_submissions
from roost.wire.messages import HostFacts

# Of so many of the last jobs it is read again how long they ran.
HABITS_OF = 2000
_gpu = msgspec.json.Decoder(Gpu)
_host = msgspec.json.Decoder(HostFacts)


def restore(store: Store, board: Board, rules: RulesInForce, now: float) -> Work:
    """A `Work` as of the last commit, its scheduler events in `events`. Raises StoreError."""
    with store.read() as connection:
        through = get_meta(connection, "ledger_through")
        energy = get_meta(connection, "ledger_energy") or ""
        pairs = (pair.rsplit("=", 1) for pair in energy.split(",") if "=" in pair)
        ledger = Ledger(float(through) if through else None, {k: float(v) for k, v in pairs})
        work = Work(store, board, ledger, rules)
        work.now = now
        live = job_queries.live_jobs(connection)
        work.jobs = {job.id: job for job in live}
        for job in live:
            if job.array_id is not None:
                work.array_left[job.array_id] = work.array_left.get(job.array_id, 0) + 1
        work.attempts = {a.job: a for a in job_queries.open_attempts(connection)}
        for allocation in job_queries.open_allocations(connection):
            work.add_allocation(allocation, stored=True)
        work.submitted = recent_submissions(connection, now)
        work.next_job = job_queries.highest_job(connection) + 1
        work.next_allocation = job_queries.highest_allocation(connection) + 1
        work.books = Books.restored(connection, now)
        host = get_meta(connection, "host")
        work.host = _host.decode(host) if host else None
        for row in ledger_queries.all_gpus(connection):
            if row["present"]:
                work.gpus[row["uuid"]] = _gpu.decode(row["inventory"])
            if row["drained"]:
                work.drained[row["uuid"]] = row["drain_reason"]
        habits = tuple(PastRun(*run) for run in job_queries.last_runs(connection, HABITS_OF))
        share = rules.rules.fair_share
        users, groups = (
            ledger_queries.held_by(connection, column, now, share.half_life_s, share.charge)
            for column in ("user", "group")
        )
    work.events = [RulesChanged(now, rules.rules), *_machine(work, now)]
    work.events.append(
        UsageRestored(now, _with_running(work, users, "user"), _with_running(work, groups, "group"))
    )
    work.events += [budgets_used(work, rules.rules), HabitsRestored(now, habits)]
    work.events.append(BookingsChanged(now, work.books.planned()))
    work.events += [_restored(work, number, now) for number in work.jobs]
    board.jobs.clear()
    board.jobs.update(work.jobs)
    board.bookings = dict(work.books.records)
    board.drained = dict(work.drained)
    board.gpus = dict(work.gpus)
    board.rules = rules
    if work.host is not None:
        board.host = work.host
    return work


def budgets_used(work: Work, rules: Rules) -> BudgetsRestored:
    """What everybody used of each class since the month of the rules' time zone began. Raises
    StoreError."""
    since = Calendar(rules).month_of(work.now)[0]
    with work.store.read() as connection:
        used = job_queries.held_since(connection, since)
    for allocation in work.allocations.values():
        until = work.now if allocation.to_at is None else allocation.to_at
        # Of those that have ended in this very batch the database does not know yet.
        span_s = max(0.0, until - max(since, allocation.from_at))
        key = allocation.priority_class, allocation.user
        used[key] = used.get(key, 0.0) + span_s * allocation.share
    told = ((PriorityClass(which), user, gpu_s) for (which, user), gpu_s in sorted(used.items()))
    return BudgetsRestored(work.now, tuple(told))


def _machine(work: Work, now: float) -> list[Event]:
    if work.host is None:
        return []
    events: list[Event] = [
        InventoryChanged(now, tuple(work.gpus.values()), work.host.cpus, work.host.memory_bytes)
    ]
    for uuid, reason in work.drained.items():
        if uuid in work.gpus:
            told = (False, f"drained: {reason}".rstrip(": "))
            work.told_usable[uuid] = told
            events.append(GpuChanged(now, uuid, *told))
    return events


def _restored(work: Work, number: int, now: float) -> JobRestored:
    job = work.jobs[number]
    attempt = work.attempts.get(number)
    preempting = job.state in (JobState.PREEMPTING, JobState.SUSPENDED) and attempt is not None
    gone_by = None
    if attempt is not None and attempt.stop_at is not None:
        gone_by = attempt.stop_at + (attempt.stop_grace_s or 0.0)
    started_at = None if job.started_at is None else job.started_at + job.suspended_s
    return JobRestored(
        at=now,
        job=job.scheduled(),
        state=job.state,
        attempt=job.attempt,
        grants=job.granted if job.state.holds_gpus else (),
        started_at=started_at,
        checkpointed_at=job.checkpointed_at,
        preempt_by=attempt.stop_for_job if preempting and attempt is not None else None,
        suspended_at=job.suspended_at,
        suspend=attempt.suspend if attempt is not None and gone_by is None else "",
        gone_by=gone_by,
    )


def _with_running(
    work: Work, stored: tuple[tuple[str, float], ...], column: str
) -> tuple[tuple[str, float], ...]:
    """Past use with what is held since the ledger was last stored, up to now."""
    totals = dict(stored)
    if work.rules.rules.fair_share.charge == "busy":
        # How busy it was since then is not known yet.
        return stored
    for allocation in work.allocations.values():
        name = getattr(allocation, column)
        span_s = max(0.0, work.now - allocation.held_through)
        totals[name] = totals.get(name, 0.0) + span_s * allocation.share
    return tuple(sorted(totals.items()))
