"""Figures of a replay against ones computed by hand."""

from __future__ import annotations

import pytest

from roost.core.replay.changes import changes
from roost.core.replay.curves import held, shares
from roost.core.replay.drive import Ran
from roost.core.replay.fairness import jain, received_against_due, slowdown_spread
from roost.core.replay.metrics import figures, machine, percentile
from roost.core.replay.report import groups, row, spread
from roost.core.replay.trace import Trace, TraceJob

# Two GPUs. a's job of 100 s; b's of 5 s, which waited 20 s; c's of 50 s on both, preempted after
# 10 s without a checkpoint, started again at 200 with 30 s to start.
TRACE = Trace((
    TraceJob("1", "a", "g", 0.0, 1, 100.0),
    TraceJob("2", "b", "g", 0.0, 1, 5.0),
    TraceJob("3", "c", "h", 40.0, 2, 50.0),
))  # fmt: skip
RAN = [
    Ran(1, 0.0, 100.0, 0, 0.0, [(0.0, 100.0)]),
    Ran(1, 20.0, 25.0, 0, 0.0, [(20.0, 25.0)]),
    Ran(2, 110.0, 280.0, 1, 40.0, [(110.0, 120.0), (200.0, 280.0)]),
]
PAIRS = list(zip(TRACE.jobs, RAN, strict=True))


def test_figures_of_jobs() -> None:
    found = figures(PAIRS)
    assert found.jobs == 3
    assert found.mean_jct_s == pytest.approx((100 + 25 + 240) / 3)
    assert (found.median_jct_s, found.p99_jct_s) == (100, 240)
    assert found.mean_queue_delay_s == pytest.approx((0 + 20 + 190) / 3)
    assert found.max_queue_delay_s == 190
    assert found.mean_first_start_delay_s == pytest.approx((0 + 20 + 70) / 3)
    # b's run time is taken as 10 s, so that a moment's job is not counted as a slow one.
    assert found.mean_bounded_slowdown == pytest.approx((1 + 2.5 + 4.8) / 3)
    assert (found.preemptions, found.jobs_preempted) == (1, 1)
    assert found.lost_gpu_h == pytest.approx(40 * 2 / 3600)


def test_a_job_that_was_done_at_once_is_not_faster_than_possible() -> None:
    assert figures(PAIRS[:1]).mean_bounded_slowdown == 1
    one = TraceJob("x", "", "", 0.0, 1, 0.0)
    assert figures([(one, Ran(1, 0.0, 0.0, held=[(0.0, 0.0)]))]).mean_bounded_slowdown == 1


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(n) for n in range(100)]
    assert percentile(values, 0.99) == 99
    assert percentile(values, 0.5) == 50
    assert percentile([3.0], 0.99) == 3
    assert percentile([], 0.5) == 0


def test_use_counts_work_and_occupancy_what_was_held() -> None:
    found = machine(TRACE, RAN, 2)
    assert found.makespan_s == 280
    assert found.utilisation == pytest.approx((100 + 5 + 100) / (2 * 280))
    assert found.occupancy == pytest.approx((100 + 5 + 180) / (2 * 280))
    # Until the last submission at 40 s: a held one GPU for 40 s, b one for 5 s.
    assert found.utilisation_submit_window == pytest.approx(45 / 80)


def test_jains_index() -> None:
    assert jain([1.0, 1.0, 1.0]) == 1
    assert jain([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    assert jain([1.0, 2.0, 3.0]) == pytest.approx(36 / (3 * 14))
    assert jain([]) == 1


def test_received_against_due_counts_hours_in_which_somebody_waited() -> None:
    """On two GPUs: while b waits (0 to 20 s) a and b are due one GPU each; a has it, b has none.
    From 40 to 100 a wants one and c two: one is due to each, a has it. Then c alone wants."""
    found = received_against_due(TRACE, RAN, 2)
    assert found["a"] == pytest.approx(1.0)
    assert found["b"] == pytest.approx(0.0)
    # c: due 60 × 1 (beside a), 10 × 2 before its start, 80 × 2 when it was preempted.
    assert found["c"] == pytest.approx(0.0)


def test_nobody_waits_and_all_is_fair() -> None:
    one = Trace(TRACE.jobs[:1])
    assert received_against_due(one, RAN[:1], 2) == {}
    assert row(one, RAN[:1], 2)["jain"] == 1


def test_the_spread_of_slowdown_needs_two_people_with_twenty_jobs() -> None:
    assert slowdown_spread(TRACE, RAN) is None
    jobs = tuple(TraceJob(f"{n}", "ab"[n % 2], "", 0.0, 1, 10.0) for n in range(40))
    ran = [Ran(1, 0.0, 10.0 if n % 2 else 30.0, held=[(0.0, 10.0)]) for n in range(40)]
    assert slowdown_spread(Trace(jobs), ran) == pytest.approx(3.0)


def test_groups_are_by_person_class_and_size() -> None:
    assert [each["key"] for each in groups(TRACE, RAN, "user")] == ["a", "b", "c"]
    assert groups(TRACE, RAN, "group")[1]["gpu_h"] == pytest.approx(100 / 3600)
    assert [(each["key"], each["jobs"]) for each in groups(TRACE, RAN, "class")] == [("regular", 3)]
    sizes = Trace(tuple(
        TraceJob(f"{n}", "", "", 0.0, gpus, 1.0)
        for n, gpus in enumerate((5000, 0.5, 1, 2, 3, 4, 9, 16, 1000))
    ))  # fmt: skip
    ran = [Ran(job.gpus, 0.0, 1.0, held=[(0.0, 1.0)]) for job in sizes.jobs]
    found = [each["key"] for each in groups(sizes, ran, "size")]
    assert found == ["<1", "1", "2", "3-4", "9-16", "513-1024", ">1024"]


def test_what_other_rules_change_for_whom() -> None:
    after = [
        Ran(1, 0.0, 100.5, held=[(0.0, 100.0)]),
        Ran(1, 0.0, 5.0, held=[(0.0, 5.0)]),
        Ran(2, 40.0, 90.0, held=[(40.0, 90.0)]),
    ]
    found = changes(TRACE, [RAN], [after])
    assert [one.who for one in found] == ["c", "b", "a"]
    assert (found[0].before_s, found[0].after_s, found[0].sooner, found[0].later) == (190, 0, 1, 0)
    assert (found[1].sooner, found[2].later) == (0, 0), "less than a minute is not noticed"
    # Of several seeds the median counts.
    assert all(one.before_s < 1 for one in changes(TRACE, [RAN, after, after], [after]))


def test_spread_over_seeds() -> None:
    assert spread([{"x": 3.0}, {"x": 1.0}, {"x": 2.0}], "x") == (1.0, 2.0, 3.0)
    assert spread([{"x": None}], "x") is None


def test_curves() -> None:
    assert shares([3.0, 1.0]) == [(1.0, 0.5), (3.0, 1.0)]
    assert shares([]) == []
    long = shares([float(n) for n in range(10_000)])
    assert len(long) < 300
    assert long[-1] == (9999.0, 1.0)
    middles, parts = zip(*held(RAN, 2, 280.0, bins=2), strict=True)
    assert middles == (70.0, 210.0)
    assert parts == pytest.approx(((100 + 5 + 2 * 10) / 280, 2 * 80 / 280))
