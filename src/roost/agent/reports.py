"""What a job reports on its work, line by line, through the status pipe of its folder."""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable
from contextlib import suppress

from roost.agent.runtime import StatusLines

STATUS_PAUSE_S = 0.05


class Reports:
    """`heard(line)` is called for each; `after` sets a timer. `status` is the pipe's descriptor,
    which is this one's to close."""

    def __init__(
        self,
        status: int,
        selector: selectors.BaseSelector,
        after: Callable[[str, float, Callable[[], None]], None],
        heard: Callable[[str], None],
    ) -> None:
        self._status = status
        self._selector = selector
        self._after = after
        self._heard = heard
        self._lines = StatusLines()
        self._watch()

    def _watch(self) -> None:
        self._selector.register(self._status, selectors.EVENT_READ, self._hear)

    def _hear(self) -> None:
        """Reads a part, then looks away for a moment: nobody keeps this process busy by writing."""
        self._read()
        self._selector.unregister(self._status)
        self._after("status", STATUS_PAUSE_S, self._watch)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            for line in self._lines.feed(os.read(self._status, 65536)):
                self._heard(line)

    def last(self) -> None:
        """What is left in the pipe, with a line that the job did not end."""
        self._read()
        for line in self._lines.last():
            self._heard(line)

    def close(self) -> None:
        os.close(self._status)
