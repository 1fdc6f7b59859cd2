"""`python -m benchmarks.queue`: Roost, Slurm and gflow one after another on this machine, as root.

Prints a table with ratios; with `--write` it also renews benchmarks/results and the README.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.queue import report
from benchmarks.queue.gflow_side import GflowProcessSide, GflowSide
from benchmarks.queue.measure import cost, latency, quantile, settle, throughput
from benchmarks.queue.roost_side import RoostSide
from benchmarks.queue.side import Person, Side, UnavailableError, Workplace
from benchmarks.queue.slurm_side import SlurmSide
from tests.real.rig import accounts

SIDES: dict[str, type[Side]] = {
    kind.name: kind for kind in (RoostSide, SlurmSide, GflowSide, GflowProcessSide)
}


def say(line: str) -> None:
    print(line, flush=True)


def through_client(side: RoostSide, jobs: int, limit_s: float) -> dict[str, Any]:
    """Both people's programs submit at the same time; the rate is until the later has finished."""
    side.place.reset()
    began = time.monotonic()
    programs = [
        subprocess.Popen(
            side.submitter(jobs // 2),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **side.identity(person),
        )
        for person in side.place.people
    ]
    told = [program.communicate() for program in programs]
    submitted = time.monotonic()
    if any(program.returncode for program in programs):
        raise RuntimeError(f"the client failed: {told}")
    result = asdict(settle(side, jobs, began, submitted, limit_s))
    result["submitted_per_s"] = jobs / max(float(out) for out, _ in told)
    return result


def measured(side: Side, options: argparse.Namespace) -> dict[str, Any]:
    first = side.place.people[0]
    result: dict[str, Any] = {"version": side.start().splitlines()[0], "note": side.note}
    say(f"{side.name}: {result['version']}")
    waits = latency(side, first, options.latency, options.limit)
    result["latency"] = {
        "times": len(waits),
        "p50_s": quantile(waits, 0.5),
        "p99_s": quantile(waits, 0.99),
    }
    say(f"{side.name}: first instruction after {result['latency']['p50_s'] * 1000:.0f} ms (p50)")
    costs = {name: cost(side, first, words, options.calls) for name, words in side.looks().items()}
    costs["submit"] = cost(side, first, side.submit(side.place.job), options.calls)
    result["cost"] = {name: asdict(found) for name, found in costs.items()}
    side.clear()
    for how in ("shell", "array"):
        result[how] = asdict(throughput(side, options.jobs, options.limit * side.patience, how))
        say(f"{side.name}: {how}: {result[how]}")
    if isinstance(side, RoostSide):
        result["client"] = through_client(side, options.jobs, options.limit)
        say(f"{side.name}: client: {result['client']}")
    return result


@contextmanager
def started(kind: type[Side], place: Workplace) -> Iterator[Side]:
    side = kind(place)
    try:
        yield side
    finally:
        side.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.queue", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000, help="trivial jobs in each run")
    parser.add_argument("--latency", type=int, default=50, help="jobs on an idle machine")
    parser.add_argument("--calls", type=int, default=40, help="how often each command is typed")
    parser.add_argument("--limit", type=float, default=120, help="seconds for each run at most")
    parser.add_argument("--only", action="append", choices=list(SIDES), help="these sides alone")
    parser.add_argument("--write", action="store_true", help="renew results/ and README.md")
    options = parser.parse_args()
    if os.geteuid() != 0:
        say("The benchmark makes two accounts and starts daemons as root: run it as root.")
        return 1
    sides: dict[str, dict[str, Any]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="roost-bench-") as folder,
        accounts("ann", "bob", prefix="rqbench-") as people,
    ):
        for account in people:
            account.home.chmod(0o755)
        for name in options.only or SIDES:
            part = Path(folder) / f"run-{name}"
            part.mkdir(mode=0o755)
            Path(folder).chmod(0o755)
            ann, bob = (Person.named(account.name) for account in people)
            try:
                with started(SIDES[name], Workplace(part, (ann, bob))) as side:
                    sides[name] = measured(side, options)
            except UnavailableError as reason:
                say(f"{name}: left out: {reason}")
    say("")
    say(report.table(sides))
    if options.write:
        say(f"\nwritten: {report.write(sides, options.jobs)}")
    return 0 if sides else 1


if __name__ == "__main__":
    sys.exit(main())
