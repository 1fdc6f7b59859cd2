"""What every engine must do, whatever runs the jobs: each implementation's tests call `check`."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from roost.core.model import EndReason
from roost.server.engines.base import (
    Changed,
    Connected,
    Engine,
    EngineEvent,
    Saw,
)
from roost.wire.messages import Configure, GpuGrant, LaunchSpec, Observed, Scan


class Ear:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: queue.SimpleQueue[EngineEvent] = queue.SimpleQueue()
        self.all: list[EngineEvent] = []

    def engine_said(self, event: EngineEvent) -> None:
        self.all.append(event)
        self.heard.put(event)

    def samples_wanted_since(self) -> float:
        return 0.0

    def next(self, kind: type, which: Callable[[EngineEvent], bool] = lambda _: True) -> object:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            event = self.heard.get(timeout=30)
            if isinstance(event, kind) and which(event):
                return event
        raise AssertionError(f"no {kind.__name__}")

    def ended(self, job: int) -> Changed:
        found = self.next(
            Changed, lambda e: e.attempt.job == job and e.attempt.end is not None  # type: ignore
        )  # fmt: skip
        assert isinstance(found, Changed)
        return found


def spec(job: int, seconds: float, code: int = 0, attempt: int = 1) -> LaunchSpec:
    words = (b"sleep", str(seconds).encode(), str(code).encode())
    return LaunchSpec(
        job=job, attempt=attempt, user="root", group="g", priority_class="regular", argv=words,
        gpus=(GpuGrant("GPU-0"),), directory=b"/tmp",
    )  # fmt: skip


def check(engine: Engine) -> None:
    """Runs the whole contract on a fresh engine."""
    ear = Ear()
    engine.configure(Configure(sample_s=0.2))
    engine.start(ear)
    try:
        connected = ear.next(Connected)
        assert isinstance(connected, Connected)
        assert connected.host.cpus > 0
        ear.next(Saw)

        # A launch may be repeated; the attempt runs once and its end carries the exit code.
        for _ in range(3):
            engine.launch(spec(1, 0.3, 5))
        end = ear.ended(1).attempt.end
        assert end is not None
        assert (end.reason, end.exit_code) == (EndReason.EXITED, 5)

        # An end is kept until it is forgotten, and forgetting may be repeated.
        engine.launch(spec(1, 0.3, 5))
        assert ear.ended(1).attempt.end is not None
        for _ in range(2):
            engine.forget(1, 1)

        # A stop may be repeated and may come for what is over.
        engine.launch(spec(2, 60))
        ear.next(Changed, lambda e: e.attempt.job == 2)  # type: ignore[attr-defined]
        done: Future[None] = engine.signal(2, 1, 10)
        done.result(10)
        for _ in range(2):
            engine.end(2, 1, EndReason.CANCELLED, 1.0)
        end = ear.ended(2).attempt.end
        assert end is not None
        assert end.reason is EndReason.CANCELLED
        engine.end(2, 1, EndReason.CANCELLED, 1.0)

        # A question is answered by its answer.
        answer = engine.ask(Scan(request=0)).result(10)
        assert isinstance(answer, Observed)
    finally:
        engine.close()
    with pytest.raises(Exception, match="agent"):
        engine.ask(Scan(request=0)).result(10)
