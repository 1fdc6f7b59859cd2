"""Booked memory of a shared GPU: a wall around so much memory, not around the GPU.

Shares of others come beside it where all fits: what each person's jobs hold there, or has booked
there, whichever is more. Whole GPUs, and who may go first, are not its matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from roost.core.model import Booking, Job

if TYPE_CHECKING:
    from roost.core.scheduler.entry import Entry
    from roost.core.scheduler.slot import Slot
    from roost.core.scheduler.state import State

NOTHING: frozenset[str] = frozenset()


def crowded(state: State, job: Job, slack_s: float = 0.0) -> frozenset[str]:
    """GPUs with booked memory on which the share, started up to `slack_s` from now, would not fit
    beside what is booked while it runs."""
    need = job.request.gpu_memory_bytes
    booked = state.walls.shares
    if need is None or not booked:
        return NOTHING
    until = state.now + slack_s + state.walls.lead_s(job)
    found = set()
    for uuid, bookings in booked.items():
        slot = state.slots.get(uuid)
        if slot is None:
            continue
        held = _held_by(state, slot)
        held[job.user] = held.get(job.user, 0) + need
        if not _fits(slot, held, bookings, state.now, until):
            found.add(uuid)
    return frozenset(found)


def by_right(state: State, job: Job) -> frozenset[str]:
    """GPUs on which the share fits into what its person has booked for this moment and not used."""
    need = job.request.gpu_memory_bytes
    if need is None:
        return NOTHING
    found = set()
    for uuid, bookings in state.walls.shares.items():
        slot = state.slots.get(uuid)
        booked = _booked_by(bookings, state.now).get(job.user, 0)
        if slot is not None and booked:
            held = _held_by(state, slot).get(job.user, 0)
            if held + need <= booked:
                found.add(uuid)
    return frozenset(found)


def stays(state: State, one: Booking, entry: Entry) -> bool:
    """Whether the share may stay beside the memory that another booked: the jobs that were there
    first stay, as many as fit. Who will have ended before takes no room then, and so has to be
    gone: a job that outlives its walltime."""
    uuid = one.gpu_uuids[0]
    slot = state.slots.get(uuid)
    if slot is None or entry.job.id not in slot.shares or _over_before(state, entry, one):
        return False
    held: dict[str, int] = {}
    there = [state.entries[number] for number in slot.shares]
    there.sort(key=lambda each: (each.job.user != one.user, each.started_at, each.job.id))
    for other in there:
        if _over_before(state, other, one):
            continue
        user, size = other.job.user, slot.shares[other.job.id]
        trial = {**held, user: held.get(user, 0) + size}
        fits = user == one.user or _fits(
            slot, trial, state.walls.shares.get(uuid, ()), one.starts_at, one.ends_at
        )
        if fits:
            held = trial
        if other is entry:
            return fits
    return False


def _over_before(state: State, entry: Entry, one: Booking) -> bool:
    walltime_s = entry.job.request.walltime_s
    grace_s = state.rules.classes[entry.job.priority_class].grace_s
    return walltime_s is not None and entry.started_at + walltime_s + grace_s <= one.starts_at


def _held_by(state: State, slot: Slot) -> dict[str, int]:
    """Bytes that the jobs of each person were promised of it."""
    held: dict[str, int] = {}
    for number, size in slot.shares.items():
        user = state.entries[number].job.user
        held[user] = held.get(user, 0) + size
    return held


def _booked_by(bookings: Iterable[Booking], at: float) -> dict[str, int]:
    booked: dict[str, int] = {}
    for one in bookings:
        if one.starts_at <= at < one.ends_at:
            booked[one.user] = booked.get(one.user, 0) + (one.memory_bytes or 0)
    return booked


def _fits(
    slot: Slot, held: dict[str, int], bookings: Iterable[Booking], start: float, end: float
) -> bool:
    """At every instant of [start, end) at which a booking is on."""
    room = slot.gpu.memory_bytes - slot.foreign_bytes
    there = [one for one in bookings if one.starts_at < end and start < one.ends_at]
    for at in {max(start, one.starts_at) for one in there}:
        booked = _booked_by(there, at)
        people = held.keys() | booked.keys()
        if sum(max(held.get(who, 0), booked.get(who, 0)) for who in people) > room:
            return False
    return True
