"""A `/dev` of a job's own, in its own mount namespace: the standard nodes and its GPUs only.

This avoids accidents; the wall is the device filter (a process outside may still offer its nodes
through /proc/PID/root). Knows no user and no job.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from roost.machine import kernel
from roost.machine.device_filter import DeviceNumber

NVIDIA_MAJOR = 195
STANDARD = (
    ("null", 1, 3),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("tty", 5, 0),
    ("ptmx", 5, 2),
)
LINKS = (
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
)
KEPT_FOLDERS = ("pts", "shm", "mqueue", "hugepages")
# Nodes of the driver that name no GPU, and of what jobs use beside GPUs; copied where they exist.
DRIVER_NODES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset")
DRIVER_FOLDERS = ("nvidia-caps-imex-channels",)
OTHER_NODES = ("fuse", "gdrdrv")
OTHER_FOLDERS = ("infiniband",)


@dataclass(frozen=True, slots=True)
class Node:
    """One device file: its name below /dev, number, mode and owner."""

    name: str
    major: int
    minor: int
    mode: int = 0o666
    uid: int = 0
    gid: int = 0


@dataclass(frozen=True, slots=True)
class GpuAccess:
    """What grants one GPU: the minor of its node, and a MIG instance's ids where it is one."""

    minor: int
    pci_bus_id: str | None = None
    gpu_instance_id: int | None = None
    compute_instance_id: int | None = None


@dataclass(frozen=True, slots=True)
class DeviceView:
    """What a job may open: `numbers` for the filter, `nodes` for its /dev."""

    numbers: tuple[DeviceNumber, ...]
    nodes: tuple[Node, ...]


def view_for(
    gpus: Sequence[GpuAccess], devices: str = "/dev", proc: str = "/proc", sys: str = "/sys"
) -> DeviceView:
    """The view for exactly these GPUs. Without any, the driver's own nodes are left out as well."""
    nodes = [Node(name, major, minor) for name, major, minor in STANDARD]
    numbers = [DeviceNumber(major, minor) for _, major, minor in STANDARD]
    numbers += [DeviceNumber(major) for major in range(136, 144)]  # pseudo-terminals
    found = _named(devices, OTHER_NODES) + _below(devices, OTHER_FOLDERS)
    if gpus:
        found += _named(devices, DRIVER_NODES) + _below(devices, DRIVER_FOLDERS)
        found += _named(devices, [f"nvidia{gpu.minor}" for gpu in gpus])
        found += _capabilities(gpus, devices, proc) + _render_nodes(gpus, devices, sys)
        numbers += [DeviceNumber(NVIDIA_MAJOR, gpu.minor) for gpu in gpus]
        numbers += [DeviceNumber(NVIDIA_MAJOR, 255)]
    nodes += found
    numbers += [DeviceNumber(node.major, node.minor) for node in found]
    return DeviceView(tuple(dict.fromkeys(numbers)), tuple(dict.fromkeys(nodes)))


def _named(devices: str, names: Sequence[str]) -> list[Node]:
    found = []
    for name in names:
        with suppress(OSError):
            status = os.lstat(f"{devices}/{name}")
            if stat.S_ISCHR(status.st_mode):
                number = status.st_rdev
                found.append(
                    Node(
                        name,
                        os.major(number),
                        os.minor(number),
                        stat.S_IMODE(status.st_mode),
                        status.st_uid,
                        status.st_gid,
                    )
                )
    return found


def _below(devices: str, folders: Sequence[str]) -> list[Node]:
    names = []
    for folder in folders:
        with suppress(OSError):
            names += [f"{folder}/{name}" for name in sorted(os.listdir(f"{devices}/{folder}"))]
    return _named(devices, names)


def _capabilities(gpus: Sequence[GpuAccess], devices: str, proc: str) -> list[Node]:
    """A MIG instance needs the capability of its GPU instance and of its compute instance."""
    names = []
    for gpu in gpus:
        if gpu.gpu_instance_id is None:
            continue
        folder = f"{proc}/driver/nvidia/capabilities/gpu{gpu.minor}/mig/gi{gpu.gpu_instance_id}"
        for path in (f"{folder}/access", f"{folder}/ci{gpu.compute_instance_id}/access"):
            with suppress(OSError), open(path, encoding="ascii") as file:
                for line in file:
                    key, _, value = line.partition(":")
                    if key.strip() == "DeviceFileMinor":
                        names.append(f"nvidia-caps/nvidia-cap{int(value)}")
    return _named(devices, names)


def _render_nodes(gpus: Sequence[GpuAccess], devices: str, sys: str) -> list[Node]:
    """/dev/dri nodes of the granted cards, by PCI address."""
    wanted = {gpu.pci_bus_id.lower()[-12:] for gpu in gpus if gpu.pci_bus_id}
    names = []
    with suppress(OSError):
        for name in sorted(os.listdir(f"{sys}/class/drm")):
            if not name.startswith(("card", "renderD")) or "-" in name:
                continue
            target = os.path.realpath(f"{sys}/class/drm/{name}/device")
            if os.path.basename(target).lower()[-12:] in wanted:
                names.append(f"dri/{name}")
    return _named(devices, names)


def enter(nodes: Sequence[Node]) -> None:
    """Gives the calling process, alone, a /dev with just these nodes. Raises OSError.

    Needs CAP_SYS_ADMIN and CAP_MKNOD; what is mounted below /dev stays reachable.
    """
    kernel.unshare_mounts()
    kept = []
    for name in KEPT_FOLDERS:
        with suppress(FileNotFoundError):
            kept.append((name, os.open(f"/dev/{name}", os.O_PATH | os.O_DIRECTORY)))
    log = None
    with suppress(FileNotFoundError):
        log = os.open("/dev/log", os.O_PATH)
    kernel.mount(
        "roost", "/dev", "tmpfs", kernel.MS_NOSUID | kernel.MS_NOEXEC, "mode=0755,size=64k"
    )
    old = os.umask(0)
    made = set()
    for node in nodes:
        folder = os.path.dirname(node.name)
        if folder and folder not in made:
            os.makedirs(f"/dev/{folder}", 0o755, exist_ok=True)
            made.add(folder)
        path = f"/dev/{node.name}"
        os.mknod(path, stat.S_IFCHR | node.mode, os.makedev(node.major, node.minor))
        if node.uid or node.gid:
            os.chown(path, node.uid, node.gid)
    for name, target in LINKS:
        os.symlink(target, f"/dev/{name}")
    for name, descriptor in kept:
        os.mkdir(f"/dev/{name}", 0o755)
        kernel.mount(
            f"/proc/self/fd/{descriptor}", f"/dev/{name}", None, kernel.MS_BIND | kernel.MS_REC
        )
        os.close(descriptor)
    if log is not None:
        os.close(os.open("/dev/log", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        kernel.mount(f"/proc/self/fd/{log}", "/dev/log", None, kernel.MS_BIND)
        os.close(log)
    os.umask(old)


def possible() -> bool:
    """Whether this process may make such namespaces at all (tried in a child)."""
    pid = os.fork()
    if pid == 0:
        code = 1
        with suppress(OSError):
            enter([Node(name, major, minor) for name, major, minor in STANDARD])
            code = 0
        os._exit(code)
    return os.waitpid(pid, 0)[1] == 0
