"""What GPUs do while they are held: what fair share charges for, and who is told and then stopped
for holding GPUs that do nothing.

A job is idle when the busiest of its GPUs is: one of which a part is idle is told, never stopped.
"""

from __future__ import annotations

from roost.core.model import EndReason, JobState
from roost.core.rules.model import IdleReclaim
from roost.core.rules.who import lineage
from roost.core.scheduler.decisions import Decision, Stop, Warn
from roost.core.scheduler.entry import Entry
from roost.core.scheduler.state import State

# After so long without a report nobody can say what was done meanwhile: idle time begins anew.
GAP_S = 300.0
WHOLE = 1.0


def use_seen(state: State, busy: dict[str, float], out: list[Decision]) -> None:
    """Takes in how busy each GPU was, and tells or stops who held idle ones for too long."""
    now, rule = state.now, state.rules.idle_reclaim
    gap = state.use_at is None or now - state.use_at > GAP_S
    state.use_at = now
    least = rule.below_percent / 100.0
    for slot in state.slots.values():
        slot.busy = busy.get(slot.gpu.uuid, WHOLE)
        if gap or slot.busy >= least:
            slot.busy_at = now
    for number in list(state.active):
        entry = state.entries[number]
        if entry.parked_at is not None:
            continue
        charge(state, entry)
        if rule.enabled and entry.state is JobState.RUNNING and not _exempt(state, entry):
            _look(state, entry, rule, out)


def charge(state: State, entry: Entry) -> None:
    """Sets what fair share counts of the job's GPUs from now: all, or as much as they are busy."""
    units = entry.units
    if state.rules.fair_share.charge == "busy" and entry.grants:
        busy = sum(state.slots[grant.gpu_uuid].busy for grant in entry.grants)
        units = round(entry.units * busy / len(entry.grants))
    if units != entry.charged:
        state.usage.change_rate(entry.job.group, entry.job.user, units - entry.charged)
        entry.charged = units


def _exempt(state: State, entry: Entry) -> bool:
    rule, job = state.rules.idle_reclaim, entry.job
    return (
        not entry.grants
        or job.user in rule.exempt_users
        or job.priority_class in rule.exempt_classes
        or any(group in rule.exempt_groups for group in lineage(state.rules, job.group))
    )


def _look(state: State, entry: Entry, rule: IdleReclaim, out: list[Decision]) -> None:
    now = state.now
    slots = [state.slots[grant.gpu_uuid] for grant in entry.grants]
    spans = [now - max(entry.started_at, slot.busy_at) for slot in slots]
    if min(spans) < rule.after_s:
        if entry.idle_warned_at is not None:
            entry.idle_warned_at = None
            out.append(Warn(entry.job.id, entry.attempt, "idle_over", (), "idle_reclaim.after"))
        idle = [s.gpu.index for s, span in zip(slots, spans, strict=True) if span >= rule.after_s]
        if idle and not entry.idle_part:
            gpus = ", ".join(str(index) for index in idle)
            about = (("gpus", gpus), ("count", len(slots)), ("idle_s", rule.after_s))
            out.append(Warn(entry.job.id, entry.attempt, "idle_part", about, "idle_reclaim.after"))
        entry.idle_part = bool(idle)
    elif entry.idle_warned_at is None:
        entry.idle_warned_at = now
        numbers = (("idle_s", min(spans)), ("stop_at", now + rule.warn_s))
        out.append(Warn(entry.job.id, entry.attempt, "idle", numbers, "idle_reclaim.after"))
    elif now >= entry.idle_warned_at + rule.warn_s:
        grace_s = state.rules.classes[entry.job.priority_class].grace_s
        state.told_to_end(entry, JobState.COMPLETING, grace_s)
        out.append(
            Stop(
                entry.job.id, entry.attempt, EndReason.CANCELLED, grace_s,
                rule="idle_reclaim.after",
            )
        )  # fmt: skip
