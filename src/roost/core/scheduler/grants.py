"""Which GPUs a job would get at this moment, and whether those it was promised still come free."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from roost.core.model import Grant
from roost.core.scheduler.entry import Entry
from roost.core.scheduler.placement import choose_share, choose_whole
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.reserved import Reservation
from roost.core.scheduler.state import State


def find_grants(
    pool: Pool,
    entry: Entry,
    way: Sequence[Reservation],
    only: Collection[str] = (),
    count: int | None = None,
) -> tuple[Grant, ...] | None:
    """The GPUs that the job would get now, past the reservations and bookings in its way; None: no
    room. `only`: of these, where any are named. `count`: so many whole ones, not as few as do."""
    request = entry.job.request
    gpus = request.gpus if count is None else count
    if request.shared:
        way = [one for one in way if not one.lets_in(request)]
    banned = pool.barred(entry, way)
    if only:
        banned = banned.union(uuid for uuid in pool.nodes.by_uuid if uuid not in only)
    if request.gpu_memory_bytes is not None:
        slot = choose_share(
            pool.share_for(entry, banned), request.gpu_memory_bytes, request.gpu_compute_percent
        )
        return None if slot is None else (Grant(slot.gpu.uuid, request.gpu_memory_bytes),)
    if not request.gpus:
        return None if pool.shut(entry) else ()
    if entry.claim is None:
        if gpus > pool.free_count:
            return None
        if pool.nodes.alike and request.gpu_model is None:
            found = pool.nodes.take_alike(gpus, banned)
            return None if found is None else tuple([Grant(slot.gpu.uuid) for slot in found])
    chosen = choose_whole(pool.whole_for(entry, banned), gpus, pool.islands, pool.nodes.largest)
    return None if chosen is None else tuple(Grant(slot.gpu.uuid) for slot in chosen)


def claim_holds(state: State, entry: Entry) -> bool:
    """Whether what was claimed will still come free: no GPU of it was lost, drained or taken by
    a stranger, and no victim is overdue."""
    claim, request = entry.claim, entry.job.request
    if claim is None or entry.job.id not in state.queue:
        return False
    for number in claim.victims:
        victim = state.entries.get(number)
        if victim is not None and victim.ending_by is not None and not state.ending_soon(number):
            return False
    barred = state.walls.barred(entry.job, state.now)
    for uuid in claim.slots:
        slot = state.slots[uuid]
        if not slot.open or uuid in barred:
            return False
        if request.gpu_memory_bytes is None:
            if slot.foreign_bytes or not all(state.ending_soon(n) for n in slot.holders):
                return False
            continue
        if slot.frozen is not None and not state.ending_soon(slot.frozen):
            return False
        if slot.gpu.memory_bytes - slot.foreign_bytes < request.gpu_memory_bytes:
            return False
    return True
