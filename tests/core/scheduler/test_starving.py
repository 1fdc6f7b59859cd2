"""Nobody waits for ever behind jobs that follow each other, also where these give way to nobody."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.scheduler.pictures import World

THROUGHPUT = '[scheduling]\nmode = "throughput"\n'


def hourly(world: World, waits: int, days: int, **more: Any) -> None:
    """Every half hour a job of one hour comes, and the oldest that runs ends."""
    for n in range(days * 48):
        world.submit(f"u{n % 20}", time="1h", **more)
        world.wait("30m")
        world.give_way()
        if waits in world.held:
            return
        world.end(min(world.held, key=world.started_at.__getitem__))
        if waits in world.held:
            return


def test_in_throughput_a_whole_job_drains_a_shared_gpu() -> None:
    world = World(1, "shared_gpus = [0]\n" + THROUGHPUT)
    world.submit("li", share="40G", time="1h")
    world.submit("wu", share="40G", time="1h")
    whole = world.submit("alice", time="2h")
    hourly(world, whole, 7, share="40G")
    assert world.running() == [whole], world.why(whole)


def test_in_throughput_a_big_job_starts_although_jobs_that_may_not_be_requeued_keep_coming() -> (
    None
):
    world = World(2, THROUGHPUT)
    world.submit("li", time="1h", requeue=False)
    world.wait("30m")
    world.submit("wu", time="1h", requeue=False)
    big = world.submit("alice", 2, time="2h")
    hourly(world, big, 7, requeue=False)
    assert world.running() == [big], world.why(big)


def test_in_throughput_a_big_job_takes_from_jobs_that_may_go_back() -> None:
    world = World(2, THROUGHPUT)
    world.submit("li", time="1h")
    world.wait("30m")
    world.submit("wu", time="1h")
    big = world.submit("alice", 2, time="2h")
    hourly(world, big, 7)
    assert world.running() == [big], world.why(big)


@pytest.mark.parametrize(
    ("more", "count", "gpus"), [({"share": "40G"}, 1, 1), ({"requeue": False}, 2, 2)]
)
def test_by_the_default_rules_a_big_job_starts(more: Any, count: int, gpus: int) -> None:
    world = World(count, "shared_gpus = [0]\n")
    world.submit("li", time="1h", **more)
    world.wait("30m")
    world.submit("wu", time="1h", **more)
    big = world.submit("alice", gpus, time="2h")
    hourly(world, big, 7, **more)
    assert world.running() == [big], world.why(big)
