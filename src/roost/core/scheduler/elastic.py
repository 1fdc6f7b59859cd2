"""Jobs that can use from some to many GPUs: for how many they ask at this moment.

For a time that the rules name such a job is one that wants the most it can use, like any other that
asks for so many. Then it is one that wants the least, and is given more where that is free when it
starts.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core.scheduler.entry import Entry
from roost.core.scheduler.state import State


def waits_until(state: State, entry: Entry) -> float | None:
    """Until when the job waits for the most that it can use; None: it does not."""
    asked = entry.asked
    if asked is None or asked.gpus_most is None:
        return None
    until = entry.job.submitted_at + state.rules.scheduling.elastic_wait_s
    return until if until > state.now else None


def shape(state: State, entry: Entry) -> None:
    """Makes the job's request what it asks for now. To be called while it is in no queue."""
    request = entry.asked or entry.job.request
    if request.gpus_most is None:
        return
    entry.asked = request
    if waits_until(state, entry) is not None:
        # More than there are is waited for by nobody.
        there = sum(slot.open for slot in state.slots.values())
        most = max(request.gpus, min(request.gpus_most, there))
        request = replace(request, gpus=most, gpus_most=None)
    entry.job = replace(entry.job, request=request)


def sizes(entry: Entry, free: int) -> range:
    """How many GPUs the job may start with where so many are free, the most first."""
    request = entry.job.request
    most = request.gpus if request.gpus_most is None else min(request.gpus_most, free)
    return range(max(request.gpus, most), request.gpus - 1, -1)
