"""The raw reads of /proc/PID and the parsing of `stat` and `status`, in bytes.

A process that goes away in between raises Gone, one that may not be looked into raises Hidden;
nothing else escapes from here.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

PF_KTHREAD = 0x00200000
_GONE = frozenset({errno.ENOENT, errno.ESRCH, errno.ENOTDIR})
_HIDDEN = frozenset({errno.EACCES, errno.EPERM})
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class GoneError(Exception):
    """The process, or the thing of it that was asked for, exists no more."""


class HiddenError(Exception):
    """The kernel refuses the look (EACCES, EPERM): cannot see, which is not "nothing there"."""


def translate(error: OSError) -> Exception:
    """`GoneError` or `HiddenError` for what an OSError of /proc means.

    Other errors (EIO, EINVAL of a half-made process) count as gone: there is nothing to read.
    """
    if error.errno in _HIDDEN:
        return HiddenError(str(error))
    return GoneError(str(error))


def open_process(proc: bytes, pid: int) -> int:
    """A descriptor of /proc/PID. Reads through it fail with ESRCH once that process is gone,
    also when its number has been given to another one. Raises GoneError, HiddenError."""
    try:
        return os.open(
            b"%s/%d" % (proc, pid), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
        )
    except OSError as error:
        raise translate(error) from error


def read_at(directory: int, name: bytes, limit: int = 65536) -> bytes:
    """At most `limit` bytes of a file of that process. Raises GoneError, HiddenError."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=directory)
    except OSError as error:
        raise translate(error) from error
    try:
        first = os.read(descriptor, min(limit, 65536))
        if limit <= 65536 and len(first) < 2048:
            return first  # a small file comes in one read; saves a call for each
        parts, size = [first], len(first)
        while size < limit:
            part = os.read(descriptor, min(limit - size, 1 << 20))
            if not part:
                break
            parts.append(part)
            size += len(part)
        return b"".join(parts)
    except OSError as error:
        raise translate(error) from error
    finally:
        os.close(descriptor)


def link_at(directory: int, name: bytes) -> bytes:
    """Where a link of that process points, without touching the target."""
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError as error:
        raise translate(error) from error


@dataclass(frozen=True, slots=True)
class Stat:
    """What Roost needs of /proc/PID/stat (proc_pid_stat(5)). `cpu_ticks` is user + system."""

    comm: bytes
    state: str
    ppid: int
    session: int
    flags: int
    cpu_ticks: int
    threads: int
    start_ticks: int
    rss_pages: int

    @property
    def kernel_thread(self) -> bool:
        return bool(self.flags & PF_KTHREAD)


def parse_stat(raw: bytes) -> Stat:
    """The name may hold spaces, parentheses and newlines: it ends at the last `)`."""
    left, right = raw.find(b"("), raw.rfind(b")")
    fields = raw[right + 2 :].split(b" ", 23)
    if left < 0 or len(fields) < 22:
        raise GoneError("stat is incomplete")
    return Stat(
        comm=raw[left + 1 : right],
        state=chr(fields[0][0]),
        ppid=int(fields[1]),
        session=int(fields[3]),
        flags=int(fields[6]),
        cpu_ticks=int(fields[11]) + int(fields[12]),
        threads=int(fields[17]),
        start_ticks=int(fields[19]),
        rss_pages=int(fields[21]),
    )


def read_stat(proc: bytes, pid: int) -> Stat:
    """/proc/PID/stat now. Raises GoneError, HiddenError (hidepid=2 shows as gone)."""
    try:
        descriptor = os.open(b"%s/%d/stat" % (proc, pid), os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise translate(error) from error
    try:
        return parse_stat(os.read(descriptor, 4096))
    except OSError as error:
        raise translate(error) from error
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Status:
    """What Roost needs of /proc/PID/status: the real uid, and the pids in nested namespaces."""

    uid: int | None
    ns_pids: tuple[int, ...]


def parse_status(raw: bytes) -> Status:
    """`Name:` comes first and has newlines escaped by the kernel, so that no line can be forged."""
    uid: int | None = None
    ns_pids: tuple[int, ...] = ()
    for line in raw.split(b"\n"):
        if line.startswith(b"Uid:"):
            uid = int(line.split()[1])
        elif line.startswith(b"NSpid:"):
            ns_pids = tuple(int(part) for part in line.split()[1:])
            break
    return Status(uid, ns_pids)


def list_pids(proc: bytes) -> list[int]:
    """Every process now, in the order in which the kernel lists them."""
    return [int(name) for name in os.listdir(proc) if name.isdigit()]
