"""Giving way in place: who stands still where it is, who may compute over it, and when it goes on.

A job that is suspended keeps its memory, of the GPUs what the rules allow, and loses no work. It
goes on as soon as nobody else is on its GPUs and nobody waits who may take them again. Only whole
GPUs are given so, only to jobs that want whole ones, and one on top of the other but once.
"""

from __future__ import annotations

from collections.abc import Collection

from roost.core.model import JobState
from roost.core.scheduler.decisions import Decision, Preempt, Reason, Resume, Suspend
from roost.core.scheduler.entry import Entry
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.reserved import NEVER
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import State


def suspendable(state: State, victim: Entry) -> bool:
    """It could stand still instead of going back to the queue. Not where a budget counts its time:
    what is kept of that for the job would be kept for nobody knows how long."""
    rules = state.rules.classes[victim.job.priority_class]
    return (
        rules.give_way != "requeue"
        and rules.budget_gpu_s is None
        and victim.state is JobState.RUNNING
        and not victim.stays
        and bool(victim.grants)
        and not victim.job.request.shared
        and all(state.slots[grant.gpu_uuid].frozen is None for grant in victim.grants)
    )


def loss_of(state: State, victim: Entry, in_place: bool) -> int:
    """Work that is lost if it gives way now (see `Entry.lost_work`)."""
    return 0 if in_place and suspendable(state, victim) else victim.lost_work(state.now)


def over(state: State, pool: Pool, entry: Entry, banned: Collection[str]) -> list[Slot]:
    """GPUs on which there is nobody but a suspended job of a class that this one may take from."""
    preempts = state.rules.classes[entry.job.priority_class].preempts
    return [
        slot
        for slot in pool.slots
        if slot.frozen is not None
        and slot.empty
        and slot.claim in (None, entry.job.id)
        and not slot.foreign_bytes
        and slot.gpu.uuid not in banned
        and pool.fits(slot, entry)
        and may_go_over(state, slot, preempts)
    ]


def may_go_over(state: State, slot: Slot, preempts: Collection[object]) -> bool:
    """Nobody is suspended there whose class is not among these."""
    return slot.frozen is None or state.entries[slot.frozen].job.priority_class in preempts


def preempt(state: State, victim: Entry, claimant: Entry) -> Preempt:
    """The victim goes back to the queue."""
    grace_s = state.rules.classes[victim.job.priority_class].grace_s
    state.told_to_end(victim, JobState.PREEMPTING, grace_s)
    victim.preempted_for = claimant.job.id
    return Preempt(victim.job.id, victim.attempt, claimant.job.id, grace_s, _rule(victim, claimant))


def give_way(state: State, victim: Entry, claimant: Entry, in_place: bool) -> Preempt | Suspend:
    """Tells the victim to make room, by the rules of its class. `in_place`: it may keep its memory
    on the host."""
    in_place = in_place and suspendable(state, victim)
    told = preempt(state, victim, claimant)
    if not in_place:
        return told
    rules = state.rules.classes[victim.job.priority_class]
    how = "freeze" if rules.give_way == "suspend" else "checkpoint"
    most_bytes = rules.suspend_bytes if how == "freeze" else None
    victim.suspend = how
    return Suspend(told.job, told.attempt, told.for_job, how, most_bytes, told.rule)


def _rule(victim: Entry, claimant: Entry) -> str:
    which = claimant.job.priority_class
    by_class = victim.job.priority_class is not which
    return f"classes.{which.value}.preempts" if by_class else "scheduling.mode"


def park(state: State, entry: Entry) -> None:
    """The job that holds whole GPUs stands still from now, and others may compute on them."""
    state.stands_still(entry)
    entry.state, entry.parked_at = JobState.SUSPENDED, state.now
    entry.ending_by, entry.suspend = None, ""
    for grant in entry.grants:
        slot = state.slots[grant.gpu_uuid]
        slot.whole, slot.frozen = None, entry.job.id
        slot.used_until = state.now
        state.nodes.update(slot)
    _watched(state, entry)


def goes_on(state: State, entry: Entry) -> None:
    """It was to give way, and is let run after all."""
    entry.state, entry.suspend, entry.preempted_for = JobState.RUNNING, "", None
    entry.ending_by = None
    _watched(state, entry)
    state.ends_otherwise(entry)


def _watched(state: State, entry: Entry) -> None:
    """Who was just going was not told when else to go."""
    if entry.leaving is not None or entry.warning is not None:
        state.leavings[entry.job.id] = None
    state.watch_leaving(entry)


def _unpark(state: State, entry: Entry) -> None:
    """It goes on: what it ran is as if it had not been suspended."""
    span_s = state.now - (state.now if entry.parked_at is None else entry.parked_at)
    entry.started_at += span_s
    entry.safe_at = min(state.now, entry.safe_at + span_s)
    entry.parked_s += span_s
    entry.state, entry.parked_at, entry.preempted_for = JobState.RUNNING, None, None
    for grant in entry.grants:
        slot = state.slots[grant.gpu_uuid]
        slot.whole, slot.frozen = entry.job.id, None
        state.nodes.update(slot)
    state.computes(entry)
    state.watch_leaving(entry)


def waits_for(state: State, pool: Pool, entry: Entry) -> Reason:
    """Why a suspended job does not go on yet."""
    slots = [state.slots[grant.gpu_uuid] for grant in entry.grants]
    on = {number for slot in slots for number in slot.holders}
    on |= {slot.claim for slot in slots if slot.claim is not None}
    since = state.now if entry.parked_at is None else entry.parked_at
    numbers: list[tuple[str, str | int | float]] = [("gpus", len(slots)), ("since_at", since)]
    if not on:
        return Reason("suspended_cpus", (*numbers, ("need", entry.job.request.cpus)))
    jobs = tuple(sorted(on))
    first = state.entries[jobs[0]].job
    numbers += [("job", first.id), ("user", first.user), ("count", len(jobs))]
    rule = _rule(entry, state.entries[first.id])
    last = max(state.end_of(number) for number in jobs)
    if last in (NEVER, state.now):
        return Reason("suspended", tuple(numbers), rule, jobs)
    return Reason("suspended_until", (*numbers, ("end_at", last)), rule, jobs)


def resume(state: State, pool: Pool, out: list[Decision]) -> None:
    """Lets those go on whose GPUs nobody else has or was promised, in the order of their starts."""
    for number in list(state.active):
        entry = state.entries[number]
        if entry.state is not JobState.SUSPENDED or entry.ending_by is not None:
            continue
        slots = [state.slots[grant.gpu_uuid] for grant in entry.grants]
        clear = all(slot.empty and slot.claim is None for slot in slots)
        if clear and entry.job.request.cpus <= pool.cpus:
            _unpark(state, entry)
            pool.refresh()
            out.append(Resume(number, entry.attempt))
