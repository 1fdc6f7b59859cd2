"""How long jobs will run, from how long their user's last ones of that size did.

People ask for more than they need, each in their own way: what is learnt is the part of the
walltime that was used, or where none was given, the time. An average of the last few is what works
for such a series (Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007, take the last two).
"""

from __future__ import annotations

from collections import deque

from roost.core.model import Job

REMEMBERED = 8
# (user, group, GPUs, a walltime was given)
Kind = tuple[str, str, int, bool]


class Forecast:
    """Run times by user, GPUs, and whether a walltime was given."""

    def __init__(self) -> None:
        self._past: dict[Kind, deque[float]] = {}
        self._ran_gpu_s = 0.0
        self._expected_gpu_s = 0.0

    @property
    def came_true(self) -> float:
        """Which part of what was expected of all jobs, in GPU seconds, they then ran."""
        return self._ran_gpu_s / self._expected_gpu_s if self._expected_gpu_s else 1.0

    def ended(self, job: Job, run_s: float, expected_s: float) -> None:
        """A job ran to its own end, for so long in all. Of nobody's jobs no habit is learnt."""
        gpus = max(1, job.request.gpus)
        self._ran_gpu_s += run_s * gpus
        self._expected_gpu_s += expected_s * gpus
        if job.user:
            self.learn(_kind(job), job.request.walltime_s, run_s)

    def learn(self, kind: Kind, walltime_s: float | None, run_s: float) -> None:
        """A job of that kind ran for so long."""
        seen = run_s if walltime_s is None else min(1.0, run_s / max(walltime_s, 1e-6))
        past = self._past.get(kind)
        if past is None:
            past = self._past[kind] = deque(maxlen=REMEMBERED)
        past.append(seen)

    def expected_s(self, job: Job) -> float | None:
        """Seconds in all; None where nothing is known of such jobs."""
        past = self._past.get(_kind(job))
        walltime_s = job.request.walltime_s
        if not past:
            return walltime_s
        mean = sum(past) / len(past)
        return mean if walltime_s is None else mean * walltime_s


def _kind(job: Job) -> Kind:
    return job.user, job.group, job.request.gpus, job.request.walltime_s is not None
