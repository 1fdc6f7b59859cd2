"""One GPU as the scheduler keeps it: what is on it, and whether more may come."""

from __future__ import annotations

from dataclasses import dataclass, field

from roost.core.model import Gpu


@dataclass(slots=True)
class Slot:
    """A GPU and what is on it. `claim` is the job that it is kept for until that job starts.

    `order` is its place among all slots; `free` repeats `available` for `Nodes`, which counts it.
    `frozen`: a suspended job that keeps some memory here, and goes on when nobody else is left.
    `used_until`: when it was last used by a stranger or by a job of a class that takes any GPU.
    `computes`: of those in `shares` that stated a share of the compute, how much in percent.
    `busy`: how much it computed lately, 0 to 1; `busy_at`: when it last did for idle reclaim.
    """

    gpu: Gpu
    order: int
    present: bool = True
    usable: bool = True
    why: str = ""
    foreign_bytes: int = 0
    shared: bool = False
    split: bool = False
    whole: int | None = None
    frozen: int | None = None
    shares: dict[int, int] = field(default_factory=dict)
    promised_bytes: int = 0
    computes: dict[int, int] = field(default_factory=dict)
    promised_percent: int = 0
    claim: int | None = None
    free: bool = False
    used_until: float = float("-inf")
    busy: float = 1.0
    busy_at: float = float("-inf")

    @property
    def open(self) -> bool:
        """New work may come onto it, as far as the GPU itself goes."""
        return self.present and self.usable and not self.split

    @property
    def available(self) -> bool:
        """A job that wants whole GPUs could have it at once."""
        return (
            self.whole is None
            and self.frozen is None
            and not self.shares
            and self.claim is None
            and self.present
            and self.usable
            and not self.split
            and not self.foreign_bytes
        )

    @property
    def free_bytes(self) -> int:
        """Memory that can still be promised: neither promised nor used by strangers."""
        if self.whole is not None or self.frozen is not None:
            return 0
        return max(0, self.gpu.memory_bytes - self.promised_bytes - self.foreign_bytes)

    @property
    def free_percent(self) -> int:
        """Compute that can still be promised. Who stated no share of it takes nothing from it."""
        return 0 if self.whole is not None else max(0, 100 - self.promised_percent)

    def hold_share(self, job: int, memory_bytes: int, percent: int | None) -> None:
        self.shares[job] = memory_bytes
        self.promised_bytes += memory_bytes
        if percent is not None:
            self.computes[job] = percent
            self.promised_percent += percent

    def free_share(self, job: int) -> None:
        """The job's share, if it has one, is free again."""
        self.promised_bytes -= self.shares.pop(job, 0)
        self.promised_percent -= self.computes.pop(job, 0)

    @property
    def empty(self) -> bool:
        """Nobody computes on it."""
        return self.whole is None and not self.shares

    @property
    def forgettable(self) -> bool:
        """Nobody has anything on it, or is about to."""
        return self.empty and self.frozen is None and self.claim is None

    @property
    def holders(self) -> tuple[int, ...]:
        """Who computes on it."""
        return tuple(self.shares) if self.whole is None else (self.whole,)

    @property
    def occupants(self) -> tuple[int, ...]:
        """Also who stands still on it."""
        return self.holders if self.frozen is None else (*self.holders, self.frozen)
