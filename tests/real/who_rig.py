"""What the tests of seeing and freeing stand on: real processes with real open devices.

The devices are stand-in nodes (the kernel's zero device under other names), since no driver is here
to open /dev/nvidia*; the GPUs' numbers are scripted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from roost.core.attribution import Attribution, Holder, Known, Memory, attribute
from roost.core.observation import (
    DriverReading,
    DriverState,
    GpuProcess,
    GpuReading,
    Observation,
)
from roost.machine.observer import Observer, ObserverConfig
from roost.machine.proc.devices import DeviceNodes

PYTHON = "/usr/bin/python3"
MIB = 1 << 20
GIB = 1 << 30


@dataclass
class ScriptedGpus:
    """A `GpuDriver` whose GPUs are what the test says. Index i has minor `minors[i]`."""

    count: int = 8
    minors: Sequence[int] = ()
    gpus: list[GpuReading] = field(default_factory=list)

    def __post_init__(self) -> None:
        minors = list(self.minors) or list(range(self.count))
        self.gpus = [
            GpuReading(
                uuid=f"GPU-{i:04d}",
                index=i,
                name="A100",
                minor=minors[i],
                memory_total_bytes=80 * GIB,
                memory_used_bytes=0,
                memory_reserved_bytes=512 * MIB,
                utilisation_percent=0,
            )
            for i in range(self.count)
        ]

    def say(self, index: int, used: int, *processes: GpuProcess, **more: object) -> None:
        self.gpus[index] = replace(
            self.gpus[index], memory_used_bytes=used, processes=processes, **more
        )

    def read(self, deadline_s: float) -> tuple[DriverReading, tuple[GpuReading, ...]]:
        return DriverReading(DriverState.OK, "570.0"), tuple(self.gpus)

    def release(self) -> None: ...
    def hold(self) -> None: ...
    def close(self) -> None: ...


@contextmanager
def stand_in_nodes(count: int = 8) -> Iterator[Path]:
    """A directory with nodes nvidia0 …, nvidiactl, nvidia-uvm that everyone can really open."""
    directory = Path(tempfile.mkdtemp(prefix="roost-who-"))
    directory.chmod(0o755)
    try:
        for name in [*(f"nvidia{n}" for n in range(count)), "nvidiactl", "nvidia-uvm"]:
            os.mknod(directory / name, 0o020666, os.makedev(1, 5))
            (directory / name).chmod(0o666)
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def nodes_of(directory: Path) -> DeviceNodes:
    return DeviceNodes(os.fsencode(directory), frozenset({1}), frozenset(), by_name=True)


def observer(driver: object, directory: Path, **config: object) -> Observer:
    return Observer(
        driver,  # type: ignore[arg-type]
        ObserverConfig(server="test", nodes=nodes_of(directory), **config),  # type: ignore[arg-type]
    )


class Seen:
    """Observation and attribution together, over time."""

    def __init__(self, watcher: Observer, known: Known | None = None) -> None:
        self.watcher = watcher
        self.known = known or Known()
        self.memory = Memory()
        self.now = time.time()
        self.observation: Observation | None = None

    def look(self, scan: bool = False, after_s: float = 1.0) -> Attribution:
        self.now += after_s
        look = self.watcher.scan if scan else self.watcher.sample
        self.observation = look(self.now)
        answer, self.memory = attribute(self.observation, self.known, self.memory)
        for gpu in answer.gpus:
            parts = [holder.memory_bytes or 0 for holder in gpu.holders]
            left = gpu.rest.memory_bytes if gpu.rest else 0
            assert sum(parts) + left == gpu.used_bytes, "holders and rest are not all of it"
        return answer


def holders(answer: Attribution, index: int) -> dict[int, Holder]:
    return {holder.pid: holder for holder in answer.gpus[index].holders}


class Processes:
    """Real processes of test accounts; all ended at the end, by the pids that were started."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []
        self._others: list[int] = []

    def run(
        self,
        script: str,
        *arguments: str,
        uid: int | None = None,
        ready: bool = True,
        new_session: bool = True,
        prefix: Sequence[str] = (),
        env: dict[str, str] | None = None,
        cwd: str = "/",
    ) -> tuple[subprocess.Popen[bytes], list[str]]:
        """Starts a Python script as `uid`; returns it and the words of the line it says first."""
        more = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
        process = subprocess.Popen(
            [*prefix, PYTHON, "-c", script, *arguments],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=new_session,
            env=env or {"PATH": "/usr/bin:/bin"},
            cwd=cwd,
            **more,  # type: ignore[arg-type]
        )
        self._started.append(process)
        if not ready:
            return process, []
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert line, "the process ended before it was ready"
        return process, line.split()

    def also(self, pid: int) -> int:
        """A process that a started one made: ended too."""
        self._others.append(pid)
        return pid

    def close(self) -> None:
        for pid in self._others:
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        for process in self._started:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


HOLD = """
import os, sys, time
fds = [os.open(p, os.O_RDWR) for p in sys.argv[1:]]
print("ready", os.getpid(), flush=True)
time.sleep(3600)
"""

# The parent opens, a child is forked, the parent says both pids and waits to be killed.
FORK_AND_WAIT = """
import os, sys, time
fds = [os.open(p, os.O_RDWR) for p in sys.argv[1:]]
child = os.fork()
if child == 0:
    time.sleep(3600)
print("ready", os.getpid(), child, flush=True)
time.sleep(3600)
"""

# The main thread ends with the exit system call; a thread lives on with the device open.
ZOMBIE_LEADER = """
import ctypes, os, sys, threading, time
fds = [os.open(p, os.O_RDWR) for p in sys.argv[1:]]
threading.Thread(target=time.sleep, args=(3600,)).start()
print("ready", os.getpid(), flush=True)
libc = ctypes.CDLL(None)
libc.syscall(60, 0)
"""

# Mapped and closed: only /proc/PID/maps shows it.
MAP_ONLY = """
import mmap, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
area = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE)
os.close(fd)
import gc
print("ready", os.getpid(), flush=True)
time.sleep(3600)
"""

# A device descriptor lies in a socket's queue, and in nobody's table.
IN_FLIGHT = """
import os, socket, sys, time
a, b = socket.socketpair()
fd = os.open(sys.argv[1], os.O_RDWR)
socket.send_fds(a, [b"x"], [fd])
os.close(fd)
print("ready", os.getpid(), flush=True)
time.sleep(3600)
"""

# In D state for as long as the child lives: a vfork parent waits uninterruptibly.
IN_D_STATE = """
import ctypes, os, sys, time
fds = [os.open(p, os.O_RDWR) for p in sys.argv[1:]]
print("ready", os.getpid(), flush=True)
libc = ctypes.CDLL(None)
CLONE_VFORK, SIGCHLD = 0x4000, 17
if libc.syscall(56, CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0:
    for fd in fds:
        os.close(fd)
    time.sleep(3600)
time.sleep(3600)
"""
