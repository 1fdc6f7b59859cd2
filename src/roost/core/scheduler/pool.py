"""What is free at this moment of a round, and for whom: the same answer for equal requests.

A view of the state, not a copy. GPUs that another job claims, and those behind a reservation, are
not free.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from roost.core.scheduler.entry import Entry
from roost.core.scheduler.idle import lately_used
from roost.core.scheduler.placement import model_matches
from roost.core.scheduler.reserved import Reservation
from roost.core.scheduler.share_walls import crowded
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import State
from roost.core.scheduler.walls import NOTHING


class Pool:
    """Free slots in index order, and the CPUs and memory that nobody holds or was promised."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.nodes = state.nodes
        self.islands = state.islands
        self.refresh()

    @property
    def slots(self) -> list[Slot]:
        """All slots, in order."""
        return self.nodes.slots

    @property
    def free_count(self) -> int:
        return self.nodes.free_count

    def barred(
        self, entry: Entry, way: Sequence[Reservation], slack_s: float = 0.0
    ) -> frozenset[str]:
        """GPUs that are kept for others: by the reservations in the job's way, and by bookings,
        for a start up to `slack_s` from now; or that are not idle for long enough."""
        state = self._state
        if not way and not state.walls and not state.idles:
            return NOTHING
        booked = state.walls.barred(entry.job, state.now, slack_s)
        if state.walls.shares:
            booked = booked.union(crowded(state, entry.job, slack_s))
        if state.rules.classes[entry.job.priority_class].idle_for_s:
            booked = booked.union(slot.gpu.uuid for slot in lately_used(state, entry))
        return booked.union(*(one.slots for one in way)) if way else booked

    def shut(self, entry: Entry) -> bool:
        """A maintenance keeps also a job without GPUs from starting."""
        walls = self._state.walls
        return bool(walls) and walls.shut(entry.job, self._state.now)

    def refresh(self) -> None:
        """Works the free CPUs and memory out again from the state."""
        state = self._state
        cpus = state.cpus - state.used_cpus
        memory_bytes = state.memory_bytes - state.used_memory_bytes
        for number in state.claims:
            promised_cpus, promised_bytes = self._promised(state.entries[number])
            cpus -= promised_cpus
            memory_bytes -= promised_bytes
        self.cpus = cpus
        self.memory_bytes = memory_bytes

    def _promised(self, entry: Entry) -> tuple[int, int]:
        """CPUs and memory set aside for a claim: what its victims will not bring."""
        if entry.claim is None:
            return 0, 0
        request = entry.job.request
        coming = [
            other
            for number in entry.claim.victims
            if (other := self._state.entries.get(number)) is not None and other.grants_held
        ]
        cpus = request.cpus - sum(one.cpus_held for one in coming)
        memory_bytes = (request.memory_bytes or 0) - sum(
            one.job.request.memory_bytes or 0
            for one in coming
            if one.ending_by is not None and not one.suspend
        )
        return max(0, cpus), max(0, memory_bytes)

    def room_for(self, entry: Entry) -> tuple[int, int]:
        """CPUs and memory that this job could have: the free ones and those set aside for it."""
        if entry.claim is None:
            return self.cpus, self.memory_bytes
        cpus, memory_bytes = self._promised(entry)
        return self.cpus + cpus, self.memory_bytes + memory_bytes

    def fits(self, slot: Slot, entry: Entry) -> bool:
        """The GPU itself would do for the job, whoever is on it now."""
        return slot.open and self.model_fits(slot, entry)

    def model_fits(self, slot: Slot, entry: Entry) -> bool:
        model = entry.job.request.gpu_model
        return model is None or model_matches(slot.gpu.model, model)

    def whole_for(self, entry: Entry, banned: Collection[str]) -> list[Slot]:
        """Free whole GPUs for this job, in index order; with those that its claim has freed."""
        free = self.nodes.free_slots()
        if entry.claim is not None:
            own = [
                slot
                for uuid in entry.claim.slots
                if (slot := self._state.slots[uuid]).empty and slot.open and not slot.foreign_bytes
            ]
            free = sorted([*free, *own], key=lambda slot: slot.order)
        if entry.job.request.gpu_model is not None:
            free = [slot for slot in free if self.fits(slot, entry)]
        if banned:
            free = [slot for slot in free if slot.gpu.uuid not in banned]
        return free

    def share_for(self, entry: Entry, banned: Collection[str]) -> list[Slot]:
        """Slots marked shared on which this job could be placed if there is memory enough."""
        return [
            slot
            for slot in self.slots
            if slot.shared
            and slot.claim in (None, entry.job.id)
            and slot.gpu.uuid not in banned
            and self.fits(slot, entry)
        ]
