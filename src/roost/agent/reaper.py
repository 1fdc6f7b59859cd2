"""All processes of one job as one thing: who they are, signals to them, and ending every one.

By the job's cgroup where there is one, else by descent from its supervisor, which is their
subreaper. Knows nothing of when or why.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from roost.machine import cgroup
from roost.machine.cgroup import Layout, Use
from roost.machine.freezer import Freezer, freezer_for
from roost.machine.signals import descendants, handles, signal_all


class JobProcesses:
    """`main` is the job's first process, once forked; its exit is kept when it is reaped."""

    def __init__(self, layout: Layout, name: str) -> None:
        self.layout = layout
        self.name = name
        self.main: int | None = None
        self.main_status: int | None = None
        self._grouped = bool(layout.bases())
        used = os.times()
        self._cpu_before = used.children_user + used.children_system

    def pids(self) -> list[int]:
        if self._grouped:
            return cgroup.pids(self.layout, self.name)
        return descendants(os.getpid())

    def reap(self) -> None:
        """Takes in every ended child; the descendants' orphans are children as well."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.main:
                self.main_status = status

    def gone(self) -> bool:
        """Nothing of the job lives any more."""
        if self.main is not None and self.main_status is None:
            return False
        return cgroup.is_empty(self.layout, self.name) if self._grouped else not self.pids()

    def signal(self, number: int) -> None:
        """To all."""
        signal_all(self.pids, number)

    def signal_group(self, group: int, number: int) -> None:
        """To those of the job's processes that are in this process group."""
        signal_all(self.pids, number, lambda pid: _group_of(pid) == group)

    def deliver(self, number: int) -> None:
        """A person's signal: to those that handle it, and to all where none does."""
        if not self.warn(number):
            self.signal(number)

    def warn(self, number: int) -> int:
        """To those that handle it: it would kill the others. How many got it."""
        return signal_all(self.pids, number, lambda pid: handles(pid, number))

    def kill_round(self) -> None:
        if self._grouped:
            cgroup.kill(self.layout, self.name)
        else:
            signal_all(self.pids, signal.SIGKILL)
        if self.main is not None and self.main_status is None:
            with suppress(ProcessLookupError):
                os.kill(self.main, signal.SIGKILL)  # it may not have joined its cgroup yet

    def end_all(self) -> None:
        """Returns when nothing is left. A process that the kernel cannot end (state D) is waited
        for, however long: while it lives, its GPU is not free."""
        pause = 0.0005
        while True:
            self.reap()
            if self.gone():
                return
            self.kill_round()
            self.reap()
            if self.gone():
                return
            time.sleep(pause)
            pause = min(1.0, pause * 2)

    def freezer(self) -> Freezer:
        return freezer_for(self.layout, self.name, self.pids)

    def use(self) -> Use:
        return cgroup.use(self.layout, self.name) if self._grouped else Use()

    def cpu_s(self) -> float | None:
        """Of what was reaped, for jobs without a cgroup."""
        if self._grouped:
            return None
        used = os.times()
        return used.children_user + used.children_system - self._cpu_before

    def remove(self) -> bool:
        return cgroup.remove(self.layout, self.name) if self._grouped else True


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None
