"""When GPUs come free: the known ends of what runs, and the reservations already made.

A GPU is busy over intervals; a job of some length needs enough GPUs that are free together for so
long. GPUs are particular ones, not a number: what is reserved is there when the time comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from roost.core.scheduler.entry import Entry
from roost.core.scheduler.placement import choose_whole
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.reserved import NEVER, Kept
from roost.core.scheduler.slot import Slot


def earliest(
    pool: Pool,
    entry: Entry,
    length_s: float,
    now: float,
    end_of: Callable[[int], float],
    kept: Sequence[Kept],
) -> tuple[tuple[Slot, ...], float] | None:
    """The first instant at which the job finds its whole GPUs, and which; None where it would not
    even with everything ended. The instant is NEVER where that hangs on an end that is not known.
    """
    count = entry.job.request.gpus
    if not count:
        return (), now
    usable = [
        slot
        for slot in pool.slots
        if slot.open and not slot.foreign_bytes and pool.model_fits(slot, entry)
    ]
    if len(usable) < count:
        return None
    changes = _changes(usable, entry, length_s, now, end_of, kept)
    free: dict[int, Slot] = {}
    counts: dict[str, int] = {}
    largest = pool.nodes.largest
    at = now
    n = 0
    while n < len(changes):
        at = max(now, changes[n][0])
        maybe = False
        while n < len(changes) and max(now, changes[n][0]) == at:
            _, opens, order = changes[n]
            n += 1
            slot = pool.slots[order]
            server = slot.gpu.server
            if opens:
                free[order] = slot
                counts[server] = counts.get(server, 0) + 1
                maybe = maybe or count > largest or counts[server] >= count
            elif order in free:
                del free[order]
                counts[server] -= 1
        if not maybe or len(free) < count:
            continue
        chosen = choose_whole([free[o] for o in sorted(free)], count, pool.islands, largest)
        if chosen is not None:
            return chosen, at
    return None


def _changes(
    usable: Sequence[Slot],
    entry: Entry,
    length_s: float,
    now: float,
    end_of: Callable[[int], float],
    kept: Sequence[Kept],
) -> list[tuple[float, int, int]]:
    """(instant, 1 opens or 0 closes, order): from when to when the job could begin on each slot.

    Closing comes just after the last instant at which there is still length enough.
    """
    by_slot: dict[str, list[tuple[float, float, float]]] = {}
    for one in kept:
        lead_s = length_s if one.lead_s is None else one.lead_s
        for name in one.slots:
            by_slot.setdefault(name, []).append((one.begins_at, one.ends_at, lead_s))
    found: list[tuple[float, int, int]] = []
    for slot in usable:
        free_at = now
        for number in slot.occupants:
            free_at = max(free_at, end_of(number))
        if slot.claim not in (None, entry.job.id):
            free_at = NEVER
        for begin, end, lead_s in sorted(by_slot.get(slot.gpu.uuid, ())):
            last = -NEVER if lead_s == NEVER else begin - lead_s
            if last >= free_at - 1e-6:
                found.append((free_at, 1, slot.order))
                found.append((_after(last), 0, slot.order))
            free_at = max(free_at, end)
        found.append((free_at, 1, slot.order))
    found.sort()
    return found


def _after(at: float) -> float:
    """An instant just after; times are seconds, and a microsecond is less than anybody counts."""
    return at + 1e-6
