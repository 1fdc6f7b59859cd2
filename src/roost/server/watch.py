"""What observations mean for the queue: the inventory, each GPU's fitness, use by others, strays.

Called by the control thread with every observation; tells the scheduler only what changed.
"""

from __future__ import annotations

import json

import msgspec

from roost.core.attribution.attribute import attribute
from roost.core.attribution.model import (
    Allocation,
    Attribution,
    Holder,
    Kind,
    Known,
    Memory,
    Reason,
    RightCode,
)
from roost.core.model import Gpu
from roost.core.observation import DriverState, GpuState, Observation
from roost.core.scheduler.events import ForeignUse, GpuChanged, InventoryChanged, JobCancelled
from roost.core.text.catalogue import say
from roost.server import told
from roost.server.work import Work
from roost.store import ledger as ledger_queries
from roost.store.records import Said

FOREIGN_STEP_BYTES = 64 * 1024 * 1024
REST_COUNTS_FROM_BYTES = 256 * 1024 * 1024
_DRIVERS_OWN = frozenset(
    {Reason.DRIVER_RESERVED, Reason.CONTEXT_OVERHEAD, Reason.JUST_EXITING, Reason.ECC_SCRUB}
)


def gpus_of(observation: Observation) -> tuple[Gpu, ...]:
    """What can be granted: whole GPUs, or the MIG instances of a GPU that is divided."""
    found: list[Gpu] = []
    for gpu in observation.gpus:
        if gpu.mig_mode and gpu.mig_instances:
            found += [
                Gpu(uuid=part.uuid, index=100 * (gpu.index + 1) + place, model=part.name,
                    memory_bytes=part.memory_total_bytes or 0, numa_node=gpu.numa_node,
                    parent=gpu.uuid)
                for place, part in enumerate(gpu.mig_instances)
            ]  # fmt: skip
        else:
            found.append(
                Gpu(uuid=gpu.uuid, index=gpu.index, model=gpu.name,
                    memory_bytes=gpu.memory_total_bytes or 0, numa_node=gpu.numa_node,
                    links=gpu.links)
            )  # fmt: skip
    return tuple(found)


def explain(work: Work, observation: Observation, memory: Memory) -> tuple[Attribution, Memory]:
    """Who holds what, by the observation and by what Roost has granted and people have booked."""
    by_attempt: dict[tuple[int, int], list[str]] = {}
    for allocation in work.allocations.values():
        if allocation.to_at is None:
            by_attempt.setdefault((allocation.job, allocation.attempt), []).append(
                allocation.gpu_uuid
            )
    allocations = []
    for (number, attempt), uuids in by_attempt.items():
        job = work.jobs.get(number)
        if job is not None:
            allocations.append(Allocation(job.user, job.group, tuple(uuids), number, attempt))
    allocations += [
        Allocation(one.user, one.group, one.gpu_uuids, booking=one.id)
        for one in work.books.on(observation.taken_at)
        if not one.maintenance
    ]
    rules = work.rules.rules
    groups = {
        member: name
        for name, group in rules.groups.items()
        for member in group.members
        if not member.startswith("@")
    }
    known = Known(tuple(allocations), groups, rules.default_group, rules.ignore)
    return attribute(observation, known, memory)


def inventory_seen(work: Work, observation: Observation) -> None:
    """Tells the scheduler of GPUs that came, went or changed, and keeps them for a restart."""
    found = gpus_of(observation)
    unknown = observation.driver.state not in (DriverState.OK, DriverState.SIMULATED)
    if unknown and not found:
        # The driver does not answer: the cards are not gone, they cannot be seen.
        return
    # A card that cannot be asked keeps the size that it was known by.
    found = tuple(
        work.gpus[gpu.uuid] if gpu.uuid in work.gpus and not gpu.memory_bytes else gpu
        for gpu in found
    )
    if work.host is None or found == tuple(work.gpus.values()):
        return
    gone = sorted(set(work.gpus) - {gpu.uuid for gpu in found})
    work.gpus = {gpu.uuid: gpu for gpu in found}
    work.events.append(InventoryChanged(work.now, found, work.host.cpus, work.host.memory_bytes))
    now = work.now
    rows = [
        {"uuid": gpu.uuid, "index": gpu.index, "name": gpu.model, "memory_bytes": gpu.memory_bytes,
         "first_seen_at": now, "last_seen_at": now,
         "inventory": msgspec.json.encode(gpu).decode()}
        for gpu in found
    ]  # fmt: skip
    work.extra.append(lambda c: ledger_queries.save_gpus(c, rows))
    work.event("inventory", "", gpus=[gpu.uuid for gpu in found], gone=gone)
    work.topics |= {"status", "jobs"}


def fitness_seen(work: Work, observation: Observation) -> None:
    """GpuChanged for every GPU whose fitness for new jobs changed."""
    driver_fit = observation.driver.state in (DriverState.OK, DriverState.SIMULATED)
    states = {gpu.uuid: gpu for gpu in observation.gpus}
    for gpu in work.gpus.values():
        reading = states.get(gpu.parent or gpu.uuid)
        if gpu.uuid in work.drained:
            usable, reason = False, f"drained: {work.drained[gpu.uuid]}".rstrip(": ")
        elif not driver_fit:
            usable, reason = False, f"driver: {observation.driver.state.value}"
        elif reading is None:
            usable, reason = False, GpuState.MISSING.value
        elif reading.state is not GpuState.OK:
            usable, reason = False, reading.state.value
        else:
            usable, reason = True, ""
        if work.told_usable.get(gpu.uuid, (True, "")) != (usable, reason):
            work.told_usable[gpu.uuid] = (usable, reason)
            work.events.append(GpuChanged(work.now, gpu.uuid, usable, reason))
            work.event("gpu", gpu.uuid, usable=usable, reason=reason)
            work.topics.add("status")


def foreign_use(attribution: Attribution) -> dict[str, int]:
    """Bytes by GPU that no job of ours explains. The driver's own does not count."""
    found: dict[str, int] = {}
    for gpu in attribution.gpus:
        total = sum(_foreign_bytes(holder) for holder in gpu.holders)
        rest = gpu.rest
        if (
            rest is not None
            and rest.memory_bytes >= REST_COUNTS_FROM_BYTES
            and rest.finding.reason not in _DRIVERS_OWN
        ):
            total += rest.memory_bytes
        if total:
            found[gpu.uuid] = total
    return found


def _foreign_bytes(holder: Holder) -> int:
    if holder.kind is Kind.JOB and holder.right.code is RightCode.JOB:
        return 0
    if holder.right.code in (RightCode.IGNORED, RightCode.SYSTEM):
        return 0
    # A process whose memory the driver does not tell is there all the same.
    return holder.memory_bytes if holder.memory_bytes is not None else 1


def foreign_seen(
    work: Work, attribution: Attribution, told: dict[str, int] | None
) -> dict[str, int]:
    """ForeignUse where it changed by more than a step; what the scheduler has been told now.

    `told` None: it has been told nothing yet, and starts nothing before it is.
    """
    found = foreign_use(attribution)
    if (
        told is not None
        and found.keys() == told.keys()
        and all(abs(found[uuid] - told[uuid]) < FOREIGN_STEP_BYTES for uuid in found)
    ):
        return told
    work.events.append(ForeignUse(work.now, tuple(sorted(found.items()))))
    return found


def strays_seen(work: Work, attribution: Attribution, known: set[tuple[int, int, str]]) -> None:
    """A job on a GPU that it was not granted: on record once, and by rule the job is stopped."""
    for gpu in attribution.gpus:
        for holder in gpu.holders:
            if holder.right.code is not RightCode.NOT_GRANTED or holder.job is None:
                continue
            job = work.jobs.get(holder.job)
            if job is None or not job.state.holds_gpus:
                continue
            key = (job.id, job.attempt, gpu.uuid)
            if key in known:
                continue
            known.add(key)
            if work.rules.rules.stray_gpu_use == "ignore":
                continue
            stop = work.rules.rules.stray_gpu_use == "stop"
            detail = {
                "gpu_uuid": gpu.uuid, "gpu_index": gpu.index, "pid": holder.pid,
                "granted": [g.gpu_uuid for g in job.granted],
            }  # fmt: skip
            work.audit(
                None, "roost", "stray_gpu_use", subject=f"job {job.id}", whom=job.user,
                outcome="stopped" if stop else "warned", detail=json.dumps(detail),
            )  # fmt: skip
            work.event("stray_gpu_use", str(job.id), **detail)
            message = "job.stray_stopped" if stop else "job.stray_warned"
            numbers = {"gpu": str(gpu.index)}
            said = Said(message, numbers)
            work.put(msgspec.structs.replace(job, text=say("en", message, **numbers), said=said))
            told.warned(work, job, f"stray:{gpu.uuid}", said)
            if stop:
                work.events.append(JobCancelled(work.now, job.id))
