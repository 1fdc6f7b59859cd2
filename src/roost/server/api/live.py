"""Waiting without a thread each: for a job's end, and for anything that changed.

The control thread calls `changed`; everything else here runs in the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from roost.store.records import JobRecord

TOPICS = ("status", "who", "jobs", "bookings")


class Live:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[int, set[asyncio.Future[JobRecord]]] = {}
        self._versions = dict.fromkeys(TOPICS, 1)
        self._news = asyncio.Event()
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
            news, self._news = self._news, asyncio.Event()
            news.set()

    def close(self) -> None:
        """Ends every stream and every wait, so that the server can stop."""
        self.closing.set()
        self._news.set()
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
        """Which topics changed, the first time all of them; at most once in `every_s`.

        An empty tuple, after a quarter of a minute without news, keeps the connection alive.
        """
        seen: dict[str, int] = {}
        while not self.closing.is_set():
            changed = tuple(t for t in TOPICS if self._versions[t] != seen.get(t))
            seen = dict(self._versions)
            news = self._news
            yield changed
            await asyncio.sleep(every_s)
            if all(self._versions[t] == seen[t] for t in TOPICS):
                try:
                    await asyncio.wait_for(news.wait(), 15.0)
                except TimeoutError:
                    continue
