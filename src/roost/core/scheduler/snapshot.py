"""The state as plain data in a fixed order: two schedulers with equal snapshots decide alike."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from roost.core.scheduler.eligibility import Begins
from roost.core.scheduler.entry import Entry
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import State

Snapshot = dict[str, Any]


def snapshot_of(state: State, begins: Begins) -> Snapshot:
    """{"now", "gpus", "jobs", "usage", …}: fit for json.dumps."""
    users, groups = state.usage.gpu_s()
    return {
        "now": state.now,
        "cpus": [state.used_cpus, state.cpus],
        "memory_bytes": [state.used_memory_bytes, state.memory_bytes],
        "gpus": [_slot(slot) for slot in sorted(state.slots.values(), key=lambda s: s.order)],
        "jobs": [_entry(state, state.entries[number]) for number in sorted(state.entries)],
        "queue": sorted(item[1] for b in state.queue.buckets.values() for item in b.items),
        "begins": begins.soonest(),
        "held": {"/".join(key): units for key, units in sorted(state.tallies.held.held().items())},
        "usage": {"users": users, "groups": groups},
    }


def _slot(slot: Slot) -> dict[str, Any]:
    return {
        "uuid": slot.gpu.uuid,
        "usable": slot.open,
        "shared": slot.shared,
        "foreign_bytes": slot.foreign_bytes,
        "holders": sorted(slot.holders),
        "frozen": slot.frozen,
        "promised_bytes": slot.promised_bytes,
        "promised_percent": slot.promised_percent,
        "claim": slot.claim,
    }


def _entry(state: State, entry: Entry) -> dict[str, Any]:
    return {
        "job": entry.job.id,
        "state": entry.state.value,
        "attempt": entry.attempt,
        "held": entry.job.held,
        "grants": [asdict(grant) for grant in entry.grants],
        "started_at": entry.started_at if entry.grants_held else None,
        "safe_at": entry.safe_at if entry.grants_held else None,
        "ending_by": entry.ending_by,
        "preempted_for": entry.preempted_for,
        "suspend": entry.suspend,
        "parked_at": entry.parked_at,
        "claim": None if entry.claim is None else list(entry.claim.slots),
        "unmet": sorted(entry.unmet),
    }
