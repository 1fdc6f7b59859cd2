"""Records the steps of the scheduler to a file, for `roost replay --events`.

Never a reason for the daemon to fail or to wait: a thread of its own writes; what it cannot write
(a full disk, a folder that hangs) is said in the log, and recording stops.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Full, Queue

import structlog

from roost.core.replay import eventlog
from roost.core.scheduler.decisions import Decision
from roost.core.scheduler.events import Event

log = structlog.get_logger()
MOST_WAITING = 10_000
CLOSE_WITHIN_S = 5.0
Step = tuple[tuple[Event, ...], tuple[Decision, ...]]


class Recorder:
    """Appends to `path`, which only its owner may read: it names people and their jobs."""

    def __init__(self, path: Path, roost: str) -> None:
        self._path, self._roost = path, roost
        self._queue: Queue[Step | str | None] = Queue(MOST_WAITING)
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="record", daemon=True)
        self._thread.start()

    def fresh(self, look_first: bool) -> None:
        """A scheduler was made anew; what follows are its steps."""
        self._put(eventlog.fresh(look_first))

    def step(self, events: Sequence[Event], decisions: Sequence[Decision]) -> None:
        self._put((tuple(events), tuple(decisions)))

    def close(self) -> None:
        """Writes what waits, for a few seconds at most."""
        try:
            self._queue.put(None, timeout=CLOSE_WITHIN_S)
        except Full:
            return
        self._thread.join(CLOSE_WITHIN_S)

    def _put(self, item: Step | str) -> None:
        if self._stopped:
            return
        try:
            self._queue.put_nowait(item)
        except Full:
            self._stop("the file cannot be written as fast as things happen")

    def _stop(self, why: str) -> None:
        self._stopped = True
        log.error("events are not recorded any more", file=str(self._path), why=why)

    def _run(self) -> None:
        descriptor: int | None = None
        try:
            descriptor = self._open()
            while self._write(descriptor):
                pass
        except OSError as error:
            self._stop(error.strerror or str(error))
        except Exception as error:  # a value that the log cannot hold: a fault, told as one
            log.exception("recording events")
            self._stop(str(error))
        finally:
            if descriptor is not None:
                os.close(descriptor)
        while self._stopped and self._queue.get() is not None:
            pass

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(self._path, flags, 0o600)
        try:
            if os.fstat(descriptor).st_mode & 0o170000 != 0o100000:
                raise OSError(0, "it is not a regular file")
            size = os.fstat(descriptor).st_size
            cut = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            begin = ("\n" if cut else "") + eventlog.header(self._roost)
            _write_all(descriptor, begin.encode("ascii"))
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _write(self, descriptor: int) -> bool:
        """Writes all that waits; False when that was the last."""
        items = [self._queue.get()]
        try:
            while len(items) < MOST_WAITING:
                items.append(self._queue.get_nowait())
        except Empty:
            pass
        last = None in items
        text = "".join(
            item if isinstance(item, str) else eventlog.step(*item)
            for item in items
            if item is not None
        )
        _write_all(descriptor, text.encode("ascii"))
        return not last and not self._stopped


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
