"""What is left of an attempt whose supervisor was killed: found, ended, and removed.

Never on a number's word alone: by the attempt's cgroup, or by the session that its first process
opened, whose members are younger than it, and by who was stopped when it was suspended.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from roost.agent.record import Prepared, Started, Suspended
from roost.machine import cgroup, freezer
from roost.machine.cgroup import Layout
from roost.machine.proc.read import GoneError, HiddenError, list_pids, read_stat
from roost.machine.signals import signal_all


def end_group(layout: Layout, name: str) -> bool:
    """One round against a job's cgroup; True once it is empty and removed, or is not there."""
    if not any(os.path.isdir(f"{base}/{name}") for base in layout.bases()):
        return True
    if not cgroup.is_empty(layout, name):
        cgroup.kill(layout, name)
        freezer.thaw(layout, name)  # its supervisor may have left it suspended
        if not cgroup.is_empty(layout, name):
            return False
    return cgroup.remove(layout, name, timeout_s=0.0)


def end_rest(
    prepared: Prepared, started: Started | None, suspended: Suspended | None = None
) -> bool:
    """One round against what is left of the attempt; True when nothing is."""
    name = cgroup.name_of(prepared.spec.job, prepared.spec.attempt)
    if prepared.layout.bases():
        return end_group(prepared.layout, name)
    if started is None:
        return True

    def left() -> list[int]:
        found = session_members(started, prepared.account.uid)
        return found + [pid for pid, ticks in stopped if _lives(pid, ticks)]

    stopped = suspended.stopped if suspended else ()
    if not left():
        return True
    signal_all(left, signal.SIGKILL)
    return False


def _lives(pid: int, start_ticks: int) -> bool:
    with suppress(GoneError, HiddenError):
        stat = read_stat(b"/proc", pid)
        return stat.start_ticks == start_ticks and stat.state not in "ZX"
    return False


def session_members(started: Started, uid: int) -> list[int]:
    """Live processes of the session that the job's first process opened. The kernel gives a number
    out again only when no process has it as its session any more."""
    found = []
    with suppress(GoneError, HiddenError):
        leader = read_stat(b"/proc", started.pid)
        if leader.start_ticks != started.start_ticks:
            return []  # the number is another process's by now: nothing of the session is left
    for pid in list_pids(b"/proc"):
        with suppress(GoneError, HiddenError, OSError):
            stat = read_stat(b"/proc", pid)
            own = os.stat(f"/proc/{pid}").st_uid in (uid, 0)
            younger = stat.start_ticks >= started.start_ticks
            if stat.session == started.pid and younger and own and stat.state not in "ZX":
                found.append(pid)
    return found
