"""Room that is kept for a job that waits: which GPUs, from when until when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from roost.core.model import Grant, Request

NEVER = float("inf")


class Kept(NamedTuple):
    """Slots that are another's for a time. `lead_s`: how long before `begins_at` one must have
    started on them, where that is not the whole length of the job."""

    slots: Collection[str]
    begins_at: float
    ends_at: float
    lead_s: float | None = None


@dataclass(slots=True)
class Reservation:
    """`begins_at` None: it depends on jobs whose end is not known. `spare_*`: what jobs behind
    may hold beyond that instant without delaying it; `spare_gpu_*` of the GPU on which a share is
    kept, below 0: nothing. `ends_at`: when it is over at the latest."""

    job: int
    slots: frozenset[str]
    begins_at: float | None
    spare_cpus: int
    spare_memory_bytes: int
    ends_at: float = NEVER
    spare_gpu_bytes: int = -1
    spare_gpu_percent: int = 0

    def lets_in(self, request: Request) -> bool:
        """A job with that request may hold a share of the GPU beside what is kept there."""
        return (
            request.gpu_memory_bytes is not None
            and request.gpu_memory_bytes <= self.spare_gpu_bytes
            and (request.gpu_compute_percent or 0) <= self.spare_gpu_percent
        )

    def ends_before(self, now: float, walltime_s: float | None) -> bool:
        return (
            self.begins_at is not None
            and walltime_s is not None
            and now + walltime_s <= self.begins_at
        )

    @property
    def kept(self) -> Kept:
        begins_at = NEVER if self.begins_at is None else self.begins_at
        return Kept(self.slots, begins_at, self.ends_at)

    def take(self, request: Request, grants: Sequence[Grant]) -> None:
        """A job behind it that may last longer starts on these."""
        self.spare_cpus = max(0, self.spare_cpus - request.cpus)
        self.spare_memory_bytes = max(0, self.spare_memory_bytes - (request.memory_bytes or 0))
        if any(grant.gpu_uuid in self.slots for grant in grants):
            self.spare_gpu_bytes -= request.gpu_memory_bytes or 0
            self.spare_gpu_percent -= request.gpu_compute_percent or 0


def in_the_way(
    reservations: Sequence[Reservation], now: float, walltime_s: float | None
) -> tuple[Reservation, ...]:
    """Those that a job of this walltime, started now, would still run into."""
    return tuple(r for r in reservations if not r.ends_before(now, walltime_s))
