"""Classes that take only GPUs which nobody used for a while: which are not idle for long enough.

What is for the others: who stops at a GPU for ten minutes comes back to it. Jobs of such a class
itself do not count as use.
"""

from __future__ import annotations

from roost.core.scheduler.entry import Entry
from roost.core.scheduler.reserved import NEVER, Kept
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import State


def idle_for_s(state: State, entry: Entry) -> float:
    return state.rules.classes[entry.job.priority_class].idle_for_s


def lately_used(state: State, entry: Entry) -> list[Slot]:
    """GPUs with nobody on them, on which the job may not start yet for that reason."""
    span_s = idle_for_s(state, entry)
    if not span_s:
        return []
    return [
        slot
        for slot in state.nodes.slots
        if slot.empty and slot.claim != entry.job.id and slot.used_until + span_s > state.now
    ]


def kept_idle(state: State, entry: Entry) -> list[Kept]:
    """The same for finding when the job could start."""
    span_s = idle_for_s(state, entry)
    return [
        Kept((slot.gpu.uuid,), state.now, slot.used_until + span_s, NEVER)
        for slot in lately_used(state, entry)
    ]


def idle_enough_at(state: State) -> float | None:
    """When the next GPU will have been idle for as long as some waiting job wants it to be."""
    if not state.idles:
        return None
    classes = {bucket.priority_class for bucket in state.queue.buckets.values()}
    spans = {state.rules.classes[which].idle_for_s for which in classes} - {0.0}
    times = [
        slot.used_until + span_s for span_s in spans for slot in state.nodes.slots if slot.empty
    ]
    return min((at for at in times if at > state.now), default=None)
