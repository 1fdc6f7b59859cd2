"""What is put under load: something that serves HTTP on one core, with processes to be measured.

Knows no load and no figures.
"""

from __future__ import annotations

import os
import socket
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ask:
    """One kind of call: `weight` of all calls are of it; "" as `body` for none."""

    name: str
    method: str
    path: str
    weight: int
    body: str = ""


class Side(ABC):
    """`viewers` that look at it; each has headers of its own."""

    name: str
    port: int

    @abstractmethod
    def start(self) -> None:
        """Serves `port` on loopback, with everything on `core` but the caller."""

    @abstractmethod
    def stop(self) -> None: ...

    @abstractmethod
    def pids(self) -> Mapping[str, int]:
        """The processes to be measured, by part."""

    @abstractmethod
    def headers(self, viewer: int) -> Headers: ...

    @abstractmethod
    def asks(self) -> Sequence[Ask]: ...

    @abstractmethod
    def stir(self, mark: str) -> Ask:
        """A call that makes something happen; every viewer's stream then tells `seen(mark)`."""

    def still(self, answer: bytes) -> Ask | None:
        """A call that undoes what `stir` did, by its answer; `weight` -1: it is not measured."""
        return None

    def seen(self, mark: str) -> bytes:
        return f'"name":"{mark}"'.encode()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def cpu_s(pid: int) -> float:
    """User and system seconds of a process with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    """Resident memory that is the process's own; files mapped from disk are not counted."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


def busy_s(core: int) -> float:
    """Seconds for which that core was not idle since the machine started, whoever used it."""
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith(f"cpu{core} "):
            fields = [int(field) for field in line.split()[1:9]]
            return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")
    return 0.0
