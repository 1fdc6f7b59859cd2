"""Making all processes of a job stand still, and go on: by the kernel's freezer, else by SIGSTOP.

cgroup v2: cgroup-v2.rst, "cgroup.freeze" (Linux 5.2); v1: cgroup-v1/freezer-subsystem.rst. Both
take in what is forked meanwhile. Knows nothing of when or why.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from roost.machine.cgroup import Layout, _get, _put, pids
from roost.machine.proc.read import GoneError, HiddenError, read_stat
from roost.machine.signals import kill_pending, signal_all, stop_pending

DIE_S = 0.2


class Freezer(Protocol):
    """What makes one job stand still. None of it waits longer than `DIE_S`."""

    keeps_signals: bool
    """Signals sent meanwhile wait in the kernel, and come when the job goes on."""

    def press(self) -> None:
        """One round towards it; to be called until `still`. Raises OSError."""

    def still(self) -> bool:
        """Nothing of the job runs."""

    def moving(self) -> list[int]:
        """Processes that do not stand still, as far as that is to be seen."""

    def tend(self, main: int) -> None:
        """To be called now and then while it stands still: keeps it so, and lets a first process
        `main` end that was killed meanwhile."""

    def stopped(self) -> tuple[tuple[int, int], ...]:
        """(pid, start ticks) of each that needs a signal to go on."""

    def release(self) -> None:
        """All goes on."""


def possible(layout: Layout) -> bool:
    """Whether the kernel freezes jobs' cgroups here; else they are stopped by SIGSTOP."""
    return _v2(layout) or "freezer" in layout.v1


def _v2(layout: Layout) -> bool:
    return bool(layout.unified) and os.path.exists(f"{layout.unified}/cgroup.freeze")


def freezer_for(layout: Layout, name: str, listed: Callable[[], list[int]]) -> Freezer:
    """The best that there is for the job's cgroup `name`, or for the processes `listed`."""
    if _v2(layout):
        return FreezerV2(layout, name)
    if "freezer" in layout.v1:
        return FreezerV1(layout, name)
    return Stopper(listed)


def thaw(layout: Layout, name: str) -> None:
    """Lets a job's cgroup go on that somebody may have left frozen. A missing one is no error."""
    for path, value in (
        (f"{layout.unified}/{name}/cgroup.freeze", b"0"),
        (f"{layout.v1.get('freezer')}/{name}/freezer.state", b"THAWED"),
    ):
        try:
            _put(path, value)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENODEV):  # not there, or just removed
                raise


class FreezerV2:
    """A frozen process can be killed, and dies at once."""

    keeps_signals = True

    def __init__(self, layout: Layout, name: str) -> None:
        self._layout, self._name = layout, name
        self._folder = f"{layout.unified}/{name}"

    def press(self) -> None:
        _put(f"{self._folder}/cgroup.freeze", b"1")

    def still(self) -> bool:
        return b"frozen 1" in (_get(f"{self._folder}/cgroup.events") or b"").splitlines()

    def moving(self) -> list[int]:
        return _in_state("D", pids(self._layout, self._name))

    def tend(self, main: int) -> None:
        pass

    def stopped(self) -> tuple[tuple[int, int], ...]:
        return ()

    def release(self) -> None:
        thaw(self._layout, self._name)


class FreezerV1:
    """A killed process dies only once it is thawed."""

    keeps_signals = True

    def __init__(self, layout: Layout, name: str) -> None:
        self._layout, self._name = layout, name
        self._state = f"{layout.v1['freezer']}/{name}/freezer.state"

    def press(self) -> None:
        _put(self._state, b"FROZEN")

    def still(self) -> bool:
        return (_get(self._state) or b"").strip() == b"FROZEN"

    def moving(self) -> list[int]:
        return _in_state("D", pids(self._layout, self._name))

    def tend(self, main: int) -> None:
        if not kill_pending(main):
            return
        self.release()
        until = time.monotonic() + DIE_S
        while kill_pending(main) and time.monotonic() < until:
            time.sleep(0.002)
        with suppress(FileNotFoundError):
            self.press()

    def stopped(self) -> tuple[tuple[int, int], ...]:
        return ()

    def release(self) -> None:
        thaw(self._layout, self._name)


class Stopper:
    """By SIGSTOP, in rounds: what runs may have forked since it was listed, so that all stand
    still only when two rounds in a row find nothing that runs."""

    keeps_signals = False

    def __init__(self, listed: Callable[[], list[int]]) -> None:
        self._listed = listed
        self._stopped: set[tuple[int, int]] = set()

    def press(self) -> None:
        def mark(pid: int) -> bool:
            with suppress(GoneError, HiddenError):
                stat = read_stat(b"/proc", pid)
                if stat.state not in "TtZX":
                    self._stopped.add((pid, stat.start_ticks))
                    return True
            return False

        signal_all(self._listed, signal.SIGSTOP, mark)

    def still(self) -> bool:
        return not self.moving() and not self.moving()

    def moving(self) -> list[int]:
        return [pid for pid in self._listed() if not _stands(pid)]

    def tend(self, main: int) -> None:
        if not self.still():
            self.press()

    def stopped(self) -> tuple[tuple[int, int], ...]:
        return tuple(sorted(self._stopped))

    def release(self) -> None:
        """Only what was stopped here: a process that had stopped itself stays so."""

        def ours(pid: int) -> bool:
            with suppress(GoneError, HiddenError):
                return (pid, read_stat(b"/proc", pid).start_ticks) in self._stopped
            return False

        signal_all(self._listed, signal.SIGCONT, ours)
        self._stopped.clear()


def _stands(pid: int) -> bool:
    """Stopped in all of its threads, or gone, or waiting in the kernel with a stop before it."""
    try:
        stat = read_stat(b"/proc", pid)
        if stat.state in "TtZX" and stat.threads > 1:
            tasks = [int(name) for name in os.listdir(f"/proc/{pid}/task")]
            return all(read_stat(b"/proc/%d/task" % pid, task).state in "TtZX" for task in tasks)
    except (GoneError, HiddenError, OSError):
        return True
    return stat.state in "TtZX" or (stat.state == "D" and stop_pending(pid))


def _in_state(states: str, listed: list[int]) -> list[int]:
    found = []
    for pid in listed:
        with suppress(GoneError, HiddenError):
            if read_stat(b"/proc", pid).state in states:
                found.append(pid)
    return found
