"""Works out when waiting jobs will start, in a thread of its own: the control loop goes on.

A future that was made by the control thread belongs to this thread from then on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import structlog

from roost.core.scheduler.decisions import Wait
from roost.core.scheduler.future import Future as Foreseen

# For the lists it is worked out unasked as long as the queue is no longer than this, and takes up
# to one twentieth of a processor.
LISTED_MOST = 300
LISTS_REST = 20.0
# Who asks is told what was found a moment ago, where it was dear: one fifth of a processor at most.
ASKED_REST = 4.0


class Foresight:
    """One a server. `latest`: what the lists show, as of a few seconds ago."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "foresight")
        self._rest_until = self._asked_until = 0.0
        self._asked: Foreseen | None = None
        self._busy = False
        self.latest: Foreseen | None = None

    def ask(self, foreseen: Foreseen, wait: Wait) -> Future[Wait]:
        """The wait with its forecast."""
        return self._thread.submit(self._tell, foreseen, wait)

    def _tell(self, foreseen: Foreseen, wait: Wait) -> Wait:
        last, now = self._asked, time.monotonic()
        if last is not None and now < self._asked_until and last.knows(wait.job):
            return last.known(wait)
        began = time.thread_time()
        told = foreseen.told(wait)
        rest_s = ASKED_REST * (time.thread_time() - began)
        self._asked, self._asked_until = foreseen, max(self._asked_until, now + rest_s)
        return told

    def wanted(self, waiting: int) -> bool:
        """The lists should be worked out anew: for a queue of this length, and not too often."""
        if not 0 < waiting <= LISTED_MOST:
            self.latest = None
            return False
        return not self._busy and time.monotonic() >= self._rest_until

    def work_out(self, foreseen: Foreseen, waits: Sequence[Wait], done: Callable[[], None]) -> None:
        """For all of them, and says when it is done."""
        if foreseen is self.latest:
            return
        self._busy = True

        def work() -> None:
            began = time.thread_time()
            try:
                for wait in waits:
                    foreseen.told(wait)
                self.latest = foreseen
            finally:
                self._rest_until = time.monotonic() + LISTS_REST * (time.thread_time() - began)
                self._busy = False
            done()

        self._thread.submit(work).add_done_callback(_raised)

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)


def _raised(future: Future[None]) -> None:
    """A fault of ours is not lost with the future that nobody asks."""
    if not future.cancelled() and (error := future.exception()) is not None:
        structlog.get_logger().error("foresight", exc_info=error)
