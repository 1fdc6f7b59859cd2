"""A trace: what people once submitted, and for how long it ran. The readers make it, the replay
runs it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from roost.core.model import Booking, Grant, PriorityClass


@dataclass(frozen=True, slots=True)
class TraceJob:
    """One job of the past. `gpus` may be a fraction of one; `estimate_s` None: nobody said.

    `submit_s` counts from the first submission of the trace; `duration_s` is without any waiting.
    The rest is what only a Roost's own history says: a share of a GPU's memory and compute, what
    else was asked for, the ids (`after`) of jobs of the trace that had to end first, the array and
    how many of it may run at once. `counted` False: it takes part but no figure is reckoned from
    it, for the period cuts it off. `holds`: it ran when the trace began, since `started_s` (below
    0), on these.
    """

    id: str
    user: str
    group: str
    submit_s: float
    gpus: float
    duration_s: float
    estimate_s: float | None = None
    priority_class: PriorityClass | None = None
    state: str = ""
    gpu_memory_bytes: int | None = None
    gpu_model: str | None = None
    cpus: int = 0
    memory_bytes: int | None = None
    after: tuple[str, ...] = ()
    array_id: int | None = None
    array_limit: int | None = None
    requeue: bool = True
    counted: bool = True
    holds: tuple[Grant, ...] = ()
    started_s: float = 0.0
    gpu_compute_percent: int | None = None


@dataclass(frozen=True, slots=True)
class TraceBooking:
    """GPUs that somebody had booked, at its own time (seconds since the epoch). The scheduler knows
    of it from `known_s` until before `gone_s`, seconds of the trace; None: to the end."""

    booking: Booking
    known_s: float
    gone_s: float | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Jobs in the order of their submission (those of one instant by id, as text), and how many
    rows were left out, by the code of the reason. `began_at`: the trace's second 0 in seconds since
    the epoch, for rules that go by the clock on the wall; 0 where nobody knows. `bookings`: walls
    that stood then."""

    jobs: tuple[TraceJob, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    began_at: float = 0.0
    bookings: tuple[TraceBooking, ...] = ()


class TraceError(Exception):
    """A row that cannot be read: a code of the `replay` catalogue with its numbers."""

    def __init__(self, code: str, **numbers: str | int) -> None:
        super().__init__(code, numbers)
        self.code = code
        self.numbers = numbers


class Rows:
    """Collects jobs and counts what is left out; `trace` then puts them into order."""

    def __init__(self) -> None:
        self._jobs: list[TraceJob] = []
        self._left_out: dict[str, int] = {}

    def add(self, job: TraceJob) -> None:
        self._jobs.append(job)

    def leave_out(self, code: str) -> None:
        self._left_out[code] = self._left_out.get(code, 0) + 1

    def trace(self) -> Trace:
        """Raises TraceError where no job is left."""
        if not self._jobs:
            raise TraceError("no_jobs")
        first = min(job.submit_s for job in self._jobs)
        moved = sorted(self._jobs, key=lambda job: (job.submit_s, job.id))
        if first:
            moved = [replace(job, submit_s=job.submit_s - first) for job in moved]
        return Trace(tuple(moved), tuple(sorted(self._left_out.items())))


def number(text: str, line: int, column: str) -> float:
    """A finite number that is not negative. Raises TraceError, naming line and column."""
    try:
        value = float(text)
    except ValueError:
        raise TraceError("not_a_number", line=line, column=column, value=text) from None
    if not 0.0 <= value < 1e15:
        raise TraceError("not_in_range", line=line, column=column, value=text)
    return value
