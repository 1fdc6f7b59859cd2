"""Memory rebuilt from the database: live jobs, allocations, the ledger's end, and the events that
bring a fresh scheduler to where the last one was. Runs at start, and after a failed transaction.
"""

from __future__ import annotations

import msgspec

from roost.core.model import Gpu, JobState
from roost.core.scheduler.events import (
    Event,
    GpuChanged,
    InventoryChanged,
    JobRestored,
    RulesChanged,
    UsageRestored,
)
from roost.server.board import Board, RulesInForce
from roost.server.ledger import Ledger
from roost.server.work import Work
from roost.store import jobs as job_queries
from roost.store import ledger as ledger_queries
from roost.store.database import Store
from roost.store.log import get_meta
from roost.store.submissions import recent_submissions
from roost.wire.messages import HostFacts

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
        work.attempts = {a.job: a for a in job_queries.open_attempts(connection)}
        for allocation in job_queries.open_allocations(connection):
            work.add_allocation(allocation, stored=True)
        work.submitted = recent_submissions(connection, now)
        work.next_job = job_queries.highest_job(connection) + 1
        work.next_allocation = job_queries.highest_allocation(connection) + 1
        host = get_meta(connection, "host")
        work.host = _host.decode(host) if host else None
        for row in ledger_queries.all_gpus(connection):
            if row["present"]:
                work.gpus[row["uuid"]] = _gpu.decode(row["inventory"])
            if row["drained"]:
                work.drained[row["uuid"]] = row["drain_reason"]
        half_life_s = rules.rules.fair_share.half_life_s
        users = ledger_queries.held_by(connection, "user", now, half_life_s)
        groups = ledger_queries.held_by(connection, "group", now, half_life_s)
    work.events = [RulesChanged(now, rules.rules), *_machine(work, now)]
    work.events.append(
        UsageRestored(now, _with_running(work, users, "user"), _with_running(work, groups, "group"))
    )
    work.events += [_restored(work, number, now) for number in work.jobs]
    board.jobs.clear()
    board.jobs.update(work.jobs)
    board.drained = dict(work.drained)
    board.gpus = dict(work.gpus)
    board.rules = rules
    if work.host is not None:
        board.host = work.host
    return work


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
    preempting = job.state is JobState.PREEMPTING and attempt is not None
    return JobRestored(
        at=now,
        job=job.scheduled(),
        state=job.state,
        attempt=job.attempt,
        grants=job.granted if job.state.holds_gpus else (),
        started_at=job.started_at,
        checkpointed_at=job.checkpointed_at,
        preempt_by=attempt.stop_for_job if preempting and attempt is not None else None,
    )


def _with_running(
    work: Work, stored: tuple[tuple[str, float], ...], column: str
) -> tuple[tuple[str, float], ...]:
    """Past use with what is held since the ledger was last stored, up to now."""
    totals = dict(stored)
    for allocation in work.allocations.values():
        name = getattr(allocation, column)
        span_s = max(0.0, work.now - allocation.held_through)
        totals[name] = totals.get(name, 0.0) + span_s * allocation.share
    return tuple(sorted(totals.items()))
