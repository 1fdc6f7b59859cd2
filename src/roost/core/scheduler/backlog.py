"""How much work there is: what waits and what is left of what runs, in GPU seconds as expected.

Kept as sums, so that a submission costs the same whatever waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roost.core.scheduler.order import remaining_s

if TYPE_CHECKING:
    from roost.core.scheduler.entry import Entry


class Backlog:
    """Each job is in it once: waiting or running."""

    def __init__(self) -> None:
        self._waiting: dict[int, float] = {}
        self._waiting_gpu_s = 0.0
        self._running: dict[int, tuple[float, int]] = {}
        self._end_gpu_s = 0.0
        self._gpus = 0

    def waits(self, entry: Entry, now: float) -> None:
        """It waits from now, for the first time or again."""
        self.gone(entry.job.id)
        area = remaining_s(entry, now) * max(1, entry.job.request.gpus)
        self._waiting[entry.job.id] = area
        self._waiting_gpu_s += area

    def runs(self, entry: Entry, now: float) -> None:
        """It holds GPUs from now."""
        self.gone(entry.job.id)
        gpus = max(1, entry.job.request.gpus)
        ends = (now + remaining_s(entry, now)) * gpus
        self._running[entry.job.id] = ends, gpus
        self._end_gpu_s += ends
        self._gpus += gpus

    def gone(self, job: int) -> None:
        """It is neither any more."""
        if job in self._waiting:
            self._waiting_gpu_s -= self._waiting.pop(job)
        if job in self._running:
            ends, gpus = self._running.pop(job)
            self._end_gpu_s -= ends
            self._gpus -= gpus

    def gpu_s(self, now: float) -> float:
        """GPU seconds still to be worked."""
        return max(0.0, self._waiting_gpu_s) + max(0.0, self._end_gpu_s - now * self._gpus)
