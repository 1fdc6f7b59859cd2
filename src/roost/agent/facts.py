"""What this machine is and what it can hold jobs to, found out once at the agent's start."""

from __future__ import annotations

import os
import pwd
import socket
from dataclasses import dataclass

from roost.agent.config import AgentConfig
from roost.machine import cgroup_base, freezer, private_dev
from roost.machine.cgroup import V2_USED, Layout
from roost.wire.messages import HostFacts

DEFAULT_PROCESSES = 32768


@dataclass(frozen=True, slots=True)
class Host:
    """`layout` is where cgroups are made; `private_dev` whether jobs get a /dev of their own."""

    boot_id: str
    as_root: bool
    layout: Layout
    private_dev: bool
    processes: int

    def facts(self, simulated: bool) -> HostFacts:
        layout = self.layout
        where = layout.unified or next(iter(layout.v1.values()), "")
        return HostFacts(
            server=socket.gethostname(),
            boot_id=self.boot_id,
            cpus=len(os.sched_getaffinity(0)),
            memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            uid=os.geteuid(),
            cgroup=f"{layout.kind}:{where}" if where else layout.kind,
            device_filter=layout.device_filter,
            private_dev=self.private_dev,
            simulated=simulated,
            limits=self._limits(),
            freezer=freezer.possible(layout),
        )

    def _limits(self) -> tuple[str, ...]:
        found = []
        if not self.as_root:
            found.append(f"limit_not_root user={_name(os.geteuid())}")
        if not self.layout.bases():
            found.append("limit_no_cgroup")
        else:
            have = {*self.layout.controllers, *self.layout.v1}
            found += [f"limit_no_controller controller={c}" for c in V2_USED if c not in have]
        if self.as_root and not self.layout.device_filter:
            found.append("limit_no_device_filter")
        if self.as_root and not self.private_dev:
            found.append("limit_no_private_dev")
        return tuple(found)


def look(config: AgentConfig) -> Host:
    """Prepares the cgroup base and tries what can be tried. To be called before any thread."""
    root = os.geteuid() == 0
    base = cgroup_base.choose_base(config.cgroup, config.instance, root)
    return Host(
        boot_id=boot_id(),
        as_root=root,
        layout=cgroup_base.prepare(base, config.filter_kind if root else "none", config.only_v1),
        private_dev=root and private_dev.possible(),
        processes=_processes(),
    )


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def _processes() -> int:
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
        return min(DEFAULT_PROCESSES, int(file.read()) // 4)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
