"""Jobs through the scheduler in simulated time, by hand: who starts when, what preemption keeps
and costs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.model import Booking, PriorityClass
from roost.core.replay.curves import held
from roost.core.replay.drive import Costs, Ran, StuckError, replay
from roost.core.replay.estimates import FACTORS, Estimates, walltimes
from roost.core.replay.fit import fit
from roost.core.replay.layout import layout
from roost.core.replay.trace import Trace, TraceBooking, TraceError, TraceJob
from roost.core.rules.load import load
from roost.core.scheduler.policy import BASELINES


def trace(*jobs: tuple[float, float, float], users: str = "") -> Trace:
    """Of (submitted, GPUs, seconds)."""
    return Trace(
        tuple(
            TraceJob(f"j{n}", users[n : n + 1] or "a", "g", submit_s, gpus, duration_s)
            for n, (submit_s, gpus, duration_s) in enumerate(jobs)
        )
    )


def run(jobs: Trace, servers: str, policy: str, costs: Costs | None = None) -> list[Ran]:
    told = walltimes(jobs, Estimates.EXACT, random.Random(0))
    return replay(jobs, layout(servers), told, BASELINES[policy], costs=costs or Costs())


BACKFILLED = trace((0, 1, 100), (1, 2, 50), (2, 1, 99), (3, 1, 98))


@pytest.mark.parametrize(
    ("policy", "starts"),
    [
        # The wide second job waits for the first, and all others behind it.
        ("fifo", [0, 100, 150, 150]),
        # The third would delay it (2 + 99 > 100) and does not start; the fourth neither.
        ("easy", [0, 100, 150, 150]),
        # The second is the shortest of those that wait when a GPU is freed, and stands first.
        ("sjf", [0, 100, 150, 150]),
    ],
)
def test_a_hole_that_is_too_short_stays_empty(policy: str, starts: list[float]) -> None:
    assert [one.first_at for one in run(BACKFILLED, "1x2", policy)] == starts


def test_a_hole_that_is_long_enough_is_filled() -> None:
    jobs = trace((0, 1, 100), (1, 2, 50), (2, 1, 98))
    assert [one.first_at for one in run(jobs, "1x2", "fifo")] == [0, 100, 150]
    assert [one.first_at for one in run(jobs, "1x2", "easy")] == [0, 100, 2]
    assert [one.first_at for one in run(jobs, "1x2", "conservative")] == [0, 100, 2]


# One GPU: a job of 100 s, then at 35 one of 10 s, for which it gives way.
GIVES_WAY = trace((0, 1, 100), (35, 1, 10))


@pytest.mark.parametrize(
    ("costs", "end_at", "lost_s"),
    [
        (Costs(0.0, 0.0), 110.0, 0.0),  # 35 done, 65 left from 45 on
        (Costs(30.0, 0.0), 140.0, 30.0),  # the same, and 30 s to start again
        (Costs(30.0, None), 175.0, 65.0),  # 35 s done in vain
        (Costs(0.0, 20.0), 125.0, 15.0),  # kept to the checkpoint at 20
        (Costs(5.0, 60.0), 150.0, 40.0),  # no checkpoint yet
    ],
)
def test_preemption_loses_work_since_the_checkpoint_and_a_start(
    costs: Costs, end_at: float, lost_s: float
) -> None:
    long, short = run(GIVES_WAY, "1x1", "srtf", costs)
    assert (short.first_at, short.end_at, short.preemptions) == (35, 45, 0)
    assert (long.first_at, long.end_at, long.preemptions) == (0, end_at, 1)
    assert long.held[0] == (0, 35)
    assert long.held[1] == (45, end_at)
    assert long.lost_s == lost_s, "a start that went well costs too: GPUs held, nothing done"


def test_without_checkpoints_all_earlier_attempts_are_lost() -> None:
    jobs = trace((0, 1, 100), (30, 1, 10), (80, 1, 5))
    long = run(jobs, "1x1", "srtf", Costs(0.0, None))[0]
    assert long.preemptions == 2
    # 30 s in vain, then 40 to 80 in vain, then whole from 85 on.
    assert long.end_at == 185
    assert long.lost_s == 70


def test_fractions_of_a_gpu_share_one() -> None:
    jobs = trace((0, 0.5, 100), (0, 0.5, 100), (0, 0.5, 100))
    gpus = layout("1x1")
    rules = load(f'shared_gpus = ["{gpus[0].uuid}"]')
    ran = replay(jobs, gpus, [100.0] * 3, rules=rules)
    assert sorted(one.first_at for one in ran) == [0, 0, 100]


def test_classes_of_the_trace_are_those_of_the_rules() -> None:
    jobs = Trace((
        TraceJob("b", "a", "g", 0, 1, 1000, None, PriorityClass.BACKGROUND),
        TraceJob("u", "b", "g", 500, 1, 10, None, PriorityClass.URGENT),
    ))  # fmt: skip
    background, urgent = replay(jobs, layout("1x1"), [None, None])
    assert urgent.first_at == 500
    assert background.preemptions == 1


def test_jobs_that_can_never_start_are_named() -> None:
    rules = load("[limits.per_user]\nmax_gpus = 1\n")
    with pytest.raises(StuckError) as stuck:
        replay(trace((0, 2, 5), (0, 1, 5), (1, 2, 5)), layout("1x2"), [5.0] * 3, rules=rules)
    assert stuck.value.jobs == ("j0", "j2")


@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.integers(1, 4), st.integers(1, 200)),
        min_size=1, max_size=14,
    ),
    st.sampled_from(sorted(BASELINES)),
    st.sampled_from([None, 0.0, 25.0]),
)  # fmt: skip
def test_no_gpu_is_held_twice_and_all_work_is_done(
    jobs: list[tuple[int, int, int]], policy: str, checkpoint_s: float | None
) -> None:
    one = trace(*sorted((float(s), float(g), float(d)) for s, g, d in jobs))
    ran = run(one, "2x2", policy, Costs(10.0, checkpoint_s))
    changes = sorted(
        change
        for own in ran
        for begin, over in own.held
        for change in ((begin, own.gpus), (over, -own.gpus))
    )
    changes.sort(key=lambda change: (change[0], change[1]))
    in_use = 0.0
    for _, gpus in changes:
        in_use += gpus
        assert in_use <= 4
    for job, own in zip(one.jobs, ran, strict=True):
        assert own.first_at >= job.submit_s
        assert len(own.held) == own.preemptions + 1
        spent = sum(over - begin for begin, over in own.held)
        assert spent == pytest.approx(job.duration_s + own.lost_s)
    end = max(own.end_at for own in ran)
    area = sum((over - begin) * own.gpus for own in ran for begin, over in own.held)
    curve = held(ran, 4, end)
    assert sum(part for _, part in curve) / len(curve) * 4 * end == pytest.approx(area)


# -- layout, estimates, what fits -----------------------------------------------------------------


def test_a_layout_names_servers_and_numbers_gpus_through() -> None:
    gpus = layout("2x8, 1x4")
    assert len(gpus) == 20
    assert [gpu.index for gpu in gpus] == list(range(20))
    assert len({gpu.uuid for gpu in gpus}) == 20
    assert [gpu.server for gpu in gpus[7:9]] == ["s00000", "s00001"]
    assert len({gpu.server for gpu in gpus}) == 3


@pytest.mark.parametrize(
    "text", ["", "8", "0x8", "4x0", "4x", "x8", "4x8,", "-1x8", "400x999", "4X8"]
)
def test_a_wrong_layout_is_named(text: str) -> None:
    with pytest.raises(TraceError) as refused:
        layout(text)
    assert refused.value.code == "bad_layout"
    assert refused.value.numbers["value"] == text


def test_estimates_are_exact_or_said_or_drawn_by_the_seed() -> None:
    jobs = Trace((
        TraceJob("a", "", "", 0, 1, 100.0, 70.0),
        TraceJob("b", "", "", 0, 1, 100.0),
        TraceJob("c", "", "", 0, 1, 0.0),
    ))  # fmt: skip
    assert walltimes(jobs, Estimates.EXACT, random.Random(1)) == [100, 100, 1e-3]
    assert walltimes(jobs, Estimates.TRACE, random.Random(1)) == [70, None, None]
    drawn = walltimes(jobs, Estimates.NOISY, random.Random(1))
    assert drawn == walltimes(jobs, Estimates.NOISY, random.Random(1))
    assert drawn[0] == 70
    assert drawn[1] in [100 * factor for factor in FACTORS]


def test_what_is_too_large_is_left_out_and_time_begins_with_the_first_that_fits() -> None:
    found = fit(trace((0, 9, 5), (7, 1.5, 5), (8, 0.5, 5), (9, 4, 5)), 4)
    assert [(job.submit_s, job.gpus) for job in found.trace.jobs] == [(0, 2), (1, 0.5), (2, 4)]
    assert found.trace.left_out == (("too_large", 1),)
    assert (found.rounded, found.shared) == (1, 1)
    with pytest.raises(TraceError) as refused:
        fit(trace((0, 9, 5)), 4)
    assert refused.value.code == "all_too_large"


@pytest.mark.parametrize(
    ("known_s", "gone_s", "user", "starts"),
    [
        (0.0, None, "b", 200.0),
        (0.0, 20.0, "b", 20.0),
        (0.0, None, "a", 0.0),
        (5.0, None, "b", 0.0),
    ],
    ids=["a wall", "cancelled", "one's own", "made later"],
)
def test_bookings_are_walls_as_long_as_they_were_known(
    known_s: float, gone_s: float | None, user: str, starts: float
) -> None:
    gpu = layout("1x1")[0].uuid
    walled = TraceBooking(Booking(1, "a", (gpu,), 50.0, 200.0), known_s, gone_s)
    jobs = replace(trace((0, 1, 45), users=user), bookings=(walled,))
    (one,) = run(jobs, "1x1", "easy")
    assert one.first_at == starts


def test_who_runs_when_a_booking_begins_gives_way_and_goes_on_after_it() -> None:
    gpu = layout("1x1")[0].uuid
    walled = TraceBooking(Booking(1, "li", (gpu,), 5000.0, 8000.0), 10.0)
    jobs = replace(trace((0, 1, 6000)), bookings=(walled,))
    (one,) = run(jobs, "1x1", "fifo")
    assert one.held[0][0] == 0.0 and one.held[0][1] <= 5000.0
    assert one.held[1][0] == 8000.0
