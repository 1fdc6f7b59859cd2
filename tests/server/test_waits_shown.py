"""Why a job waits is shown without being asked for, also while others keep asking."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.server import control
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


def _shown(running: Queue, number: int) -> bool:
    job = running.board.jobs.get(number)
    return job is not None and job.wait is not None and bool(job.wait.reasons)


def test_a_reason_is_shown_soon_after_the_answer(running: Queue) -> None:
    numbers, _ = running.control.submit(sleep("60", indices=(1, 2, 3, 4, 5))).result(20)
    wait_for(lambda: _shown(running, numbers[-1]), "the reason shows", 5)


def test_a_reason_is_shown_though_others_keep_asking(
    running: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "EXPLAIN_WITHIN_S", 0.1)
    with running.together():
        asked = running.control.submit(sleep("60", indices=(1, 2, 3, 4, 5)))
        others = [running.control.submit(Explain(1)) for _ in range(40_000)]
    numbers, _ = asked.result(20)
    wait_for(lambda: _shown(running, numbers[-1]), "the reason shows", 20)
    assert not others[-1].done(), "it showed only once nobody asked any more"
