"""The figures as a table for people, as JSON for machines, and as the section of the README."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.viewers.load import Figures

FOLDER = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- viewers: written by python -m benchmarks.viewers -->", "<!-- viewers: end -->"
ROWS = (
    ("status_p50_ms", "the status call, p50", "ms"),
    ("status_p99_ms", "the status call, p99", "ms"),
    ("others_p99_ms", "the other calls, p99", "ms"),
    ("delay_p50_ms", "a change until a viewer has it, p50", "ms"),
    ("delay_p99_ms", "a change until a viewer has it, p99", "ms"),
    ("server_cpu_percent", "CPU of the server", "% of a core"),
    ("agent_cpu_percent", "CPU of the agent", "% of a core"),
    ("core_percent", "of that core in use, by everybody", "%"),
    ("kb_per_viewer_s", "sent to each viewer", "kB/s"),
    ("server_mb", "memory of the server at the end", "MB"),
    ("server_mb_per_h", "growth of it, by its last two thirds", "MB/h"),
    ("agent_mb", "memory of the agent at the end", "MB"),
    ("agent_mb_per_h", "growth of it, by its last two thirds", "MB/h"),
    ("slow_open", "of the slow readers still connected at the end", ""),
    ("failed", "calls that failed", ""),
)  # fmt: skip


def quantile(values: Sequence[float], q: float) -> float | None:
    """The value at sorted index ⌊q·n⌋, at most the last."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else None


def slope_per_h(points: Sequence[tuple[float, float]]) -> float | None:
    """Least squares through (seconds, value)."""
    if len(points) < 3:
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    across = sum((x - mean_x) ** 2 for x, _ in points)
    along = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return 3600.0 * along / across if across else None


def summed(figures: Figures, viewers: int) -> dict[str, Any]:
    """What the table shows, and the course of the memory."""
    found: dict[str, Any] = {}
    status = figures.calls.get("status", [])
    others = [t for name, times in figures.calls.items() if name != "status" for t in times]
    found["status_calls"], found["other_calls"] = len(status), len(others)
    found["status_p50_ms"], found["status_p99_ms"] = _ms(status, 0.5), _ms(status, 0.99)
    found["status_max_ms"] = _ms(status, 1.0)
    found["others_p99_ms"] = _ms(others, 0.99)
    found["p99_ms"] = {name: _ms(times, 0.99) for name, times in figures.calls.items()}
    found["delay_p50_ms"], found["delay_p99_ms"] = (
        _ms(figures.delays, 0.5),
        _ms(figures.delays, 0.99),
    )
    found["changes_unseen"] = figures.unseen
    found["core_percent"] = 100.0 * figures.core_busy_s / figures.took_s
    found["kb_per_viewer_s"] = figures.bytes_read / 1000 / figures.took_s / max(1, viewers)
    found["events_per_viewer_s"] = figures.events / figures.took_s / max(1, viewers)
    found["slow_open"], found["failed"] = figures.slow_open, len(figures.failed)
    found["failures"] = figures.failed[:10]
    late = figures.rows[len(figures.rows) // 3 :]
    for part in figures.rows[0][1]:
        span = figures.rows[-1][0] - figures.rows[0][0]
        used = figures.rows[-1][1][part][0] - figures.rows[0][1][part][0]
        found[f"{part}_cpu_percent"] = 100.0 * used / span
        found[f"{part}_mb"] = figures.rows[-1][1][part][1]
        found[f"{part}_mb_per_h"] = slope_per_h([(at, row[part][1]) for at, row in late])
        step = max(1, len(figures.rows) // 20)
        found[f"{part}_mb_course"] = [round(row[part][1], 1) for _, row in figures.rows[::step]]
    return found


def _ms(seconds: Sequence[float], q: float) -> float | None:
    found = quantile(seconds, q)
    return None if found is None else 1000.0 * found


def shown(number: float | None) -> str:
    if number is None:
        return "–"
    return f"{number:,.0f}" if abs(number) >= 100 or number == int(number) else f"{number:.1f}"


def table(sides: Mapping[str, Mapping[str, Any]]) -> str:
    """With the ratio of Roost to the bare server, where both have the figure."""
    lines = ["| | unit | " + " | ".join(sides) + " | roost : bare |"]
    lines.append("|" + " --- |" * (len(sides) + 3))
    for key, words, unit in ROWS:
        numbers = [sides[name].get(key) for name in sides]
        ours, theirs = sides.get("roost", {}).get(key), sides.get("bare", {}).get(key)
        times = f"{ours / theirs:.1f}" if ours and theirs and ours > 0 < theirs else "–"
        cells = [words, unit, *(shown(number) for number in numbers), times]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    return {
        "cpus": os.cpu_count(), "kernel": platform.release(), "python": platform.python_version(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }  # fmt: skip


def write(sides: Mapping[str, Mapping[str, Any]], words: str, options: Mapping[str, Any]) -> Path:
    """Writes results/viewers.json and the README's section; the path of the JSON."""
    target = FOLDER / "results" / "viewers.json"
    target.parent.mkdir(exist_ok=True)
    whole = {"machine": machine(), "options": options, "sides": sides}
    target.write_text(json.dumps(whole, indent=1) + "\n")
    readme = FOLDER / "README.md"
    before, rest = readme.read_text().split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    readme.write_text(f"{before}{BEGIN}\n{words}\n\n{table(sides)}\n{END}{after}")
    return target
