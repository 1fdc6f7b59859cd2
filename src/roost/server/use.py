"""How busy each GPU was between two reports to the scheduler, where the rules go by it.

A GPU whose utilisation is not known, as of a MIG instance or a card that does not say, is left out.
"""

from __future__ import annotations

from roost.core.observation import Observation
from roost.core.rules.model import Rules
from roost.core.scheduler.events import GpuUse

MOST_EVERY_S = 30.0
# A look that comes later than this after the last one says nothing about the time between.
LONGEST_S = 5.0


class UseMeter:
    """Averages utilisation over time. Owned by the control thread."""

    def __init__(self) -> None:
        self._busy_s: dict[str, float] = {}
        self._seen_s: dict[str, float] = {}
        self._at: float | None = None
        self._told_at: float | None = None

    def add(self, observation: Observation, rules: Rules, now: float) -> GpuUse | None:
        """A report where one is due. `now` is the scheduler's time."""
        if not (rules.idle_reclaim.enabled or rules.fair_share.charge == "busy"):
            self._told_at = self._at = None
            return None
        last, self._at = self._at, observation.taken_at
        span_s = 0.0 if last is None else observation.taken_at - last
        if 0.0 < span_s <= max(LONGEST_S, 3.0 * observation.sample_s):
            for gpu in observation.gpus:
                if gpu.utilisation_percent is not None:
                    busy_s = span_s * gpu.utilisation_percent / 100.0
                    self._busy_s[gpu.uuid] = self._busy_s.get(gpu.uuid, 0.0) + busy_s
                    self._seen_s[gpu.uuid] = self._seen_s.get(gpu.uuid, 0.0) + span_s
        if self._told_at is None:
            self._told_at = now
        if now < self._told_at + _every_s(rules):
            return None
        self._told_at = now
        busy = ((uuid, self._busy_s[uuid] / seen_s) for uuid, seen_s in self._seen_s.items())
        report = GpuUse(now, tuple(sorted(busy)))
        self._busy_s, self._seen_s = {}, {}
        return report


def _every_s(rules: Rules) -> float:
    """Often enough that a warning and a stop come about when the rules say."""
    idle = rules.idle_reclaim
    if not idle.enabled:
        return MOST_EVERY_S
    spans = [span_s / 10.0 for span_s in (idle.after_s, idle.warn_s) if span_s]
    return max(1.0, min(MOST_EVERY_S, *spans))
