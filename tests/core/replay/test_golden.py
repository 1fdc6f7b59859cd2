"""The textbook orders against schedules and figures that others computed, job by job.

Batsim's schedules and AccaSim's starts come from their own simulators; the table of FIFO and SJF
from one that shares nothing with this one. Sources: tests/data/traces/README.md.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from pathlib import Path

import pytest

from roost.core.replay.drive import Costs, replay
from roost.core.replay.layout import layout
from roost.core.replay.metrics import figures
from roost.core.replay.read_csv import read_csv
from roost.core.replay.trace import Trace, TraceJob
from roost.core.scheduler.policy import BASELINES

TRACES = Path(__file__).parents[2] / "data" / "traces"
ACCASIM = json.loads((TRACES / "golden" / "accasim_starts.json").read_text())
GPUS = {
    "philly_team32": 32, "philly_team128": 128, "muri_trace3": 64, "muri_trace4": 64,
    "ricc_4w_nodes": 1024,
}  # fmt: skip


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_all_start_times_of_the_golden_schedules(name: str) -> None:
    path = TRACES / "golden" / f"batsim_{name}_out_jobs.csv.gz"
    with gzip.open(path, "rt") as file:
        rows = sorted(
            csv.DictReader(file), key=lambda r: (float(r["submission_time"]), int(r["job_id"]))
        )
    jobs = tuple(
        TraceJob(
            row["job_id"], "", "", float(row["submission_time"]),
            float(row["requested_number_of_resources"]), float(row["execution_time"]),
        )
        for row in rows
    )  # fmt: skip
    walltimes = [float(row["requested_time"]) for row in rows]
    ran = replay(Trace(jobs), layout("1x32"), walltimes, BASELINES[name])
    assert len(ran) == 801
    late = [
        (row["job_id"], one.first_at, row["starting_time"])
        for row, one in zip(rows, ran, strict=True)
        if abs(one.first_at - float(row["starting_time"])) > 1e-3
    ]
    assert late == []


@pytest.mark.parametrize("order", ["fifo", "sjf"])
@pytest.mark.parametrize("name", sorted(ACCASIM))
def test_all_start_times_of_another_simulator(name: str, order: str) -> None:
    """Those of AccaSim, made by scripts/accasim_starts.py, on one server with all GPUs."""
    meant = ACCASIM[name][order]
    trace = load(name)
    known = [job.duration_s for job in trace.jobs]
    ran = replay(trace, layout(f"1x{GPUS[name]}"), known, BASELINES[order])
    by_id = {job.id: one.first_at for job, one in zip(trace.jobs, ran, strict=True)}
    with gzip.open(TRACES / f"{name}.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    starts = [round(by_id[row["job_id"]] - trace.jobs[0].submit_s) for row in rows]
    text = "".join(f"{at}\n" for at in starts)
    assert len(rows) == meant["jobs"]
    assert hashlib.sha256(text.encode()).hexdigest() == meant["starts"]


def load(name: str) -> Trace:
    with gzip.open(TRACES / f"{name}.csv.gz", "rt") as file:
        return read_csv(file)


SERVERS = {
    "philly_team32": "4x8", "philly_team128": "16x8", "muri_trace3": "8x8",
    "muri_trace4": "8x8", "ricc_4w_nodes": "1x1024", "philly_all": "55x8",
}  # fmt: skip
REFERENCE = [
    ("philly_team32", "fifo", 104_713), ("philly_team32", "sjf", 38_789),
    ("philly_team128", "fifo", 2_067_932), ("philly_team128", "sjf", 187_270),
    ("muri_trace3", "fifo", 991_215), ("muri_trace3", "sjf", 262_107),
    ("muri_trace4", "fifo", 4_030_798), ("muri_trace4", "sjf", 680_343),
    ("ricc_4w_nodes", "fifo", 92_614), ("ricc_4w_nodes", "sjf", 31_952),
    ("philly_all", "fifo", 1_446_383), ("philly_all", "sjf", 39_221),
]  # fmt: skip


@pytest.mark.parametrize(("name", "policy", "mean_jct_s"), REFERENCE)
def test_fifo_and_sjf_agree_with_a_simulator_of_its_own(
    name: str, policy: str, mean_jct_s: int
) -> None:
    trace = load(name)
    durations = [max(job.duration_s, 1e-3) for job in trace.jobs]
    ran = replay(trace, layout(SERVERS[name]), durations, BASELINES[policy])
    found = figures(list(zip(trace.jobs, ran, strict=True)))
    assert found.mean_jct_s == pytest.approx(mean_jct_s, rel=1e-4)
    assert found.preemptions == 0


# Zhao et al., "Multi-Resource Interleaving for Deep Learning Training", SIGCOMM 2022: mean JCT on
# 64 GPUs. Their simulator adds a start-up to each job by its model and decides in rounds; ours
# charges 30 s for each start after the first and decides at every event. Not to the digit, hence.
PUBLISHED = [
    ("muri_trace3", "srtf", 193_082), ("muri_trace3", "srsf", 185_022),
    ("muri_trace4", "srtf", 581_983), ("muri_trace4", "srsf", 487_167),
]  # fmt: skip


@pytest.mark.parametrize(("name", "policy", "mean_jct_s"), PUBLISHED)
def test_shortest_remaining_first_is_near_the_published_figures(
    name: str, policy: str, mean_jct_s: int
) -> None:
    trace = load(name)
    durations = [max(job.duration_s, 1e-3) for job in trace.jobs]
    ran = replay(trace, layout("8x8"), durations, BASELINES[policy], costs=Costs(restart_s=30.0))
    found = figures(list(zip(trace.jobs, ran, strict=True)))
    assert found.mean_jct_s == pytest.approx(mean_jct_s, rel=0.08)
    assert found.preemptions > 500
