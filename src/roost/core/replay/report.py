"""What a replay is reported as: one flat row of figures for each policy and seed, figures by
person, class and size. Knows no file and no terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, replace
from statistics import median

from roost.core.replay.drive import Ran
from roost.core.replay.fairness import jain, received_against_due, slowdown_spread
from roost.core.replay.metrics import by, figures, machine, pairs_of
from roost.core.replay.trace import Trace, TraceJob

Row = dict[str, float | int | str | None]
# Sizes as people think of them: up to so many GPUs.
SIZES = (0.99, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def row(trace: Trace, ran: Sequence[Ran], gpus: int) -> Row:
    """The figures of one run, `_s` in seconds, `_h` in hours; `jain` over users, or over groups
    where the trace names no users."""
    whole = figures(pairs_of(trace, ran))
    used = machine(trace, ran, gpus)
    return {
        **asdict(whole),
        **asdict(used),
        "jain": jain(list(received_against_due(_people(trace), ran, gpus).values())),
        "slowdown_max_over_min": slowdown_spread(_people(trace), ran),
    }


def has_users(trace: Trace) -> bool:
    return any(job.user for job in trace.jobs)


def _people(trace: Trace) -> Trace:
    """The trace with its groups as its users where it names none: teams of a cluster."""
    if has_users(trace) or not any(job.group for job in trace.jobs):
        return trace
    return replace(trace, jobs=tuple(replace(job, user=job.group) for job in trace.jobs))


def size_of(job: TraceJob) -> str:
    """ "<1", "1", "2", "3-4", "5-8", …, ">1024" GPUs."""
    least = 0.0
    for most in SIZES:
        if job.gpus <= most:
            if most < 1:
                return "<1"
            return f"{most:g}" if most - least <= 1 else f"{least + 1:g}-{most:g}"
        least = float(int(most))
    return f">{SIZES[-1]}"


KEYS: dict[str, Callable[[TraceJob], str]] = {
    "user": lambda job: job.user,
    "group": lambda job: job.group,
    "class": lambda job: job.priority_class.value if job.priority_class else "regular",
    "size": size_of,
    "all": lambda _: "",
}


def groups(trace: Trace, ran: Sequence[Ran], key: str) -> list[Row]:
    """Figures of each user, group, class or size of jobs ("key" says which), in their own order:
    sizes by size, classes and people by name."""
    rows: list[Row] = []
    found = by(trace, ran, KEYS[key])
    gpu_s: dict[Hashable, float] = {}
    for job, _ in pairs_of(trace, ran):
        who = KEYS[key](job)
        gpu_s[who] = gpu_s.get(who, 0.0) + job.duration_s * job.gpus
    for name, one in found.items():
        rows.append({"key": str(name), "gpu_h": gpu_s[name] / 3600.0, **asdict(one)})
    if key == "size":
        rows.sort(key=lambda each: _size_order(str(each["key"])))
    return rows


def _size_order(text: str) -> float:
    if text.startswith("<"):
        return 0.0
    return float(text.lstrip(">").partition("-")[0]) + (0.5 if text.startswith(">") else 0.0)


def spread(rows: Sequence[Row], key: str) -> tuple[float, float, float] | None:
    """Least, median and greatest over the seeds; None where a run could not say it."""
    values: list[float] = []
    for each in rows:
        value = each.get(key)
        if not isinstance(value, int | float):
            return None
        values.append(float(value))
    return (min(values), median(values), max(values)) if values else None
