"""What one commit stores when much happens in it: arrays whose elements start or are cancelled at
once, and the ledger of attempts that end before it is due.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import select

from roost.core.model import JobState
from roost.server.intents import Cancel, Hold, Requeue
from roost.store import jobs, ledger
from roost.store.database import open_sqlite, open_url
from roost.store.log import get_meta
from roost.store.records import JobRecord
from roost.store.tables import allocations
from tests.server.agent_peer import AgentPeer
from tests.server.queue_rig import ROOT, Queue, sleep
from tests.server.rig import wait_for


@pytest.fixture(params=["sqlite", "postgresql"])
def queue(
    request: pytest.FixtureRequest, folder: Path, peer: AgentPeer
) -> Iterator[tuple[Queue, AgentPeer]]:
    if request.param == "sqlite":
        store = open_sqlite(folder / "roost.db")
    else:
        store = open_url(request.getfixturevalue("postgresql_url"))
    running = Queue(store, folder / "agent.sock")
    yield running, peer
    running.control.close()
    store.close()


def test_elements_that_start_or_are_cancelled_with_their_array_are_stored_so(
    queue: tuple[Queue, AgentPeer],
) -> None:
    running, peer = queue
    peer.silent = True
    with running.together():
        asked = running.control.submit(sleep("60", indices=(3, 1, 7, 8, 9, 11), output=b"%a"))
        first = 2
        cancelled = running.control.submit(Cancel(ROOT, first + 1))
        held = running.control.submit(Hold(ROOT, first + 2, True))
    numbers, state = asked.result(20)
    assert numbers == list(range(first, first + 6))
    assert cancelled.result(20).id == first + 1
    assert held.result(20).held
    elements = [running.job(number) for number in numbers]
    assert state is elements[0].state
    assert [e.array_index for e in elements] == [3, 1, 7, 8, 9, 11]
    assert {e.array_id for e in elements} == {first}
    # The GPU of the job before them is one of four.
    states = [e.state.value for e in elements]
    assert states == ["STARTING", "CANCELLED", "PENDING", "STARTING", "STARTING", "PENDING"]
    now = elements[0].submitted_at
    assert elements[1].ended_at == now, "not the same commit: the test does not test"
    for element in elements:
        attempt = running.attempt(element.id)
        starting = element.state is JobState.STARTING
        assert (attempt is not None) == starting
        assert len(element.granted) == starting
        if attempt is not None:
            assert attempt.decided_at == now
    open_now = running.rows(jobs.open_allocations)
    assert [a.job for a in open_now] == [1, first, first + 3, first + 4]
    live = running.rows(jobs.live_jobs)
    shown = running.board.live()
    assert [msgspec.structs.replace(job, wait=None) for job in shown] == live
    assert [job.id for job in live] == [1, first, *range(first + 2, first + 6)]


def test_an_array_that_waits_for_a_job_that_failed_is_stored_as_ended(
    queue: tuple[Queue, AgentPeer],
) -> None:
    running, _ = queue
    with running.together():
        failed = running.control.submit(sleep("0", held=True))
        running.control.submit(Cancel(ROOT, 2))
    (number,), _state = failed.result(20)
    after = running.control.submit(sleep("0", indices=(5, 6, 7), after=(number,)))
    numbers, state = after.result(20)
    assert state is JobState.CANCELLED
    elements = [running.job(each) for each in numbers]
    assert [e.array_index for e in elements] == [5, 6, 7]
    assert {(e.state, e.said and e.said.message) for e in elements} == {
        (JobState.CANCELLED, "wait.dependency_failed")
    }
    assert all(e.ended_at == e.submitted_at for e in elements)


def _run(running: Queue, seconds: str) -> JobRecord:
    (number,), _ = running.control.submit(sleep(seconds)).result(20)
    wait_for(lambda: running.job(number).ended_at, "the job has ended")
    return running.job(number)


def test_an_end_stores_its_held_seconds_though_the_ledger_is_not_due(
    queue: tuple[Queue, AgentPeer],
) -> None:
    running, peer = queue
    peer.sample_s = 1000.0
    (other,), _ = running.control.submit(sleep("60")).result(20)
    ended = _run(running, "0.3")
    assert ended.started_at is not None
    assert ended.gpu_s >= 0.3
    assert running.held(ended.id) == pytest.approx(ended.gpu_s, abs=1e-6)
    (kept,) = running.rows(jobs.open_allocations)
    assert (kept.job, kept.held_through) == (other, kept.from_at), "of no concern to this end"
    assert running.held(other) == 0.0
    running.control.submit(Requeue(ROOT, other)).result(20)
    wait_for(lambda: running.job(other).attempt == 2, "it was started again")
    assert running.held(other) == pytest.approx(running.job(other).gpu_s, abs=1e-6)
    query = select(allocations).where(allocations.c.job == other).order_by(allocations.c.id)
    first, second = running.rows(lambda c: c.execute(query).fetchall())
    assert first.to_at is not None
    assert running.held(other) == pytest.approx(first.to_at - first.from_at, abs=1e-6)
    assert second.to_at is None


def test_an_end_stores_all_that_was_seen_of_the_job_with_it(
    queue: tuple[Queue, AgentPeer],
) -> None:
    running, peer = queue
    peer.sample_s = 0.05
    ended = _run(running, "0.5")
    rows = running.rows(lambda c: ledger.usage_rows(c, 0, 1e12))
    seen = sum(row["observed_s"] for row in rows if row["job"] == ended.id)
    assert seen == pytest.approx(ended.observed_s, abs=1e-6)
    assert seen > 0.2
    through = float(running.rows(lambda c: get_meta(c, "ledger_through")) or 0)
    assert ended.ended_at is not None
    assert through > ended.ended_at - 0.3
