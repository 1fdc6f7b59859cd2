"""The cgroups of jobs on v2, v1 and machines that have both: limits, use, and ending all in one.

Linux Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/*.rst. A job's cgroup is called
`job_JOB.ATTEMPT` under a base that belongs to Roost. Knows nothing of users or GPUs.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from roost.machine import device_filter
from roost.machine.device_filter import DeviceNumber
from roost.machine.signals import signal_all

PERIOD_US = 100_000
V1_USED = ("cpu", "cpuacct", "memory", "pids")
V2_USED = ("cpu", "memory", "pids")
_NAME = re.compile(r"job_(\d{1,18})\.(\d{1,9})\Z")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where jobs' cgroups are made. `unified` is the base on v2, `controllers` those it gives on;
    `v1` maps a controller to its base. `bpf` says that the device filter is one of v2. `path` is
    the base as /proc/PID/cgroup writes it."""

    unified: str | None = None
    controllers: tuple[str, ...] = ()
    v1: dict[str, str] = field(default_factory=dict)
    bpf: bool = False
    path: str = ""

    @property
    def kind(self) -> str:
        """ "v2", "v1", "hybrid" or "none"."""
        if self.v1:
            return "hybrid" if self.unified else "v1"
        return "v2" if self.unified else "none"

    @property
    def device_filter(self) -> bool:
        return self.bpf or "devices" in self.v1

    def bases(self) -> tuple[str, ...]:
        """Every base folder, each once, the one that processes are listed from first."""
        found = [self.unified] if self.unified else []
        order = ("freezer", "pids", "memory", "cpu", "cpuacct", "devices")
        found += [self.v1[name] for name in order if name in self.v1]
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Limits:
    """`cpus` is weight and hard quota; 0: a weight of one and no quota. None: no limit."""

    cpus: int = 0
    memory_bytes: int | None = None
    processes: int | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """What the cgroup's processes used so far; None where the kernel does not say."""

    peak_memory_bytes: int | None = None
    cpu_s: float | None = None
    oom_kills: int = 0


def name_of(job: int, attempt: int) -> str:
    return f"job_{job}.{attempt}"


def _put(path: str, value: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, value)
    finally:
        os.close(descriptor)


def _get(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _number(raw: bytes | None, key: bytes | None = None) -> int | None:
    if raw is None:
        return None
    if key is None:
        return int(raw) if raw.strip().isdigit() else None
    for line in raw.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == key and words[1].isdigit():
            return int(words[1])
    return None


# -- one job ------------------------------------------------------------------------------------


def create(
    layout: Layout, name: str, limits: Limits, devices: Sequence[DeviceNumber] | None
) -> None:
    """Makes the job's cgroup with its limits and its device filter (None: no filter).

    Every limit that was asked for holds when this returns. Raises OSError.
    """
    for base in layout.bases():
        with suppress(FileExistsError):
            os.mkdir(f"{base}/{name}")
    _limit_v2(layout, name, limits)
    _limit_v1(layout, name, limits)
    if devices is None:
        return
    if layout.bpf:
        device_filter.attach_v2(f"{layout.unified}/{name}", devices)
    elif "devices" in layout.v1:
        device_filter.attach_v1(f"{layout.v1['devices']}/{name}", devices)


def _limit_v2(layout: Layout, name: str, limits: Limits) -> None:
    path = f"{layout.unified}/{name}"
    if "cpu" in layout.controllers:
        _put(f"{path}/cpu.weight", b"%d" % min(10_000, 100 * max(1, limits.cpus)))
        if limits.cpus:
            _put(f"{path}/cpu.max", b"%d %d" % (limits.cpus * PERIOD_US, PERIOD_US))
    if "memory" in layout.controllers and limits.memory_bytes is not None:
        _put(f"{path}/memory.max", b"%d" % limits.memory_bytes)
        with suppress(OSError):  # no such file where the kernel has no swap accounting
            _put(f"{path}/memory.swap.max", b"0")
        _put(f"{path}/memory.oom.group", b"1")
    if "pids" in layout.controllers and limits.processes is not None:
        _put(f"{path}/pids.max", b"%d" % limits.processes)


def _limit_v1(layout: Layout, name: str, limits: Limits) -> None:
    if "cpu" in layout.v1:
        path = f"{layout.v1['cpu']}/{name}"
        _put(f"{path}/cpu.shares", b"%d" % min(262_144, 1024 * max(1, limits.cpus)))
        if limits.cpus:
            with suppress(FileNotFoundError):  # kernels without CONFIG_CFS_BANDWIDTH
                _put(f"{path}/cpu.cfs_quota_us", b"%d" % (limits.cpus * PERIOD_US))
    if "memory" in layout.v1 and limits.memory_bytes is not None:
        path = f"{layout.v1['memory']}/{name}"
        _put(f"{path}/memory.limit_in_bytes", b"%d" % limits.memory_bytes)
        with suppress(OSError):  # no swap accounting
            _put(f"{path}/memory.memsw.limit_in_bytes", b"%d" % limits.memory_bytes)
    if "pids" in layout.v1 and limits.processes is not None:
        _put(f"{layout.v1['pids']}/{name}/pids.max", b"%d" % limits.processes)


def join(layout: Layout, name: str) -> None:
    """Moves the calling process in, before it executes anything of a user's. Raises OSError."""
    for base in layout.bases():
        _put(f"{base}/{name}/cgroup.procs", b"0")


def pids(layout: Layout, name: str) -> list[int]:
    """Processes in the cgroup now, also in groups that the job made below it."""
    bases = layout.bases()
    if not bases:
        return []
    found: list[int] = []
    for folder, _, files in os.walk(f"{bases[0]}/{name}"):
        if "cgroup.procs" in files:
            raw = _get(f"{folder}/cgroup.procs")
            found += [int(line) for line in (raw or b"").split()]
    return found


def is_empty(layout: Layout, name: str) -> bool:
    """No live process is left; zombies do not count on v2."""
    if layout.unified:
        return _number(_get(f"{layout.unified}/{name}/cgroup.events"), b"populated") != 1
    return not pids(layout, name)


def kill(layout: Layout, name: str) -> None:
    """SIGKILL to everything inside, forks included. One round: call it until `is_empty`.

    v2: cgroup.kill (Linux 5.14). v1: frozen, so that nothing forks meanwhile, signalled, thawed.
    """
    if layout.unified:
        try:
            _put(f"{layout.unified}/{name}/cgroup.kill", b"1")
            return
        except FileNotFoundError:
            pass
    freezer = f"{layout.v1['freezer']}/{name}/freezer.state" if "freezer" in layout.v1 else None
    if freezer:
        with suppress(FileNotFoundError):
            _put(freezer, b"FROZEN")
    signal_all(lambda: pids(layout, name), signal.SIGKILL)
    if freezer:
        with suppress(FileNotFoundError):
            _put(freezer, b"THAWED")


def remove(layout: Layout, name: str, timeout_s: float = 2.0) -> bool:
    """Removes the empty cgroup from every hierarchy; False where something is still inside."""
    end = time.monotonic() + timeout_s
    done = True
    for base in layout.bases():
        pause = 0.001
        while True:
            try:
                _remove_tree(f"{base}/{name}")
                break
            except OSError as error:
                if error.errno not in (errno.EBUSY, errno.ENOTEMPTY) or time.monotonic() > end:
                    done = False
                    break
            time.sleep(pause)
            pause = min(0.05, pause * 2)
    return done


def _remove_tree(path: str) -> None:
    try:
        os.rmdir(path)
        return
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in (errno.EBUSY, errno.ENOTEMPTY):
            raise
    for folder, names, _ in os.walk(path, topdown=False):
        for name in names:
            with suppress(FileNotFoundError):
                os.rmdir(f"{folder}/{name}")
    os.rmdir(path)


def use(layout: Layout, name: str) -> Use:
    """Peak memory, CPU time and kills for lack of memory, of the whole life of the cgroup."""
    peak = cpu_s = None
    kills = 0
    if "memory" in layout.v1:
        path = f"{layout.v1['memory']}/{name}"
        peak = _number(_get(f"{path}/memory.max_usage_in_bytes"))
        kills = _number(_get(f"{path}/memory.oom_control"), b"oom_kill") or 0
    elif "memory" in layout.controllers:
        path = f"{layout.unified}/{name}"
        peak = _number(_get(f"{path}/memory.peak"))
        kills = _number(_get(f"{path}/memory.events"), b"oom_kill") or 0
    if "cpuacct" in layout.v1:
        spent = _number(_get(f"{layout.v1['cpuacct']}/{name}/cpuacct.usage"))
        cpu_s = None if spent is None else spent / 1e9
    elif layout.unified:
        spent = _number(_get(f"{layout.unified}/{name}/cpu.stat"), b"usage_usec")
        cpu_s = None if spent is None else spent / 1e6
    return Use(peak, cpu_s, kills)


def memory_room(layout: Layout, name: str, limit_bytes: int) -> int | None:
    """Bytes that the job may still take before `limit_bytes`, what is cached from files counting
    as free; None where the kernel does not say."""
    if "memory" in layout.v1:
        path, used = f"{layout.v1['memory']}/{name}", "memory.usage_in_bytes"
        keys = (b"total_inactive_file", b"total_active_file")
    else:
        path, used = f"{layout.unified}/{name}", "memory.current"
        keys = (b"inactive_file", b"active_file")
    now = _number(_get(f"{path}/{used}"))
    if now is None:
        return None
    raw = _get(f"{path}/memory.stat")
    return max(0, limit_bytes - now + sum(_number(raw, key) or 0 for key in keys))


def watch_oom_v1(layout: Layout, name: str) -> int | None:
    """An eventfd that becomes readable when a v1 cgroup runs out of memory; None elsewhere.

    v2 needs none: memory.oom.group ends the whole job by itself.
    """
    if "memory" not in layout.v1:
        return None
    path = f"{layout.v1['memory']}/{name}"
    event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
    try:
        control = os.open(f"{path}/memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _put(f"{path}/cgroup.event_control", b"%d %d" % (event, control))
        finally:
            os.close(control)
    except OSError:
        os.close(event)
        return None
    return event


def jobs_in(layout: Layout) -> set[tuple[int, int]]:
    """(job, attempt) of every job cgroup that exists in any hierarchy."""
    found = set()
    for base in layout.bases():
        try:
            names = os.listdir(base)
        except OSError:
            continue
        for name in names:
            match = _NAME.match(name)
            if match:
                found.add((int(match.group(1)), int(match.group(2))))
    return found
