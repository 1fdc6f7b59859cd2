"""Nobody who fills a hole delays the one for whom room is kept; and what was forecast, happens."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from roost.core.model import Gpu, JobState
from roost.core.scheduler.policy import BASELINES
from roost.core.scheduler.scheduler import Scheduler
from tests.core.scheduler.pictures import World, gpus_of, servers_of

MACHINES: list[list[Gpu]] = [gpus_of(4), servers_of(2, 2), servers_of(3, 2)]
JOBS = st.lists(
    st.tuples(
        st.integers(1, 4),  # GPUs
        st.integers(1, 12),  # walltime, in tens of minutes
        st.integers(1, 100),  # how much of it is used, in percent
        st.integers(0, 4),  # after how many ends it comes
    ),
    min_size=3,
    max_size=14,
)


def told(world: World) -> dict[int, float]:
    """When each waiting job is forecast to start, of those for which it can be said."""
    found = {}
    for number, state in world.states.items():
        at = world.scheduler.explain(number).forecast_start_at
        if state is JobState.PENDING and at is not None:
            found[number] = at
    return found


def lived(machine: list[Gpu], jobs: list[tuple[int, int, int, int]], policy: str | None) -> World:
    """Every job is submitted and ends; no forecast is ever exceeded."""
    world = World(gpus=machine)
    if policy is not None:
        world.scheduler = Scheduler(policy=BASELINES[policy])
        world.step(*world.events)
    lasts: dict[int, float] = {}
    coming = sorted(jobs, key=lambda job: job[3])
    promised: dict[int, float] = {}
    ends = 0

    def live_until(at: float) -> None:
        """Jobs end when their time has come, each at its own instant."""
        nonlocal ends
        while due := [(world.started_at[n] + lasts[n], n) for n in world.held]:
            end, number = min(due)
            if end > at:
                break
            world.now = max(world.now, end)
            world.end(number)
            ends += 1
            for started in world.held:
                assert world.started_at[started] <= promised.get(started, float("inf")), started
        world.now = max(world.now, at)

    while coming or world.held:
        while coming and (coming[0][3] <= ends or not world.held):
            gpus, walltime, used, _ = coming.pop(0)
            live_until(world.now + 1.0)  # Of jobs of one instant the smaller goes first.
            number = world.submit("alice", gpus, time=f"{walltime * 10}m")
            lasts[number] = walltime * 6.0 * used
        for number, at in told(world).items():
            promised[number] = min(at, promised.get(number, at))
        if world.held:
            live_until(min(world.started_at[n] + lasts[n] for n in world.held))
    assert all(state is JobState.COMPLETED for state in world.states.values())
    return world


@settings(max_examples=80)
@example(
    gpus_of(4),
    [(1, 1, 1, 0), (1, 1, 1, 3), (4, 1, 1, 0), (4, 1, 1, 1), (1, 1, 100, 0), (1, 1, 100, 0)],
    None,
)
@given(st.sampled_from(MACHINES), JOBS, st.sampled_from([None, "easy"]))
def test_no_hole_is_filled_at_the_cost_of_the_first_in_line(
    machine: list[Gpu], jobs: list[tuple[int, int, int, int]], policy: str | None
) -> None:
    lived(machine, jobs, policy)


@settings(max_examples=60)
@given(st.sampled_from(MACHINES), JOBS)
def test_under_conservative_backfill_no_place_ever_moves_back(
    machine: list[Gpu], jobs: list[tuple[int, int, int, int]]
) -> None:
    lived(machine, jobs, "conservative")


@settings(max_examples=80)
@given(st.sampled_from(MACHINES), JOBS)
def test_what_was_forecast_happens_when_nothing_changes(
    machine: list[Gpu], jobs: list[tuple[int, int, int, int]]
) -> None:
    """All are there from the beginning and run for just as long as they said."""
    world = World(gpus=machine)
    for gpus, walltime, _, _ in jobs:
        world.submit("alice", gpus, time=f"{walltime * 10}m")
    while world.held:
        said = told(world)
        at = min(world.started_at[n] + (world.jobs[n].request.walltime_s or 0) for n in world.held)
        world.now = at
        for number in [
            n
            for n in world.running()
            if world.started_at[n] + (world.jobs[n].request.walltime_s or 0) == at
        ]:
            world.end(number)
        for number, when in said.items():
            begun = world.started_at.get(number)
            assert begun is None or begun == when, (number, begun, when)
    assert all(state is JobState.COMPLETED for state in world.states.values())
