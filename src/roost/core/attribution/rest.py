"""Why memory of a GPU is held by nobody: the 22 reasons, checked in their order.

Each check gives a finding, or says what it found not to be so; the surest finding counts, the
earlier one of equals. Where none applies, the whole list is the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from roost.core.attribution.host import (
    MPS_SERVER,
    Host,
    kernel_side,
    orphan,
    related,
    true_zombie,
)
from roost.core.attribution.learn import MIB, stable
from roost.core.attribution.model import (
    Check,
    Finding,
    GpuMemory,
    Reason,
    Sure,
    Unattributed,
    phrase,
)
from roost.core.attribution.sharing import Split, identities
from roost.core.observation import GpuReading, Observation, ProcessFacts

MOST_RESERVED_BYTES = 1200 * MIB
MOST_GRAPHICS_BYTES = 1024 * MIB
MOST_CONSOLE_BYTES = 64 * MIB
EXITING_S = 10.0


@dataclass(frozen=True, slots=True)
class Case:
    """One GPU's rest and all that may explain it."""

    gpu: GpuReading
    host: Host
    split: Split
    rest: int
    allowed: int
    memory: GpuMemory
    now: float

    @property
    def observation(self) -> Observation:
        return self.host.observation

    @property
    def contexts(self) -> int:
        return sum(1 for share in self.split.shares if share.claimed is not None)

    def found(self, reason: Reason, sure: Sure, sign: str, **values: object) -> Finding:
        pid = values.get("pid", "?")
        remedy = phrase(f"remedy_{reason}", pid=pid, gpu=self.gpu.index)
        return Finding(reason, sure, phrase(sign, **values), remedy)


def explain(case: Case) -> Unattributed:
    """The rest with its reason; for `unexplained` with every check and what it showed."""
    checks: list[Check] = []
    findings: list[Finding] = []
    for reason, check in _CHECKS:
        finding = check(case)
        if isinstance(finding, Finding):
            findings.append(finding)
            checks.append(Check(reason, True, finding.sign))
        else:
            checks.append(Check(reason, finding, phrase(f"check_{reason}")))
    if findings:
        best = min(findings, key=lambda finding: finding.sure.rank)
    else:
        sure = Sure.CERTAIN if case.observation.scan_complete else Sure.LIKELY
        best = case.found(Reason.UNEXPLAINED, sure, "sign_unexplained", bytes=case.rest)
    candidates = case.split.candidates or _suspects(case, best)
    return Unattributed(
        memory_bytes=case.rest,
        finding=best,
        candidates=identities(candidates),
        checks=tuple(checks) if best.reason is Reason.UNEXPLAINED else (),
    )


def _suspects(case: Case, finding: Finding) -> list[ProcessFacts]:
    if finding.reason is Reason.UVM_MANAGED:
        return [share.facts for share in case.split.shares if _has_uvm(share.facts)]
    if finding.reason is Reason.FD_IN_FLIGHT:
        return [f for f in case.observation.processes if f.pending_fds]
    return []


# Each check: a Finding, False for "not so", None for "could not be checked".


def _driver_reserved(case: Case) -> Finding | bool | None:
    if case.gpu.memory_reserved_bytes is not None and case.gpu.memory_consistent:
        return False
    if not case.split.shares and case.rest <= MOST_RESERVED_BYTES:
        return case.found(Reason.DRIVER_RESERVED, Sure.LIKELY, "sign_reserved_unknown")
    return None


def _context_overhead(case: Case) -> Finding | bool | None:
    if case.rest > case.allowed or case.rest == 0:
        return False
    memory = case.memory
    learnt = memory.per_context_bytes if case.contexts else memory.baseline_bytes
    sure = Sure.LIKELY if learnt is None else Sure.CERTAIN
    sign = "sign_overhead" if case.contexts else "sign_baseline"
    return case.found(Reason.CONTEXT_OVERHEAD, sure, sign, contexts=case.contexts)


def _graphics(case: Case) -> Finding | bool | None:
    shows = any(
        "modeset" in use.path or "/dri/" in use.path
        for facts in case.host.on(case.gpu)
        for use in facts.devices
    ) or any("graphics" in share.kinds for share in case.split.shares)
    if (case.gpu.display_active or shows) and case.rest <= MOST_GRAPHICS_BYTES:
        return case.found(Reason.GRAPHICS, Sure.POSSIBLE, "sign_display")
    return False if case.gpu.display_active is not None else None


def _other_pid_namespace(case: Case) -> Finding | bool | None:
    if case.observation.init_pid_namespace:
        return False
    return case.found(Reason.OTHER_PID_NAMESPACE, Sure.LIKELY, "sign_own_namespace")


def _container(case: Case) -> Finding | bool | None:
    for facts in case.split.candidates:
        if facts.place.container_id is not None:
            return case.found(Reason.CONTAINER, Sure.POSSIBLE, "sign_container", pid=facts.pid)
    return False


def _worker_of_dead_parent(case: Case) -> Finding | bool | None:
    for facts in case.split.candidates:
        if orphan(facts):
            sign = "sign_many_candidates"
            count = len(case.split.candidates)
            return case.found(
                Reason.WORKER_OF_DEAD_PARENT, Sure.POSSIBLE, sign, count=count, pid=facts.pid
            )
    if not case.observation.can_see_all:
        return None
    return False if case.observation.scanned_at is not None else None


def _zombie_leader(case: Case) -> Finding | bool | None:
    for facts in case.split.candidates:
        if facts.state == "Z" and (facts.threads or 0) > 1:
            return case.found(
                Reason.ZOMBIE_LEADER,
                Sure.POSSIBLE,
                "sign_zombie_leader",
                pid=facts.pid,
                threads=facts.threads,
            )
    return False


def _zombie_parent(case: Case) -> Finding | bool | None:
    for claim, _ in case.split.ownerless:
        facts = case.host.by_pid.get(claim.pid)
        if facts is not None and true_zombie(facts):
            reason = Reason.ZOMBIE_PARENT_NOT_REAPING
            values = {"pid": facts.pid, "parent": facts.ppid}
            finding = case.found(reason, Sure.LIKELY, "sign_not_reaped", **values)
            remedy = phrase(f"remedy_{reason}", pid=facts.ppid or 0, gpu=case.gpu.index)
            return Finding(reason, finding.sure, finding.sign, remedy)
    return False


def _uninterruptible(case: Case) -> Finding | bool | None:
    for facts in _near(case):
        if facts.state == "D" and not (facts.suspended or facts.frozen):
            return case.found(
                Reason.UNINTERRUPTIBLE,
                Sure.POSSIBLE,
                "sign_uninterruptible",
                pid=facts.pid,
                wchan=facts.wchan or "?",
            )
    return False


def _stopped(case: Case) -> Finding | bool | None:
    for facts in case.split.candidates:
        if (facts.state in "Tt" or facts.frozen) and not facts.suspended:
            return case.found(Reason.STOPPED, Sure.POSSIBLE, "sign_stopped", pid=facts.pid)
    return False


def _mps_server(case: Case) -> Finding | bool | None:
    for facts in case.host.on(case.gpu):
        if facts.comm.startswith(MPS_SERVER):
            return case.found(Reason.MPS_SERVER, Sure.LIKELY, "sign_mps_server", pid=facts.pid)
    return False


def _cuda_ipc(case: Case) -> Finding | bool | None:
    """The owner died, an importer lives: the memory is in nobody's figure."""
    for _, former in case.split.ownerless:
        if former is None:
            continue
        for share in case.split.shares:
            if share.claimed is not None and related(former, share.facts):
                return case.found(
                    Reason.CUDA_IPC, Sure.POSSIBLE, "sign_ipc_importer", pid=share.facts.pid
                )
    return False


def _uvm_managed(case: Case) -> Finding | bool | None:
    with_uvm = [s for s in case.split.shares if s.claimed is not None and _has_uvm(s.facts)]
    if not with_uvm or case.split.ownerless:
        return False
    lone = len(with_uvm) == 1 and case.contexts == 1
    lasting = stable(case.memory.rests, case.now)
    sure = Sure.LIKELY if lone and lasting else Sure.POSSIBLE
    return case.found(Reason.UVM_MANAGED, sure, "sign_uvm", pid=with_uvm[0].facts.pid)


def _no_context_client(case: Case) -> Finding | bool | None:
    return False  # one that could hold memory is a holder of its own already


def _fd_in_flight(case: Case) -> Finding | bool | None:
    """Nothing says of which GPU such a file is: likely only for a claim whose process is gone for
    a while, and, where that one is remembered, of its family."""
    pending = [facts for facts in case.observation.processes if facts.pending_fds]
    if not pending:
        return False if case.observation.scanned_at is not None else None
    ended_at = case.memory.last_end_at
    exiting = ended_at is not None and case.now - ended_at <= EXITING_S
    best, sure = pending[0], Sure.POSSIBLE
    for _, former in case.split.ownerless:
        family = [f for f in pending if former is None or related(former, f)]
        if family and not exiting:
            best, sure = family[0], Sure.LIKELY
    return case.found(
        Reason.FD_IN_FLIGHT, sure, "sign_fd_in_flight", pid=best.pid, count=best.pending_fds
    )


def _kernel_holder(case: Case) -> Finding | bool | None:
    for facts in case.host.on(case.gpu):
        if kernel_side(facts) and case.rest <= 4 * MOST_CONSOLE_BYTES:
            return case.found(
                Reason.KERNEL_HOLDER,
                Sure.POSSIBLE,
                "sign_kernel_holder",
                pid=facts.pid,
                name=facts.comm,
            )
    return None  # module use (peer memory, a console) leaves no process


def _checkpointed(case: Case) -> Finding | bool | None:
    return False  # a suspended process has its memory in host RAM: it leaves none here


def _just_exiting(case: Case) -> Finding | bool | None:
    rests = [amount for at, amount in case.memory.rests if case.now - at <= EXITING_S]
    if len(rests) > 1 and max(rests) - case.rest > 16 * MIB:
        return case.found(Reason.JUST_EXITING, Sure.CERTAIN, "sign_shrinking")
    ended_at = case.memory.last_end_at
    if ended_at is not None and case.now - ended_at <= EXITING_S:
        seconds = round(case.now - ended_at)
        return case.found(Reason.JUST_EXITING, Sure.LIKELY, "sign_just_ended", seconds=seconds)
    return False


def _gpu_as_numa_node(case: Case) -> Finding | bool | None:
    if case.gpu.memory_is_numa_node:
        return case.found(Reason.GPU_AS_NUMA_NODE, Sure.LIKELY, "sign_numa")
    return False


def _passed_to_vm(case: Case) -> Finding | bool | None:
    bus = case.gpu.pci_bus_id
    if bus and any(bus.lower()[-12:] == vm.lower()[-12:] for vm in case.observation.vm_gpus):
        return case.found(Reason.PASSED_TO_VM, Sure.CERTAIN, "sign_vm")
    return False


def _ecc_scrub(case: Case) -> Finding | bool | None:
    idle = not case.split.shares and (case.gpu.utilisation_percent or 0) >= 50
    if idle and case.rest <= case.allowed:
        percent = case.gpu.utilisation_percent
        return case.found(Reason.ECC_SCRUB, Sure.POSSIBLE, "sign_scrub", percent=percent)
    return False


def _near(case: Case) -> list[ProcessFacts]:
    """Candidates, and processes under watch that belong to a dead holder's family."""
    near = list(case.split.candidates)
    for _, former in case.split.ownerless:
        if former is not None:
            near += [f for f in case.observation.processes if related(former, f)]
    return near


def _has_uvm(facts: ProcessFacts) -> bool:
    return any(use.path.endswith("nvidia-uvm") for use in facts.devices)


_CHECKS: tuple[tuple[Reason, Callable[[Case], Finding | bool | None]], ...] = (
    (Reason.DRIVER_RESERVED, _driver_reserved),
    (Reason.CONTEXT_OVERHEAD, _context_overhead),
    (Reason.GRAPHICS, _graphics),
    (Reason.OTHER_PID_NAMESPACE, _other_pid_namespace),
    (Reason.CONTAINER, _container),
    (Reason.WORKER_OF_DEAD_PARENT, _worker_of_dead_parent),
    (Reason.ZOMBIE_LEADER, _zombie_leader),
    (Reason.ZOMBIE_PARENT_NOT_REAPING, _zombie_parent),
    (Reason.UNINTERRUPTIBLE, _uninterruptible),
    (Reason.STOPPED, _stopped),
    (Reason.MPS_SERVER, _mps_server),
    (Reason.CUDA_IPC, _cuda_ipc),
    (Reason.UVM_MANAGED, _uvm_managed),
    (Reason.NO_CONTEXT_CLIENT, _no_context_client),
    (Reason.FD_IN_FLIGHT, _fd_in_flight),
    (Reason.KERNEL_HOLDER, _kernel_holder),
    (Reason.CHECKPOINTED, _checkpointed),
    (Reason.JUST_EXITING, _just_exiting),
    (Reason.GPU_AS_NUMA_NODE, _gpu_as_numa_node),
    (Reason.PASSED_TO_VM, _passed_to_vm),
    (Reason.ECC_SCRUB, _ecc_scrub),
)
