"""When a running job must be gone, whatever its walltime: a window closes, its GPUs are booked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Leaving:
    """The job is told at `notice_at` and gone at `at`. `rule`: the key of the rules file behind it;
    `booking`: the one that it makes room for or that ends under it, or 0."""

    at: float
    notice_at: float
    rule: str
    booking: int = 0
