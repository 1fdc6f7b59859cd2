"""A live job as the scheduler keeps it: what it holds, since when, and what is known of its end."""

from __future__ import annotations

from dataclasses import dataclass

from roost.core.model import Grant, Job, JobState, Request
from roost.core.scheduler.leaving import Leaving
from roost.core.scheduler.reserved import NEVER

# How long after the end of its grace a job may still be saving or dying (saving limit and kill
# wait of the supervisor) before its GPUs are no longer counted as coming free.
STUCK_AFTER_S = 330.0


@dataclass(frozen=True, slots=True)
class Claim:
    """GPUs that jobs are giving up for one job; nobody else gets them until it has started."""

    slots: tuple[str, ...]
    victims: tuple[int, ...]
    units: int


@dataclass(slots=True)
class Entry:
    """A live job. `safe_at`: work before this instant is not lost when the job is preempted.

    `parked_at`: since when it is suspended; `parked_s`: for how long it was before, by which
    `started_at` and `safe_at` are put off, so that what they say of its run stays right.
    `suspend`: how it is just being suspended; `stays`: that was tried of this attempt in vain.

    `done_s`: run time of earlier attempts that was not lost. `expected_s`: forecast of its whole
    run time, None where there is none. `most_behind_s`: for how long later ones may pass it.

    `asked`: of an elastic job, the request as it was; that of `job` is what it asks for now.

    `warning`: of what the job that runs is to be told, though it goes on; `warned_of` is the
    instant of the last such. `idle_warned_at`: when it was told that it is idle; `idle_part`: it
    was told that some of its GPUs are. `charged`: millionths of a GPU that fair share counts now.
    """

    job: Job
    state: JobState = JobState.PENDING
    attempt: int = 0
    grants: tuple[Grant, ...] = ()
    units: int = 0
    started_at: float = 0.0
    safe_at: float = 0.0
    ending_by: float | None = None
    preempted_for: int | None = None
    cancelled: bool = False
    unmet: tuple[int, ...] = ()
    claim: Claim | None = None
    done_s: float = 0.0
    expected_s: float | None = None
    most_behind_s: float = float("inf")
    leaving: Leaving | None = None
    warning: Leaving | None = None
    warned_of: float | None = None
    idle_warned_at: float | None = None
    idle_part: bool = False
    charged: int = 0
    asked: Request | None = None
    parked_at: float | None = None
    parked_s: float = 0.0
    suspend: str = ""
    stays: bool = False

    @property
    def grants_held(self) -> bool:
        """It holds its grants (none at all for a job on CPUs alone) until it has ended."""
        return self.state.holds_gpus

    @property
    def cpus_held(self) -> int:
        return 0 if self.parked_at is not None else self.job.request.cpus

    def ran_s(self, now: float) -> float:
        """For how long this attempt has run until now."""
        return max(0.0, (now if self.parked_at is None else self.parked_at) - self.started_at)

    @property
    def ends_at(self) -> float | None:
        """The latest end that is known: from walltime, or from the grace it is ending in."""
        if self.ending_by is not None:
            return self.ending_by - STUCK_AFTER_S
        walltime_s = self.job.request.walltime_s
        end = NEVER if walltime_s is None else self.started_at + walltime_s
        if self.leaving is not None:
            end = min(end, self.leaving.at)
        return None if end == NEVER else end

    def lost_work(self, now: float) -> int:
        """GPU work lost if ended now, in microGPU × milliseconds (integers add exactly)."""
        if self.state is not JobState.RUNNING:
            return 0
        since = self.safe_at if self.job.requeue else self.started_at
        return self.units * max(0, round((now - since) * 1000))
