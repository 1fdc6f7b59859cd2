"""The last hour of every GPU's readings, in slots of five seconds: a fixed size for each GPU.

The control thread adds, others ask. Knows numbers and times, not how they are shown.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections.abc import Iterable
from itertools import pairwise

from roost.core.observation import GpuReading

HOUR_S = 3600.0
SLOT_S = 5
SLOTS = int(HOUR_S) // SLOT_S + 1
READINGS = ("utilisation_percent", "memory_used_bytes", "power_w", "temperature_c")
Rows = dict[str, list[float | None]]


class _Gpu:
    """For each reading the sum and the number of those of a slot; `last` is the newest slot."""

    def __init__(self, last: int) -> None:
        self.empty(last)

    def empty(self, last: int) -> None:
        self.last = last
        self.sums = [array("d", bytes(8 * SLOTS)) for _ in READINGS]
        self.counts = [array("L", bytes(array("L").itemsize * SLOTS)) for _ in READINGS]

    def add(self, slot: int, values: Iterable[float | None]) -> None:
        if slot <= self.last - SLOTS:  # the clock was set back
            self.empty(slot)
        for passed in range(max(self.last + 1, slot - SLOTS + 1), slot + 1):
            for sums, counts in zip(self.sums, self.counts, strict=True):
                sums[passed % SLOTS], counts[passed % SLOTS] = 0.0, 0
        self.last = max(self.last, slot)
        place = slot % SLOTS
        for number, value in enumerate(values):
            if value is not None:
                self.sums[number][place] += value
                self.counts[number][place] += 1

    def means(self, reading: int, steps: Iterable[tuple[int, int]]) -> list[float | None]:
        """Of the slots from the first until before the second of each step."""
        oldest, end = self.last - SLOTS + 1, self.last + 1
        cut = oldest % SLOTS
        sums, counts = self.sums[reading], self.counts[reading]
        sums, counts = sums[cut:] + sums[:cut], counts[cut:] + counts[:cut]
        found: list[float | None] = []
        for first, last in steps:
            one, other = max(first, oldest) - oldest, min(last, end) - oldest
            count = sum(counts[one:other]) if one < other else 0
            found.append(round(sum(sums[one:other]) / count, 1) if count else None)
        return found


class Readings:
    """One a server; any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gpus: dict[str, _Gpu] = {}

    def add(self, at: float, gpus: Iterable[GpuReading]) -> None:
        """A look at `at` (seconds since the epoch). A GPU that was not seen for an hour goes."""
        slot = int(at // SLOT_S)
        with self._lock:
            for gpu in gpus:
                kept = self._gpus.get(gpu.uuid)
                if kept is None:
                    kept = self._gpus[gpu.uuid] = _Gpu(slot)
                kept.add(slot, [getattr(gpu, name) for name in READINGS])
            for uuid in [u for u, kept in self._gpus.items() if kept.last <= slot - SLOTS]:
                del self._gpus[uuid]

    def means(self, start: float, step_s: float, points: int, uuid: str | None = None
              ) -> dict[str, Rows]:  # fmt: skip
        """By GPU and reading, the mean of each of `points` steps from `start` on; None for a step
        in which nothing was read. What a slot holds counts to the step in which it begins."""
        bounds = [math.ceil((start + step_s * n) / SLOT_S) for n in range(points + 1)]
        steps = list(pairwise(bounds))
        with self._lock:
            found = {
                name: {
                    reading: kept.means(number, steps) for number, reading in enumerate(READINGS)
                }
                for name, kept in self._gpus.items()
                if uuid in (None, name)
            }
        empty: Rows = {reading: [None] * points for reading in READINGS}
        return {name: rows for name, rows in found.items() if rows != empty}
