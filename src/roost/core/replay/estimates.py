"""What the scheduler is told of a job's length: the truth, what people said, or something wrong."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from roost.core.replay.trace import Trace

# Overestimates as people make them: a factor for each job, drawn evenly.
FACTORS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)


class Chance(Protocol):
    """A generator that its maker has seeded, such as random.Random(seed)."""

    def choice(self, among: Sequence[float], /) -> float: ...


class Estimates(StrEnum):
    """EXACT: the true duration. TRACE: what the trace says, None where it says nothing. NOISY:
    the duration times one of FACTORS, except where the trace says what people asked for."""

    EXACT = "exact"
    TRACE = "trace"
    NOISY = "noisy"


def walltimes(trace: Trace, how: Estimates, chance: Chance) -> list[float | None]:
    """One for each job, in their order, in seconds; never zero."""
    if how is Estimates.EXACT:
        return [max(job.duration_s, 1e-3) for job in trace.jobs]
    said = [None if not job.estimate_s else job.estimate_s for job in trace.jobs]
    if how is Estimates.TRACE:
        return list(said)
    return [
        max(job.duration_s, 1e-3) * chance.choice(FACTORS) if estimate is None else estimate
        for job, estimate in zip(trace.jobs, said, strict=True)
    ]
