"""A control thread in the test's own process: real database, real engine, an honest peer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from roost.core.model import Request
from roost.core.rules.model import Rules
from roost.server.board import Board, RulesInForce
from roost.server.control import Control
from roost.server.engines.agent import AgentEngine
from roost.server.intents import Person, Submit
from roost.store import jobs, ledger
from roost.store.database import Store
from roost.store.records import AttemptRecord, JobInput, JobRecord
from tests.server.rig import wait_for

T = TypeVar("T")
ROOT = Person(0, "root", frozenset({"root"}), operator=True)


class Queue:
    """A control thread on a real database, with a real peer for its agent."""

    def __init__(self, store: Store, path: Path) -> None:
        self.store, self.board = store, Board()
        engine = AgentEngine(path, "one-commit")
        self.control = Control(store, self.board, engine, RulesInForce(Rules()))
        self._busy, self._go = threading.Event(), threading.Event()
        self._go.set()
        self.board.listeners.append(self._told)
        self.control.start()
        wait_for(lambda: self.board.gpus, "the agent's GPUs are known")

    def _told(self, _topics: object, _ended: object) -> None:
        self._busy.set()
        assert self._go.wait(20)

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is asked within is handled and stored together."""
        self._go.clear()
        self._busy.clear()
        asked = self.control.submit(Submit(ROOT, "first", Request(), JobInput(), (), b"/"))
        assert self._busy.wait(20)
        yield
        self._go.set()
        asked.result(20)

    def rows(self, read: Callable[[Connection], T]) -> T:
        with self.store.read() as connection:
            return read(connection)

    def job(self, number: int) -> JobRecord:
        found = self.rows(lambda c: jobs.find_job(c, number))
        assert isinstance(found, JobRecord)
        return found

    def attempt(self, number: int) -> AttemptRecord | None:
        """The job's first attempt."""
        return self.rows(lambda c: jobs.find_attempt(c, number, 1))

    def held(self, number: int) -> float:
        rows = self.rows(lambda c: ledger.usage_rows(c, 0, 1e12))
        return float(sum(row["held_s"] for row in rows if row["job"] == number))


def sleep(seconds: str, **more: object) -> Submit:
    """A job of root's on one GPU; the peer "runs" it."""
    words = (b"sleep", seconds.encode())
    given = {"person": ROOT, "name": "sleep", "request": Request(gpus=1), "directory": b"/",
             "given": JobInput(argv=words), "command": words}  # fmt: skip
    return Submit(**{**given, **more})  # type: ignore[arg-type]
