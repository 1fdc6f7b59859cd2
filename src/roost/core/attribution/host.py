"""The observed processes, arranged by what attribution asks: who holds this GPU, whose child is it.

It decides nothing; it only answers from what was observed.
"""

from __future__ import annotations

from collections.abc import Iterable

from roost.core.observation import (
    Ancestor,
    DriverState,
    GpuReading,
    Observation,
    ProcessFacts,
)

FIRST_PERSON_UID = 1000
KERNEL_SIDE = frozenset({"nvidia-persiste", "nv-fabricmanage", "nvidia-fabricma", "nvidia-gridd"})
MONITORS = frozenset(
    {"nvidia-smi", "nv-hostengine", "dcgm-exporter", "dcgmi", "nvtop", "nvitop", "gpustat"}
)
MPS_SERVER = "nvidia-cuda-mps"


class Host:
    """Indexes over one observation. `checkable`: whether open devices can be seen for a GPU."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self.by_pid = {facts.pid: facts for facts in observation.processes}
        self._on_minor: dict[int, list[ProcessFacts]] = {}
        for facts in observation.processes:
            for minor in {use.minor for use in facts.devices if use.minor is not None}:
                self._on_minor.setdefault(minor, []).append(facts)
        self._nodes = frozenset(observation.gpu_nodes)
        self._simulated = observation.driver.state is DriverState.SIMULATED
        self._works_on: dict[int, set[str]] = {}
        for gpu in observation.gpus:
            for process in gpu.processes:
                if self.named(gpu, process.pid) is not None:
                    self._works_on.setdefault(process.pid, set()).add(gpu.uuid)

    def checkable(self, gpu: GpuReading) -> bool:
        return not self._simulated and gpu.minor in self._nodes

    def on(self, gpu: GpuReading) -> tuple[ProcessFacts, ...]:
        """Processes seen to hold this GPU's device, oldest first."""
        if gpu.minor is None:
            return ()
        return tuple(self._on_minor.get(gpu.minor, ()))

    def works_elsewhere(self, facts: ProcessFacts, gpu: GpuReading) -> bool:
        """Whether the driver lists it on another GPU and not on this one: CUDA opens every GPU that
        is visible when it starts, so that an open device alone does not make it a user of this one.
        """
        works_on = self._works_on.get(facts.pid)
        return bool(works_on) and gpu.uuid not in (works_on or ())

    def named(self, gpu: GpuReading, pid: int) -> ProcessFacts | None:
        """The process that a claim of `pid` on this GPU is really about, None if it is not there.

        A process that has the number but not the device is an innocent one that got it later; one
        that may not be looked into, or that has the driver open without a GPU to be seen, counts.
        """
        facts = self.by_pid.get(pid)
        if facts is None or true_zombie(facts):
            return None
        if not self.checkable(gpu) or not facts.visible or holds(facts, gpu.minor):
            return facts
        return None

    def ancestor(self, gpu: GpuReading, pid: int) -> Ancestor | None:
        """The newest remembered process of that number that held this GPU and is gone."""
        found = [a for a in self.observation.gone if a.pid == pid and gpu.uuid in a.gpu_uuids]
        return max(found, key=lambda a: a.seen_at, default=None)

    def descends(self, facts: ProcessFacts, elder: ProcessFacts) -> bool:
        """Whether `elder` is a parent, grandparent … of `facts`, through observed processes."""
        current = facts
        for _ in range(64):
            if current.ppid is None or current.ppid == elder.pid:
                return current.ppid == elder.pid and elder.start_ticks <= facts.start_ticks
            above = self.by_pid.get(current.ppid)
            if above is None or above.start_ticks > current.start_ticks:
                return False
            current = above
        return False


def holds(facts: ProcessFacts, minor: int | None) -> bool:
    return minor is not None and any(use.minor == minor for use in facts.devices)


def how_held(facts: ProcessFacts, minor: int | None) -> tuple[str, ...]:
    """ "fd", "task_fd", "map": the ways in which it holds the GPU of that minor."""
    return tuple(dict.fromkeys(use.via for use in facts.devices if use.minor == minor))


def true_zombie(facts: ProcessFacts) -> bool:
    """Ended and not yet reaped: holds nothing any more."""
    return facts.state == "Z" and (facts.threads or 1) <= 1


def kernel_side(facts: ProcessFacts) -> bool:
    """A part of the driver: by name, and only of system accounts, for anybody can take a name."""
    return facts.comm in KERNEL_SIDE and facts.uid is not None and facts.uid < FIRST_PERSON_UID


def suspects_of(processes: Iterable[ProcessFacts]) -> list[ProcessFacts]:
    """Those to whom memory may belong: no parts of the driver, and monitors only for want of
    others."""
    able = [facts for facts in processes if not kernel_side(facts)]
    return [facts for facts in able if facts.comm not in MONITORS] or able


def orphan(facts: ProcessFacts) -> bool:
    """Its parent is gone: it was handed to init (or to a container's first process)."""
    return facts.ppid in (0, 1)


def related(former: Ancestor | ProcessFacts, facts: ProcessFacts) -> bool:
    """Same session, Roost job, Slurm job or container, or same account and cgroup."""
    if former.session_id is not None and former.session_id == facts.session_id:
        return True
    a, b = former.place, facts.place
    for one, other in (
        (a.roost_job, b.roost_job),
        (a.container_id, b.container_id),
        (a.slurm_job, b.slurm_job),
    ):
        if one is not None and one == other:
            return True
    return (
        former.uid is not None
        and former.uid == facts.uid
        and former.cgroup not in (None, "/")
        and former.cgroup == facts.cgroup
        and (a.login_session, a.systemd_unit) == (b.login_session, b.systemd_unit)
        and (a.login_session is not None or a.systemd_unit is not None)
    )


def users_of(processes: Iterable[ProcessFacts]) -> frozenset[int | None]:
    return frozenset(facts.uid for facts in processes)
