"""Why a job waits is shown without being asked for, also while the queue has no rest."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.server.intents import Explain
from roost.store.database import open_sqlite
from tests.server.agent_peer import AgentPeer
from tests.server.queue_rig import Queue, sleep
from tests.server.rig import wait_for


@pytest.fixture
def running(folder: Path, peer: AgentPeer) -> Iterator[Queue]:
    assert peer.gpus == 4
    store = open_sqlite(folder / "roost.db")
    made = Queue(store, folder / "agent.sock")
    yield made
    made.control.close()
    store.close()


def _waiting(running: Queue) -> int:
    numbers, _ = running.control.submit(sleep("60", indices=(1, 2, 3, 4, 5))).result(20)
    return int(numbers[-1])


def _shown(running: Queue, number: int) -> bool:
    wait = running.board.jobs[number].wait
    return wait is not None and bool(wait.reasons)


def test_a_reason_is_shown_soon_after_the_answer(running: Queue) -> None:
    number = _waiting(running)
    wait_for(lambda: _shown(running, number), "the reason shows", 5)


def test_a_reason_is_shown_within_seconds_while_others_keep_asking(running: Queue) -> None:
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            asked = [running.control.submit(Explain(1)) for _ in range(600)]
            asked[-300].result(20)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        number = _waiting(running)
        wait_for(lambda: _shown(running, number), "the reason shows", 10)
    finally:
        stop.set()
        thread.join()
