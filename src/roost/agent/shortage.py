"""Notices that a job ran out of memory, where the kernel does not end the whole job by itself.

cgroup v1 ends one process and tells over an eventfd; the count of kills follows a moment later.
"""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable
from contextlib import suppress

from roost.agent.reaper import JobProcesses
from roost.machine import cgroup

AGAIN_S = 0.05


class Shortage:
    """`short()` is called when a process of the job was ended for lack of memory."""

    def __init__(
        self,
        processes: JobProcesses,
        selector: selectors.BaseSelector,
        after: Callable[[str, float, Callable[[], None]], None],
        short: Callable[[], None],
    ) -> None:
        self._processes = processes
        self._after = after
        self._short = short
        self._waiting = False
        self._event = cgroup.watch_oom_v1(processes.layout, processes.name)
        if self._event is not None:
            selector.register(self._event, selectors.EVENT_READ, self._hear)

    def _hear(self) -> None:
        if self._event is not None:
            with suppress(BlockingIOError):
                os.read(self._event, 8)
            self._look()

    def _look(self) -> None:
        if self._processes.use().oom_kills:
            self._short()
        elif not self._waiting:
            self._waiting = True
            self._after("memory", AGAIN_S, self._look_again)

    def _look_again(self) -> None:
        self._waiting = False
        self._look()

    def close(self) -> None:
        if self._event is not None:
            os.close(self._event)
            self._event = None
