"""A server by hand: submit, let time pass, end jobs, and look at it as "g0:alice g1:-".

It keeps its own book of who holds what from the decisions alone, and checks after every step what
must always hold; so each test that uses it is also a test of those laws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from roost.core.model import Booking, Gpu, Grant, Job, JobState, PriorityClass, Request
from roost.core.rules.load import load
from roost.core.rules.model import Rules
from roost.core.rules.units import parse_duration, parse_size
from roost.core.rules.who import lineage
from roost.core.scheduler.decisions import (
    Decision,
    Finish,
    Preempt,
    Resume,
    Start,
    Stop,
    Suspend,
    Warn,
)
from roost.core.scheduler.events import (
    BookingsChanged,
    Event,
    ForeignUse,
    GpuChanged,
    GpuUse,
    InventoryChanged,
    JobCancelled,
    JobCheckpointed,
    JobEnded,
    JobHeld,
    JobNotSuspended,
    JobStarted,
    JobSubmitted,
    JobSuspended,
    RulesChanged,
    TimeReached,
)
from roost.core.scheduler.limits import Applied, applied_limits
from roost.core.scheduler.scheduler import Scheduler
from roost.core.text.wait import render_wait

GIB = 1 << 30
IN_PLACE = '[classes.background]\nmin_run = "0s"\ngive_way = "suspend"\nsuspend_memory = "4G"\n'
NO_MIN_RUN = '[classes.background]\nmin_run = "0s"\n[classes.regular]\nmin_run = "0s"\n'


def servers_of(servers: int, per: int) -> list[Gpu]:
    """So many servers of so many GPUs each, numbered through."""
    return [
        Gpu(f"GPU-{n}", n, "NVIDIA A100", 80 * GIB, server=f"s{n // per}")
        for n in range(servers * per)
    ]


def gpus_of(
    count: int, links: str = "none", model: str = "NVIDIA A100", numa: int = 2
) -> list[Gpu]:
    """`links`: "none", "pairs" (0-1, 2-3, …) or "all". NUMA nodes share the GPUs in halves."""
    found = []
    for index in range(count):
        others = {
            "none": [],
            "pairs": [index ^ 1] if index ^ 1 < count else [],
            "all": [other for other in range(count) if other != index],
        }[links]
        names = tuple(f"GPU-{other}" for other in others)
        node = index * numa // count
        found.append(Gpu(f"GPU-{index}", index, model, 80 * GIB, node, names))
    return found


class World:
    """`text` is a rules file. Jobs are numbers from 1; time starts at 1000 s."""

    def __init__(
        self,
        count: int = 4,
        text: str = "",
        *,
        cpus: int = 256,
        memory: str = "2T",
        gpus: Sequence[Gpu] | None = None,
        links: str = "none",
    ) -> None:
        self.scheduler = Scheduler()
        self.now = 1000.0
        self.rules = load(text)
        self.gpus = {gpu.uuid: gpu for gpu in (gpus or gpus_of(count, links))}
        self.cpus, self.memory_bytes = cpus, parse_size(memory)
        self.jobs: dict[int, Job] = {}
        self.states: dict[int, JobState] = {}
        self.attempts: dict[int, int] = {}
        self.held: dict[int, tuple[Grant, ...]] = {}
        self.started_at: dict[int, float] = {}
        self.ending_since: dict[int, float] = {}
        self.gone_by: dict[int, float] = {}
        self.suspending: set[int] = set()
        self.parked: dict[int, float] = {}
        self.by_turn = 0
        self.finished: dict[int, str] = {}
        self.foreign: dict[str, int] = {}
        self.unusable: set[str] = set()
        self.bookings: tuple[Booking, ...] = ()
        # How often a share ran beside booked memory.
        self.beside = 0
        self.log: list[Decision] = []
        self.events: list[Event] = []
        self.step(
            RulesChanged(self.now, self.rules),
            InventoryChanged(self.now, tuple(self.gpus.values()), cpus, self.memory_bytes),
        )

    # -- what happens --------------------------------------------------------------------------

    def step(self, *events: Event) -> list[Decision]:
        self.events += events
        decisions = self.scheduler.step(events)
        for decision in decisions:
            self._take(decision)
        self._check()
        self.log += decisions
        return decisions

    def job(
        self,
        user: str = "alice",
        gpus: int = 1,
        which: str = "regular",
        *,
        time: str | None = None,
        share: str | None = None,
        model: str | None = None,
        cpus: int = 1,
        memory: str | None = None,
        group: str = "default",
        requeue: bool = True,
        most: int | None = None,
        compute: int | None = None,
        **more: Any,
    ) -> Job:
        request = Request(
            gpus=gpus,
            gpu_memory_bytes=None if share is None else parse_size(share),
            gpu_model=model,
            cpus=cpus,
            memory_bytes=None if memory is None else parse_size(memory),
            walltime_s=None if time is None else int(parse_duration(time)),
            gpus_most=most,
            gpu_compute_percent=compute,
        )
        job = Job(
            len(self.jobs) + 1, user, group, PriorityClass(which), request, self.now,
            requeue=requeue,
        )  # fmt: skip
        job = replace(job, **more)
        self.jobs[job.id] = job
        self.states[job.id] = JobState.PENDING
        self.attempts[job.id] = 0
        return job

    def submit(
        self, user: str = "alice", gpus: int = 1, which: str = "regular", **more: Any
    ) -> int:
        """Queues a job, lets what starts run, and gives its number."""
        job = self.job(user, gpus, which, **more)
        self.step(JobSubmitted(self.now, job))
        self.run_all()
        return job.id

    def run_all(self) -> None:
        """Every job that is STARTING runs its first instruction."""
        starting = [n for n, state in self.states.items() if state is JobState.STARTING]
        for number in starting:
            self.states[number] = JobState.RUNNING
        if starting:
            self.step(*(JobStarted(self.now, n, self.attempts[n]) for n in starting))

    def end(
        self, *numbers: int, state: JobState = JobState.COMPLETED, requeue: bool = False
    ) -> None:
        events = [JobEnded(self.now, n, self.attempts[n], state, requeue) for n in numbers]
        for number in numbers:
            self.gone(number)
            self.states[number] = JobState.PENDING if requeue else state
        self.step(*events)
        self.run_all()

    def gone(self, number: int) -> None:
        """Nothing of it is left on the server."""
        del self.held[number]
        self.ending_since.pop(number, None)
        self.gone_by.pop(number, None)
        self.parked.pop(number, None)
        self.suspending.discard(number)

    def give_way(self, can: bool = True) -> None:
        """Every victim ends, as it was told to, and goes back to the queue; or it is suspended
        where it is, if that `can` be done."""
        ending = [n for n, state in self.states.items() if state is JobState.PREEMPTING]
        for number in ending:
            if number in self.suspending:
                self.suspend(number, can)
                continue
            self.end(number, state=JobState.CANCELLED, requeue=self.jobs[number].requeue)

    def suspend(self, number: int, can: bool = True) -> None:
        """What was asked of the job is done, or it goes on."""
        self.suspending.discard(number)
        if can:
            self.parked[number] = self.now
            del self.ending_since[number], self.gone_by[number]
            self.states[number] = JobState.SUSPENDED
            self.step(JobSuspended(self.now, number, self.attempts[number]))
        else:
            del self.ending_since[number], self.gone_by[number]
            self.states[number] = JobState.RUNNING
            self.step(JobNotSuspended(self.now, number, self.attempts[number]))
        self.run_all()

    def wait(self, span: str) -> None:
        """Time passes; the scheduler is woken when it wants to be, as the server does."""
        until = self.now + parse_duration(span)
        while (at := self.scheduler.next_time()) is not None and at <= until:
            assert at > self.now
            self.now = at
            self.step(TimeReached(at))
            self.run_all()
        self.now = until
        self.step(TimeReached(until))
        self.run_all()

    def tick(self) -> None:
        """The scheduler looks at the clock."""
        self.step(TimeReached(self.now))
        self.run_all()

    def checkpoint(self, number: int) -> None:
        self.step(JobCheckpointed(self.now, number))

    def cancel(self, number: int) -> None:
        self.step(JobCancelled(self.now, number))
        self.run_all()

    def hold(self, number: int, held: bool = True) -> None:
        self.jobs[number] = replace(self.jobs[number], held=held)
        self.step(JobHeld(self.now, number, held))
        self.run_all()

    def strangers(self, **used: str) -> None:
        """`strangers(g3="60G")`: hand-started processes use that much, and nothing elsewhere."""
        self.foreign = {f"GPU-{name[1:]}": parse_size(size) for name, size in used.items()}
        self.step(ForeignUse(self.now, tuple(self.foreign.items())))
        self.run_all()

    def usable(self, index: int, usable: bool, why: str = "") -> None:
        uuid = f"GPU-{index}"
        (self.unusable.discard if usable else self.unusable.add)(uuid)
        self.step(GpuChanged(self.now, uuid, usable, why))
        self.run_all()

    def book(self, *bookings: Booking) -> None:
        """All bookings that there are, from now on."""
        self.bookings = bookings
        self.step(BookingsChanged(self.now, bookings))
        self.run_all()

    def used(self, **busy: float) -> None:
        """`used(g0=0.4)`: so busy each GPU was since the last report; others say nothing."""
        self.step(GpuUse(self.now, tuple((f"GPU-{n[1:]}", part) for n, part in busy.items())))
        self.run_all()

    # -- what is seen --------------------------------------------------------------------------

    def picture(self) -> str:
        """ "g0:alice g1:li+wu g2:-": holders by user; "~" before a user who is giving way, "="
        before one whose job is suspended."""
        words = []
        for uuid, gpu in self.gpus.items():
            names = []
            for number in sorted(self.held):
                if any(grant.gpu_uuid == uuid for grant in self.held[number]):
                    going = self.states[number] in (JobState.PREEMPTING, JobState.COMPLETING)
                    mark = "=" if self.states[number] is JobState.SUSPENDED else ""
                    names.append(("~" if going else mark) + self.jobs[number].user)
            words.append(f"g{gpu.index}:{'+'.join(names) or '-'}")
        return " ".join(words)

    def picture_after(self, user: str, gpus: int = 1, which: str = "regular", **more: Any) -> str:
        """The picture once this job is submitted."""
        self.submit(user, gpus, which, **more)
        return self.picture()

    def why(self, number: int, language: str = "en") -> str:
        """The wait as a person reads it, times as whole seconds since the world began."""
        wait = self.scheduler.explain(number)
        return render_wait(language, wait, lambda at: f"{at - 1000:.0f}s", most=9)

    def codes(self, number: int) -> list[str]:
        return [reason.code for reason in self.scheduler.explain(number).reasons]

    def running(self) -> list[int]:
        return sorted(self.held)

    # -- laws ----------------------------------------------------------------------------------

    def _take(self, decision: Decision) -> None:
        match decision:
            case Start(job=number, attempt=attempt, grants=grants):
                assert self.states[number] is JobState.PENDING, "started although not waiting"
                assert attempt == self.attempts[number] + 1, "attempt numbers go up by one"
                self.states[number] = JobState.STARTING
                self.attempts[number], self.held[number] = attempt, grants
                self.started_at[number] = self.now
                self._fits_request(self.jobs[number], grants)
                self._limits_hold(self.jobs[number])
                self._no_booking_is_run_into(self.jobs[number], grants)
            case Preempt(job=number, attempt=attempt, for_job=other, grace_s=grace_s):
                victim, claimant = self.jobs[number], self.jobs[other]
                classes = self.rules.classes
                runs = (JobState.RUNNING, JobState.STARTING, JobState.SUSPENDED)
                # One that could not be suspended goes back to the queue instead.
                assert self.states[number] in runs
                assert attempt == self.attempts[number]
                assert self.states[other] is JobState.PENDING
                ran_s = self.now - self.started_at[number]
                if victim.priority_class in classes[claimant.priority_class].preempts:
                    assert ran_s >= classes[victim.priority_class].min_run_s
                else:
                    assert self.rules.scheduling.mode == "throughput"
                    assert victim.priority_class is claimant.priority_class
                    assert victim.requeue
                    assert ran_s >= self.rules.scheduling.min_run_s
                    self.by_turn += 1
                self.states[number] = JobState.PREEMPTING
                self.ending_since[number] = self.now
                self.gone_by[number] = self.now + grace_s
            case Suspend(job=number, attempt=attempt, for_job=other):
                victim, claimant = self.jobs[number], self.jobs[other]
                classes = self.rules.classes
                mine = classes[victim.priority_class]
                assert self.states[number] is JobState.RUNNING
                assert attempt == self.attempts[number]
                assert victim.priority_class in classes[claimant.priority_class].preempts
                assert self.now - self.started_at[number] >= mine.min_run_s
                assert mine.give_way != "requeue"
                assert all(grant.memory_bytes is None for grant in self.held[number])
                self.states[number] = JobState.PREEMPTING
                self.suspending.add(number)
                self.ending_since[number] = self.now
                self.gone_by[number] = self.now + mine.grace_s
            case Resume(job=number, attempt=attempt):
                assert attempt == self.attempts[number]
                assert self.states[number] is JobState.SUSPENDED
                self.states[number] = JobState.RUNNING
                self.started_at[number] += self.now - self.parked.pop(number)
            case Stop(job=number, attempt=attempt, grace_s=grace_s):
                assert attempt == self.attempts[number]
                assert number in self.held
                self.suspending.discard(number)
                self.states[number] = JobState.COMPLETING
                self.ending_since.setdefault(number, self.now)
                self.gone_by[number] = min(
                    self.now + grace_s, self.gone_by.get(number, float("inf"))
                )
            case Warn(job=number, attempt=attempt):
                assert attempt == self.attempts[number]
                assert self.states[number] in (JobState.STARTING, JobState.RUNNING)
            case Finish(job=number, reason_code=code):
                assert self.states[number] is JobState.PENDING
                self.states[number], self.finished[number] = JobState.CANCELLED, code

    def _fits_request(self, job: Job, grants: tuple[Grant, ...]) -> None:
        request = job.request
        uuids = [grant.gpu_uuid for grant in grants]
        assert len(set(uuids)) == len(uuids)
        assert not self.unusable & set(uuids), "started on a GPU that cannot be used"
        if request.gpu_memory_bytes is None:
            assert request.gpus <= len(uuids) <= (request.gpus_most or request.gpus)
            servers = {self.gpus[uuid].server for uuid in uuids}
            sizes = Counter(gpu.server for gpu in self.gpus.values())
            assert len(servers) <= max(1, -(-len(uuids) // max(sizes.values())))
            assert not any(self.foreign.get(uuid) for uuid in uuids), "started beside a stranger"
        else:
            assert [grant.memory_bytes for grant in grants] == [request.gpu_memory_bytes]
            uuid = uuids[0]
            assert uuid in self.rules.shared_gpus or (
                str(self.gpus[uuid].index) in self.rules.shared_gpus
            )
            promised = sum(
                grant.memory_bytes or 0
                for held in self.held.values()
                for grant in held
                if grant.gpu_uuid == uuid
            )
            room = self.gpus[uuid].memory_bytes - self.foreign.get(uuid, 0)
            assert promised <= room, "promised more memory than there is"
            assert self._compute_on(uuid) <= 100, "promised more compute than there is"

    def _compute_on(self, uuid: str) -> int:
        """What the jobs on that GPU were promised of its compute, in percent."""
        return sum(
            self.jobs[number].request.gpu_compute_percent or 0
            for number, grants in self.held.items()
            if any(grant.gpu_uuid == uuid for grant in grants)
        )

    def _no_booking_is_run_into(self, job: Job, grants: tuple[Grant, ...]) -> None:
        """Worked out by hand: at its start the job will be gone, or told in time to go, before any
        booking of another begins on a GPU of it."""
        own = self.rules.classes[job.priority_class]
        notice_s = max(own.grace_s, self.rules.bookings.background_notice_s)
        latest = self.now + own.grace_s + (job.request.walltime_s or float("inf"))
        if job.priority_class is PriorityClass.BACKGROUND and job.requeue:
            latest = min(latest, self.now + own.min_run_s + notice_s)
        for one in self.bookings:
            if one.ends_at <= self.now or (one.user == job.user and not one.maintenance):
                continue
            if one.memory_bytes is not None and job.request.shared and not one.maintenance:
                continue  # There may be room for both: `_bookings_are_honoured` counts.
            if {grant.gpu_uuid for grant in grants} & set(one.gpu_uuids):
                assert latest <= one.starts_at, f"{job} runs into {one}"

    def _bookings_are_honoured(self) -> None:
        """Whoever is on a booked GPU is its owner, or has been told to go."""
        for one in self.bookings:
            if one.memory_bytes is not None and not one.maintenance:
                self._booked_memory_is_there(one)
                continue
            for number in self.held if one.starts_at <= self.now < one.ends_at else ():
                uuids = {grant.gpu_uuid for grant in self.held[number]}
                if uuids & set(one.gpu_uuids):
                    mine = self.jobs[number].user == one.user and not one.maintenance
                    assert mine or number in self.ending_since, (number, one)

    def _booked_memory_is_there(self, one: Booking) -> None:
        """Whoever's share does not fit beside what is booked now has been told to go."""
        uuid = one.gpu_uuids[0]
        staying: dict[str, int] = {}
        booked: dict[str, int] = {}
        if not one.starts_at <= self.now < one.ends_at or uuid not in self.gpus:
            return
        for number, grants in self.held.items():
            job = self.jobs[number]
            for grant in grants:
                if grant.gpu_uuid != uuid or number in self.ending_since or number in self.parked:
                    continue
                whole = grant.memory_bytes is None
                assert not whole or job.user == one.user, f"{job} is on what {one} has memory of"
                if not whole:
                    staying[job.user] = staying.get(job.user, 0) + (grant.memory_bytes or 0)
        for other in self.bookings:
            on = other.starts_at <= self.now < other.ends_at and other.gpu_uuids[0] == uuid
            if on and other.memory_bytes is not None and not other.maintenance:
                booked[other.user] = booked.get(other.user, 0) + other.memory_bytes
        others = {user: size for user, size in staying.items() if user != one.user}
        # What was there before others made a booking on top of its own stays its person's.
        if others:
            self.beside += 1
            people = staying.keys() | booked.keys()
            total = sum(max(staying.get(p, 0), booked.get(p, 0)) for p in people)
            if self.foreign.get(uuid, 0) == 0:
                assert total <= self.gpus[uuid].memory_bytes, (one, staying)

    def _check(self) -> None:
        self._bookings_are_honoured()
        computing = {n: held for n, held in self.held.items() if n not in self.parked}
        for uuid, gpu in self.gpus.items():
            shares = [
                g.memory_bytes for held in computing.values() for g in held if g.gpu_uuid == uuid
            ]
            still = [n for n in self.parked if any(g.gpu_uuid == uuid for g in self.held[n])]
            assert len(still) <= 1, f"two jobs are suspended on {uuid}"
            assert not still or None in shares or not shares, f"a share over a job on {uuid}"
            assert shares.count(None) <= 1, f"{uuid} is held twice"
            if None in shares:
                assert len(shares) == 1, f"{uuid} is held whole and shared"
            else:
                assert sum(share or 0 for share in shares) <= gpu.memory_bytes
                assert self._compute_on(uuid) <= 100
        requests = [self.jobs[number].request for number in self.held]
        assert sum(self.jobs[number].request.cpus for number in computing) <= self.cpus
        assert sum(request.memory_bytes or 0 for request in requests) <= self.memory_bytes

    def near_a_limit(self, job: Job) -> bool:
        """With one GPU more for the job a limit would be broken; waiting claims count as held. Or
        its class has a budget, which is measured on the GPU that the job would get."""
        if self.rules.classes[job.priority_class].budget_gpu_s is not None:
            return True
        claimed = sum(job.request.gpus for n, job in self.jobs.items() if self._claims(n))
        return any(
            one.limit.max_gpus is not None and gpus + claimed + 1 > one.limit.max_gpus
            for one, gpus, _ in self._counted(job)
        )

    def _claims(self, number: int) -> bool:
        return self.states[number] is JobState.PENDING and "preempting" in self.codes(number)

    def _limits_hold(self, started: Job) -> None:
        """What `started` makes of each limit that fits it."""
        for one, gpus, jobs in self._counted(started):
            assert one.limit.max_gpus is None or gpus <= one.limit.max_gpus + 1e-9, one.path
            assert one.limit.max_jobs is None or jobs <= one.limit.max_jobs, one.path
        if started.array_id is not None and started.array_limit is not None:
            together = [n for n in self.held if self.jobs[n].array_id == started.array_id]
            assert len(together) <= started.array_limit

    def _counted(self, job: Job) -> Iterator[tuple[Applied, float, int]]:
        """Each limit that fits the job, with GPUs and jobs by the book, counted by hand."""
        for one in applied_limits(self.rules, job.user, job.group, job.priority_class):
            kind, name, which = one.key
            gpus, jobs = 0.0, 0
            for number, grants in self.held.items():
                other = self.jobs[number]
                subjects = {
                    "user": [other.user], "group": lineage(self.rules, other.group), "class": [""]
                }  # fmt: skip
                if name in subjects[kind] and which in ("", other.priority_class.value):
                    jobs += 1
                    for grant in grants:
                        total = self.gpus[grant.gpu_uuid].memory_bytes
                        compute = (other.request.gpu_compute_percent or 0) / 100
                        share = max((grant.memory_bytes or 0) / total, compute)
                        gpus += 1 if grant.memory_bytes is None else share
            yield one, gpus, jobs

    def change_rules(self, rules: Rules) -> None:
        self.rules = rules
        self.step(RulesChanged(self.now, rules))
        self.run_all()
