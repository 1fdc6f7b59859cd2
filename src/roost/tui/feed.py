"""Brings pictures from the source, in a thread of its own, for as long as the view is open.

Follows the stream where there is one, else asks once a second; says when the daemon is away and
comes back by itself. Must not know the screen: it hands over what it got, and never waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from roost.tui.picture import Picture, picture_of
from roost.tui.source import Answer, Source, SourceError

PERIOD_S = 1.0
RETRY_S = (0.5, 1.0, 2.0, 3.0)
SILENT_S = 8.0
"""A stream may be silent because nothing changes; after this long the daemon is asked."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """A new picture, and when it came by our clock."""

    picture: Picture
    came_at: float


@dataclass(frozen=True, slots=True)
class Away:
    """The daemon did not answer at `at`."""

    text: str
    at: float


News = Fresh | Away


class Feed:
    """`deliver` is called from the feed's thread; `start` once, `stop` at the end."""

    def __init__(
        self,
        source: Source,
        deliver: Callable[[News], None],
        clock: Callable[[], float] = time.time,
        period_s: float = PERIOD_S,
        silent_s: float = SILENT_S,
    ) -> None:
        self._source = source
        self._deliver = deliver
        self._clock = clock
        self._period_s = period_s
        self._stopped = threading.Event()
        self._hurry = threading.Event()
        self._heard_at = time.monotonic()
        self._silent_s = silent_s
        self._parts: dict[str, Answer] = {}

    def start(self) -> None:
        for work, name in ((self._run, "roost-top-feed"), (self._watch, "roost-top-watch")):
            threading.Thread(target=work, name=name, daemon=True).start()

    def stop(self) -> None:
        """Ask the threads to end; a call that hangs holds nothing up (daemon threads)."""
        self._stopped.set()
        self._hurry.set()
        self._source.close()

    def hurry(self) -> None:
        """Ask again at once, since something was just changed."""
        self._hurry.set()

    def _run(self) -> None:
        failed = 0
        while not self._stopped.is_set():
            try:
                for picture in self._pictures():
                    failed = 0
                    if self._stopped.is_set():
                        return
                    self._heard_at = time.monotonic()
                    self._deliver(Fresh(picture, self._clock()))
            except SourceError as error:
                if self._stopped.is_set():
                    return
                self._deliver(Away(str(error), self._clock()))
            self._pause(RETRY_S[min(failed, len(RETRY_S) - 1)])
            failed += 1

    def _watch(self) -> None:
        """Ask what a silent stream does not tell: a daemon that hangs, readings that grow old."""
        while not self._stopped.wait(self._silent_s / 4):
            if time.monotonic() - self._heard_at < self._silent_s or not self._parts:
                continue
            try:
                status = self._source.alive()
            except SourceError as error:
                self._deliver(Away(str(error), self._clock()))
                continue
            self._parts["status"] = status
            self._deliver(Fresh(self._picture(), self._clock()))

    def _pictures(self) -> Iterator[Picture]:
        """One picture now, then one for each that changes; ends where the stream ends."""
        self._ask(self._source.whoami())
        yield self._picture()
        stream = self._source.events()
        if stream is None:
            while not self._stopped.is_set():
                self._pause(self._period_s)
                self._ask(self._parts["me"])
                yield self._picture()
            return
        for name, answer in stream:
            if self._stopped.is_set():
                return
            if name in self._parts:
                self._parts[name] = answer
            yield self._picture()

    def _ask(self, me: Answer) -> None:
        source = self._source
        self._parts = {
            "me": me,
            "status": source.status(),
            "who": source.who(),
            "jobs": source.jobs(),
        }

    def _picture(self) -> Picture:
        parts = self._parts
        return picture_of(parts["me"], parts["status"], parts["who"], parts["jobs"], self._clock())

    def _pause(self, seconds: float) -> None:
        self._hurry.wait(seconds)
        self._hurry.clear()
