"""The cards that were ever seen, and those among them whose calls hang.

A helper forgets everything when it dies; this does not. It must not know processes or sockets but
for where the helper says that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from roost.core.observation import GpuReading, GpuState
from roost.machine.nvml.process import HelperProcess

PLACEHOLDER = "GPU-unknown-"
PROBE_MAY_TAKE_S = 0.5


@dataclass(slots=True)
class _Hung:
    try_at: float
    delay_s: float


def bare(gpu: GpuReading, state: GpuState, detail: str) -> GpuReading:
    """Only what does not change of a card, with that state."""
    return GpuReading(
        gpu.uuid,
        gpu.index,
        gpu.name,
        state,
        detail,
        minor=gpu.minor,
        pci_bus_id=gpu.pci_bus_id,
        numa_node=gpu.numa_node,
        links=gpu.links,
        memory_total_bytes=gpu.memory_total_bytes,
    )


class KnownCards:
    """In index order. `probing` is the card that the helper tries after its answer."""

    def __init__(self, probe_s: float, probe_most_s: float) -> None:
        self.probing: str | None = None
        self._probe_s = probe_s
        self._probe_most_s = probe_most_s
        self._cards: dict[str, GpuReading] = {}
        self._hung: dict[str, _Hung] = {}
        self._probed_at = 0.0

    def as_(self, state: GpuState, detail: str) -> tuple[GpuReading, ...]:
        """Every known card with that state, without measures."""
        return tuple(bare(gpu, state, detail) for gpu in self._in_order(self._cards.values()))

    def merge(self, told: Sequence[GpuReading]) -> tuple[GpuReading, ...]:
        """What the helper told, completed by the cards that it did not: hanging, or missing."""
        readings = {gpu.uuid: gpu for gpu in map(self._named, told)}
        for uuid, known in self._cards.items():
            if uuid in self._hung:
                state, detail = GpuState.NOT_ANSWERING, "its calls do not return"
            elif uuid in readings or uuid.startswith(PLACEHOLDER):
                continue
            else:
                state, detail = GpuState.MISSING, ""
            readings[uuid] = bare(known, state, detail)
        for gpu in readings.values():
            if gpu.state is GpuState.OK or gpu.uuid not in self._cards:
                self._cards[gpu.uuid] = gpu
        for uuid in [u for u in self._cards if u not in readings]:
            del self._cards[uuid]
        return self._in_order(readings.values())

    def _named(self, gpu: GpuReading) -> GpuReading:
        """A card that a fresh helper cannot name is the one that was at its index."""
        if not gpu.uuid.startswith(PLACEHOLDER):
            return gpu
        for known in self._cards.values():
            if known.index == gpu.index and not known.uuid.startswith(PLACEHOLDER):
                return bare(known, gpu.state, gpu.state_detail)
        return gpu

    @staticmethod
    def _in_order(gpus: Iterable[GpuReading]) -> tuple[GpuReading, ...]:
        return tuple(sorted(gpus, key=lambda gpu: (gpu.index, gpu.state is GpuState.MISSING)))

    # -- cards whose calls hang ----------------------------------------------------------------

    def hangs(self, index: int, now: float) -> None:
        """The helper hung while it asked the card of that index (negative: none)."""
        if index < 0:
            return
        found = [uuid for uuid, gpu in self._cards.items() if gpu.index == index]
        if not found:
            found = [f"{PLACEHOLDER}{index}"]
            self._cards[found[0]] = GpuReading(found[0], index, "?")
        for uuid in found:
            self._postpone(uuid, now)

    def _postpone(self, uuid: str, now: float) -> None:
        before = self._hung.get(uuid)
        delay = self._probe_s if before is None else min(before.delay_s * 2, self._probe_most_s)
        self._hung[uuid] = _Hung(now + delay, delay)

    def recovered(self, uuid: str) -> None:
        """It answered a probe."""
        self._hung.pop(uuid, None)
        if self.probing == uuid:
            self.probing = None

    def hung_indices(self) -> dict[str, int]:
        """UUID and index of the cards that are not to be asked."""
        return {uuid: self._cards[uuid].index for uuid in self._hung if uuid in self._cards}

    def due(self, now: float) -> str | None:
        """A hanging card whose time has come to be tried, one at a time."""
        for uuid, hung in self._hung.items():
            if now >= hung.try_at:
                self._probed_at = now
                return uuid
        return None

    def probe_hangs(self, helper: HelperProcess, now: float) -> bool:
        """Whether the helper hangs in the probe; that card then waits longer for its next one."""
        uuid = self.probing
        if uuid is None or helper.asked_at is not None or uuid not in self._cards:
            return False
        if now - self._probed_at < PROBE_MAY_TAKE_S:
            return False
        if helper.in_card() != self._cards[uuid].index:
            return False
        self._postpone(uuid, now)
        return True
