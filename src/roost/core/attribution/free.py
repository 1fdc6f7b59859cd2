"""What `roost free GPU` would end, and why each belongs to that GPU. It ends nothing.

Only processes that are proved to hold this very GPU are in a plan: by its device file, or, where
device files cannot be seen, by the driver's list. Who only has it open, and works on another one or
not at all, is left alone. Jobs of Roost are cancelled, not killed.
"""

from __future__ import annotations

from dataclasses import dataclass

from roost.core.attribution.host import (
    FIRST_PERSON_UID,
    Host,
    how_held,
    kernel_side,
    true_zombie,
)
from roost.core.attribution.model import (
    Attribution,
    GpuAttribution,
    Holder,
    Phrase,
    Reason,
    phrase,
)
from roost.core.attribution.person import command_of
from roost.core.observation import GpuReading, Identity, Observation, ProcessFacts

_NO_MEMORY = frozenset({Reason.NO_CONTEXT_CLIENT, Reason.CHECKPOINTED})
PROTECTED = frozenset({"systemd", "init", "dockerd", "containerd", "sshd"})


@dataclass(frozen=True, slots=True)
class FreeJob:
    """A job of Roost on this GPU: freeing it is cancelling the job."""

    job: int
    user: str | None
    pids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FreeProcess:
    """`evidence` says why it belongs to the GPU; `also_gpus` are indexes of others that it holds.

    `container_id` is set on the main process of a container, which its engine is asked to stop.
    `memory_bytes` counts the memory that is told under its holder once, at the holder.
    """

    pid: int
    start_ticks: int
    uid: int | None
    user: str | None
    command: str
    memory_bytes: int | None
    evidence: tuple[Phrase, ...]
    also_gpus: tuple[int, ...] = ()
    container: str | None = None
    container_id: str | None = None


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A process on the GPU that the plan does not end, and why not."""

    pid: int
    start_ticks: int
    user: str | None
    command: str
    why: Phrase
    uid: int | None


@dataclass(frozen=True, slots=True)
class FreePlan:
    gpu_uuid: str
    gpu_index: int
    jobs: tuple[FreeJob, ...]
    processes: tuple[FreeProcess, ...]
    left: tuple[LeftAlone, ...]


def free_plan(
    observation: Observation,
    attribution: Attribution,
    gpu_uuid: str,
    caller: str,
    operator: bool,
    user: str | None = None,
) -> FreePlan:
    """The plan for one GPU. `user`: only that person's. Members may end their own, operators any.

    Raises KeyError for a GPU that is not in the observation.
    """
    gpu = next((g for g in observation.gpus if g.uuid == gpu_uuid), None)
    explained = attribution.gpu(gpu_uuid)
    if gpu is None or explained is None:
        raise KeyError(gpu_uuid)
    host = Host(observation)
    jobs: dict[int, FreeJob] = {}
    processes: list[FreeProcess] = []
    left: list[LeftAlone] = []
    for holder in explained.holders:
        if user is not None and holder.user != user:
            continue
        allowed = operator or (holder.user == caller)
        for position, identity in enumerate(
            ((holder.pid, holder.start_ticks), *((w.pid, w.start_ticks) for w in holder.workers))
        ):
            facts = host.by_pid.get(identity[0])
            if facts is None or facts.start_ticks != identity[1]:
                continue
            evidence = _evidence(facts, gpu, host)
            # An owner by evidence alone does not make it one's own: the account has to be, too.
            own = operator or (allowed and facts.user == caller)
            why = _refusal(facts, holder, explained, evidence, own)
            if why is not None:
                left.append(
                    LeftAlone(
                        facts.pid, facts.start_ticks, holder.user, command_of(facts), why, facts.uid
                    )
                )  # fmt: skip
            elif holder.job is not None:
                known = jobs.get(holder.job)
                pids = (*(known.pids if known else ()), facts.pid)
                jobs[holder.job] = FreeJob(holder.job, holder.user, pids)
            else:
                processes.append(_process(facts, holder, gpu, observation, evidence, position == 0))
    return FreePlan(gpu_uuid, gpu.index, tuple(jobs.values()), tuple(processes), tuple(left))


def _evidence(facts: ProcessFacts, gpu: GpuReading, host: Host) -> tuple[Phrase, ...]:
    """Why it belongs to this GPU; empty: nothing proves it."""
    ways = how_held(facts, gpu.minor)
    evidence = [phrase(f"free_{way}", minor=gpu.minor) for way in ways]
    listed = any(process.pid == facts.pid for process in gpu.processes)
    if listed and (ways or not host.checkable(gpu)):
        evidence.append(phrase("free_list", gpu=gpu.index))
    return tuple(evidence)


def _refusal(
    facts: ProcessFacts,
    holder: Holder,
    gpu: GpuAttribution,
    evidence: tuple[Phrase, ...],
    allowed: bool,
) -> Phrase | None:
    system = facts.uid is not None and facts.uid < FIRST_PERSON_UID
    if facts.pid == 1 or kernel_side(facts) or (system and facts.comm in PROTECTED):
        return phrase("free_system")
    if not allowed:
        return phrase("free_not_yours", user=holder.user)
    if not evidence or true_zombie(facts):
        return phrase("free_not_proved", gpu=gpu.index)
    candidates = gpu.rest.candidates if gpu.rest else ()
    suspected = Identity(holder.pid, holder.start_ticks) in candidates
    no_memory = holder.finding is not None and holder.finding.reason in _NO_MEMORY
    if no_memory and not holder.memory_bytes and not suspected:
        return phrase("free_open_only", gpu=gpu.index)
    return None


def _process(
    facts: ProcessFacts,
    holder: Holder,
    gpu: GpuReading,
    observation: Observation,
    evidence: tuple[Phrase, ...],
    is_holder: bool,
) -> FreeProcess:
    indexes = {g.minor: g.index for g in observation.gpus if g.minor is not None}
    held = {use.minor for use in facts.devices if use.minor in indexes}
    listed = {g.index for g in observation.gpus if any(p.pid == facts.pid for p in g.processes)}
    # Where the driver lists it, that counts: CUDA opens every GPU that it can see.
    also = listed or {indexes[minor] for minor in held}
    also.discard(gpu.index)
    main = facts.place.container_id is not None and facts.ns_pids[-1:] == (1,)
    main = main and len(facts.ns_pids) > 1
    marks = list(evidence)
    if also:
        marks.append(phrase("free_also", gpus=", ".join(str(n) for n in sorted(also))))
    if main:
        marks.append(phrase("free_container_main", container=holder.container))
    return FreeProcess(
        pid=facts.pid,
        start_ticks=facts.start_ticks,
        uid=facts.uid,
        user=holder.user,
        command=command_of(facts),
        memory_bytes=holder.memory_bytes if is_holder else 0,
        evidence=tuple(marks),
        also_gpus=tuple(sorted(also)),
        container=holder.container,
        container_id=facts.place.container_id if main else None,
    )
