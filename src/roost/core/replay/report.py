"""What a replay is reported as: one flat row of figures for each policy and seed, figures by
person, class and size, and what other rules change for whom. Knows no file and no terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from roost.core.replay.drive import Ran
from roost.core.replay.fairness import jain, received_against_due, slowdown_spread
from roost.core.replay.metrics import by, figures, machine
from roost.core.replay.trace import Trace, TraceJob

Row = dict[str, float | int | str | None]
# Sizes as people think of them: up to so many GPUs.
SIZES = (0.99, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def row(trace: Trace, ran: Sequence[Ran], gpus: int) -> Row:
    """The figures of one run, `_s` in seconds, `_h` in hours; `jain` over users, or over groups
    where the trace names no users."""
    pairs = list(zip(trace.jobs, ran, strict=True))
    whole = figures(pairs)
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
    from dataclasses import replace

    return Trace(tuple(replace(job, user=job.group) for job in trace.jobs), trace.left_out)


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
}


def groups(trace: Trace, ran: Sequence[Ran], key: str) -> list[Row]:
    """Figures of each user, group, class or size of jobs ("key" says which), in their own order:
    sizes by size, classes and people by name."""
    rows: list[Row] = []
    found = by(trace, ran, KEYS[key])
    gpu_s: dict[Hashable, float] = {}
    for job in trace.jobs:
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


@dataclass(frozen=True, slots=True)
class Change:
    """For one person (or group): how long their jobs wait by the first rules and by the other, on
    average, in seconds; and how many of their jobs end sooner and later by a minute or more."""

    who: str
    jobs: int
    gpu_h: float
    before_s: float
    after_s: float
    sooner: int
    later: int


NOTICED_S = 60.0


def changes(trace: Trace, before: Sequence[Sequence[Ran]], after: Sequence[Sequence[Ran]]
            ) -> list[Change]:  # fmt: skip
    """For whom other rules change what, the largest change of summed waiting first. One sequence
    of `Ran` for each seed; jobs count by the median over seeds of their end."""
    which = KEYS["user"] if has_users(trace) else KEYS["group"]
    ends = [_ends(before), _ends(after)]
    found: dict[str, list[int]] = {}
    for place, job in enumerate(trace.jobs):
        found.setdefault(which(job), []).append(place)
    result = []
    for who, places in found.items():
        waits = [
            sum(end[n] - trace.jobs[n].submit_s - trace.jobs[n].duration_s for n in places)
            / len(places)
            for end in ends
        ]
        moved = [ends[1][n] - ends[0][n] for n in places]
        result.append(
            Change(
                who,
                len(places),
                sum(trace.jobs[n].gpus * trace.jobs[n].duration_s for n in places) / 3600.0,
                max(0.0, waits[0]),
                max(0.0, waits[1]),
                sum(each <= -NOTICED_S for each in moved),
                sum(each >= NOTICED_S for each in moved),
            )
        )
    return sorted(result, key=lambda c: (-abs(c.after_s - c.before_s) * c.jobs, c.who))


def _ends(runs: Sequence[Sequence[Ran]]) -> list[float]:
    if len(runs) == 1:
        return [one.end_at for one in runs[0]]
    return [median(one.end_at for one in same) for same in zip(*runs, strict=True)]


def spread(rows: Sequence[Row], key: str) -> tuple[float, float, float] | None:
    """Least, median and greatest over the seeds; None where a run could not say it."""
    values: list[float] = []
    for each in rows:
        value = each.get(key)
        if not isinstance(value, int | float):
            return None
        values.append(float(value))
    return (min(values), median(values), max(values)) if values else None
