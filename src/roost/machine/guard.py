"""Calls that may never return, made where they can be given up.

The kernel can hold a reader of another process's memory, a name service, or a container engine's
socket for ever. Such a call runs in a thread of its own here; after its time it is left behind, and
only so many may be left at once. It must not know what it runs.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class GivenUpError(Exception):
    """The call did not return in its time, or too many calls are still hanging."""


class _Job(Generic[T]):
    def __init__(self, call: Callable[[], T]) -> None:
        self.call = call
        self.done = threading.Event()
        self.result: T | None = None
        self.error: Exception | None = None


class Guard:
    """Runs calls one after another in a helper thread, and takes a new one when that one hangs."""

    def __init__(self, name: str, most_hanging: int = 4) -> None:
        self._name = name
        self._most_hanging = most_hanging
        self._lock = threading.Lock()
        self._work: queue.SimpleQueue[_Job[object] | None] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._left: list[threading.Thread] = []

    @property
    def hanging(self) -> int:
        """How many calls were given up and have not returned yet."""
        self._left = [thread for thread in self._left if thread.is_alive()]
        return len(self._left)

    def run(self, call: Callable[[], T], timeout_s: float) -> T:
        """The call's result or its exception; GivenUpError after `timeout_s`."""
        with self._lock:
            if self._worker is None:
                if self.hanging >= self._most_hanging:
                    raise GivenUpError(f"{self._name}: {self._most_hanging} calls are hanging")
                self._work = queue.SimpleQueue()
                self._worker = threading.Thread(
                    target=_serve, args=(self._work,), name=self._name, daemon=True
                )
                self._worker.start()
            job: _Job[T] = _Job(call)
            self._work.put(job)  # type: ignore[arg-type]
            if not job.done.wait(timeout_s):
                self._work.put(None)  # it ends by itself once the call returns
                self._left.append(self._worker)
                self._worker = None
                raise GivenUpError(f"{self._name}: no answer in {timeout_s:g} s")
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]

    def close(self) -> None:
        """Lets the helper thread end; one that hangs is a daemon thread."""
        with self._lock:
            if self._worker is not None:
                self._work.put(None)
                self._worker = None


def _serve(work: queue.SimpleQueue[_Job[object] | None]) -> None:
    while (job := work.get()) is not None:
        try:
            job.result = job.call()
        except Exception as error:  # noqa: BLE001 - handed over to whoever asked
            job.error = error
        finally:
            job.done.set()


class Deadline:
    """A point in time that a piece of work must not pass (monotonic seconds)."""

    __slots__ = ("at",)

    def __init__(self, seconds: float) -> None:
        self.at = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        return self.at - time.monotonic()

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at
