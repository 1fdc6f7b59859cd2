"""Figures of a replay, by the definitions of the field.

Of a job with submission r, first start s, end C, run time p and g GPUs on M of them: completion
time (JCT) C - r, queue delay C - r - p, bounded slowdown max(1, (C - r) / max(p, 10 s)) (Feitelson
and Rudolph, JSSPP 1998). Utilisation is useful work, the sum of p g, over M T, T the makespan;
occupancy counts lost work too. Percentile q is the value at index floor(q n) of the sorted ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean

from roost.core.replay.drive import Ran
from roost.core.replay.trace import Trace, TraceJob

BOUND_S = 10.0
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Of all jobs, or of those of one user, class or size. `_s` seconds, `_h` hours."""

    jobs: int
    mean_jct_s: float
    median_jct_s: float
    p95_jct_s: float
    p99_jct_s: float
    mean_queue_delay_s: float
    median_queue_delay_s: float
    p95_queue_delay_s: float
    p99_queue_delay_s: float
    max_queue_delay_s: float
    mean_first_start_delay_s: float
    mean_bounded_slowdown: float
    p95_bounded_slowdown: float
    preemptions: int
    jobs_preempted: int
    lost_gpu_h: float


@dataclass(frozen=True, slots=True)
class Machine:
    """How the GPUs were used: parts of them, over the makespan and until the last submission."""

    utilisation: float
    utilisation_submit_window: float
    occupancy: float
    makespan_s: float


def percentile(values: Sequence[float], part: float) -> float:
    """Of values that are sorted; 0 of none."""
    if not values:
        return 0.0
    return values[min(len(values) - 1, int(part * len(values)))]


def pairs_of(trace: Trace, ran: Sequence[Ran]) -> list[tuple[TraceJob, Ran]]:
    """The jobs that figures are reckoned from: those that count, and came to their end."""
    pairs = zip(trace.jobs, ran, strict=True)
    return [(job, one) for job, one in pairs if job.counted and one.done]


def figures(pairs: Sequence[tuple[TraceJob, Ran]]) -> Figures:
    """All 0 of none. A job that waits for others is submitted, for these figures, when the last of
    them ended."""
    spans = [ran.end_at - ran.since_s(job) for job, ran in pairs]
    jct = sorted(spans)
    delay = sorted(
        max(0.0, span - job.duration_s) for (job, _), span in zip(pairs, spans, strict=True)
    )
    slow = sorted(
        max(1.0, span / max(job.duration_s, BOUND_S))
        for (job, _), span in zip(pairs, spans, strict=True)
    )
    return Figures(
        jobs=len(pairs),
        mean_jct_s=_mean(jct),
        median_jct_s=percentile(jct, 0.5),
        p95_jct_s=percentile(jct, 0.95),
        p99_jct_s=percentile(jct, 0.99),
        mean_queue_delay_s=_mean(delay),
        median_queue_delay_s=percentile(delay, 0.5),
        p95_queue_delay_s=percentile(delay, 0.95),
        p99_queue_delay_s=percentile(delay, 0.99),
        max_queue_delay_s=delay[-1] if delay else 0.0,
        mean_first_start_delay_s=_mean([ran.first_at - ran.since_s(job) for job, ran in pairs]),
        mean_bounded_slowdown=_mean(slow),
        p95_bounded_slowdown=percentile(slow, 0.95),
        preemptions=sum(ran.preemptions for _, ran in pairs),
        jobs_preempted=sum(ran.preemptions > 0 for _, ran in pairs),
        lost_gpu_h=sum(ran.lost_s * ran.gpus for _, ran in pairs) / HOUR_S,
    )


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def by(
    trace: Trace, ran: Sequence[Ran], key: Callable[[TraceJob], Hashable]
) -> dict[Hashable, Figures]:
    """Figures of each group of jobs, in the order of the keys' text."""
    groups: dict[Hashable, list[tuple[TraceJob, Ran]]] = {}
    for job, one in pairs_of(trace, ran):
        groups.setdefault(key(job), []).append((job, one))
    return {name: figures(groups[name]) for name in sorted(groups, key=str)}


def machine(trace: Trace, ran: Sequence[Ran], gpus: int) -> Machine:
    """Of all jobs that came to their end. Work that was lost counts as occupancy, not as use; of a
    job that ends after the window, as much of it is taken off as of its time lies in it."""
    until = max(job.submit_s for job in trace.jobs)
    end = max((one.end_at for one in ran if one.done), default=0.0)
    useful = held = window = 0.0
    for job, one in zip(trace.jobs, ran, strict=True):
        if not one.done:
            continue
        useful += job.duration_s * job.gpus
        for begin, over in one.held:
            held += (over - begin) * job.gpus
            if begin < until:
                window += (min(over, until) - begin) * job.gpus
        lost = one.lost_s * job.gpus
        if lost and one.end_at <= until:
            window -= lost
        elif lost:
            whole = sum(over - begin for begin, over in one.held)
            inside = sum(max(0.0, min(over, until) - begin) for begin, over in one.held)
            window -= lost * inside / whole
    whole_s = gpus * end if end else 1.0
    return Machine(
        utilisation=useful / whole_s,
        utilisation_submit_window=window / (gpus * until) if until else 0.0,
        occupancy=held / whole_s,
        makespan_s=end,
    )
