"""Curves of a replay, as points to draw: how many jobs waited or took how long, and how many GPUs
were held when.
"""

from __future__ import annotations

from collections.abc import Sequence

from roost.core.replay.drive import Ran
from roost.core.replay.metrics import pairs_of
from roost.core.replay.trace import Trace

Points = list[tuple[float, float]]
MOST_POINTS = 240


def shares(values: Sequence[float]) -> Points:
    """(value, the part of all that are not above it), rising, thinned to MOST_POINTS."""
    ordered = sorted(values)
    count = len(ordered)
    step = max(1, count // MOST_POINTS)
    points = [(ordered[n], (n + 1) / count) for n in range(0, count, step)]
    if points and points[-1][1] < 1:
        points.append((ordered[-1], 1.0))
    return points


def waits(trace: Trace, ran: Sequence[Ran]) -> Points:
    pairs = pairs_of(trace, ran)
    return shares([max(0.0, r.end_at - r.since_s(j) - j.duration_s) for j, r in pairs])


def completions(trace: Trace, ran: Sequence[Ran]) -> Points:
    return shares([r.end_at - r.since_s(j) for j, r in pairs_of(trace, ran)])


def held(ran: Sequence[Ran], gpus: int, until_s: float, bins: int = MOST_POINTS) -> Points:
    """(middle of a stretch of time, the mean part of all GPUs that jobs held in it)."""
    if until_s <= 0 or gpus <= 0:
        return []
    width = until_s / bins
    # Slopes at the borders of each stretch, and what is added within: one pass over all attempts.
    within, whole = [0.0] * (bins + 1), [0.0] * (bins + 2)
    for one in ran:
        for begin, over in one.held:
            first = min(bins - 1, int(begin / width))
            last = min(bins - 1, int(over / width))
            if first == last:
                within[first] += (over - begin) * one.gpus
                continue
            within[first] += ((first + 1) * width - begin) * one.gpus
            within[last] += (min(over, until_s) - last * width) * one.gpus
            whole[first + 1] += one.gpus
            whole[last] -= one.gpus
    points: Points = []
    running = 0.0
    for n in range(bins):
        running += whole[n]
        part = (within[n] + running * width) / (gpus * width)
        points.append(((n + 0.5) * width, max(0.0, part)))
    return points
