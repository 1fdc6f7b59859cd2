"""The first job that finds no room keeps the room it waits for: nobody behind it may delay it.

This is EASY backfill with particular GPUs: a job behind starts on them only if its walltime ends
before the reservation begins; where that cannot be told, they stay empty. `horizon` says when.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from roost.core.scheduler.entry import Entry
from roost.core.scheduler.horizon import earliest
from roost.core.scheduler.idle import idle_for_s, kept_idle
from roost.core.scheduler.placement import choose_whole
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.reserved import NEVER, Kept, Reservation
from roost.core.scheduler.share_walls import crowded
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import State

Kind = tuple[str, str]


def kind_of(entry: Entry) -> Kind:
    """Jobs that wait for different things each have a first one, with its reservation."""
    request = entry.job.request
    what = "share" if request.shared else "gpus" if request.gpus else "cpus"
    return what, request.gpu_model or ""


def reserve(
    state: State, pool: Pool, entry: Entry, reservations: Sequence[Reservation]
) -> Reservation | None:
    """A reservation for a job that finds no room. None where it could not start even if every
    job ended (GPUs drained or used by strangers): it must not keep others from theirs."""
    request = entry.job.request
    idle_s = idle_for_s(state, entry)
    full = crowded(state, entry.job)
    booked = [*state.walls.kept(entry.job, state.now, full), *kept_idle(state, entry)]
    if (
        not reservations
        and not booked
        and not idle_s
        and (quick := _first(state, pool, entry)) is not None
    ):
        return quick
    ends = {number: end_for(state, state.entries[number], entry) for number in state.active}
    if idle_s:
        for number in ends:
            if not idle_for_s(state, state.entries[number]):
                ends[number] += idle_s
    if request.shared:
        taken = frozenset[str]().union(*(one.slots for one in reservations))
        found = _share(state, pool, entry, taken, booked)
    else:
        length_s = NEVER if request.walltime_s is None else request.walltime_s
        kept = [*(r.kept for r in reservations), *booked]
        found = earliest(pool, entry, length_s, state.now, ends.__getitem__, kept)
    if found is None:
        return None
    slots, gpus_at = found
    room_at = _room_at(state, pool, entry, ends)
    if room_at is None:
        return None
    made = _made(state, pool, entry, slots, max(gpus_at, room_at), ends.__getitem__)
    if request.shared and not booked:
        _, made.spare_gpu_bytes, made.spare_gpu_percent = _share_at(state, slots[0], entry)
    return made


def _made(
    state: State, pool: Pool, entry: Entry, slots: Sequence[Slot], at: float,
    end_of: Callable[[int], float],
) -> Reservation:  # fmt: skip
    """These slots from that instant, and what of CPUs and memory is then left for others."""
    request = entry.job.request
    cpus, memory_bytes = pool.room_for(entry)
    held = at != NEVER and (state.used_cpus or state.used_memory_bytes)
    for number in state.active if held else ():
        if end_of(number) <= at:
            cpus += state.entries[number].cpus_held
            memory_bytes += state.entries[number].job.request.memory_bytes or 0
    return Reservation(
        job=entry.job.id,
        slots=frozenset(slot.gpu.uuid for slot in slots),
        begins_at=None if at == NEVER else at,
        spare_cpus=max(0, cpus - request.cpus),
        spare_memory_bytes=max(0, memory_bytes - (request.memory_bytes or 0)),
        ends_at=NEVER if request.walltime_s is None else at + request.walltime_s,
    )


def _first(state: State, pool: Pool, entry: Entry) -> Reservation | None:
    """The quick way, for whole GPUs of a job that takes from nobody; None where it does not do."""
    request = entry.job.request
    if (
        not request.gpus
        or request.shared
        or request.gpu_model is not None
        or state.rules.classes[entry.job.priority_class].preempts
    ):
        return None
    cpus, memory_bytes = pool.room_for(entry)
    if request.cpus > cpus or (request.memory_bytes or 0) > memory_bytes:
        return None
    room = state.ends.first(request.gpus, state.now)
    if room is None or room[1] == NEVER:
        return None
    free, at = room
    slots: Sequence[Slot] | None = free[: request.gpus]
    if not pool.nodes.alike:
        slots = choose_whole(free, request.gpus, pool.islands, pool.nodes.largest)
    if slots is None:
        return None
    return _made(state, pool, entry, slots, at, state.end_of)


def end_for(state: State, other: Entry, entry: Entry) -> float:
    """When the other job's GPUs could be this one's: at its end, or when it may be preempted."""
    known = max(state.end_of(other.job.id), state.now)
    classes = state.rules.classes
    if other.ending_by is None and other.job.priority_class in (
        classes[entry.job.priority_class].preempts
    ):
        if other.parked_at is not None:
            return state.now
        minimum_s = classes[other.job.priority_class].min_run_s
        known = min(known, max(state.now, other.started_at + minimum_s))
    return known


def _share(
    state: State, pool: Pool, entry: Entry, taken: Collection[str], booked: Sequence[Kept]
) -> tuple[tuple[Slot, ...], float] | None:
    request = entry.job.request
    need = request.gpu_memory_bytes or 0
    best: tuple[float, int, int, int] | None = None
    chosen: Slot | None = None
    for slot in pool.slots:
        if (
            not slot.shared
            or not pool.fits(slot, entry)
            or slot.foreign_bytes > (slot.gpu.memory_bytes - need)
        ):
            continue
        at = _share_at(state, slot, entry)[0]
        for one in booked:
            if slot.gpu.uuid in one.slots and at + (one.lead_s or 0.0) > one.begins_at:
                at = max(at, one.ends_at)
        if slot.gpu.uuid in taken or slot.claim not in (None, entry.job.id):
            at = NEVER
        rank = (at, -slot.free_bytes, -slot.free_percent, slot.order)
        if best is None or rank < best:
            best, chosen = rank, slot
    return None if best is None or chosen is None else ((chosen,), best[0])


def _share_at(state: State, slot: Slot, entry: Entry) -> tuple[float, int, int]:
    """When the slot has the memory and the compute free, by the known ends of the jobs on it; and
    how much of each is then left. Where no such end is known, what is left as it is now."""
    request = entry.job.request
    need, percent = request.gpu_memory_bytes or 0, request.gpu_compute_percent or 0
    if slot.whole is not None or slot.frozen is not None:
        at = max(end_for(state, state.entries[number], entry) for number in slot.occupants)
        return at, -1, 0
    free = slot.gpu.memory_bytes - slot.promised_bytes - slot.foreign_bytes
    free_percent = slot.free_percent
    now = state.now, free - need, max(0, free_percent - percent)
    ends = sorted(
        (end_for(state, state.entries[number], entry), number, size)
        for number, size in slot.shares.items()
    )
    at = state.now
    for end, number, size in ends:
        if free >= need and free_percent >= percent:
            break
        at, free = end, free + size
        free_percent += slot.computes.get(number, 0)
    return (NEVER, *now[1:]) if at == NEVER else (at, free - need, free_percent - percent)


def _room_at(state: State, pool: Pool, entry: Entry, ends: Mapping[int, float]) -> float | None:
    """When CPUs and memory suffice, by the ends of running jobs; None: they never will."""
    request = entry.job.request
    need = request.memory_bytes or 0
    if request.cpus > state.cpus or need > state.memory_bytes:
        return None
    cpus, memory_bytes = pool.room_for(entry)
    if cpus >= request.cpus and memory_bytes >= need:
        return state.now
    at = state.now
    for end, number in sorted((end, number) for number, end in ends.items()):
        if cpus >= request.cpus and memory_bytes >= need:
            break
        at = end
        cpus += state.entries[number].cpus_held
        memory_bytes += state.entries[number].job.request.memory_bytes or 0
    return at
