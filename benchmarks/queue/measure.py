"""The measurements, the same for every side, each bounded in time.

Times are wall-clock seconds on this machine. A job is counted as ended by what it wrote itself, not
by what a scheduler says of it.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.queue.side import Person, Side, wait_until


@dataclass(frozen=True, slots=True)
class Throughput:
    """`submitted_per_s` until the last command returned; `ended_per_s` from the first submission.

    `jobs` were submitted: fewer than asked for where the time was over before. `ended` is lower
    where it was over then; the rate is of what ended.
    """

    jobs: int
    ended: int
    submitted_per_s: float
    ended_per_s: float
    twice: int


@dataclass(frozen=True, slots=True)
class Cost:
    """One command from the shell: wall seconds (median, p99) and CPU seconds (median)."""

    wall_s: float
    wall_p99_s: float
    cpu_s: float


def quantile(values: Sequence[float], q: float) -> float:
    """The value at sorted index ⌊q·n⌋, at most the last."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def throughput(side: Side, jobs: int, limit_s: float, how: str) -> Throughput:
    """`jobs` trivial jobs, half from each of two people at the same time.

    `how`: "shell" types one command a job, "array" one command for all of a person's.
    """
    side.place.reset()
    half = jobs // 2
    if how == "shell":
        line = shlex.join(side.submit(side.place.job))
        typed = f"while [ $n -lt {half} ] && [ $SECONDS -lt {limit_s:.0f} ]; do {line} >/dev/null"
        command = ["/bin/bash", "-c", f"n=0; {typed} || exit 1; n=$((n+1)); done; echo $n"]
    else:
        command = list(side.submit_many(side.place.job, half))
    began = time.monotonic()
    typing = [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **side.identity(person),
        )
        for person in side.place.people
    ]
    said = [process.communicate() for process in typing]
    submitted = time.monotonic()
    if any(process.returncode for process in typing):
        raise RuntimeError(f"{side.name}: submitting failed: {said!r:.500}")
    if how == "shell":
        jobs = sum(int(out) for out, _ in said)
    return settle(side, jobs, began, submitted, limit_s)


def settle(side: Side, jobs: int, began: float, submitted: float, limit_s: float) -> Throughput:
    """Waits until all jobs have ended, or the time is over, and leaves an empty queue behind."""
    last_change, ended = submitted, side.place.ended()
    end = submitted + limit_s
    while ended < jobs and time.monotonic() < end:
        time.sleep(0.02)
        seen = side.place.ended()
        if seen != ended:
            ended, last_change = seen, time.monotonic()
    finished = last_change if ended >= jobs else time.monotonic()
    if ended < jobs or not wait_until(side.idle, 60, 0.25):
        side.clear()
    twice = max(0, side.place.ended() - jobs)
    return Throughput(
        jobs, min(ended, jobs), jobs / (submitted - began), ended / (finished - began), twice
    )


def latency(side: Side, person: Person, times: int, limit_s: float) -> list[float]:
    """Seconds from starting the submitting command to the job's first instruction, machine idle."""
    side.place.reset()
    found: list[float] = []
    end = time.monotonic() + limit_s
    while len(found) < times and time.monotonic() < end:
        began = time.time()
        done = side.typed(person, side.submit(side.place.clock))
        if done.returncode:
            raise RuntimeError(f"{side.name}: {done.stderr[-500:]}")
        wanted = len(found) + 1
        if not wait_until(lambda: written(side) >= wanted, 30, 0.002):  # noqa: B023
            raise RuntimeError(f"{side.name}: a job on an idle machine did not start within 30 s")
        found.append(float(side.place.first.read_text().split()[-1]) - began)
        wait_until(side.idle, 20, 0.05)
        time.sleep(0.05)
    return found


def written(side: Side) -> int:
    return side.place.first.read_bytes().count(b"\n")


def cost(side: Side, person: Person, command: Sequence[str], times: int) -> Cost:
    """What one command costs, typed `times` times one after another."""
    walls, cpus = [], []
    for _ in range(times):
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **side.identity(person)
        )
        _, status, usage = os.wait4(process.pid, 0)
        walls.append(time.perf_counter() - began)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{side.name}: {shlex.join(command)} ended with {status}")
        cpus.append(usage.ru_utime + usage.ru_stime)
    return Cost(quantile(walls, 0.5), quantile(walls, 0.99), quantile(cpus, 0.5))
