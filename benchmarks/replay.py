"""The scheduler on real traces: `python -m benchmarks.replay [--traces a,b] [--seeds 10]`.

The same machine and metrics for all: textbook orders that know every duration, and Roost's rules,
which do not: they are told walltimes (the trace's own, else the duration times 1 to 10, drawn anew
for each seed). Prints Markdown for benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import gzip
import random
import time
from collections.abc import Sequence
from heapq import heappop, heappush
from multiprocessing import Pool
from pathlib import Path
from statistics import fmean, median

from roost.core.replay.drive import replay
from roost.core.replay.estimates import Estimates, walltimes
from roost.core.replay.fairness import jain, received_against_due
from roost.core.replay.layout import layout
from roost.core.replay.metrics import figures, machine
from roost.core.replay.read_csv import read_csv
from roost.core.replay.trace import Trace
from roost.core.rules.load import load
from roost.core.scheduler.policy import BASELINES

TRACES = Path(__file__).parents[1] / "tests" / "data" / "traces"
SERVERS = {
    "philly_team32": "4x8", "philly_team128": "16x8", "muri_trace3": "8x8",
    "muri_trace4": "8x8", "ricc_4w_nodes": "1x1024", "philly_all": "55x8",
}  # fmt: skip
RULES = {
    "default rules": "",
    "throughput": '[scheduling]\nmode = "throughput"\n[fair_share]\nweight = 0\n',
}
ORDERS = ("fifo", "easy", "sjf", "srtf", "srsf")
COLUMNS = (
    "mean JCT", "median", "p99 delay", "longest delay", "slowdown", "use in window", "preempted",
    "lost GPU h", "Jain", "jobs/s",
)  # fmt: skip
Row = tuple[float, ...]


def one(task: tuple[str, str, int]) -> Row:
    """One replay: the figures of COLUMNS."""
    name, how, seed = task
    with gzip.open(TRACES / f"{name}.csv.gz", "rt") as file:
        trace = read_csv(file)
    gpus = layout(SERVERS[name])
    textbook = how in ORDERS
    told = walltimes(trace, Estimates.EXACT if textbook else Estimates.NOISY, random.Random(seed))
    began = time.process_time()
    if textbook:
        ran = replay(trace, gpus, told, BASELINES[how])
    else:
        ran = replay(trace, gpus, told, rules=load(RULES[how]))
    spent = time.process_time() - began
    found = figures(list(zip(trace.jobs, ran, strict=True)))
    used = machine(trace, ran, len(gpus))
    return (
        found.mean_jct_s, found.median_jct_s, found.p99_queue_delay_s, found.max_queue_delay_s,
        found.mean_bounded_slowdown, used.utilisation_submit_window, found.preemptions,
        found.lost_gpu_h, jain(list(received_against_due(trace, ran, len(gpus)).values())),
        found.jobs / spent,
    )  # fmt: skip


def lower_bound(trace: Trace, gpus: int) -> float:
    """No schedule has a smaller mean JCT in seconds: the mean run time, and shortest remaining
    first on one machine as fast as all GPUs together, which no real one beats."""
    run_s = fmean(job.duration_s for job in trace.jobs)
    jobs = sorted((job.submit_s, job.duration_s * job.gpus / gpus) for job in trace.jobs)
    waiting: list[tuple[float, float]] = []
    now = total = 0.0
    coming = 0
    while coming < len(jobs) or waiting:
        if not waiting:
            now = max(now, jobs[coming][0])
        while coming < len(jobs) and jobs[coming][0] <= now:
            heappush(waiting, (jobs[coming][1], jobs[coming][0]))
            coming += 1
        left, submit = heappop(waiting)
        until = jobs[coming][0] if coming < len(jobs) else float("inf")
        if now + left <= until:
            now += left
            total += now - submit
        else:
            heappush(waiting, (left - (until - now), submit))
            now = until
    return max(run_s, total / len(jobs))


def cell(column: int, values: Sequence[float]) -> str:
    """The median; with the smallest and the largest where several seeds were run."""
    form = "{:.3f}" if column in (5, 8) else "{:,.1f}" if column == 4 else "{:,.0f}"
    shown = [form.format(value) for value in (median(values), min(values), max(values))]
    return shown[0] if shown[1] == shown[2] else f"{shown[0]} ({shown[1]}–{shown[2]})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", default=",".join(SERVERS))
    parser.add_argument("--policies", default=",".join([*ORDERS, *RULES]))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    for name in given.traces.split(","):
        with gzip.open(TRACES / f"{name}.csv.gz", "rt") as file:
            trace = read_csv(file)
        bound = lower_bound(trace, len(layout(SERVERS[name])))
        print(f"\n**{name}** on {SERVERS[name]}, lower bound of mean JCT {bound:,.0f} s\n")
        print("| | " + " | ".join(COLUMNS) + " |\n" + "| --- " * (len(COLUMNS) + 1) + "|")
        said = any(job.estimate_s for job in trace.jobs)
        for how in given.policies.split(","):
            seeds = 1 if how in ORDERS or said else given.seeds
            tasks = [(name, how, seed) for seed in range(1, seeds + 1)]
            with Pool(given.processes) as pool:
                rows = pool.map(one, tasks, chunksize=1)
            cells = [cell(n, values) for n, values in enumerate(zip(*rows, strict=True))]
            print(f"| {how} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
