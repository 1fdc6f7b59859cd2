"""What the parent and the helper say to each other, and the shared memory beside it.

Frames are four bytes of length, big-endian, and a msgpack document. Imports nothing of NVML, so
that the parent stays small.
"""

from __future__ import annotations

import mmap
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct

import msgspec

from roost.core.observation import DriverReading, GpuReading

_PROGRESS = Struct("=qd")
PROGRESS_BYTES = _PROGRESS.size
IN_NO_CARD = -1


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """Seconds between: attempts to initialise, looks for a lost card, new handles for a driver
    that lost them all, rare readings (fan, PCIe, MIG mode), lists asked without a reason, and the
    inventory."""

    retry_s: float = 10.0
    recheck_s: float = 5.0
    reload_s: float = 10.0
    slow_s: float = 10.0
    graphics_s: float = 60.0
    inventory_s: float = 60.0
    proc: str = "/proc"
    sys: str = "/sys"


class Setup(msgspec.Struct, frozen=True):
    """First argument of the helper, as JSON."""

    socket_fd: int
    progress_fd: int
    options: ReaderOptions


class Ask(msgspec.Struct, frozen=True):
    """Read all cards but `skip` (UUID, index); after the answer, `probe` one that hung before."""

    request: int
    skip: dict[str, int] = {}
    probe: str | None = None


class Mapped(msgspec.Struct, frozen=True):
    """The library file that is in use, to see when the path stands for another one."""

    path: str
    device: int
    inode: int
    mtime_ns: int


class Answer(msgspec.Struct, frozen=True, tag=True):
    """`last`: new handles were of no use, a new process may be; this one ends now."""

    request: int
    driver: DriverReading
    gpus: tuple[GpuReading, ...]
    library: Mapped | None = None
    last: bool = False


class Probed(msgspec.Struct, frozen=True, tag=True):
    """The card that hung before answers again."""

    uuid: str


Said = Answer | Probed


def identity_of(path: str) -> Mapped | None:
    """The file that is at `path` now, None where there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return Mapped(path, stat.st_dev, stat.st_ino, stat.st_mtime_ns)


def progress_of(memory: mmap.mmap) -> tuple[int, float]:
    """The index of the card that is being asked, IN_NO_CARD for NVML as a whole, and since when on
    the system's monotonic clock, which all processes share."""
    index, since = _PROGRESS.unpack_from(memory)
    return index, since


def progress_into(memory: mmap.mmap) -> Callable[[int], None]:
    """What the reader tells before it asks a card."""

    def tell(index: int) -> None:
        _PROGRESS.pack_into(memory, 0, index, time.monotonic())

    return tell


def receive(peer: socket.socket) -> bytes:
    """One frame; empty at the end."""
    head = peer.recv(4, socket.MSG_WAITALL)
    size = int.from_bytes(head, "big") if len(head) == 4 else 0
    body = peer.recv(size, socket.MSG_WAITALL) if size else b""
    return body if len(body) == size else b""


def send(peer: socket.socket, data: bytes) -> None:
    """One frame: four bytes of length, big-endian, and the data."""
    peer.sendall(len(data).to_bytes(4, "big") + data)
