"""Signals to sets of processes, never to a number that has come to mean somebody else.

A pidfd is opened first, then the set is listed again: who is still in it is who was meant.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress

from roost.machine.proc.read import GoneError, HiddenError, list_pids, read_at, read_stat


def signal_all(
    listed: Callable[[], list[int]], number: int, only: Callable[[int], bool] | None = None
) -> int:
    """Sends `number` to every process that `listed` gives; how many got it.

    `only` is asked with each pid. Processes that end meanwhile are passed over.
    """
    opened: dict[int, int] = {}
    sent = 0
    try:
        for pid in listed():
            if len(opened) >= 4096:
                break  # descriptors are not endless; whoever calls does so again
            with suppress(ProcessLookupError):
                opened[pid] = os.pidfd_open(pid)
        still = set(listed())
        for pid, descriptor in opened.items():
            if pid in still and (only is None or only(pid)):
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(descriptor, number)
                    sent += 1
    finally:
        for descriptor in opened.values():
            os.close(descriptor)
    return sent


def handles(pid: int, number: int) -> bool:
    """Whether the process has a handler of its own for the signal (SigCgt, proc_pid_status(5))."""
    return _in_mask(pid, number, (b"SigCgt:",))


def kill_pending(pid: int) -> bool:
    """Whether it was sent SIGKILL and is still there (frozen on v1, or in state D)."""
    return _in_mask(pid, signal.SIGKILL, (b"SigPnd:", b"ShdPnd:"))


def stop_pending(pid: int) -> bool:
    """Whether it was sent SIGSTOP and has not come to it yet: it waits in the kernel."""
    return _in_mask(pid, signal.SIGSTOP, (b"SigPnd:", b"ShdPnd:"))


def _in_mask(pid: int, number: int, masks: tuple[bytes, ...]) -> bool:
    try:
        directory = os.open(f"/proc/{pid}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        for line in read_at(directory, b"status").split(b"\n"):
            if line.startswith(masks) and int(line.split()[1], 16) >> (number - 1) & 1:
                return True
    except (GoneError, HiddenError):
        pass  # it ended
    finally:
        os.close(directory)
    return False


def descendants(pid: int) -> list[int]:
    """All live children of `pid`, theirs, and so on (zombies are left out)."""
    parents: dict[int, list[int]] = {}
    for other in list_pids(b"/proc"):
        with suppress(GoneError, HiddenError):
            stat = read_stat(b"/proc", other)
            if stat.state not in "ZX":
                parents.setdefault(stat.ppid, []).append(other)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found
