"""Utilisation of the last minutes, kept in the view: what the sparklines are drawn from.

Cells stand for fixed spans of the clock, so a line moves left in whole cells and never trembles.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from roost.tui.picture import Picture

KEEP_S = 3600.0


@dataclass(frozen=True, slots=True)
class Spark:
    """One cell: mean utilisation in percent, and who held the GPU; None where nothing was read."""

    percent: float | None
    user: str = ""


@dataclass(slots=True)
class History:
    """Samples by GPU, at most an hour of them, at most one a second."""

    samples: dict[str, deque[tuple[float, int, str]]] = field(default_factory=dict)
    last_at: float | None = None

    def add(self, picture: Picture) -> None:
        """Take in a picture. One from before the last is a clock set back: start anew."""
        if self.last_at is not None and picture.at < self.last_at:
            self.samples.clear()
        elif self.last_at is not None and picture.at - self.last_at < 0.9:
            return
        self.last_at = picture.at
        for gpu in picture.gpus:
            if gpu.utilisation_percent is None:
                continue
            line = self.samples.setdefault(gpu.uuid, deque())
            user = gpu.people[0] if gpu.people else ""
            line.append((picture.at, gpu.utilisation_percent, user))
            while line[0][0] < picture.at - KEEP_S:
                line.popleft()

    def cells(self, uuid: str, now: float, count: int, step_s: float) -> list[Spark]:
        """The last `count` cells of `step_s` seconds each, oldest first."""
        last = int(now // step_s)
        sums: dict[int, tuple[float, int, str]] = {}
        for at, percent, user in reversed(self.samples.get(uuid, ())):
            cell = int(at // step_s)
            if cell <= last - count:
                break
            total, number, who = sums.get(cell, (0.0, 0, user))
            sums[cell] = (total + percent, number + 1, who)
        return [
            Spark(sums[cell][0] / sums[cell][1], sums[cell][2]) if cell in sums else Spark(None)
            for cell in range(last - count + 1, last + 1)
        ]


def step_for(cells: int) -> float:
    """Seconds a cell so that the line shows about five minutes."""
    return next((step for step in (2.0, 3.0, 5.0, 10.0, 15.0, 30.0) if step * cells >= 240), 30.0)
