"""What a decision costs as the queue grows: `python -m benchmarks.growth`.

64 GPUs on eight servers, all held; so many jobs waiting (1 to 8 GPUs, five walltimes, 20 people,
four groups). Each turn one job comes and one ends, and what can start does. CPU time of
`Scheduler.step`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from roost.core.model import Job, JobState, PriorityClass, Request
from roost.core.replay.layout import layout
from roost.core.scheduler.decisions import Decision, Start
from roost.core.scheduler.events import (
    Event,
    InventoryChanged,
    JobEnded,
    JobStarted,
    JobSubmitted,
)
from roost.core.scheduler.scheduler import Scheduler

SIZES, WALLTIMES_S = (1, 1, 1, 2, 4, 8), (600, 3600, 7200, 14_400, 86_400)
TURNS = 500


class Queue:
    """`mixed`: jobs of all sizes and people; else all alike."""

    def __init__(self, mixed: bool) -> None:
        self._chance = random.Random(1)
        self._mixed = mixed
        self._scheduler = Scheduler()
        self._scheduler.step([InventoryChanged(0.0, layout("8x8"), 1 << 40, 1 << 60)])
        self._running: dict[int, int] = {}
        self._more: list[Event] = []
        self._number = 0
        self.now = 0.0

    def job(self) -> JobSubmitted:
        choice, self._number = self._chance.choice, self._number + 1
        if self._mixed:
            user, group = f"u{self._chance.randrange(20)}", f"g{self._chance.randrange(4)}"
            request = Request(choice(SIZES), walltime_s=choice(WALLTIMES_S))
        else:
            user, group, request = "u0", "g0", Request(1, walltime_s=3600)
        job = Job(self._number, user, group, PriorityClass.REGULAR, request, self.now)
        return JobSubmitted(self.now, job)

    def end(self) -> JobEnded:
        number = self._chance.choice(sorted(self._running))
        return JobEnded(self.now, number, self._running.pop(number), JobState.COMPLETED)

    def step(self, events: Sequence[Event]) -> float:
        """CPU seconds of the step; what it starts runs at the next."""
        told = [*self._more, *events]
        began = time.process_time()
        decisions: list[Decision] = self._scheduler.step(told)
        spent = time.process_time() - began
        started = [d for d in decisions if isinstance(d, Start)]
        self._running.update((d.job, d.attempt) for d in started)
        self._more = [JobStarted(self.now, d.job, d.attempt) for d in started]
        return spent


def main() -> None:
    print("| waiting | jobs | a submission | an end | 99 of 100 steps below |")
    print("| --- | --- | --- | --- | --- |")
    for mixed in (False, True):
        for waiting in (1_000, 10_000, 100_000):
            queue = Queue(mixed)
            queue.step([queue.job() for _ in range(waiting)])
            comes, ends = [], []
            for _ in range(TURNS):
                queue.now += 7.0
                comes.append(queue.step([queue.job()]))
                queue.now += 3.0
                ends.append(queue.step([queue.end()]))
            worst = sorted([*comes, *ends])[int(0.99 * 2 * TURNS)]
            shown = [f"{1000 * s:.2f} ms" for s in (sum(comes) / TURNS, sum(ends) / TURNS, worst)]
            kind = "mixed" if mixed else "alike"
            print(f"| {waiting:,} | {kind} | " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
