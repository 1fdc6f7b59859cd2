"""What the scheduler remembers: GPUs, jobs, who holds what, who waits. Changed by its own methods.

It keeps its sums right (free CPUs, held GPUs by limit, rates of use) and decides nothing.
"""

from __future__ import annotations

from roost.core.model import Booking, Gpu, Grant, Job, JobState, PriorityClass
from roost.core.rules.model import Limits, Rules
from roost.core.scheduler.backlog import Backlog
from roost.core.scheduler.budgets import Budgets
from roost.core.scheduler.ends import Ends
from roost.core.scheduler.entry import STUCK_AFTER_S, Claim, Entry
from roost.core.scheduler.forecast import Forecast
from roost.core.scheduler.hours import Hours
from roost.core.scheduler.leaving import Leaving
from roost.core.scheduler.limits import (
    Applied,
    applied_limits,
    units_of,
)
from roost.core.scheduler.links import link_islands
from roost.core.scheduler.nodes import Nodes
from roost.core.scheduler.policy import FAIR, By, Policy, policy_of
from roost.core.scheduler.queue import Queue
from roost.core.scheduler.reserved import NEVER, Reservation
from roost.core.scheduler.share_walls import stays
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.tallies import Tallies
from roost.core.scheduler.usage import Usage
from roost.core.scheduler.walls import Walls

KEPT_ENDS = 200_000


def _unyielding(entry: Entry) -> bool:
    return bool(entry.grants) and (entry.job.request.shared or not entry.job.requeue)


def _when(leaving: Leaving) -> float:
    return leaving.at


class State:
    """All of it. Methods keep the invariants; who calls them decides."""

    def __init__(self, policy: Policy | None = None) -> None:
        self._given = policy
        self.policy = policy or FAIR
        self.now = 0.0
        self.rules = Rules()
        self.known = False
        self.looked = True
        self.cpus = 0
        self.memory_bytes = 0
        self.used_cpus = 0
        self.used_memory_bytes = 0
        self.slots: dict[str, Slot] = {}
        self.nodes = Nodes()
        self.ends = Ends(self.nodes, self.end_of)
        self.islands: dict[str, int] = {}
        self.foreign: dict[str, int] = {}
        self.out: dict[str, str] = {}
        self.entries: dict[int, Entry] = {}
        self.active: dict[int, None] = {}
        self.claims: dict[int, None] = {}
        self.places: dict[int, Reservation] = {}
        self.ended: dict[int, JobState] = {}
        self.dependents: dict[int, list[int]] = {}
        self.queue = Queue()
        self.tallies = Tallies()
        self.hours = Hours(self.rules)
        self.walls = Walls()
        self.budgets = Budgets()
        # No window, limit or budget can stand before any job.
        self._limits, self.unlimited = False, True
        # Jobs on GPUs that give them up to nobody's turn: shares, and those that cannot go back.
        self.unyielding = 0
        # How many of the active are not suspended.
        self.computing = 0
        self.leavings: dict[int, None] = {}
        self.use_at: float | None = None
        self._periods: tuple[str, ...] = ()
        self._applied: dict[tuple[str, str, PriorityClass], list[Applied]] = {}
        self._advanced_at = -NEVER
        # Some class takes only GPUs that nobody used for a while.
        self.idles = False
        self.usage = Usage()
        self.forecast = Forecast()
        self.backlog = Backlog()
        self.foresees = self.policy.by is By.SHORT_FIRST

    def advance(self, at: float) -> None:
        """It is that time now, or as late as it was: what grows with time has grown."""
        self.now = max(self.now, at)
        if self.now > self._advanced_at:
            self._advanced_at = self.now
            self.budgets.advance(self.now)
            if self.policy.fair:
                self.usage.advance(self.now)

    def set_rules(self, rules: Rules) -> bool:
        """Takes them; True where waiting jobs have other turns by them than before."""
        self.rules = rules
        self._applied.clear()
        self._limits = rules.limits != Limits()
        self.idles = any(each.idle_for_s for each in rules.classes.values())
        self.hours = Hours(rules)
        self.walls.set_rules(rules)
        self.budgets.set_rules(rules, self.now)
        self.unlimited = not (self._limits or rules.windows or self.budgets.any)
        self.watch_leavings()
        self._count_anew()
        self.usage.set_half_life(rules.fair_share.half_life_s)
        self.mark_shared()
        before, self.policy = self.policy, self._given or policy_of(rules)
        self.foresees = self.policy.by is By.SHORT_FIRST
        return self.policy != before

    def _count_anew(self) -> None:
        """A group may have another one above it now."""
        self.tallies.begin(self.rules)
        for entry in self.entries.values():
            if entry.grants_held:
                self.tallies.hold(entry.job, entry.units)
            elif entry.state is JobState.PENDING:
                self.tallies.wait(entry.job)
            if entry.claim is not None:
                self.tallies.hold(entry.job, entry.claim.units)

    def limits_of(self, job: Job) -> list[Applied]:
        """Every limit that fits the job at this hour; kept as long as the same periods are open."""
        if not self._limits:
            return []
        periods = self.hours.periods(self.now)
        if periods != self._periods:
            self._periods = periods
            self._applied.clear()
        key = job.user, job.group, job.priority_class
        found = self._applied.get(key)
        if found is None:
            found = self._applied[key] = applied_limits(self.rules, *key, periods)
        return found

    def set_bookings(self, bookings: tuple[Booking, ...]) -> None:
        self.walls.take(bookings)
        self.watch_leavings()

    def watch_leavings(self) -> None:
        """Windows or bookings have changed: who runs may have to leave at another time."""
        for number in self.active:
            self.watch_leaving(self.entries[number])

    def watch_leaving(self, entry: Entry) -> None:
        """Finds what will end the job that holds GPUs whatever its walltime, if anything."""
        before = entry.leaving
        if before is None and not self.hours.windows and not self.walls:
            return
        warning = self.hours.warning(entry.job, self.now)
        if warning is not None and warning.at != entry.warned_of:
            entry.warning = warning
            self.leavings[entry.job.id] = None
        booked = self.walls.leaving(entry, self.now, lambda one: stays(self, one, entry))
        found = [self.hours.leaving(entry.job, self.now), booked]
        soonest = min((one for one in found if one is not None), key=_when, default=None)
        if soonest == before:
            return
        entry.leaving = soonest
        if soonest is not None:
            self.leavings[entry.job.id] = None
        self.ends_otherwise(entry)

    # -- GPUs ----------------------------------------------------------------------------------

    def set_inventory(self, gpus: tuple[Gpu, ...], cpus: int, memory_bytes: int) -> None:
        self.known, self.cpus, self.memory_bytes = True, cpus, memory_bytes
        ordered = sorted(gpus, key=lambda gpu: (gpu.index, gpu.uuid))
        parents = {gpu.parent for gpu in ordered if gpu.parent is not None}
        old, self.slots = self.slots, {}
        for order, gpu in enumerate(ordered):
            slot = old.pop(gpu.uuid, None) or Slot(gpu, order)
            slot.gpu, slot.order, slot.present = gpu, order, True
            slot.split = gpu.uuid in parents
            self._mark(slot)
            self.slots[gpu.uuid] = slot
        for slot in old.values():
            if not slot.forgettable:
                slot.present, slot.order = False, len(self.slots)
                self.slots[slot.gpu.uuid] = slot
        self.islands = link_islands(ordered)
        self.mark_shared()

    def set_foreign(self, bytes_by_gpu: dict[str, int]) -> None:
        """What strangers use, of GPUs that are here and of some that may come (again)."""
        self.foreign = {uuid: size for uuid, size in bytes_by_gpu.items() if size > 0}
        for slot in self.slots.values():
            used = slot.foreign_bytes
            self._mark(slot)
            if used and not slot.foreign_bytes:
                slot.used_until = self.now
            self.nodes.update(slot)

    def set_usable(self, uuid: str, usable: bool, why: str) -> None:
        self.out.pop(uuid, None)
        if not usable:
            self.out[uuid] = why
        if uuid in self.slots:
            self._mark(self.slots[uuid])
            self.nodes.update(self.slots[uuid])

    def _mark(self, slot: Slot) -> None:
        uuid = slot.gpu.uuid
        slot.foreign_bytes = self.foreign.get(uuid, 0)
        slot.usable, slot.why = uuid not in self.out, self.out.get(uuid, "")

    def mark_shared(self) -> None:
        """Marks the GPUs that the rules call shared, by index or UUID."""
        marks = self.rules.shared_gpus
        for slot in self.slots.values():
            slot.shared = slot.gpu.uuid in marks or str(slot.gpu.index) in marks
        self._renumber()

    def slot_of(self, uuid: str) -> Slot:
        """The slot of a GPU that a job holds; one that is gone gets a slot until it is free."""
        slot = self.slots.get(uuid)
        if slot is None:
            slot = Slot(Gpu(uuid, -1, "", 0), len(self.slots), present=False)
            self.slots[uuid] = slot
            self._renumber()
        return slot

    def _renumber(self) -> None:
        """There are other slots than before, or they are marked otherwise."""
        for order, slot in enumerate(sorted(self.slots.values(), key=lambda one: one.order)):
            slot.order = order
        self.nodes.rebuild(tuple(self.slots.values()))

    def end_of(self, number: int) -> float:
        """The latest end of a job that holds GPUs, NEVER where none is known."""
        entry = self.entries[number]
        if entry.parked_at is not None and entry.ending_by is None:
            return self._parked_until(entry)
        end = entry.ends_at
        return NEVER if end is None else end

    def _parked_until(self, entry: Entry) -> float:
        """A suspended job goes on when the last one on its GPUs has ended."""
        tops = {self.slots[grant.gpu_uuid].whole for grant in entry.grants} - {None}
        begins = [self.now, *(self.end_of(top) for top in tops if top is not None)]
        walltime_s = entry.job.request.walltime_s
        left_s = NEVER if walltime_s is None else walltime_s - entry.ran_s(self.now)
        end = max(begins) + max(0.0, left_s)
        return end if entry.leaving is None else min(end, entry.leaving.at)

    def told_to_end(self, entry: Entry, how: JobState, grace_s: float) -> None:
        """The job that holds GPUs was asked to go: in state `how` from now. One that is in a grace
        already is not given a later end."""
        until = self.now + grace_s + STUCK_AFTER_S
        entry.ending_by = until if entry.ending_by is None else min(until, entry.ending_by)
        entry.state = how
        entry.suspend = ""
        self.ends_otherwise(entry)

    def ends_otherwise(self, entry: Entry) -> None:
        """The job that holds GPUs ends at another time than was known."""
        for grant in entry.grants:
            self.nodes.update(self.slots[grant.gpu_uuid])
        self.budgets.ends_at(entry.job.id, self.end_of(entry.job.id))

    # -- jobs ----------------------------------------------------------------------------------

    def add(self, entry: Entry) -> None:
        self.entries[entry.job.id] = entry
        self.usage.enter(entry.job.group, entry.job.user)
        if self.foresees:
            self.foresee(entry)
        if entry.state is JobState.PENDING:
            self.tallies.wait(entry.job)

    def foresee(self, entry: Entry) -> None:
        """What is expected of a new job, and for how long later ones may pass it."""
        entry.expected_s = self.forecast.expected_s(entry.job)
        if entry.grants_held:
            self.backlog.runs(entry, self.now)
        else:
            self.backlog.waits(entry, self.now)
        left_gpu_s = self.backlog.gpu_s(self.now) * self.forecast.came_true
        drain_s = left_gpu_s / max(1, len(self.slots))
        entry.most_behind_s = self.policy.delay_s + self.policy.delay_factor * drain_s

    def forget(self, entry: Entry, state: JobState) -> None:
        """The job has ended for good."""
        job = entry.job
        self.queue.remove(job)
        self.drop_claim(entry)
        if entry.state is JobState.PENDING:
            self.tallies.wait(job, -1)
        del self.entries[job.id]
        self.backlog.gone(job.id)
        self.usage.leave(job.group, job.user)
        self.ended[job.id] = state
        if len(self.ended) > KEPT_ENDS:
            del self.ended[next(iter(self.ended))]

    def back_to_queue(self, entry: Entry) -> None:
        """It waits again, in its old place."""
        entry.state = JobState.PENDING
        if self.foresees:
            self.backlog.waits(entry, self.now)
        self.tallies.wait(entry.job)

    def start(self, entry: Entry, grants: tuple[Grant, ...]) -> None:
        """A new attempt of a waiting job, on these GPUs, from now."""
        self.queue.remove(entry.job)
        self.drop_claim(entry)
        self.tallies.wait(entry.job, -1)
        entry.attempt += 1
        entry.state = JobState.STARTING
        entry.started_at = entry.safe_at = self.now
        entry.stays = False
        self.hold_gpus(entry, grants)

    def hold_gpus(self, entry: Entry, grants: tuple[Grant, ...]) -> None:
        """The job holds these from now; every sum follows. One that is suspended holds its memory,
        and counts towards limits."""
        job = entry.job
        entry.grants = grants
        entry.units = units_of(grants, self.slots, job.request)
        for grant in grants:
            slot = self.slot_of(grant.gpu_uuid)
            if grant.memory_bytes is None:
                if entry.parked_at is None:
                    slot.whole = job.id
                else:
                    slot.frozen = job.id
            else:
                slot.hold_share(job.id, grant.memory_bytes, job.request.gpu_compute_percent)
            self.nodes.update(slot)
        self.used_memory_bytes += job.request.memory_bytes or 0
        self.tallies.hold(job, entry.units)
        self.active[job.id] = None
        self.unyielding += _unyielding(entry)
        if entry.parked_at is None:
            self.computes(entry)
        self.watch_leaving(entry)
        if self.foresees:
            self.backlog.runs(entry, self.now)

    def computes(self, entry: Entry) -> None:
        """From now: what it is charged for, and its CPUs."""
        job = entry.job
        self.computing += 1
        self.used_cpus += job.request.cpus
        self.usage.change_rate(job.group, job.user, entry.units)
        entry.charged = entry.units
        self.budgets.holds(job, entry.units, self.now, self.end_of(job.id))

    def stands_still(self, entry: Entry) -> None:
        """The same, no longer."""
        job = entry.job
        self.computing -= 1
        self.used_cpus -= job.request.cpus
        self.usage.change_rate(job.group, job.user, -entry.charged)
        entry.charged = 0
        self.budgets.freed(job.id, self.now)

    def free_gpus(self, entry: Entry) -> None:
        job = entry.job
        if entry.parked_at is None:
            self.stands_still(entry)
        self.unyielding -= _unyielding(entry)
        idle = self.rules.classes[job.priority_class].idle_for_s
        for grant in entry.grants:
            slot = self.slots[grant.gpu_uuid]
            if not idle:
                slot.used_until = self.now
            if slot.whole == job.id:
                slot.whole = None
            if slot.frozen == job.id:
                slot.frozen = None
            slot.free_share(job.id)
            self.nodes.update(slot)
            if not slot.present and slot.forgettable:
                del self.slots[grant.gpu_uuid]
                self._renumber()
        self.used_memory_bytes -= job.request.memory_bytes or 0
        self.tallies.hold(job, -entry.units, -1)
        self.active.pop(job.id, None)
        entry.grants, entry.units, entry.charged = (), 0, 0
        entry.leaving = entry.warning = entry.warned_of = entry.idle_warned_at = None
        entry.idle_part = False
        self.leavings.pop(job.id, None)
        entry.ending_by, entry.preempted_for = None, None
        entry.parked_at, entry.parked_s, entry.suspend = None, 0.0, ""

    # -- claims --------------------------------------------------------------------------------

    def make_claim(self, entry: Entry, claim: Claim) -> None:
        entry.claim = claim
        for uuid in claim.slots:
            self.slots[uuid].claim = entry.job.id
            self.nodes.update(self.slots[uuid])
        self.tallies.hold(entry.job, claim.units)
        self.claims[entry.job.id] = None
        self.budgets.claim(entry.job, claim.units)

    def drop_claim(self, entry: Entry) -> None:
        claim = entry.claim
        if claim is None:
            return
        entry.claim = None
        for uuid in claim.slots:
            slot = self.slots[uuid]
            slot.claim = None
            self.nodes.update(slot)
            if not slot.present and slot.forgettable:
                del self.slots[uuid]
                self._renumber()
        self.tallies.hold(entry.job, -claim.units, -1)
        self.claims.pop(entry.job.id, None)
        self.budgets.drop_claim(entry.job.id)

    def ending_soon(self, number: int) -> bool:
        """The job is being ended and is not overdue: what it holds is about to come free."""
        entry = self.entries.get(number)
        return entry is not None and entry.ending_by is not None and self.now < entry.ending_by
