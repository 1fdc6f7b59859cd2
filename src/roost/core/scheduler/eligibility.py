"""What must be so before room is looked for: not held, begin time reached, dependencies completed.

A waiting job is in the queue exactly when all of that holds; limits are looked at in the round.
"""

from __future__ import annotations

from heapq import heappop, heappush

from roost.core.model import Job, JobState
from roost.core.scheduler.decisions import Finish
from roost.core.scheduler.elastic import shape, waits_until
from roost.core.scheduler.entry import Entry
from roost.core.scheduler.order import turn_of
from roost.core.scheduler.state import State


class Begins:
    """Begin times not reached yet, soonest first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []

    def add(self, at: float, number: int) -> None:
        heappush(self._heap, (at, number))

    def reached(self, now: float) -> list[int]:
        found: list[int] = []
        while self._heap and self._heap[0][0] <= now:
            found.append(heappop(self._heap)[1])
        return found

    def soonest(self) -> float | None:
        return self._heap[0][0] if self._heap else None


def ready(state: State, entry: Entry) -> bool:
    job = entry.job
    return (
        entry.state is JobState.PENDING
        and not job.held
        and not entry.unmet
        and (job.begin_at is None or job.begin_at <= state.now)
    )


def settle(state: State, begins: Begins, entry: Entry) -> None:
    """Puts a waiting job into the queue or takes it out, as it is now."""
    if entry.job.request.gpus_most is not None or entry.asked is not None:
        state.queue.remove(entry.job)
        shape(state, entry)
        until = waits_until(state, entry)
        if until is not None:
            begins.add(until, entry.job.id)
    if ready(state, entry):
        state.queue.insert(entry.job, turn_of(state.policy, entry, state.now))
        return
    state.queue.remove(entry.job)
    state.drop_claim(entry)
    job = entry.job
    if entry.state is JobState.PENDING and job.begin_at is not None and job.begin_at > state.now:
        begins.add(job.begin_at, job.id)


def unmet_of(state: State, job: Job, restored: bool) -> tuple[tuple[int, ...], str | None]:
    """The dependencies that have not ended, and the code of a Finish if one cannot be met.

    A restored job's dependencies that are not known any more were met: had one ended otherwise,
    the job would have been finished with it.
    """
    if not job.after:
        return (), None
    unmet = []
    for other in dict.fromkeys(job.after):
        ended = state.ended.get(other)
        if other != job.id and other in state.entries:
            unmet.append(other)
        elif ended is None and not restored:
            return (), "dependency_missing"
        elif ended is not None and ended is not JobState.COMPLETED:
            return (), "dependency_failed"
    return tuple(unmet), None


def end_job(state: State, begins: Begins, entry: Entry, final: JobState, out: list[Finish]) -> None:
    """The job has ended in `final`; who waited for it goes on, or is finished with a reason."""
    state.forget(entry, final)
    waiting = [(entry.job.id, final)]
    while waiting:
        number, how = waiting.pop()
        for other in state.dependents.pop(number, ()):
            dependent = state.entries.get(other)
            if dependent is None or number not in dependent.unmet:
                continue
            dependent.unmet = tuple(n for n in dependent.unmet if n != number)
            if dependent.state is not JobState.PENDING:
                continue
            if how is JobState.COMPLETED:
                settle(state, begins, dependent)
            else:
                out.append(Finish(other, "dependency_failed"))
                state.forget(dependent, JobState.CANCELLED)
                waiting.append((other, JobState.CANCELLED))
