"""Which files are GPU devices: by name first, by device number where the name proves nothing.

Asking for the number never waits for a file system (statx with AT_STATX_DONT_SYNC): a descriptor on
a dead network mount must not stall the sample.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

NVIDIA_MAJOR = 195
_CONTROL_MINORS = frozenset({254, 255})  # nvidia-modeset, nvidiactl
_S_IFMT, _S_IFCHR = 0o170000, 0o020000
_AT_STATX_DONT_SYNC, _AT_NO_AUTOMOUNT = 0x4000, 0x800
_STATX_TYPE = 0x1
_DELETED = b" (deleted)"
_GPU_NODE = re.compile(rb"nvidia(\d{1,4})\Z")


@dataclass(frozen=True, slots=True)
class DeviceNodes:
    """Where GPU device files are and what numbers they have.

    `directory` without a slash at its end. `gpu_majors` are the majors whose minor names a GPU,
    `other_majors` those that belong to the driver but to no GPU (uvm, caps). `by_name`: nodes in
    `directory` name their GPU by their file name alone, which is how stand-in nodes in tests do,
    where no driver answers for major 195.
    """

    directory: bytes = b"/dev"
    gpu_majors: frozenset[int] = frozenset({NVIDIA_MAJOR})
    other_majors: frozenset[int] = frozenset()
    by_name: bool = False


def device_nodes(environment: Mapping[str, str], proc: bytes = b"/proc") -> DeviceNodes:
    """The nodes of this machine; uvm and caps have majors that are given out at load.

    `ROOST_DEVICE_DIR` names another directory with stand-in nodes, `ROOST_DEVICE_MAJORS` ("1,4")
    their majors: for tests, read from the agent's own environment only.
    """
    directory = environment.get("ROOST_DEVICE_DIR")
    if directory:
        majors = environment.get("ROOST_DEVICE_MAJORS", "1")
        numbers = frozenset(int(part) for part in majors.split(",") if part.strip())
        return DeviceNodes(os.fsencode(directory.rstrip("/")), numbers, frozenset(), by_name=True)
    others = set()
    try:
        with open(proc + b"/devices", "rb") as file:
            for line in file:
                parts = line.split()
                if len(parts) == 2 and parts[1].startswith(b"nvidia-") and parts[0].isdigit():
                    others.add(int(parts[0]))
    except OSError:
        pass  # no /proc/devices: then no dynamic majors are known, and names have to do
    return DeviceNodes(other_majors=frozenset(others) - {NVIDIA_MAJOR})


def node_minors(nodes: DeviceNodes) -> tuple[int, ...]:
    """The minors of the GPU nodes that exist now, in order."""
    try:
        names = os.listdir(nodes.directory)
    except OSError:
        return ()
    found = (_GPU_NODE.match(name) for name in names)
    return tuple(sorted(int(match.group(1)) for match in found if match))


@dataclass(frozen=True, slots=True)
class Match:
    """A target that is a GPU device: its path as linked, and the GPU's minor or None."""

    path: bytes
    minor: int | None


class DeviceMatcher:
    """Decides for link targets whether they are GPU devices. Holds no state but compiled names."""

    def __init__(self, nodes: DeviceNodes) -> None:
        self.nodes = nodes
        self._prefix = nodes.directory + b"/nvidia"
        self._places = (
            nodes.directory + b"/",
            b"/dev/",
            b"/tmp/",
            b"/var/tmp/",
            b"/run/",
        )

    def suspicious(self, target: bytes, deep: bool = False) -> bool:
        """True where `decide` has to look.

        Not at every open file: some network file systems do not honour AT_STATX_DONT_SYNC. Places
        where a device node would be made or hidden are looked at always, the rest only when `deep`
        (NVML names the process and no device was found), in a thread that may be given up.
        """
        if not target.startswith(b"/"):
            return False
        return (
            deep
            or target.startswith(self._places)
            or b"nvidia" in target
            or target.endswith(_DELETED)
        )

    def by_name(self, target: bytes) -> Match | None:
        """What the path alone says, for mappings, which have no descriptor to ask."""
        path = target.removesuffix(_DELETED)
        if not path.startswith(self._prefix) and not path.startswith(b"/dev/nvidia"):
            return None
        name = path.rpartition(b"/")[2]
        found = _GPU_NODE.match(name)
        return Match(path, int(found.group(1)) if found else None)

    def decide(self, directory: int, name: bytes, target: bytes) -> Match | None:
        """Whether the open file `name` below the descriptor `directory` is a GPU device.

        The device number decides; a name alone is no proof, since a container with CAP_MKNOD can
        call a node anything. Only a stand-in directory goes by name.
        """
        number = device_number(directory, name)
        if number is None:
            return None
        major, minor = number
        if major in self.nodes.gpu_majors:
            if self.nodes.by_name:
                return self.by_name(target)
            if major == NVIDIA_MAJOR and minor in _CONTROL_MINORS:
                return Match(target, None)
            return Match(target, minor)
        if major in self.nodes.other_majors:
            return Match(target, None)
        return None


class _Statx(ctypes.Structure):
    _fields_ = [
        ("mask", ctypes.c_uint32),
        ("blksize", ctypes.c_uint32),
        ("attributes", ctypes.c_uint64),
        ("nlink", ctypes.c_uint32),
        ("uid", ctypes.c_uint32),
        ("gid", ctypes.c_uint32),
        ("mode", ctypes.c_uint16),
        ("pad", ctypes.c_uint16),
        ("ino", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("blocks", ctypes.c_uint64),
        ("attributes_mask", ctypes.c_uint64),
        ("times", ctypes.c_uint64 * 8),
        ("rdev_major", ctypes.c_uint32),
        ("rdev_minor", ctypes.c_uint32),
        ("dev_major", ctypes.c_uint32),
        ("dev_minor", ctypes.c_uint32),
        ("spare", ctypes.c_uint64 * 14),
    ]


def _load_statx() -> Callable[..., int] | None:
    try:
        function = ctypes.CDLL(None, use_errno=True).statx
    except AttributeError:
        return None  # a C library before glibc 2.28 or musl 1.2.3: names have to do
    function.argtypes = [
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.POINTER(_Statx),
    ]
    function.restype = ctypes.c_int
    loaded: Callable[..., int] = function
    return loaded


_statx = _load_statx()


def device_number(directory: int, name: bytes) -> tuple[int, int] | None:
    """(major, minor) of a character device, from what the kernel has in memory; else None.

    Follows the link `name` (a magic link of /proc/PID/fd leads to the open inode itself).
    """
    if _statx is None:
        return None
    result = _Statx()
    flags = _AT_STATX_DONT_SYNC | _AT_NO_AUTOMOUNT
    if _statx(directory, name, flags, _STATX_TYPE, ctypes.byref(result)) != 0:
        return None
    if result.mode & _S_IFMT != _S_IFCHR:
        return None
    return result.rdev_major, result.rdev_minor
