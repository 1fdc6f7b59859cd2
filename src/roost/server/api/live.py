"""Waiting without a thread each: for a job's end, and for anything that changed.

The control thread calls `changed`; everything else here runs in the event loop. Hundreds may wait
for the same: they go on a few at a time, and at moments spread over a second, so that whoever
asks something meanwhile is answered between them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from roost.store.records import JobRecord

TOPICS = ("status", "who", "jobs", "bookings")
AT_ONCE = 8
SILENCE_S = 15.0
# Multiples of it, without their whole parts, lie evenly in [0, 1), however many there are.
GOLDEN = 0.6180339887498949


class Live:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[int, set[asyncio.Future[JobRecord]]] = {}
        self._versions = dict.fromkeys(TOPICS, 1)
        self._watching: set[asyncio.Future[None]] = set()
        self._resting: set[asyncio.Future[None]] = set()
        self._begun = 0
        self.closing = asyncio.Event()

    def changed(self, topics: frozenset[str], ended: tuple[JobRecord, ...]) -> None:
        """From any thread: these topics changed, these jobs ended."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take, topics, ended)

    def _take(self, topics: frozenset[str], ended: tuple[JobRecord, ...]) -> None:
        for job in ended:
            for future in self._waiting.pop(job.id, ()):
                if not future.done():
                    future.set_result(job)
        for topic in topics:
            self._versions[topic] = self._versions.get(topic, 0) + 1
        if topics:
            woken, self._watching = self._watching, set()
            self._wake(woken)

    def _wake(self, woken: set[asyncio.Future[None]]) -> None:
        """In turns of the loop, between which it looks for requests."""
        for _ in range(min(AT_ONCE, len(woken))):
            future = woken.pop()
            if not future.done():
                future.set_result(None)
        if woken:
            self._loop.call_soon(self._wake, woken)

    def close(self) -> None:
        """Ends every stream and every wait, so that the server can stop."""
        self.closing.set()
        self._wake(self._watching | self._resting)
        for futures in self._waiting.values():
            for future in futures:
                if not future.done():
                    future.cancel()
        self._waiting.clear()

    def ending(self, job: int) -> asyncio.Future[JobRecord]:
        """A future of the job's record when it ends. Give it back with `forget`."""
        future: asyncio.Future[JobRecord] = self._loop.create_future()
        self._waiting.setdefault(job, set()).add(future)
        return future

    def forget(self, job: int, future: asyncio.Future[JobRecord]) -> None:
        waiting = self._waiting.get(job)
        if waiting is not None:
            waiting.discard(future)
            if not waiting:
                del self._waiting[job]

    def version(self, topic: str) -> int:
        """Grows with each change."""
        return self._versions[topic]

    async def topics(self, every_s: float = 1.0) -> AsyncIterator[tuple[str, ...]]:
        """Which topics changed, the first time all of them; at most once in `every_s`, after the
        first time once in up to twice that.

        An empty tuple, after a quarter of a minute without news, keeps the connection alive.
        """
        seen: dict[str, int] = {}
        self._begun += 1
        wait_s = every_s * (1.0 + self._begun * GOLDEN % 1.0)
        while not self.closing.is_set():
            changed = tuple(t for t in TOPICS if self._versions[t] != seen.get(t))
            seen = dict(self._versions)
            yield changed
            await self._pause(self._resting, wait_s)
            wait_s = every_s
            if seen == self._versions:
                await self._pause(self._watching, SILENCE_S)

    async def _pause(self, among: set[asyncio.Future[None]], most_s: float) -> None:
        """Until those are woken, or the time is over."""
        if self.closing.is_set():
            return
        waiting: asyncio.Future[None] = self._loop.create_future()
        among.add(waiting)
        alarm = self._loop.call_later(most_s, _over, waiting)
        try:
            await waiting
        finally:
            alarm.cancel()
            among.discard(waiting)


def _over(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
