"""A `Work` over a real store, and jobs of "li" in it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from roost.core.model import JobState, PriorityClass, Request
from roost.core.rules.load import load
from roost.server.board import Board, RulesInForce
from roost.server.restore import restore
from roost.server.work import Work
from roost.store.database import open_sqlite
from roost.store.records import JobRecord

NOW = 86400.0 * 20_000


@contextmanager
def work_of(rules: str) -> Iterator[Work]:
    with tempfile.TemporaryDirectory() as folder:
        store = open_sqlite(Path(folder) / "roost.db")
        try:
            work = restore(store, Board(), RulesInForce(load(rules), 1, NOW, "root", rules), NOW)
            work.scheduler.step(work.events)
            work.events = []
            yield work
        finally:
            store.close()


def job(number: int, walltime_s: float | None = None, **more: Any) -> JobRecord:
    given: dict[str, Any] = {
        "id": number, "user": "li", "uid": 1001, "group": "lab", "state": JobState.PENDING,
        "priority_class": PriorityClass.REGULAR, "name": "train", "submitted_at": NOW - 60.0,
        "request": Request(gpus=1, walltime_s=walltime_s),
    }  # fmt: skip
    return JobRecord(**{**given, **more})
