"""Which bookings stand before a waiting job, as reasons for its wait."""

from __future__ import annotations

from roost.core.model import Booking
from roost.core.scheduler.decisions import Reason
from roost.core.scheduler.entry import Entry
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.state import State

MOST_NAMED = 3


def booked_reasons(state: State, pool: Pool, entry: Entry) -> list[Reason]:
    """The bookings by which GPUs that would do for the job are barred to it now, the first first;
    for a job without GPUs, a maintenance that it would run into."""
    if not state.walls:
        return []
    request = entry.job.request
    against = state.walls.against(entry.job, state.now)
    if not request.gpus and not request.shared:
        shut = [one for one in against if one.maintenance] if pool.shut(entry) else []
        return [_reason(state, one, "") for one in shut[:1]]
    barred = pool.barred(entry, ())
    found = []
    for one in against:
        slots = [state.slots[uuid] for uuid in one.gpu_uuids if uuid in barred & state.slots.keys()]
        fit = sorted((s for s in slots if pool.fits(s, entry)), key=lambda s: s.order)
        if fit:
            found.append(_reason(state, one, ", ".join(str(slot.gpu.index) for slot in fit)))
    return found[:MOST_NAMED]


def _reason(state: State, one: Booking, gpus: str) -> Reason:
    """`gpus`: as people name them; "" for the server itself."""
    code = "maintenance" if one.maintenance else "booked"
    if not gpus:
        code = "maintenance_server"
    numbers: tuple[tuple[str, str | int | float], ...] = (
        ("booking", one.id), ("user", one.user), ("gpus", gpus),
        ("begin_at", one.starts_at), ("end_at", one.ends_at),
    )  # fmt: skip
    if one.starts_at > state.now:
        code += "_from"
    return Reason(code, numbers, blocking_bookings=(one.id,))
