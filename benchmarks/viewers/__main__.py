"""`python -m benchmarks.viewers`: 200 viewers and 20 calls a second on one core, as root.

Roost's daemon on simulated GPUs, then a bare server under the same load; prints a table with
ratios. `--write` renews benchmarks/results and the README. It says how busy the core was by all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.viewers import report
from benchmarks.viewers.bare_side import BareSide, Sizes
from benchmarks.viewers.load import Load
from benchmarks.viewers.roost_side import RoostSide
from benchmarks.viewers.side import Side


def measured(side: Side, events: str, options: argparse.Namespace) -> dict[str, Any]:
    cores = os.sched_getaffinity(0)
    served, loading = min(cores), max(cores)
    try:
        os.sched_setaffinity(0, {served})
        side.start()
        os.sched_setaffinity(0, {loading})
        if options.alone:
            _before_others([os.getpid(), side.pids()["server"]])
        load = Load(side, events, served)
        figures = asyncio.run(
            load.run(options.viewers, options.slow, options.rate, options.minutes * 60)
        )
        return report.summed(figures, options.viewers)
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, cores)
        side.stop()


def _before_others(pids: Sequence[int]) -> None:
    """The kernel runs these first (SCHED_RR), whatever else the machine has to do."""
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            os.sched_setscheduler(int(task), os.SCHED_RR, os.sched_param(2))


class _Measured(RoostSide):
    """Keeps the sizes of its answers for the peer."""

    sizes: Sizes

    def start(self) -> None:
        super().start()
        size = {ask.name: self.size_of(ask.path) for ask in self.asks()}
        others = [ask for ask in self.asks() if ask.name != "status"]
        whole = sum(ask.weight for ask in others)
        mean = sum(size[ask.name] * ask.weight for ask in others) // whole
        self.sizes = Sizes(size["status"], mean, size["status"] + size["who"], size["jobs"])
        print(f"roost: bytes of an answer: {size}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.viewers", description=__doc__)
    parser.add_argument("--viewers", type=int, default=200)
    parser.add_argument("--slow", type=int, default=5, help="viewers that never read")
    parser.add_argument("--rate", type=float, default=20.0, help="calls a second, half status")
    parser.add_argument("--minutes", type=float, default=0.5, help="for each side")
    parser.add_argument("--gpus", default="32xA100", help="simulated: four servers' worth")
    parser.add_argument("--jobs", type=int, default=100, help="waiting, beside one for each GPU")
    parser.add_argument("--bookings", type=int, default=40)
    parser.add_argument(
        "--alone", action="store_true", help="server and load go before all else on their cores"
    )
    parser.add_argument("--only", choices=("roost", "bare"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="renew results/ and README.md")
    options = parser.parse_args()
    if os.geteuid() != 0 or len(os.sched_getaffinity(0)) < 2:
        print("The benchmark makes accounts and needs two cores: run it as root on such a machine.")
        return 1
    sides: dict[str, dict[str, Any]] = {}
    sizes = Sizes(33_000, 60_000, 60_000, 150_000)
    if options.only != "bare":
        roost = _Measured(options.gpus, options.jobs, options.bookings)
        sides["roost"] = measured(roost, "/v1/events", options)
        sizes = roost.sizes
    if options.only != "roost":
        sides["bare"] = measured(BareSide(sizes), "/events", options)
    print(json.dumps(sides, indent=1) if options.json else f"\n{report.table(sides)}")
    if options.write:
        place = report.machine()
        words = (
            f"{place['time'][:10]}, {place['cpus']} cores, no GPU, Linux {place['kernel']}, Python "
            f"{place['python']}; {options.viewers} viewers of 20 accounts and {options.slow} that "
            f"never read, {options.rate:g} calls/s, {options.minutes:g} minutes a side; "
            f"{options.gpus} simulated, {options.jobs} jobs waiting, {options.bookings} bookings."
        )
        print(f"\nwritten: {report.write(sides, words, vars(options))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
