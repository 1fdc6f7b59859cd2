"""How evenly people were served, by what they got against what they could have had.

Jain's index (Jain, Chiu and Hawe, 1984) over users of GPU time received / min(demand, fair share),
in the time that anybody waited. Of slowdowns alone it would reward making all wait.
"""

from __future__ import annotations

from collections.abc import Sequence

from roost.core.replay.drive import Ran
from roost.core.replay.trace import Trace

LEAST_JOBS = 20


def jain(values: Sequence[float]) -> float:
    """1 where all are equal, 1/n where one has everything; 1 of none."""
    squares = sum(value * value for value in values)
    if not squares:
        return 1.0
    return sum(values) ** 2 / (len(values) * squares)


def received_against_due(trace: Trace, ran: Sequence[Ran], gpus: int) -> dict[str, float]:
    """By user, while there was a backlog: GPU seconds received over those due, due being the
    smaller of what the user's jobs asked for and of an equal share among those who asked."""
    changes: list[tuple[float, str, float, float]] = []
    for job, one in zip(trace.jobs, ran, strict=True):
        if not one.done:
            continue
        changes.append((job.submit_s, job.user, job.gpus, 0.0))
        changes.append((one.end_at, job.user, -job.gpus, 0.0))
        for begin, over in one.held:
            changes.append((begin, job.user, 0.0, job.gpus))
            changes.append((over, job.user, 0.0, -job.gpus))
    changes.sort(key=lambda change: change[0])
    wants: dict[str, float] = {}
    holds: dict[str, float] = {}
    due: dict[str, float] = {}
    got: dict[str, float] = {}
    wanted = held = last = 0.0
    for at, user, want, hold in changes:
        span = at - last
        if span > 0 and wanted > held + 1e-9:
            share = gpus / len(wants)
            for name, size in wants.items():
                due[name] = due.get(name, 0.0) + span * min(size, share)
                got[name] = got.get(name, 0.0) + span * holds.get(name, 0.0)
        last = at
        _add(wants, user, want)
        _add(holds, user, hold)
        wanted += want
        held += hold
    return {name: got[name] / due[name] for name in sorted(due) if due[name] > 0}


def _add(amounts: dict[str, float], name: str, change: float) -> None:
    left = amounts.get(name, 0.0) + change
    if left > 1e-9:
        amounts[name] = left
    else:
        amounts.pop(name, None)


def slowdown_spread(trace: Trace, ran: Sequence[Ran]) -> float | None:
    """Largest over smallest mean bounded slowdown of users with LEAST_JOBS jobs or more; None where
    there are not two of them."""
    from roost.core.replay.metrics import by

    means = [
        one.mean_bounded_slowdown
        for one in by(trace, ran, lambda job: job.user).values()
        if one.jobs >= LEAST_JOBS
    ]
    return max(means) / min(means) if len(means) > 1 else None
