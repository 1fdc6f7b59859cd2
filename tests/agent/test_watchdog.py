"""The watchdog's promises, told the time by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roost.agent.watchdog import TIDY_UP_S, Act, Terms, Watchdog
from roost.core.model import EndReason

SPANS = st.floats(0, 1000, allow_nan=False)


def run(dog: Watchdog, until: float) -> list[tuple[float, Act]]:
    """Everything that is due up to `until`, at the times that the watchdog asks to be woken."""
    done = []
    now = 0.0
    while True:
        done += [(now, act) for act in dog.due(now)]
        following = dog.next_at()
        if following is None or following > until:
            return done
        now = max(now, following)


def test_a_walltime_warns_asks_and_kills_in_that_order() -> None:
    dog = Watchdog(Terms(walltime_s=100, warn_before_s=20, kill_wait_s=30), 0.0)
    assert run(dog, 1000) == [(80, Act.WARN), (100, Act.ASK), (130, Act.KILL)]
    assert dog.reason is EndReason.TIMEOUT


def test_a_warning_longer_than_the_walltime_comes_at_the_start() -> None:
    dog = Watchdog(Terms(walltime_s=10, warn_before_s=60, kill_wait_s=0), 0.0)
    assert run(dog, 1000)[0] == (0.0, Act.WARN)


def test_without_a_limit_nothing_is_ever_due() -> None:
    dog = Watchdog(Terms(), 0.0)
    assert dog.next_at() is None
    assert dog.due(1e9) == []


def test_saving_does_not_extend_a_walltime() -> None:
    dog = Watchdog(Terms(walltime_s=10, kill_wait_s=5, saving_limit_s=1000), 0.0)
    dog.due(10)
    dog.saw_saving()
    assert run(dog, 1000)[-1] == (15, Act.KILL)


def test_saved_work_ends_the_extension_with_a_moment_to_leave() -> None:
    dog = Watchdog(Terms(saving_limit_s=300), 0.0)
    dog.stop(EndReason.PREEMPTED, 10, 0.0)
    assert dog.due(0.0) == [Act.ASK]
    dog.saw_saving()
    assert dog.due(50) == []
    dog.saw_saved(60)
    assert dog.next_at() == 60 + TIDY_UP_S
    assert dog.due(60 + TIDY_UP_S) == [Act.KILL]


def test_saved_within_the_grace_takes_nothing_of_it() -> None:
    dog = Watchdog(Terms(saving_limit_s=300), 0.0)
    dog.stop(EndReason.PREEMPTED, 100, 0.0)
    dog.saw_saving()
    dog.saw_saved(3)
    assert dog.next_at() == 100


def test_the_first_reason_stays_but_a_cancellation_replaces_a_preemption() -> None:
    for first, second, kept in (
        (EndReason.PREEMPTED, EndReason.CANCELLED, EndReason.CANCELLED),
        (EndReason.CANCELLED, EndReason.PREEMPTED, EndReason.CANCELLED),
        (EndReason.TIMEOUT, EndReason.CANCELLED, EndReason.TIMEOUT),
    ):
        dog = Watchdog(Terms(), 0.0)
        dog.stop(first, 10, 0.0)
        dog.stop(second, 10, 1.0)
        assert dog.reason is kept


@given(st.lists(st.tuples(SPANS, SPANS), min_size=1, max_size=6), st.booleans(), SPANS)
def test_orders_only_bring_the_end_nearer_and_the_bound_holds(
    orders: list[tuple[float, float]], saving: bool, limit: float
) -> None:
    dog = Watchdog(Terms(saving_limit_s=limit), 0.0)
    now, bound = 0.0, float("inf")
    for wait, grace in orders:
        now += wait
        if any(act is Act.KILL for act in dog.due(now)):
            return
        dog.stop(EndReason.PREEMPTED, grace, now)
        bound = min(bound, now + grace + limit)
        if saving:
            dog.saw_saving()
        following = dog.next_at()
        assert following is not None
        assert following <= bound + 1e-6


@given(st.floats(0.001, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_each_thing_is_due_once(walltime: float, warn: float, wait: float) -> None:
    dog = Watchdog(Terms(walltime_s=walltime, warn_before_s=warn, kill_wait_s=wait), 0.0)
    acts = [act for _, act in run(dog, 1e9)]
    assert acts.count(Act.KILL) == 1
    assert acts.count(Act.WARN) <= 1
    assert acts.count(Act.ASK) <= 1
    assert acts[-1] is Act.KILL


@given(SPANS, SPANS, SPANS, SPANS)
def test_a_pause_moves_the_walltime_by_its_length(
    walltime_s: float, before: float, at: float, length: float
) -> None:
    """Nothing is due while it lasts, and nothing of the walltime is lost or won by it."""
    plain = Watchdog(Terms(walltime_s, before, 30.0), 0.0)
    paused = Watchdog(Terms(walltime_s, before, 30.0), 0.0)
    due = plain.next_at()
    assert due is not None
    if at < due:
        paused.pause(at)
        paused.pause(at + length / 2)
        assert paused.next_at() is None
        assert paused.due(at + length) == []
        paused.go_on(at + length)
        paused.go_on(at + 2 * length)
        moved = paused.next_at()
        assert moved is not None
        assert abs(moved - (due + length)) < 1e-6


def test_a_paused_job_that_is_to_stop_has_its_grace() -> None:
    dog = Watchdog(Terms(walltime_s=100), 0.0)
    dog.pause(10)
    dog.stop(EndReason.PREEMPTED, 5, 50)
    assert run(dog, 1000) == [(0.0, Act.ASK), (55, Act.KILL)]
