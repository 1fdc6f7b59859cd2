"""What other rules change, for whom: the same jobs by either, compared. Knows no terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from roost.core.replay.drive import Ran
from roost.core.replay.metrics import HOUR_S
from roost.core.replay.report import KEYS, has_users
from roost.core.replay.trace import Trace


@dataclass(frozen=True, slots=True)
class Change:
    """For one person (or group, or class; "" for all): by the first rules and by the other how long
    their jobs wait and take to completion, on average, in seconds; how often they are preempted and
    what that loses; how many of their jobs end sooner and later by a minute or more. All of this of
    `jobs` that run to their end by both, with `gpu_h` of work. Besides them `refused` are refused
    by the other rules alone, `never` never start by them alone, and `admitted` run by them alone;
    `gone_gpu_h` is the work of those refused or never started."""

    who: str
    jobs: int
    gpu_h: float
    before_s: float
    after_s: float
    sooner: int
    later: int
    before_jct_s: float = 0.0
    after_jct_s: float = 0.0
    before_preemptions: float = 0.0
    after_preemptions: float = 0.0
    before_lost_gpu_h: float = 0.0
    after_lost_gpu_h: float = 0.0
    refused: int = 0
    never: int = 0
    admitted: int = 0
    gone_gpu_h: float = 0.0

    @property
    def verdict(self) -> str:
        """ "worse" where jobs are refused or never start, or the mean wait grows by a minute or
        more; "better" where it shrinks by as much; else "same"."""
        if self.refused or self.never:
            return "worse"
        moved_s = self.after_s - self.before_s
        return "same" if abs(moved_s) < NOTICED_S else "better" if moved_s < 0 else "worse"

    @property
    def touched(self) -> bool:
        return bool(self.sooner or self.later or self.refused or self.never or self.admitted)


NOTICED_S = 60.0
Runs = Sequence[Sequence[Ran]]


def changes(trace: Trace, before: Runs, after: Runs, key: str | None = None) -> list[Change]:
    """For whom other rules change what, the largest change of summed waiting first; `key` is one of
    KEYS, without it users, or groups where the trace names none. One sequence of `Ran` for each
    seed; jobs count by the median over seeds."""
    which = KEYS[key or ("user" if has_users(trace) else "group")]
    found: dict[str, list[int]] = {}
    for place, job in enumerate(trace.jobs):
        if job.counted:
            found.setdefault(which(job), []).append(place)
    sides = _Side(trace, before), _Side(trace, after)
    result = [_change(trace, who, places, *sides) for who, places in found.items()]

    def size(one: Change) -> tuple[float, float, str]:
        gone = one.refused + one.never
        return -gone, -abs(one.after_s - one.before_s) * one.jobs, one.who

    return sorted(result, key=size)


class _Side:
    """What became of each job by one of the two, the median over the seeds."""

    def __init__(self, trace: Trace, runs: Runs) -> None:
        jobs = trace.jobs
        self.ends = _middle([[one.end_at for one in ran] for ran in runs])
        self.spans = _middle(
            [
                [one.end_at - one.since_s(job) for job, one in zip(jobs, ran, strict=True)]
                for ran in runs
            ]
        )
        self.preempted = _middle([[float(one.preemptions) for one in ran] for ran in runs])
        self.lost_s = _middle([[one.lost_s * one.gpus for one in ran] for ran in runs])
        self.refused = [bool(one.refused) for one in runs[0]]


def _middle(runs: Sequence[Sequence[float]]) -> Sequence[float]:
    return runs[0] if len(runs) == 1 else [median(same) for same in zip(*runs, strict=True)]


def _change(trace: Trace, who: str, places: Sequence[int], old: _Side, new: _Side) -> Change:
    jobs = trace.jobs
    both = [n for n in places if old.ends[n] >= 0 and new.ends[n] >= 0]
    gone = [n for n in places if old.ends[n] >= 0 and new.ends[n] < 0]
    moved = [new.ends[n] - old.ends[n] for n in both]

    def mean(values: list[float]) -> float:
        return sum(values) / len(values) if values else 0.0

    def waits(side: _Side) -> float:
        return max(0.0, mean([side.spans[n] - jobs[n].duration_s for n in both]))

    def hours(among: Sequence[int]) -> float:
        return sum(jobs[n].gpus * jobs[n].duration_s for n in among) / HOUR_S

    return Change(
        who=who,
        jobs=len(both),
        gpu_h=hours(both),
        before_s=waits(old),
        after_s=waits(new),
        sooner=sum(each <= -NOTICED_S for each in moved),
        later=sum(each >= NOTICED_S for each in moved),
        before_jct_s=mean([old.spans[n] for n in both]),
        after_jct_s=mean([new.spans[n] for n in both]),
        before_preemptions=sum(old.preempted[n] for n in both),
        after_preemptions=sum(new.preempted[n] for n in both),
        before_lost_gpu_h=sum(old.lost_s[n] for n in both) / HOUR_S,
        after_lost_gpu_h=sum(new.lost_s[n] for n in both) / HOUR_S,
        refused=sum(new.refused[n] for n in gone),
        never=sum(not new.refused[n] for n in gone),
        admitted=sum(old.ends[n] < 0 and new.ends[n] >= 0 for n in places),
        gone_gpu_h=hours(gone),
    )
