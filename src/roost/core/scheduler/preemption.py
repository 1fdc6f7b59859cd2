"""From whom an urgent job takes: the set of jobs that loses the least work, and only if the urgent
job can then really start on what they free. A plan is made without touching anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from roost.core.model import JobState
from roost.core.scheduler.entry import Claim, Entry
from roost.core.scheduler.limits import UNITS, share_units
from roost.core.scheduler.order import Order
from roost.core.scheduler.placement import choose_whole
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import State
from roost.core.scheduler.suspending import loss_of, may_go_over, over
from roost.core.scheduler.taking import Victims, take_by_turn

GIB = 1 << 30
# Combinations kept at once. Reached only with many victims of odd sizes while GPUs, CPUs and
# memory are short together; then the cheapest are kept.
MOST_KEPT = 4096
MOST_SUBSETS = 12
# Of a job with a share: the work that is lost, its number, its bytes, its percent of the compute.
Sharer = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """`victims` are to be preempted; `claim` names them and jobs that are ending anyway.
    `in_place`: it is enough if they stand still where they are."""

    victims: tuple[int, ...]
    claim: Claim
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """Jobs that go together, what they lose, and what that frees for the claimant."""

    loss: int
    jobs: tuple[int, ...]
    gpus: int
    cpus: int
    memory_gib: int

    @property
    def cost(self) -> tuple[int, int, tuple[int, ...]]:
        return self.loss, len(self.jobs), self.jobs


def may_preempt(state: State, entry: Entry, victim: Entry) -> bool:
    """By the rules, and past the victim's minimum run."""
    classes = state.rules.classes
    which = victim.job.priority_class
    return (
        victim.state in (JobState.RUNNING, JobState.STARTING)
        and which in classes[entry.job.priority_class].preempts
        and state.now >= victim.started_at + classes[which].min_run_s
    )


def plan(
    state: State, pool: Pool, entry: Entry, banned: Collection[str], victims: Victims,
    order: Order,
) -> Plan | None:  # fmt: skip
    """Whom to preempt so that the job starts; None where nobody may be, or it would not help."""
    if state.rules.classes[entry.job.priority_class].preempts:
        found = _plan_by_class(state, pool, entry, banned)
        if found is not None:
            return found
    if state.policy.preempts and entry.job.request.gpus:
        if entry.job.request.shared:
            banned = {*banned, *_no_share(pool, entry.job.request.gpu_memory_bytes or 0)}
        taken = take_by_turn(state, pool, entry, banned, victims, order)
        return None if taken is None else Plan(*taken)
    return None


def _no_share(pool: Pool, need: int) -> list[str]:
    """GPUs on which a share of so many bytes has no room even if nothing else is on them."""
    return [
        slot.gpu.uuid
        for slot in pool.slots
        if not slot.shared or need > slot.gpu.memory_bytes - slot.foreign_bytes
    ]


def _plan_by_class(state: State, pool: Pool, entry: Entry, banned: Collection[str]) -> Plan | None:
    if entry.job.request.shared:
        return _plan_share(state, pool, entry, banned)
    return _plan_whole(state, pool, entry, banned)


def _yields(state: State, entry: Entry, number: int) -> bool:
    """It is going, or may be told to go; also one that is suspended, for whom asks."""
    victim, ending = state.entries[number], state.ending_soon(number)
    preempts = state.rules.classes[entry.job.priority_class].preempts
    lower = victim.job.priority_class in preempts
    if victim.suspend:
        return ending and lower
    still = victim.state is JobState.SUSPENDED and lower
    return ending or still or may_preempt(state, entry, victim)


def _plan_whole(state: State, pool: Pool, entry: Entry, banned: Collection[str]) -> Plan | None:
    """Of several servers that could hold the job, the one where the least work is lost."""
    nodes = pool.nodes
    if len(nodes.all) == 1 or entry.job.request.gpus > nodes.largest:
        return _plan_on(state, pool, entry, banned)
    best: tuple[int, int, tuple[int, ...]] | None = None
    chosen: Plan | None = None
    for node in nodes.all:
        elsewhere = [s.gpu.uuid for other in nodes.all if other is not node for s in other.slots]
        found = _plan_on(state, pool, entry, {*banned, *elsewhere})
        if found is None:
            continue
        loss = sum(loss_of(state, state.entries[n], found.in_place) for n in found.victims)
        rank = loss, len(found.victims), found.victims
        if best is None or rank < best:
            best, chosen = rank, found
    return chosen


def _plan_on(state: State, pool: Pool, entry: Entry, banned: Collection[str]) -> Plan | None:
    request = entry.job.request
    preempts = state.rules.classes[entry.job.priority_class].preempts
    vacant = over(state, pool, entry, banned) if request.gpus else []
    free = [*pool.whole_for(entry, banned), *vacant]
    cpus, memory_bytes = pool.room_for(entry)
    slots = [
        slot
        for slot in pool.slots
        if not slot.empty
        and slot.claim in (None, entry.job.id)
        and not slot.foreign_bytes
        and slot.gpu.uuid not in banned
        and pool.fits(slot, entry)
        and may_go_over(state, slot, preempts)
        and all(_yields(state, entry, number) for number in slot.holders)
    ]
    ending = _ending(state, entry)
    coming = [slot for slot in slots if all(state.ending_soon(n) for n in slot.holders)]
    crowded = cpus < request.cpus or memory_bytes < (request.memory_bytes or 0)
    for number in ending:
        cpus += state.entries[number].cpus_held
        if not state.entries[number].suspend:
            memory_bytes += state.entries[number].job.request.memory_bytes or 0
    short = (
        max(0, request.gpus - len(free) - len(coming)),
        max(0, request.cpus - cpus),
        max(0, -(-((request.memory_bytes or 0) - memory_bytes) // GIB)),
    )
    in_place = not short[2]
    victims = _cheapest(list(_items(state, entry, slots, in_place)), short)
    if victims is None or not (victims or coming or vacant or (crowded and ending)):
        return None
    after = [
        slot
        for slot in slots
        if all(number in victims or state.ending_soon(number) for number in slot.holders)
    ]
    room = sorted([*free, *after], key=lambda slot: slot.order)
    chosen = choose_whole(room, request.gpus, pool.islands, pool.nodes.largest)
    if chosen is None:
        return None
    helping = {*victims, *(number for slot in chosen for number in slot.holders)}
    if crowded:
        helping.update(ending)
    names = tuple(slot.gpu.uuid for slot in chosen)
    claim = Claim(names, tuple(sorted(helping)), request.gpus * UNITS)
    return Plan(victims, claim, in_place)


def _ending(state: State, entry: Entry) -> list[int]:
    """Jobs that are ending anyway, but for those that do for another claim: their CPUs are promised
    to it."""
    elsewhere = {
        number
        for other in state.claims
        if other != entry.job.id and (claim := state.entries[other].claim) is not None
        for number in claim.victims
    }
    return [n for n in state.active if state.ending_soon(n) and n not in elsewhere]


def _items(state: State, entry: Entry, slots: list[Slot], in_place: bool) -> Iterator[Item]:
    """Victims by what goes together: a job with its GPUs, or all the shares of one GPU."""
    gpus: dict[int, int] = {}
    bundled: set[int] = set()
    for slot in slots:
        if slot.whole is not None:
            gpus[slot.whole] = gpus.get(slot.whole, 0) + 1
            continue
        jobs = tuple(n for n in sorted(slot.shares) if not state.ending_soon(n))
        bundled.update(jobs)
        if len(jobs) > 1:
            yield _item(state, jobs, 1, in_place)
        elif jobs:
            gpus[jobs[0]] = 1
    for number in sorted(state.active):
        alone = number not in bundled or number in gpus
        if alone and may_preempt(state, entry, state.entries[number]):
            yield _item(state, (number,), gpus.get(number, 0), in_place)


def _item(state: State, jobs: tuple[int, ...], gpus: int, in_place: bool) -> Item:
    entries = [state.entries[number] for number in jobs]
    return Item(
        loss=sum(loss_of(state, one, in_place) for one in entries),
        jobs=jobs,
        gpus=gpus,
        cpus=sum(one.job.request.cpus for one in entries),
        memory_gib=sum((one.job.request.memory_bytes or 0) // GIB for one in entries),
    )


def _cheapest(items: list[Item], short: tuple[int, int, int]) -> tuple[int, ...] | None:
    """The jobs of the cheapest items that cover what is short: least work lost, then fewest jobs.

    A knapsack over what is still short after each item; exact up to MOST_KEPT combinations.
    """
    if not any(short):
        return ()
    items.sort(key=lambda item: item.cost)
    best: dict[tuple[int, int, int], tuple[int, int, tuple[int, ...]]] = {short: (0, 0, ())}
    for item in items:
        if (
            not (item.gpus and short[0])
            and not (item.cpus and short[1])
            and not (item.memory_gib and short[2])
        ):
            continue
        for left, (loss, count, jobs) in list(best.items()):
            if not any(left):
                continue
            then = (
                max(0, left[0] - item.gpus),
                max(0, left[1] - item.cpus),
                max(0, left[2] - item.memory_gib),
            )
            cost = (loss + item.loss, count + len(item.jobs), (*jobs, *item.jobs))
            if then not in best or cost < best[then]:
                best[then] = cost
        if len(best) > MOST_KEPT:
            ranked = sorted(best.items(), key=lambda one: (one[1], one[0]))
            best = dict(ranked[:MOST_KEPT])
    found = best.get((0, 0, 0))
    return None if found is None else tuple(sorted(found[2]))


def _plan_share(state: State, pool: Pool, entry: Entry, banned: Collection[str]) -> Plan | None:
    """For a share: the GPU marked shared on which the room costs least. What is then still short of
    CPUs and memory comes from jobs anywhere."""
    request = entry.job.request
    best: tuple[int, int, tuple[int, ...], int] | None = None
    chosen: tuple[Slot, frozenset[int]] | None = None
    for slot in pool.share_for(entry, banned):
        there = _cheapest_on(state, entry, slot)
        ending = frozenset(filter(state.ending_soon, slot.occupants))
        found = None if there is None else _with_cpus(state, pool, entry, {*there}, ending)
        if found is None:
            continue
        victims, helping = found
        loss = sum(state.entries[n].lost_work(state.now) for n in victims)
        rank = (loss, len(victims), victims, slot.order)
        if helping and (best is None or rank < best):
            best, chosen = rank, (slot, helping)
    if best is None or chosen is None:
        return None
    slot, helping = chosen
    units = share_units(request, slot.gpu)
    return Plan(best[2], Claim((slot.gpu.uuid,), tuple(sorted(helping)), units))


def _with_cpus(
    state: State, pool: Pool, entry: Entry, victims: set[int], ending: frozenset[int]
) -> tuple[tuple[int, ...], frozenset[int]] | None:
    """These victims with those whose CPUs and memory are needed too, and all that help the job by
    going; None where that is not enough."""
    request = entry.job.request
    cpus, memory_bytes = pool.room_for(entry)

    def short(gone: Collection[int]) -> tuple[int, int, int]:
        """Of GPUs, CPUs and GiB of memory, with these gone."""
        others = [state.entries[number] for number in gone]
        cores = request.cpus - cpus - sum(one.cpus_held for one in others)
        size = (request.memory_bytes or 0) - memory_bytes
        size -= sum(one.job.request.memory_bytes or 0 for one in others)
        return 0, max(0, cores), max(0, -(-size // GIB))

    helping = frozenset({*victims, *ending})
    if any(short(helping)):
        helping |= {n for n in _ending(state, entry) if not state.entries[n].suspend}
    lacking = short(helping)
    if not any(lacking):
        return tuple(sorted(victims)), helping
    items = [
        _item(state, (number,), 0, in_place=False)
        for number in state.active
        if number not in helping and may_preempt(state, entry, state.entries[number])
    ]
    more = _cheapest(items, lacking)
    if more is None:
        return None
    return tuple(sorted({*victims, *more})), helping | {*more}


def _cheapest_on(state: State, entry: Entry, slot: Slot) -> tuple[int, ...] | None:
    """The cheapest jobs of one GPU without which it has the memory and the compute free."""
    request = entry.job.request
    need, percent = request.gpu_memory_bytes or 0, request.gpu_compute_percent or 0
    room = slot.gpu.memory_bytes - slot.foreign_bytes
    if slot.whole is not None or slot.frozen is not None:
        there = sorted(slot.occupants)
        if room < need or not all(_yields(state, entry, number) for number in there):
            return None
        if any(state.entries[number].suspend for number in there):
            return None  # just being suspended, for somebody else: it will not be gone
        return tuple(number for number in there if not state.ending_soon(number))
    coming = [number for number in slot.shares if state.ending_soon(number)]
    need -= room - slot.promised_bytes + sum(slot.shares[number] for number in coming)
    percent -= slot.free_percent + sum(slot.computes.get(number, 0) for number in coming)
    if need <= 0 and percent <= 0:
        return ()
    candidates = sorted(
        (state.entries[number].lost_work(state.now), number, size, slot.computes.get(number, 0))
        for number, size in slot.shares.items()
        if may_preempt(state, entry, state.entries[number])
    )
    if not _covers(candidates, need, percent):
        return None
    if len(candidates) > MOST_SUBSETS:
        return _greedy(candidates, need, percent)
    best: tuple[int, int, tuple[int, ...]] | None = None
    for mask in range(1, 1 << len(candidates)):
        part = [one for n, one in enumerate(candidates) if mask >> n & 1]
        if _covers(part, need, percent):
            jobs = tuple(sorted(one[1] for one in part))
            cost = (sum(one[0] for one in part), len(part), jobs)
            best = cost if best is None or cost < best else best
    return None if best is None else best[2]


def _covers(part: Sequence[Sharer], need: int, percent: int) -> bool:
    """Without these, so many bytes and so much compute more are free."""
    return sum(one[2] for one in part) >= need and sum(one[3] for one in part) >= percent


def _greedy(candidates: list[Sharer], need: int, percent: int) -> tuple[int, ...]:
    """Cheapest first until it suffices, then without those that turned out not to be needed."""
    taken: list[Sharer] = []
    for one in candidates:
        if _covers(taken, need, percent):
            break
        taken.append(one)
    for one in list(reversed(taken)):
        without = [other for other in taken if other is not one]
        if _covers(without, need, percent):
            taken = without
    return tuple(sorted(one[1] for one in taken))
