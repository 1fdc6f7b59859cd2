"""The control thread's own state: live jobs and what is to be stored, sent and said next.

Handlers change it in memory; `save` writes all of it in one transaction; `committed` then sends and
publishes. If the transaction fails, the whole object is thrown away and read anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Connection

from roost.core.model import Gpu
from roost.core.scheduler.events import Event
from roost.core.scheduler.limits import part_of
from roost.core.scheduler.scheduler import Scheduler
from roost.server.board import Board, RulesInForce
from roost.server.bookings.books import Books
from roost.server.ledger import Ledger
from roost.server.team_days import DAY_S
from roost.store import jobs as job_queries
from roost.store import ledger as ledger_queries
from roost.store import log as log_queries
from roost.store.arrays import add_array
from roost.store.bookings import NoticeRecord, add_notices
from roost.store.database import Store
from roost.store.records import (
    AllocationRecord,
    AttemptRecord,
    AuditRecord,
    JobInput,
    JobRecord,
)
from roost.store.submissions import Jobs, Key, add_submissions
from roost.wire.messages import HostFacts


class Work:
    """Everything that the next commit is made of, and the live state that it starts from."""

    def __init__(self, store: Store, board: Board, ledger: Ledger, rules: RulesInForce) -> None:
        self.store = store
        self.board = board
        self.ledger = ledger
        self.rules = rules
        self.now = 0.0
        self.jobs: dict[int, JobRecord] = {}
        self.attempts: dict[int, AttemptRecord] = {}
        self.allocations: dict[int, AllocationRecord] = {}
        self.holding: dict[int, list[int]] = {}
        self.gpus: dict[str, Gpu] = {}
        self.host: HostFacts | None = None
        self.told_usable: dict[str, tuple[bool, str]] = {}
        self.drained: dict[str, str] = {}
        # From where the person came whose wish is being handled.
        self.origin = ""
        self.inputs: dict[int, JobInput] = {}
        self.submitted: dict[Key, Jobs] = {}
        self.books = Books()
        self.array_left: dict[int, int] = {}
        self.limits_told: set[str] = set()
        self.notices_due = 0.0
        self.next_job = 1
        self.next_allocation = 1
        self.events: list[Event] = []
        self.scheduler = Scheduler(look_first=True)
        self._clear()

    def _clear(self) -> None:
        self.new_jobs: dict[int, None] = {}
        self.new_arrays: list[list[JobRecord]] = []
        self.changed_jobs: dict[int, None] = {}
        self.ended: dict[int, JobRecord] = {}
        self.new_inputs: list[int] = []
        self.new_submissions: dict[Key, Jobs] = {}
        self.new_attempts: dict[tuple[int, int], AttemptRecord] = {}
        self.changed_attempts: dict[tuple[int, int], AttemptRecord] = {}
        self.new_allocations: dict[int, None] = {}
        self.changed_allocations: dict[int, AllocationRecord] = {}
        self.ledger_days: set[int] = set()
        self.audits: list[AuditRecord] = []
        self.notices: list[NoticeRecord] = []
        self.extra: list[Callable[[Connection], object]] = []
        self.sends: list[Callable[[], None]] = []
        self.waits: dict[int, JobRecord] = {}
        self.topics: set[str] = set()
        self.released = False
        self.flush = False

    # -- jobs ------------------------------------------------------------------------------------

    def put(self, job: JobRecord, *, stored: bool = True) -> None:
        """Replaces a live job. `stored` False: only what is kept in memory (its wait) changed."""
        self.jobs[job.id] = job
        self.topics.add("jobs")
        if not stored:
            self.waits[job.id] = job
        elif job.ended_at is not None:
            self.ended[job.id] = job
            if job.id not in self.new_jobs:
                self.changed_jobs[job.id] = None
        elif job.id not in self.new_jobs:
            self.changed_jobs[job.id] = None

    def add(self, job: JobRecord) -> None:
        self.jobs[job.id] = job
        self.new_jobs[job.id] = None
        self.topics.add("jobs")

    def add_array(self, jobs: list[JobRecord]) -> None:
        """Jobs alike in all but number and index, stored as they are now; what changes in them
        before the commit is written as a change."""
        self.jobs.update((job.id, job) for job in jobs)
        self.new_arrays.append(jobs)
        self.array_left[jobs[0].id] = len(jobs)
        self.topics.add("jobs")

    def input_of(self, job: JobRecord) -> JobInput | None:
        """What the job is made of. Raises StoreError."""
        found = self.inputs.get(job.input_id)
        if found is None:
            with self.store.read() as connection:
                found = job_queries.find_input(connection, job.input_id)
            if found is not None:
                if len(self.inputs) > 256:
                    self.inputs = {n: self.inputs[n] for n in self.new_inputs}
                self.inputs[job.input_id] = found
        return found

    def add_attempt(self, attempt: AttemptRecord) -> None:
        self.new_attempts[attempt.job, attempt.attempt] = attempt
        self.attempts[attempt.job] = attempt

    def put_attempt(self, attempt: AttemptRecord) -> None:
        """Replaces the open attempt of a job, or ends it."""
        key = attempt.job, attempt.attempt
        (self.new_attempts if key in self.new_attempts else self.changed_attempts)[key] = attempt
        if attempt.ended_at is None:
            self.attempts[attempt.job] = attempt
        else:
            self.attempts.pop(attempt.job, None)

    def add_allocation(self, allocation: AllocationRecord, *, stored: bool = False) -> None:
        """A GPU is held from now on; `stored`: the database knows it already."""
        self.allocations[allocation.id] = allocation
        self.holding.setdefault(allocation.job, []).append(allocation.id)
        if not stored:
            self.new_allocations[allocation.id] = None

    def hold(self, job: JobRecord) -> None:
        """The job holds what it was granted from now on."""
        for grant in job.granted:
            number, self.next_allocation = self.next_allocation, self.next_allocation + 1
            gpu = self.gpus.get(grant.gpu_uuid)
            share = 1.0
            if grant.memory_bytes is not None and gpu is not None:
                share = part_of(job.request, gpu)
            held = AllocationRecord(
                id=number, gpu_uuid=grant.gpu_uuid, job=job.id, attempt=job.attempt,
                user=job.user, group=job.group, priority_class=job.priority_class.value,
                memory_bytes=grant.memory_bytes, share=share, from_at=self.now,
                held_through=self.now,
            )  # fmt: skip
            self.add_allocation(held)

    def release(self, job: int, at: float) -> None:
        """Ends what the job holds: held seconds and figures are stored with the next commit."""
        for number in self.holding.pop(job, ()):
            allocation = self.allocations[number]
            last = max(at, allocation.from_at)
            self.put_allocation(self.ledger.held(allocation, last, last))
            self.released = True

    def put_allocation(self, allocation: AllocationRecord) -> None:
        if allocation.id not in self.new_allocations:
            self.changed_allocations[allocation.id] = allocation
        self.allocations[allocation.id] = allocation

    def audit(self, uid: int | None, user: str, action: str, **more: Any) -> None:
        origin = "" if uid is None else self.origin
        self.audits.append(
            AuditRecord(at=self.now, uid=uid, user=user, action=action, origin=origin, **more)
        )

    def event(self, kind: str, subject: str, **detail: object) -> None:
        at = self.now
        self.extra.append(lambda c: log_queries.add_event(c, at, kind, subject, **detail))

    # -- storing ---------------------------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        return bool(
            self.new_jobs or self.new_arrays or self.changed_jobs or self.new_attempts
            or self.changed_attempts or self.new_allocations or self.changed_allocations
            or self.audits or self.notices or self.extra or self.flush or self.books.dirty
        )  # fmt: skip

    def save(self, connection: Connection) -> None:
        """Writes everything. The ledger goes with the ends of attempts, and whenever it is due."""
        if self.flush or self.released:
            self._save_ledger(connection)
        job_queries.add_inputs(connection, {n: self.inputs[n] for n in self.new_inputs})
        add_submissions(connection, self.new_submissions, self.now)
        job_queries.add_jobs(connection, [self.jobs[number] for number in self.new_jobs])
        for array in self.new_arrays:
            add_array(connection, array)
        job_queries.save_jobs(connection, [self.jobs[number] for number in self.changed_jobs])
        job_queries.add_attempts(connection, self.new_attempts.values())
        job_queries.save_attempts(connection, self.changed_attempts.values())
        job_queries.add_allocations(
            connection, [self.allocations[number] for number in self.new_allocations]
        )
        job_queries.save_allocations(connection, self.changed_allocations.values())
        self.books.save(connection)
        add_notices(connection, self.notices)
        log_queries.add_audit(connection, self.audits)
        for write in self.extra:
            write(connection)

    def _save_ledger(self, connection: Connection) -> None:
        taken = self.ledger.take()
        ledger_queries.add_usage(connection, taken.usage)
        ledger_queries.add_readings(connection, taken.minutes, taken.hours)
        self.ledger_days |= {key.hour // DAY_S for key in taken.usage}
        self.ledger_days |= {hour // DAY_S for hour, _ in taken.hours}
        if taken.observed:
            log_queries.set_meta(connection, "ledger_through", repr(taken.through))
            energy = ",".join(f"{uuid}={joules!r}" for uuid, joules in taken.energy.items())
            log_queries.set_meta(connection, "ledger_energy", energy)
        for start, end in taken.gaps:
            log_queries.add_event(connection, self.now, "gap", "", start=start, end=end)
        for number, figures in taken.jobs.items():
            job = self.jobs.get(number)
            if job is None:
                continue
            joules = job.energy_j
            if figures.joules is not None:
                joules = (joules or 0.0) + figures.joules
            changed = _with_figures(job, figures.gpu_s, figures.busy_s, figures.observed_s, joules)
            self.jobs[number] = changed
            if number in self.ended:
                self.ended[number] = changed
            if number not in self.new_jobs:
                self.changed_jobs[number] = None

    def publish_waits(self) -> None:
        """Shows why jobs wait; between commits, for nothing of it is stored."""
        if self.waits:
            self.board.jobs.update(self.waits)
            self.waits = {}
            self.topics.discard("jobs")
            self.board.tell({"jobs"})

    def committed(self) -> None:
        """After the commit: publish, send what was decided, and begin anew."""
        board = self.board
        self.submitted.update(self.new_submissions)
        board.bookings = self.books.committed()
        for array in self.new_arrays:
            board.jobs.update((job.id, job) for job in array)
        for number in (*self.new_jobs, *self.changed_jobs, *self.waits):
            job = self.jobs.get(number)
            if job is not None and job.ended_at is None:
                board.jobs[number] = job
        for number in self.ended:
            board.jobs.pop(number, None)
            self.jobs.pop(number, None)
        for number, allocation in list(self.changed_allocations.items()):
            if allocation.to_at is not None:
                self.allocations.pop(number, None)
        for number in self.new_allocations:
            if self.allocations[number].to_at is not None:
                del self.allocations[number]
        board.drained = dict(self.drained)
        board.gpus = dict(self.gpus)
        board.rules = self.rules
        for day in self.ledger_days:
            board.ledger_writes[day] = board.ledger_writes.get(day, 0) + 1
        board.trouble = ""
        sends, topics, ended = self.sends, self.topics, tuple(self.ended.values())
        self._clear()
        for send in sends:
            send()
        if topics or ended:
            board.tell(topics, ended)


def _with_figures(
    job: JobRecord, gpu_s: float, busy_s: float, observed_s: float, joules: float | None
) -> JobRecord:
    return msgspec.structs.replace(
        job,
        gpu_s=max(0.0, job.gpu_s + gpu_s),
        busy_s=job.busy_s + busy_s,
        observed_s=job.observed_s + observed_s,
        energy_j=joules,
    )
