"""Events per second of CPU of the scheduler alone, with many jobs waiting, against a naive one.

The peer sorts all waiting jobs anew at each event and tries each in turn, as a simple scheduler
does. Both decide the same stream on 8 GPUs: a job ends, the next starts, a new one comes.

    python benchmarks/scheduler.py [--pending 1000 10000] [--seconds 2]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from roost.core.model import Gpu, Job, JobState, PriorityClass, Request
from roost.core.scheduler.decisions import Start
from roost.core.scheduler.events import (
    Event,
    InventoryChanged,
    JobEnded,
    JobStarted,
    JobSubmitted,
    TimeReached,
)
from roost.core.scheduler.scheduler import Scheduler

GPUS = 8
USERS = 20
CLASSES = (PriorityClass.REGULAR, PriorityClass.BACKGROUND)


def job(number: int, mixed: bool, at: float) -> Job:
    """`mixed`: 1, 2, 4 or 8 GPUs and 97 walltimes from 20 users; else all alike from 2 users."""
    if not mixed:
        return Job(number, f"u{number % 2}", "lab", PriorityClass.REGULAR, Request(), at)
    request = Request(gpus=(1, 1, 2, 1, 4, 8)[number % 6], walltime_s=600 + 60 * (number % 97))
    which = CLASSES[number % 5 == 4]
    return Job(number, f"u{number % USERS}", f"g{number % 4}", which, request, at)


class Naive:
    """The peer: first come first served within a class, everything sorted and tried each time."""

    def __init__(self) -> None:
        self.waiting: list[Job] = []
        self.free = GPUS
        self.running: dict[int, int] = {}

    def step(self, events: list[Event]) -> list[Start]:
        for event in events:
            if isinstance(event, JobSubmitted):
                self.waiting.append(event.job)
            elif isinstance(event, JobEnded):
                self.free += self.running.pop(event.job)
        out, left = [], []
        for one in sorted(
            self.waiting, key=lambda j: (j.priority_class.rank, j.submitted_at, j.id)
        ):
            if one.request.gpus <= self.free:
                self.free -= one.request.gpus
                self.running[one.id] = one.request.gpus
                out.append(Start(one.id, 1, ()))
            else:
                left.append(one)
        self.waiting = left
        return out


def stream(
    step: Callable[[list[Event]], list[object]], pending: int, mixed: bool, seconds: float
) -> tuple[float, float]:
    """(events, jobs ended) per second of CPU with `pending` jobs waiting all the time."""
    now = 1000.0
    gpus = tuple(Gpu(f"GPU-{n}", n, "NVIDIA A100", 80 << 30, n // 4) for n in range(GPUS))
    first: list[Event] = [InventoryChanged(now, gpus, 256, 1 << 40)]
    first += [JobSubmitted(now, job(n, mixed, now + n * 1e-3)) for n in range(1, pending + 1)]
    running = [d.job for d in step(first) if isinstance(d, Start)]
    following, events, ended = pending + 1, 0, 0
    begun = time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        now += 1.0
        if not running:
            raise RuntimeError("nothing runs any more")
        number = running.pop(0)
        batches: list[list[Event]] = [
            [JobEnded(now, number, 1, JobState.COMPLETED)],
            [JobSubmitted(now, job(following, mixed, now))],
        ]
        following += 1
        for batch in batches:
            started = [d.job for d in step(batch) if isinstance(d, Start)]
            running += started
            events += 1
            if started:
                running += [
                    d.job
                    for d in step([JobStarted(now, n, 1) for n in started])
                    if isinstance(d, Start)
                ]
                events += len(started)
        ended += 1
    return events / spent, ended / spent


def nothing_to_do(pending: int, mixed: bool) -> float:
    """Milliseconds of a step that can start nothing, with `pending` jobs waiting."""
    scheduler = Scheduler()
    gpus = tuple(Gpu(f"GPU-{n}", n, "NVIDIA A100", 80 << 30, n // 4) for n in range(GPUS))
    events: list[Event] = [InventoryChanged(1.0, gpus, 256, 1 << 40)]
    events += [JobSubmitted(1.0, job(n, mixed, 1.0 + n * 1e-3)) for n in range(1, pending + 1)]
    scheduler.step(events)
    begun = time.process_time()
    for n in range(100):
        scheduler.step([TimeReached(2.0 + n)])
    return (time.process_time() - begun) * 10.0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--pending", type=int, nargs="+", default=[1000, 10000])
    options.add_argument("--seconds", type=float, default=2.0)
    given = options.parse_args()
    head = f"{'waiting':>8} {'jobs':>7} {'events/s':>9} {'ends/s':>8} {'naive ends/s':>13}"
    print(f"{head} {'ratio':>7} {'idle step ms':>13}")
    for pending in given.pending:
        for mixed in (False, True):
            events, ended = stream(Scheduler().step, pending, mixed, given.seconds)
            _, naive = stream(Naive().step, pending, mixed, given.seconds)
            idle = nothing_to_do(pending, mixed)
            kind = "mixed" if mixed else "alike"
            print(
                f"{pending:>8} {kind:>7} {events:>9.0f} {ended:>8.0f} {naive:>13.0f}"
                f" {ended / naive:>6.1f}× {idle:>13.3f}"
            )


if __name__ == "__main__":
    main()
