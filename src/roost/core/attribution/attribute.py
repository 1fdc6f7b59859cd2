"""From an observation to holders: the one entry of attribution.

Pure: the same observation, knowledge and memory give the same answer. Holders' memory and the rest
add up to the memory used, to the byte, on each GPU by itself.
"""

from __future__ import annotations

from roost.core.attribution.claims import claims_of
from roost.core.attribution.host import Host
from roost.core.attribution.learn import allowed_overhead, idle_seconds, learned
from roost.core.attribution.model import (
    Attribution,
    GpuAttribution,
    GpuMemory,
    Holder,
    Known,
    Memory,
    Reason,
    Right,
    RightCode,
    phrase,
)
from roost.core.attribution.person import (
    booking_of,
    command_of,
    instances_of,
    job_allocation,
    kind_of,
    person_of,
    right_of,
)
from roost.core.attribution.rest import Case, explain
from roost.core.attribution.sharing import Share, Split, identities, last_known, split
from roost.core.observation import (
    ContainerFacts,
    GpuReading,
    GpuState,
    Observation,
)

EMPTY = Memory()
NO_USE = frozenset({Reason.NO_CONTEXT_CLIENT, Reason.CHECKPOINTED, Reason.KERNEL_HOLDER})


def attribute(
    observation: Observation, known: Known, memory: Memory = EMPTY
) -> tuple[Attribution, Memory]:
    """Every GPU explained, and the memory for the next call. A memory of before a reboot, or of
    another server, counts for nothing."""
    same = (memory.boot_id, memory.server) == (observation.boot_id, observation.server)
    before = memory.gpus if same else {}
    host = Host(observation)
    containers = {container.id: container for container in observation.containers}
    gpus = []
    after: dict[str, GpuMemory] = dict(before)
    for gpu in observation.gpus:
        old = before.get(gpu.uuid, GpuMemory())
        contexts = len(claims_of(gpu)) if gpu.processes else 0
        allowed = allowed_overhead(old, contexts)
        if _told_something(gpu):
            result = split(gpu, host, allowed, old)
            new = learned(gpu, result, old, observation.taken_at, gpu.uuid not in before)
        else:  # nothing is learned from silence: nobody has ended, nobody is idle by it
            result, new = last_known(gpu, host, old), old
        after[gpu.uuid] = new
        gpus.append(_explained(gpu, host, containers, known, result, (old, new), allowed))
    answer = Attribution(observation.taken_at, observation.server, tuple(gpus))
    return answer, Memory(observation.boot_id, observation.server, after)


def _told_something(gpu: GpuReading) -> bool:
    return gpu.state is GpuState.OK or bool(gpu.processes) or gpu.memory_used_bytes is not None


def _explained(
    gpu: GpuReading,
    host: Host,
    containers: dict[str, ContainerFacts],
    known: Known,
    result: Split,
    memories: tuple[GpuMemory, GpuMemory],
    allowed: int,
) -> GpuAttribution:
    old, new = memories
    now = host.observation.taken_at
    holders = [_holder(gpu, share, containers, known, old, new, now) for share in result.shares]
    holders.sort(key=lambda h: (-(h.memory_bytes or 0), h.start_ticks, h.pid))
    rest = result.rest
    unattributed = None
    strange = not result.shares and (gpu.utilisation_percent or 0) >= 50
    if _in_vm(gpu, host) or (rest is not None and (rest > 0 or strange)):
        unattributed = explain(Case(gpu, host, result, rest or 0, allowed, new, now))
    return GpuAttribution(
        index=gpu.index,
        uuid=gpu.uuid,
        used_bytes=gpu.memory_used_bytes,
        reserved_bytes=gpu.memory_reserved_bytes,
        total_bytes=gpu.memory_total_bytes,
        holders=tuple(holders),
        rest=unattributed,
        overlap_bytes=result.overlap,
        openers=identities(result.openers),
    )


def _in_vm(gpu: GpuReading, host: Host) -> bool:
    bus = (gpu.pci_bus_id or "-").lower()[-12:]
    return any(vm.lower()[-12:] == bus for vm in host.observation.vm_gpus)


def _holder(
    gpu: GpuReading,
    share: Share,
    containers: dict[str, ContainerFacts],
    known: Known,
    old: GpuMemory,
    new: GpuMemory,
    now: float,
) -> Holder:
    facts = share.facts
    place = facts.place
    container = containers.get(place.container_id) if place.container_id else None
    person = person_of(facts, container)
    instances = instances_of(gpu, share.instances)
    right = right_of(facts, person.user, gpu, instances, share.bytes, known)
    idle = share.finding is not None and share.finding.reason in NO_USE
    if idle and not share.bytes and not right.lawful:
        right = Right(RightCode.OPEN_ONLY, phrase("right_open_only"), True)
    key = (facts.pid, facts.start_ticks)
    allocation = job_allocation(facts, known)
    group = allocation.group if allocation else known.groups.get(person.user or "")
    name = None
    if place.container_id is not None:
        name = (container.name if container else None) or place.container_name
        name = name or place.container_id[:12]
    return Holder(
        gpu_index=gpu.index,
        gpu_uuid=gpu.uuid,
        pid=facts.pid,
        start_ticks=facts.start_ticks,
        uid=facts.uid,
        user=allocation.user if allocation else person.user,
        group=group or known.default_group,
        kind=kind_of(facts, right),
        container=name,
        container_id=place.container_id,
        job=place.roost_job,
        attempt=place.roost_attempt,
        booking=booking_of(person.user, gpu, instances, known),
        memory_bytes=share.bytes,
        claimed_bytes=share.claimed,
        command=command_of(facts),
        since=new.holders[key].first_seen_at,
        idle_s=idle_seconds(gpu, share, old.holders.get(key), now),
        right=right,
        finding=share.finding,
        workers=identities(share.workers),
        owner_evidence=person.evidence,
        owner_sure=person.sure,
        kinds=share.kinds,
        mig_uuids=tuple(sorted(instances)),
    )
