"""What must hold whatever happens: random days on a small server, checked after every step.

`World` checks capacity, limits, attempts and rights of preemption; here are the rest of the laws.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from roost.core.model import Booking, JobState, PriorityClass
from roost.core.scheduler.entry import STUCK_AFTER_S
from roost.core.scheduler.events import (
    BookingsChanged,
    Event,
    ForeignUse,
    GpuChanged,
    InventoryChanged,
    JobRestored,
    RulesChanged,
    UsageRestored,
)
from roost.core.scheduler.scheduler import Scheduler
from tests.core.scheduler.pictures import World, servers_of

RULES = """
shared_gpus = [3]
[groups.cv]
members = ["alice", "bob"]
share = 2
[groups.nlp]
members = ["li"]
[classes.background]
min_run = "2m"
[limits.per_user]
max_gpus = 3
[limits.regular]
max_gpus = 3
[limits.groups.cv.background]
max_jobs = 2
[limits.users.li]
max_jobs = 3
"""
IN_PLACE = RULES.replace(
    'min_run = "2m"', 'min_run = "2m"\ngive_way = "suspend"\nsuspend_memory = "4G"'
)
GROUPS = {"alice": "cv", "bob": "cv", "li": "nlp", "wu": "default"}


class Days(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = self.begin()

    def begin(self) -> World:
        return World(4, RULES, cpus=12)

    def some(self, data: st.DataObject, states: tuple[JobState, ...]) -> int | None:
        found = [n for n, state in self.world.states.items() if state in states]
        return data.draw(st.sampled_from(found)) if found else None

    @rule(
        user=st.sampled_from(sorted(GROUPS)),
        gpus=st.integers(1, 3),
        which=st.sampled_from(list(PriorityClass)),
        share=st.sampled_from([None, None, None, "20G", "50G"]),
        compute=st.sampled_from([None, None, 30, 60, 100]),
        cpus=st.integers(0, 4),
        time=st.sampled_from([None, "5m", "2h"]),
        array=st.sampled_from([None, None, 1, 2]),
    )
    def submit(
        self,
        user: str,
        gpus: int,
        which: str,
        share: str | None,
        compute: int | None,
        cpus: int,
        time: str | None,
        array: int | None,
    ) -> None:
        more: dict[str, int] = {} if array is None else {"array_id": array, "array_limit": 2}
        compute = None if share is None else compute
        self.world.submit(
            user, gpus, which, share=share, compute=compute, cpus=cpus, time=time,
            group=GROUPS[user], **more,
        )  # fmt: skip

    @rule(data=st.data())
    def submit_after_another(self, data: st.DataObject) -> None:
        other = self.some(data, tuple(JobState))
        if other is not None:
            self.world.submit("wu", after=(other,))

    @rule(gpus=st.integers(1, 3), time=st.sampled_from([None, "1h"]))
    def background_takes_all_that_is_free_and_an_urgent_job_comes(
        self, gpus: int, time: str | None
    ) -> None:
        for user in ("wu", "alice", "li", "wu"):
            self.world.submit(user, 1, PriorityClass.BACKGROUND, time="20h", group=GROUPS[user])
        self.world.wait("3m")
        self.world.submit("bob", gpus, PriorityClass.URGENT, time=time, group="cv")

    @rule(minutes=st.integers(1, 90))
    def time_passes(self, minutes: int) -> None:
        self.world.wait(f"{minutes}m")

    @rule(data=st.data(), state=st.sampled_from([JobState.COMPLETED, JobState.FAILED]))
    def end(self, data: st.DataObject, state: JobState) -> None:
        number = self.some(data, (JobState.RUNNING, JobState.COMPLETING))
        if number is not None:
            self.world.end(number, state=state)

    @rule()
    def victims_go(self) -> None:
        self.world.give_way()

    @rule(data=st.data())
    def checkpoint(self, data: st.DataObject) -> None:
        number = self.some(data, (JobState.RUNNING,))
        if number is not None:
            self.world.checkpoint(number)

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        number = self.some(data, (JobState.PENDING, JobState.RUNNING, JobState.PREEMPTING))
        if number is not None:
            self.world.cancel(number)

    @rule(data=st.data(), held=st.booleans())
    def hold(self, data: st.DataObject, held: bool) -> None:
        number = self.some(data, (JobState.PENDING,))
        if number is not None:
            self.world.hold(number, held)

    @rule(index=st.integers(0, 3), usable=st.booleans())
    def drain(self, index: int, usable: bool) -> None:
        self.world.usable(index, usable, "" if usable else "fan")

    @rule(used=st.dictionaries(st.sampled_from(["g1", "g3"]), st.sampled_from(["2G", "60G"])))
    def strangers_come_and_go(self, used: dict[str, str]) -> None:
        self.world.strangers(**used)

    @rule(
        spans=st.lists(
            st.tuples(
                st.sampled_from(["alice", "li", "wu"]),
                st.sets(st.sampled_from(["GPU-0", "GPU-1", "GPU-3"]), min_size=1),
                st.integers(0, 180),
                st.integers(1, 180),
                st.booleans(),
                st.sampled_from([None, None, 10, 30]),
            ),
            max_size=4,
        )
    )
    def bookings_are_made(
        self, spans: list[tuple[str, set[str], int, int, bool, int | None]]
    ) -> None:
        """Each a while after the last one, of which some are for maintenance, and some of the
        memory of the GPU that is shared."""
        at, found = self.world.now, []
        for number, (user, gpus, begin, last, maintenance, share) in enumerate(spans, 1):
            begins_at = at + 60.0 * begin
            at = begins_at + 60.0 * last
            maintenance = maintenance and last < 9
            size = None if share is None or maintenance else share * 2**30
            uuids = tuple(sorted(gpus)) if size is None else ("GPU-3",)
            found.append(Booking(number, user, uuids, begins_at, at, maintenance, size))
        self.world.book(*found)

    @rule()
    def the_server_restarts(self) -> None:
        """A scheduler rebuilt from what a database knows decides nothing that was decided."""
        world = self.world
        before = {n: state for n, state in world.states.items() if not state.ended}
        used = world.scheduler.snapshot()["usage"]
        entries = world.scheduler._state.entries
        inherited = any(
            entries[number].preempted_for != entry.job.id
            for entry in entries.values()
            for number in (() if entry.claim is None else entry.claim.victims)
            if number in entries
        )
        rebuilt(world, used)
        before = {n: state for n, state in before.items() if state.holds_gpus}
        if inherited:
            self.nobody_is_told_again(before)
        else:
            self.nothing_is_decided_again(before)

    def nobody_is_told_again(self, before: dict[int, JobState]) -> None:
        """For whom somebody gives way now, if not for whom it was asked to, is in no database: who
        lost that may ask others. But nobody who was told to go is told so again."""
        for number, state in before.items():
            now = self.world.states[number]
            assert now is state or (
                state in (JobState.RUNNING, JobState.STARTING, JobState.SUSPENDED)
                and now is JobState.PREEMPTING
            )

    def nothing_is_decided_again(self, before: dict[int, JobState]) -> None:
        now = {n: self.world.states[n] for n in before}
        assert now == before, self.world.log[-9:]

    @precondition(lambda self: self.world.log)
    @invariant()
    def sums_are_right(self) -> None:
        world, shot = self.world, self.world.scheduler.snapshot()
        computing = [n for n in world.held if n not in world.parked]
        assert shot["cpus"][0] == sum(world.jobs[n].request.cpus for n in computing)
        assert [job["job"] for job in shot["jobs"]] == [
            n for n, state in world.states.items() if not state.ended
        ]
        for job in shot["jobs"]:
            assert job["state"] == world.states[job["job"]].value
            assert job["attempt"] == world.attempts[job["job"]]

    @invariant()
    def every_waiting_job_says_why(self) -> None:
        for number, state in self.world.states.items():
            wait = self.world.scheduler.explain(number)
            waits = state in (JobState.PENDING, JobState.SUSPENDED)
            assert bool(wait.reasons) == waits, number
            if wait.reasons:
                assert self.world.why(number, "en")
                assert self.world.why(number, "zh")

    @invariant()
    def urgent_never_waits_behind_what_it_may_preempt(self) -> None:
        """For the first urgent job that no rule, claim or earlier job stands before: even with
        every job gone that it may preempt or that is ending, there would be no room."""
        world = self.world
        minimum_s = world.rules.classes[PriorityClass.BACKGROUND].min_run_s
        for number, state in world.states.items():
            job = world.jobs[number]
            codes = world.codes(number)
            if state is not JobState.PENDING or job.priority_class is not PriorityClass.URGENT:
                continue
            if {"held", "array", "claimed", "behind", "behind_until", "preempting", "ending"} & {
                *codes
            } or any(code.startswith(("limit", "after", "budget", "elastic")) for code in codes):
                continue
            if job.request.gpu_memory_bytes is not None and world.near_a_limit(job):
                continue
            yielding = {
                n
                for n in world.held
                if (
                    world.now < world.gone_by.get(n, 0.0) + STUCK_AFTER_S
                    and not (n in world.suspending and job.request.shared)
                )
                or (
                    world.states[n] in (JobState.STARTING, JobState.RUNNING)
                    and world.jobs[n].priority_class is PriorityClass.BACKGROUND
                    and world.now - world.started_at[n] >= minimum_s
                )
                or world.states[n] is JobState.SUSPENDED
            }
            assert not self.fits_without(number, yielding), (
                f"{world.picture()}: job {number} waits, {codes}"
            )

    def booked_soon(self, number: int) -> set[str]:
        """GPUs that the job would have to give back, should others first give them up to it."""
        world, job = self.world, self.world.jobs[number]
        latest = world.now + 60.0 + 60.0 + (job.request.walltime_s or float("inf"))
        return {
            uuid
            for one in world.bookings
            if one.ends_at > world.now and (one.maintenance or one.user != job.user)
            if latest > one.starts_at
            for uuid in one.gpu_uuids
        }

    def fits_without(self, number: int, gone: set[int]) -> bool:
        world, request = self.world, self.world.jobs[number].request
        staying = [n for n in world.held if n not in gone]
        if request.cpus + sum(world.jobs[n].request.cpus for n in staying) > world.cpus:
            return False
        free = 0
        for uuid, gpu in world.gpus.items():
            grants = [g for n in staying for g in world.held[n] if g.gpu_uuid == uuid]
            if (
                uuid in world.unusable
                or uuid in self.booked_soon(number)
                or any(g.memory_bytes is None for g in grants)
            ):
                continue
            promised = sum(g.memory_bytes or 0 for g in grants) + world.foreign.get(uuid, 0)
            if request.gpu_memory_bytes is not None:
                room = gpu.memory_bytes - promised
                compute = sum(
                    world.jobs[n].request.gpu_compute_percent or 0
                    for n in staying
                    if any(g.gpu_uuid == uuid for g in world.held[n])
                )
                enough = compute + (request.gpu_compute_percent or 0) <= 100
                if uuid == "GPU-3" and room >= request.gpu_memory_bytes and enough:
                    return True
            elif not promised:
                free += 1
        return request.gpu_memory_bytes is None and free >= request.gpus

    def teardown(self) -> None:
        """The same events once more, and once more in a fresh scheduler: the same decisions."""
        if not any(isinstance(event, JobRestored) for event in self.world.events):
            first, second = replayed(self.world), replayed(self.world)
            assert first == second


class ThroughputDays(Days):
    """The same, where running jobs give way to those whose turn is sooner."""

    def begin(self) -> World:
        rules = RULES.replace("max_gpus = 3", "max_gpus = 4")
        more = '[scheduling]\nmode = "throughput"\nmin_run = "2m"\nmargin = "0s"\n'
        return World(4, rules + more + "[fair_share]\nweight = 0.1\n", cpus=40)

    def nothing_is_decided_again(self, before: dict[int, JobState]) -> None:
        """Turns are reckoned anew from the queue as it is now, so that more may have to give
        way."""
        self.nobody_is_told_again(before)

    @rule(which=st.sampled_from([PriorityClass.REGULAR, PriorityClass.BACKGROUND]))
    def long_jobs_take_all_that_is_free(self, which: PriorityClass) -> None:
        for user in ("wu", "alice", "bob", "li"):
            self.world.submit(user, 1, which, time="20h", group=GROUPS[user])
        self.world.wait("3m")


class DaysByManyRules(Days):
    """The same with a budget, GPUs that must have been idle, a group above the groups, and jobs
    that can use some to many GPUs."""

    def begin(self) -> World:
        rules = RULES.replace('min_run = "2m"', 'min_run = "2m"\nidle_for = "5m"')
        rules = rules.replace("share = 2", 'share = 2\nparent = "lab"')
        more = '[classes.urgent]\nbudget = "9h"\n[limits.groups.lab]\nmax_gpus = 3\n'
        wait = '[scheduling]\nelastic_wait = "15m"\n'
        return World(4, rules + "[groups.lab]\n" + more + wait, cpus=12)

    @rule(
        user=st.sampled_from(sorted(GROUPS)),
        least=st.integers(1, 2),
        most=st.integers(2, 6),
        which=st.sampled_from(list(PriorityClass)),
    )
    def submit_elastic(self, user: str, least: int, most: int, which: PriorityClass) -> None:
        self.world.submit(user, least, which, most=most, time="2h", group=GROUPS[user])

    @invariant()
    def budgets_are_kept(self) -> None:
        """What each person's urgent jobs may use by their walltimes stays within the budget."""
        world = self.world
        for user in GROUPS:
            held = sum(
                len(world.held[n]) * (world.jobs[n].request.walltime_s or 0.0)
                for n in world.held
                if world.jobs[n].user == user
                and world.jobs[n].priority_class is PriorityClass.URGENT
                and world.jobs[n].request.gpu_memory_bytes is None
            )
            assert held <= 9 * 3600.0


class DaysInPlace(Days):
    """The same, where background jobs are suspended where they are, if that can be done."""

    def begin(self) -> World:
        return World(4, IN_PLACE, cpus=12)

    @rule(can=st.booleans())
    def victims_stand_still(self, can: bool) -> None:
        self.world.give_way(can)

    @rule(data=st.data(), cancelled=st.booleans())
    def a_suspended_job_ends(self, data: st.DataObject, cancelled: bool) -> None:
        number = self.some(data, (JobState.SUSPENDED,))
        if number is not None and cancelled:
            self.world.cancel(number)
        elif number is not None:
            self.world.end(number, state=JobState.FAILED)

    @invariant()
    def nobody_stands_still_for_nobody(self) -> None:
        """On the GPUs of a suspended job there is another one, or they are promised to one, or it
        lacks CPUs."""
        world, shot = self.world, self.world.scheduler.snapshot()
        free = world.cpus - shot["cpus"][0]
        taken = {gpu["uuid"] for gpu in shot["gpus"] if gpu["holders"] or gpu["claim"] is not None}
        for number in world.parked:
            if world.states[number] is JobState.SUSPENDED:
                mine = {grant.gpu_uuid for grant in world.held[number]}
                promised = any(job["claim"] for job in shot["jobs"])
                assert mine & taken or promised or world.jobs[number].request.cpus > free


class DaysOnServers(Days):
    """Two servers of two GPUs: a job of three holds both."""

    def begin(self) -> World:
        return World(gpus=servers_of(2, 2), text=RULES, cpus=12)

    def fits_without(self, number: int, gone: set[int]) -> bool:
        """Room in all is not yet room on one server."""
        return False


def replayed(world: World) -> list[str]:
    scheduler = Scheduler()
    return [repr(scheduler.step([event])) for event in world.events]


def rebuilt(world: World, used: dict[str, dict[str, float]]) -> None:
    scheduler = Scheduler()
    events: list[Event] = [
        RulesChanged(world.now, world.rules),
        InventoryChanged(world.now, tuple(world.gpus.values()), world.cpus, world.memory_bytes),
        UsageRestored(world.now, tuple(used["users"].items()), tuple(used["groups"].items())),
    ]
    old = world.scheduler.snapshot()["jobs"]
    known = {job["job"]: job for job in old}
    for number, state in world.states.items():
        if state.ended:
            continue
        facts = known[number]
        events.append(
            JobRestored(
                world.now,
                world.jobs[number],
                state,
                world.attempts[number],
                world.held.get(number, ()),
                facts["started_at"],
                facts["safe_at"],
                facts["preempted_for"],
                facts["parked_at"],
                facts["suspend"],
                None if facts["ending_by"] is None else facts["ending_by"] - STUCK_AFTER_S,
            )
        )
    events.append(BookingsChanged(world.now, world.bookings))
    events += [GpuChanged(world.now, uuid, False, "fan") for uuid in sorted(world.unusable)]
    events.append(ForeignUse(world.now, tuple(world.foreign.items())))
    world.scheduler = scheduler
    world.step(*events)


TestDays = Days.TestCase
TestThroughputDays = ThroughputDays.TestCase
TestDaysOnServers = DaysOnServers.TestCase
TestDaysByManyRules = DaysByManyRules.TestCase
TestDaysInPlace = DaysInPlace.TestCase
for machine in (
    TestDays, TestThroughputDays, TestDaysOnServers, TestDaysByManyRules, TestDaysInPlace
):  # fmt: skip
    machine.settings = settings(
        max_examples=40,
        stateful_step_count=40,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
del machine  # or it is collected once more


SCENARIO = """
import hashlib
from roost.core.scheduler.entry import STUCK_AFTER_S
from tests.core.scheduler.pictures import World, servers_of
from tests.core.scheduler.test_laws import GROUPS, RULES
world = World(4, RULES, cpus=12)
users = sorted(GROUPS)
classes = ["regular", "background", "urgent", "background"]
for n in range(60):
    user = users[n % 4]
    share = "20G" if n % 7 == 3 else None
    world.submit(user, 1 + n % 3, classes[n % 4], group=GROUPS[user], share=share,
        compute=None if share is None or n % 2 else 60, cpus=1 + n % 2)
    world.wait(f"{1 + n % 5}m")
    if n % 3 == 0:
        world.give_way()
    if n % 2 == 0 and world.running():
        world.end(world.running()[n % len(world.running())])
words = repr(world.log) + "".join(world.why(n) for n in world.jobs)
words += repr(world.scheduler.snapshot())
print(hashlib.sha256(words.encode()).hexdigest(), len(world.log))
"""


def test_decisions_do_not_depend_on_the_order_of_sets_and_dicts() -> None:
    told = set()
    for seed in ("0", "1", "2", "random"):
        done = subprocess.run(
            [sys.executable, "-c", SCENARIO],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        )
        told.add(done.stdout)
    assert len(told) == 1
    assert int(told.pop().split()[1]) > 30


@pytest.mark.parametrize("walltimes", [False, True])
@pytest.mark.parametrize("past_gpu_hours", [0, 200])
def test_a_big_job_starts_although_small_ones_keep_coming(
    walltimes: bool, past_gpu_hours: int
) -> None:
    """alice's 4-GPU job against an endless stream of one-GPU jobs of bob, each an hour long. Her
    past use delays her only until his has grown as large."""
    world = World(4)
    world.step(
        UsageRestored(
            world.now,
            (("alice", past_gpu_hours * 3600.0),),
            (("default", past_gpu_hours * 3600.0),),
        )
    )
    time = "1h" if walltimes else None
    for _ in range(8):
        world.submit("bob", 1, time=time)
    big = world.submit("alice", 4, time="8h" if walltimes else None)
    begun = world.now
    while world.states[big] is JobState.PENDING:
        world.wait("15m")
        for number in world.running():
            if world.now - world.started_at[number] >= 3600:
                world.end(number)
                world.submit("bob", 1, time=time)
        assert world.now - begun < (3 if past_gpu_hours == 0 else 80) * 3600


def test_a_big_share_starts_although_small_ones_keep_coming() -> None:
    world = World(2, "shared_gpus = [0, 1]")
    for _ in range(8):
        world.submit("bob", share="20G")
    big = world.submit("alice", share="60G")
    for _ in range(6):
        number = next(n for n in world.running() if n != big)
        world.end(number)
        world.submit("bob", share="20G")
        world.wait("1m")
    assert world.states[big] is JobState.RUNNING
