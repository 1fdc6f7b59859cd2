"""What the host says of its NVIDIA cards beside NVML: given to a VM, memory used as a NUMA node.

Small files of /sys and /proc/driver/nvidia only; nothing here opens a device.
"""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostGpus:
    """`in_vms`: PCI addresses bound to vfio-pci. `numa_online`: those whose memory is a NUMA node.

    Addresses are as the kernel writes them ("0000:3b:00.0").
    """

    in_vms: tuple[str, ...] = ()
    numa_online: frozenset[str] = frozenset()


def host_gpus(sys: bytes = b"/sys", proc: bytes = b"/proc") -> HostGpus:
    """Both lists now; what cannot be read is left out."""
    in_vms = []
    base = sys + b"/bus/pci/drivers/vfio-pci"
    for name in _names(base):
        if b":" in name and _read(base + b"/" + name + b"/vendor").strip() == b"0x10de":
            kind = _read(base + b"/" + name + b"/class").strip()
            if kind.startswith((b"0x0300", b"0x0302")):
                in_vms.append(name.decode("ascii", "replace"))
    base = proc + b"/driver/nvidia/gpus"
    online = frozenset(
        name.decode("ascii", "replace")
        for name in _names(base)
        if b"online" in _read(base + b"/" + name + b"/numa_status").lower()
    )
    return HostGpus(tuple(sorted(in_vms)), online)


def same_bus(a: str | None, b: str) -> bool:
    """NVML writes an 8-digit domain ("00000000:3B:00.0"), the kernel 4 digits."""
    return a is not None and a.lower()[-12:] == b.lower()[-12:]


def _names(directory: bytes) -> list[bytes]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _read(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError:
        return b""
