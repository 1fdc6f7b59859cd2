"""The sampling thread: looks at the host once a period and hands each observation to the loop.

Whatever goes wrong in a look is said and tried again at the next; it never stops the agent. Other
questions about GPUs are asked in this thread too, so that one reader asks the driver at a time.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Set
from concurrent.futures import Future
from dataclasses import replace
from typing import Protocol, TypeVar

import structlog

from roost.core.observation import Observation

log = structlog.get_logger()
T = TypeVar("T")
Key = tuple[int, int]
LEAST_PERIOD_S = 0.1
MOST_PERIOD_S = 60.0


class Looker(Protocol):
    """What `roost.machine.observer.Observer` is to this thread."""

    def sample(self, now: float) -> Observation: ...

    def scan(self, now: float) -> Observation: ...

    def set_attempts(self, attempts: Mapping[Key, Key]) -> None: ...

    def set_suspended(self, attempts: Set[Key]) -> None: ...

    def close(self) -> None: ...


class Sampler:
    """`deliver(observation)` is called in this thread, and has to hand it over to its own."""

    def __init__(self, looker: Looker, deliver: Callable[[Observation], None]) -> None:
        self._looker = looker
        self._deliver = deliver
        self._period_s = 1.0
        self._questions: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._attempts: dict[Key, Key] = {}
        self._suspended: frozenset[Key] = frozenset()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def set_period(self, seconds: float) -> None:
        self._period_s = min(MOST_PERIOD_S, max(LEAST_PERIOD_S, seconds))

    def set_attempts(self, running: dict[Key, Key], suspended: frozenset[Key]) -> None:
        """(pid, start ticks) → (job, attempt) of what executes now, and which of it stands still;
        used from the next look on."""
        self._attempts = running
        self._suspended = suspended

    def ask(self, question: Callable[[], T]) -> Future[T]:
        """Runs `question` in the sampling thread, between two looks."""
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(question())
            except Exception as error:  # noqa: BLE001 - handed to whoever asked
                answer.set_exception(error)

        self._questions.put(run)
        return answer

    def scan(self) -> Future[Observation]:
        """A complete look, as soon as the one in progress is over."""

        def look() -> Observation:
            self._prepare()
            return self._looker.scan(time.time())

        return self.ask(look)

    def close(self) -> None:
        """Lets the thread end after what it is at; one that hangs is a daemon thread."""
        self._closing = True
        self._questions.put(None)
        self._thread.join(2.0)

    def _prepare(self) -> None:
        self._looker.set_attempts(self._attempts)
        self._looker.set_suspended(self._suspended)

    def _run(self) -> None:
        due = time.monotonic()
        while not self._closing:
            left = due - time.monotonic()
            try:
                question = self._questions.get(timeout=max(0.0, left)) if left > 0 else None
            except queue.Empty:
                question = None
            if question is not None:
                question()
                continue
            if self._closing:
                break
            now = time.monotonic()
            late = now - due
            if late >= 0:
                self._look(late)
                due = max(due + self._period_s, now)
            self._answer_waiting()
        self._looker.close()

    def _answer_waiting(self) -> None:
        """Questions are answered also where looks take longer than their period."""
        while not self._questions.empty():
            question = self._questions.get()
            if question is not None:
                question()

    def _look(self, late_s: float) -> None:
        try:
            self._prepare()
            observation = self._looker.sample(time.time())
            self._deliver(replace(observation, sample_s=self._period_s, late_s=late_s))
        except Exception as error:
            log.exception("look failed", error=str(error))


def own_pids(*others: int | None) -> frozenset[int]:
    return frozenset({os.getpid(), *(pid for pid in others if pid is not None)})
