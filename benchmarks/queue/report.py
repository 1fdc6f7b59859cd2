"""The results as a table for people, as JSON for machines, and as the section of the README."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- queue: written by make bench -->", "<!-- queue: end -->"

# What is compared: key of a result, words, unit, and whether more is better.
ROWS: tuple[tuple[str, str, str, bool], ...] = (
    ("shell.submitted_per_s", "submitted one by one from the shell", "/s", True),
    ("array.submitted_per_s", "submitted in one call (array)", "/s", True),
    ("client.submitted_per_s", "submitted through the Python client", "/s", True),
    ("shell.ended_per_s", "completed, submitted one by one", "/s", True),
    ("array.ended_per_s", "completed, submitted as arrays", "/s", True),
    ("latency.p50_s", "submit to first instruction, p50", "ms", False),
    ("latency.p99_s", "submit to first instruction, p99", "ms", False),
    ("cost.submit.wall_s", "one submitting command, wall", "ms", False),
    ("cost.submit.cpu_s", "one submitting command, CPU", "ms", False),
    ("cost.status.wall_s", "looking at the GPUs, wall", "ms", False),
    ("cost.status.cpu_s", "looking at the GPUs, CPU", "ms", False),
    ("cost.jobs.wall_s", "looking at the queue, wall", "ms", False),
    ("cost.jobs.cpu_s", "looking at the queue, CPU", "ms", False),
)


def value(result: Mapping[str, Any], key: str) -> float | None:
    found: Any = result
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return None if found is None else float(found)


def shown(number: float | None, unit: str) -> str:
    if number is None:
        return "–"
    number = number * 1000 if unit == "ms" else number
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}"


def ratio(ours: float | None, theirs: float | None, more_is_better: bool) -> str:
    """How many times better Roost is; below 1 it is worse."""
    if not ours or not theirs:
        return "–"
    times = ours / theirs if more_is_better else theirs / ours
    return f"{times:.1f}×" if times < 100 else f"{times:.0f}×"


def table(sides: Mapping[str, Mapping[str, Any]]) -> str:
    peers = [name for name in sides if name != "roost"]
    head = ["", "unit", *sides, *(f"roost : {name}" for name in peers if "roost" in sides)]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for key, words, unit, more in ROWS:
        numbers = {name: value(result, key) for name, result in sides.items()}
        cells = [words, unit, *(shown(number, unit) for number in numbers.values())]
        if "roost" in sides:
            cells += [ratio(numbers["roost"], numbers[name], more) for name in peers]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    return {
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def section(sides: Mapping[str, Mapping[str, Any]], jobs: int) -> str:
    place = machine()
    lines = [
        f"{place['time'][:10]}, {place['cpus']} cores, no GPU, Linux {place['kernel']}, Python "
        f"{place['python']}; {jobs:,} jobs from two accounts, 8 GPUs. "
        "The last columns say how many times better Roost is; below 1 it is worse.",
        "",
        table(sides),
        "",
    ]
    for name, result in sides.items():
        for how in ("shell", "array"):
            run = result.get(how)
            if run and run["ended"] < jobs:
                lines.append(
                    f"- {name}, {how}: stopped at the time limit with {run['jobs']:,} of "
                    f"{jobs:,} jobs submitted and {run['ended']:,} ended; the rates are of those."
                )
    lines += [f"- {name} {r['version']}: {r['note']}" for name, r in sides.items()]
    return "\n".join(lines)


def write(sides: Mapping[str, Mapping[str, Any]], jobs: int) -> Path:
    """Writes results/queue.json and the README's section; the path of the JSON."""
    results = FOLDER / "results"
    results.mkdir(exist_ok=True)
    target = results / "queue.json"
    target.write_text(
        json.dumps({"machine": machine(), "jobs": jobs, "sides": sides}, indent=1) + "\n"
    )
    readme = FOLDER / "README.md"
    text = readme.read_text()
    before, rest = text.split(BEGIN, 1)
    readme.write_text(f"{before}{BEGIN}\n{section(sides, jobs)}\n{END}{rest.split(END, 1)[1]}")
    return target
