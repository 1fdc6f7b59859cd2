"""Writes the start times of FIFO and SJF in AccaSim 1.1.3, a simulator of others, as JSON.

`python -m venv V; V/bin/pip install accasim==1.1.3; V/bin/python scripts/accasim_starts.py`, for
tests/data/traces/golden/accasim_starts.json. Every trace on one server with all GPUs, so that no
choice of server is compared; all durations are known. By trace and order: the number of jobs, and
the SHA-256 of all starts, in seconds after the first submission, one a line as in the file.
"""

from __future__ import annotations

import collections
import collections.abc
import csv
import gzip
import hashlib
import json
import logging
import os
import sys
import tempfile
from datetime import datetime
from pathlib import Path

TRACES = Path(__file__).parents[1] / "tests" / "data" / "traces"
GPUS = {
    "philly_team32": 32, "philly_team128": 128, "muri_trace3": 64, "muri_trace4": 64,
    "ricc_4w_nodes": 1024,
}  # fmt: skip


def starts(name: str, order: str) -> list[int]:
    """Of every job, in the order of the file, in the folder that is the current one."""
    from accasim.base.allocator_class import BestFit
    from accasim.base.scheduler_class import FirstInFirstOut, ShortestJobFirst
    from accasim.base.simulator_class import Simulator

    with gzip.open(TRACES / f"{name}.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    lines = [f"; UnixStartTime: 0\n; MaxNodes: 1\n; MaxProcs: {GPUS[name]}\n"]
    for number, row in enumerate(rows, 1):
        submit, lasts, gpus = (int(float(row[k])) for k in ("submit_s", "duration_s", "gpus"))
        asked = f"{gpus} {lasts} -1 1 1 1 -1 1 -1 -1 -1"
        lines.append(f"{number} {submit} -1 {lasts} {gpus} -1 -1 {asked}\n")
    Path("trace.swf").write_text("".join(lines))
    system = {"groups": {"g": {"core": GPUS[name]}}, "resources": {"g": 1}}
    Path("system.json").write_text(json.dumps(system))
    dispatcher = {"fifo": FirstInFirstOut, "sjf": ShortestJobFirst}[order](BestFit())
    simulator = Simulator("trace.swf", "system.json", dispatcher, RESULTS_FOLDER_PATH=".")
    told = simulator.start_simulation()
    found = {}
    for line in Path(told["sched-"]).read_text().splitlines():
        at = datetime.fromisoformat(line.split("#__")[1].split(";")[0] + "+00:00").timestamp()
        found[int(line.split(";")[0])] = round(at) - int(float(rows[0]["submit_s"]))
    return [found[number] for number in range(1, len(rows) + 1)]


def main() -> None:
    # AccaSim 1.1.3 looks for these where they were before Python 3.10.
    for name in ("Mapping", "Sequence", "Iterable"):
        setattr(collections, name, getattr(collections.abc, name))
    logging.disable(logging.CRITICAL)
    told: dict[str, dict[str, dict[str, int | str]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in GPUS:
            told[name] = {}
            for order in ("fifo", "sjf"):
                found = starts(name, order)
                text = "".join(f"{at}\n" for at in found)
                digest = hashlib.sha256(text.encode()).hexdigest()
                told[name][order] = {"jobs": len(found), "starts": digest}
    json.dump(told, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
