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
    ) -> None:
        self._source = source
        self._deliver = deliver
        self._clock = clock
        self._period_s = period_s
        self._stopped = threading.Event()
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._run, name="roost-top-feed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end; it is a daemon thread, so a call that hangs holds nothing up."""
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
                    self._deliver(Fresh(picture, self._clock()))
            except SourceError as error:
                if self._stopped.is_set():
                    return
                self._deliver(Away(str(error), self._clock()))
            self._pause(RETRY_S[min(failed, len(RETRY_S) - 1)])
            failed += 1

    def _pictures(self) -> Iterator[Picture]:
        """One picture now, then one for each that changes; ends where the stream ends."""
        me = self._source.whoami()
        yield self._ask(me)
        stream = self._source.events()
        if stream is None:
            while not self._stopped.is_set():
                self._pause(self._period_s)
                yield self._ask(me)
            return
        parts: dict[str, Answer] = {
            "status": self._source.status(),
            "who": self._source.who(),
            "jobs": self._source.jobs(),
        }
        for name, answer in stream:
            if self._stopped.is_set():
                return
            if name in parts:
                parts[name] = answer
            yield self._picture(me, parts["status"], parts["who"], parts["jobs"])

    def _ask(self, me: Answer) -> Picture:
        source = self._source
        return self._picture(me, source.status(), source.who(), source.jobs())

    def _picture(self, me: Answer, status: Answer, who: Answer, jobs: Answer) -> Picture:
        return picture_of(me, status, who, jobs, self._clock())

    def _pause(self, seconds: float) -> None:
        self._hurry.wait(seconds)
        self._hurry.clear()
