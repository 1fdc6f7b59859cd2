"""Why a share of a GPU waits though its memory is free: others were promised the GPU's compute."""

from __future__ import annotations

from collections.abc import Sequence

from roost.core.scheduler.decisions import Reason
from roost.core.scheduler.entry import Entry
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.reservation import end_for
from roost.core.scheduler.reserved import NEVER
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import State

MOST_NAMED = 3


def compute_reasons(state: State, pool: Pool, entry: Entry, slots: Sequence[Slot]) -> list[Reason]:
    """How much compute is free where the memory would do, and who has the rest, the first that ends
    first; nothing where compute is not what is short. `slots`: those that are marked shared and
    right for the job."""
    request = entry.job.request
    percent = request.gpu_compute_percent
    if percent is None:
        return []
    barred = pool.barred(entry, ())
    roomy = [
        slot
        for slot in slots
        if slot.open
        and slot.claim in (None, entry.job.id)
        and slot.gpu.uuid not in barred
        and slot.free_bytes >= (request.gpu_memory_bytes or 0)
    ]
    best = max(roomy, key=lambda slot: (slot.free_percent, -slot.order), default=None)
    if best is None or best.free_percent >= percent:
        return []
    ends = sorted((end_for(state, state.entries[n], entry), n) for n in best.computes)
    holders = [number for _, number in ends]
    numbers: tuple[tuple[str, str | int | float], ...] = (
        ("need_percent", percent), ("free_percent", best.free_percent), ("gpu", best.gpu.index),
    )  # fmt: skip
    found = [Reason("share_compute", numbers, "", tuple(holders))]
    for end, number in ends[:MOST_NAMED]:
        found.append(_held(state, number, best.computes[number], end))
    return found


def _held(state: State, number: int, percent: int, end: float) -> Reason:
    user = state.entries[number].job.user
    if end == NEVER:
        about = (("job", number), ("user", user), ("percent", percent))
        return Reason("compute_used", about, "", (number,))
    until = (("job", number), ("user", user), ("percent", percent), ("end_at", end))
    return Reason("compute_used_until", until, "", (number,))
