"""What attribution says: holders, what is left without one, why, and how sure that is.

Pure data. Sentences are phrases (a message code and its values), so that they can be said in any
language later; `core.text.attribution` has the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from roost.core.observation import Identity
from roost.core.rules.model import IgnoreRule


class Reason(StrEnum):
    """Why memory is held by nobody, or strangely, in the order in which it is checked."""

    DRIVER_RESERVED = "driver_reserved"
    CONTEXT_OVERHEAD = "context_overhead"
    GRAPHICS = "graphics"
    OTHER_PID_NAMESPACE = "other_pid_namespace"
    CONTAINER = "container"
    WORKER_OF_DEAD_PARENT = "worker_of_dead_parent"
    ZOMBIE_LEADER = "zombie_leader"
    ZOMBIE_PARENT_NOT_REAPING = "zombie_parent_not_reaping"
    UNINTERRUPTIBLE = "uninterruptible"
    STOPPED = "stopped"
    MPS_SERVER = "mps_server"
    CUDA_IPC = "cuda_ipc"
    UVM_MANAGED = "uvm_managed"
    NO_CONTEXT_CLIENT = "no_context_client"
    FD_IN_FLIGHT = "fd_in_flight"
    KERNEL_HOLDER = "kernel_holder"
    CHECKPOINTED = "checkpointed"
    JUST_EXITING = "just_exiting"
    GPU_AS_NUMA_NODE = "gpu_as_numa_node"
    PASSED_TO_VM = "passed_to_vm"
    ECC_SCRUB = "ecc_scrub"
    UNEXPLAINED = "unexplained"


class Sure(StrEnum):
    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"

    @property
    def rank(self) -> int:
        """0 for the surest."""
        return _SURENESS.index(self)


_SURENESS = (Sure.CERTAIN, Sure.LIKELY, Sure.POSSIBLE)


class Kind(StrEnum):
    JOB = "job"
    BOOKING = "booking"
    SESSION = "session"
    CONTAINER = "container"
    SERVICE = "service"
    UNATTRIBUTED = "unattributed"


@dataclass(frozen=True, slots=True)
class Phrase:
    """`code` in the area `attribution` of the catalogue, with its values."""

    code: str
    values: tuple[tuple[str, object], ...] = ()


def phrase(code: str, **values: object) -> Phrase:
    return Phrase(code, tuple(sorted(values.items())))


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason with its sign (what was seen), its remedy, and how sure it is."""

    reason: Reason
    sure: Sure
    sign: Phrase
    remedy: Phrase


@dataclass(frozen=True, slots=True)
class Check:
    """One of the ordered checks. `found`: True, False, or None where it could not be checked."""

    reason: Reason
    found: bool | None
    result: Phrase


class RightCode(StrEnum):
    JOB = "job"
    BOOKING = "booking"
    IGNORED = "ignored"
    SYSTEM = "system"
    OPEN_ONLY = "open_only"
    NOT_GRANTED = "not_granted"
    ENDED_JOB = "ended_job"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Right:
    """By what a holder uses the GPU; `lawful` False: use without right, for enforcement."""

    code: RightCode
    said: Phrase
    lawful: bool


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody's process on one GPU.

    `user` is the person it is attributed to, `uid` the account that it runs as. `memory_bytes` is
    its part of the memory used (parts and rest add up to it), `claimed_bytes` what the driver said;
    None: the driver does not say. `workers` are processes that keep the same memory alive and are
    told under this one. `since` and `idle_s`: None where it cannot be known. `mig_uuids`: the MIG
    instances that it is on, where the driver tells.
    """

    gpu_index: int
    gpu_uuid: str
    pid: int
    start_ticks: int
    uid: int | None
    user: str | None
    group: str | None
    kind: Kind
    container: str | None
    container_id: str | None
    job: int | None
    attempt: int | None
    booking: int | None
    memory_bytes: int | None
    claimed_bytes: int | None
    command: str
    since: float | None
    idle_s: float | None
    right: Right
    finding: Finding | None = None
    workers: tuple[Identity, ...] = ()
    owner_evidence: Phrase | None = None
    owner_sure: Sure = Sure.CERTAIN
    kinds: tuple[str, ...] = ()
    mig_uuids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unattributed:
    """Memory of nobody. `candidates`: processes that it may belong to, not sure enough to say."""

    memory_bytes: int
    finding: Finding
    candidates: tuple[Identity, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class GpuAttribution:
    """One GPU. Sum of the holders' memory and the rest's = `used_bytes`, exactly.

    `used_bytes` None: unknown (lost, not answering); then `rest` is None or holds 0 bytes.
    `reserved_bytes` is the driver's own, in nobody's account. `overlap_bytes`: by how much the
    driver's figures exceeded the memory used (memory shared between processes is counted twice).
    `openers` have the device open and work on another GPU: no holders of this one.
    """

    index: int
    uuid: str
    used_bytes: int | None
    reserved_bytes: int | None
    total_bytes: int | None
    holders: tuple[Holder, ...]
    rest: Unattributed | None
    overlap_bytes: int = 0
    openers: tuple[Identity, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribution:
    """Every GPU of one observation, explained."""

    taken_at: float
    server: str
    gpus: tuple[GpuAttribution, ...]

    def gpu(self, uuid: str) -> GpuAttribution | None:
        return next((gpu for gpu in self.gpus if gpu.uuid == uuid), None)


@dataclass(frozen=True, slots=True)
class Allocation:
    """GPUs that a job (its running attempt) or a booking entitles somebody to, now."""

    user: str
    group: str
    gpu_uuids: tuple[str, ...]
    job: int | None = None
    attempt: int | None = None
    booking: int | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What the daemon knows beside the observation. `groups`: user → group that is charged."""

    allocations: tuple[Allocation, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    default_group: str | None = None
    ignore: tuple[IgnoreRule, ...] = ()


@dataclass(frozen=True, slots=True)
class HolderMemory:
    """Of one process on one GPU: when it was first and last seen to work, its last claim."""

    first_seen_at: float
    busy_at: float | None
    claimed_bytes: int | None
    rss_bytes: int | None


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """What is learned of one GPU over time. `rests`: (time, bytes) of the last half minute."""

    holders: Mapping[tuple[int, int], HolderMemory] = field(default_factory=dict)
    rests: tuple[tuple[float, int], ...] = ()
    last_end_at: float | None = None
    last_end_bytes: int = 0
    baseline_bytes: int | None = None
    per_context_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """State between two attributions: handed in, and handed out anew. Empty after a reboot."""

    boot_id: str = ""
    server: str = ""
    gpus: Mapping[str, GpuMemory] = field(default_factory=dict)
