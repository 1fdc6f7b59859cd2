"""Makes a trace fit the servers it is replayed on: what can never run there is left out and
counted, and what the machines cannot give in parts is rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from roost.core.replay.trace import Trace, TraceError


@dataclass(frozen=True, slots=True)
class Fitted:
    """`rounded` jobs asked for one and a half GPUs or the like and get the next whole number;
    `shared` jobs ask for a part of one GPU, for which the rules must mark GPUs as shared."""

    trace: Trace
    rounded: int
    shared: int


def fit(trace: Trace, gpus: int) -> Fitted:
    """Leaves out, as "too_large", jobs of more than `gpus` GPUs. Raises TraceError where no job is
    left."""
    kept = tuple(job for job in trace.jobs if ceil(job.gpus) <= gpus)
    if not kept:
        raise TraceError("all_too_large", gpus=gpus, smallest=_least(trace))
    rounded = sum(job.gpus > 1 and job.gpus != int(job.gpus) for job in kept)
    shared = sum(job.gpus < 1 and job.gpu_memory_bytes is None for job in kept)
    if rounded:
        kept = tuple(
            replace(job, gpus=float(ceil(job.gpus))) if job.gpus > 1 else job for job in kept
        )
    left_out = dict(trace.left_out)
    if len(kept) < len(trace.jobs):
        left_out["too_large"] = len(trace.jobs) - len(kept)
        first = kept[0].submit_s
        if first and not trace.began_at:
            kept = tuple(replace(job, submit_s=job.submit_s - first) for job in kept)
    fitted = replace(trace, jobs=kept, left_out=tuple(sorted(left_out.items())))
    return Fitted(fitted, rounded, shared)


def _least(trace: Trace) -> str:
    return f"{min(job.gpus for job in trace.jobs):g}"
