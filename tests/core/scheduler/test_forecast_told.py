"""When a job is told to start, in situations with a name."""

from __future__ import annotations

from roost.core.scheduler import future
from roost.core.scheduler.decisions import Wait
from roost.core.scheduler.future import Run
from roost.core.text.forecast import forecast_sentence
from tests.core.scheduler.pictures import NO_MIN_RUN, World


def told(world: World, number: int) -> tuple[float | None, float | None]:
    """Likely and latest start, in seconds since the world began."""
    wait = world.scheduler.forecast(number)
    times = wait.forecast_start_at, wait.forecast_latest_at
    return times[0] and times[0] - 1000, times[1] and times[1] - 1000


def unknown(world: World, number: int) -> tuple[str, tuple[int, ...]]:
    why = world.scheduler.forecast(number).forecast_unknown
    assert why is not None
    return why.code, why.blocking_jobs


def after_two_of(span: str, time: str | None = None) -> World:
    """One GPU, on which li's last two jobs took so long; they asked for `time`."""
    world = World(1)
    for _ in range(2):
        number = world.submit("li", time=time)
        world.wait(span)
        world.end(number)
    return world


def test_a_job_is_likely_to_last_as_those_before_and_at_the_latest_to_its_walltime() -> None:
    world = after_two_of("1h", "4h")
    world.submit("li", time="8h")
    waits = world.submit("alice", time="1h")
    assert told(world, waits) == (7200 + 7200, 7200 + 8 * 3600)


def test_a_job_that_outlives_its_forecast_goes_on_for_as_long_again() -> None:
    world = after_two_of("1h", "4h")
    world.submit("li", time="8h")
    waits = world.submit("alice", time="1h")
    world.wait("3h")
    assert told(world, waits) == (5 * 3600 + 3600, 7200 + 8 * 3600)


def test_but_not_beyond_its_walltime() -> None:
    world = after_two_of("1h", "4h")
    world.submit("li", time="8h")
    waits = world.submit("alice", time="1h")
    world.wait("7h")
    assert told(world, waits) == (7200 + 8 * 3600, 7200 + 8 * 3600)


def test_a_job_without_a_limit_and_without_habits_is_named() -> None:
    world = World(1)
    runs = world.submit("li")
    waits = world.submit("alice", time="1h")
    assert told(world, waits) == (None, None)
    assert unknown(world, waits) == ("open", (runs,))


def test_with_habits_only_the_latest_start_cannot_be_said() -> None:
    world = after_two_of("1h")
    runs = world.submit("li")
    waits = world.submit("alice", time="1h")
    assert told(world, waits) == (7200 + 3600, None)
    assert unknown(world, waits) == ("open", (runs,))


def test_a_waiting_job_without_a_limit_that_goes_first_is_named_too() -> None:
    world = World(1)
    world.submit("li", time="1h")
    first = world.submit("wang")
    waits = world.submit("alice", time="1h")
    assert told(world, first) == (3600, 3600)
    assert told(world, waits) == (None, None)
    assert unknown(world, waits) == ("open_later", (first,))


def test_behind_an_own_limit_the_own_job_without_an_end_is_named() -> None:
    world = World(4, "[limits.per_user]\nmax_gpus = 1\n")
    world.submit("li")
    own = world.submit("alice")
    waits = world.submit("alice", time="1h")
    assert unknown(world, waits) == ("open", (own,))


def test_changes_of_the_hour_alone_are_not_looked_at_for_ever() -> None:
    world = World(1, "[windows.long]\njobs_over = '1h'\nopen = ['02:00-09:00']\n")
    world.wait("3h")
    open_ended = world.submit("wang")
    waits = world.submit("alice", time="30m")
    assert unknown(world, waits) == ("open", (open_ended,))
    runs = world.scheduler.future()._runs
    assert runs is not None
    assert runs.latest._left > future.MOST_COST // 2


def test_what_no_end_of_others_lets_start_says_so() -> None:
    world = World(2)
    world.submit("li")
    held = world.submit("alice", held=True)
    follows = world.submit("alice", after=(held,))
    many = world.submit("alice", 4)
    for number in (held, follows, many):
        assert told(world, number) == (None, None)
        assert unknown(world, number) == ("never", ())


def test_the_whole_queue_is_foreseen_not_only_its_head() -> None:
    world = World(1)
    numbers = [world.submit("alice", time="1h") for _ in range(5)]
    starts = [told(world, number)[0] for number in numbers[1:]]
    assert starts == [3600, 7200, 10800, 14400]


def test_who_follows_another_starts_after_it() -> None:
    world = World(2)
    first = world.submit("alice", time="2h")
    assert told(world, world.submit("alice", time="1h", after=(first,))) == (7200, 7200)


def test_a_begin_time_and_a_window_are_waited_for() -> None:
    windows = "[windows.long]\njobs_over = '1h'\nopen = ['02:00-09:00']\n"
    world = World(2, windows)
    assert told(world, world.submit("alice", time="30m", begin_at=4000.0)) == (3000, 3000)
    assert told(world, world.submit("alice", time="3h")) == (6200, 6200)


def test_a_victim_takes_its_grace_and_comes_back_where_it_was() -> None:
    world = World(1, NO_MIN_RUN)
    victim = world.submit("li", 1, "background", time="9h")
    world.wait("10m")
    next_one = world.submit("li", 1, "background", time="1h")
    urgent = world.submit("alice", 1, "urgent", time="1h")
    assert told(world, urgent) == (660, 660)
    world.wait("1m")
    world.give_way()
    assert told(world, victim) == (660 + 3600, 660 + 3600)
    assert told(world, next_one) == (660 + 3600 + 9 * 3600, 660 + 3600 + 9 * 3600)


def test_a_victim_that_outlives_its_grace_goes_on_for_as_long_again() -> None:
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "background", time="9h")
    urgent = world.submit("alice", 1, "urgent", time="1h")
    world.wait("100s")
    assert told(world, urgent)[0] == 140


def test_who_is_too_long_for_a_hole_starts_after_the_first_in_line() -> None:
    world = World(2)
    world.submit("li", 1, time="3h")
    big = world.submit("wang", 2, time="1h")
    world.wait("1m")
    long = world.submit("alice", 1, time="9h")
    assert told(world, big) == (10800, 10800)
    assert told(world, long) == (14400, 14400)


def test_what_was_worked_out_is_kept_until_something_happens() -> None:
    world = World(1)
    runs = world.submit("li", time="3h")
    waits = world.submit("alice", time="1h")
    kept = world.scheduler.future()
    told(world, waits)
    world.wait("1h")
    assert world.scheduler.future() is kept
    world.end(runs)
    assert world.scheduler.future() is not kept


def test_and_not_beyond_the_first_thing_that_was_foreseen() -> None:
    world = after_two_of("1h", "4h")
    world.submit("li", time="8h")
    waits = world.submit("alice", time="1h")
    kept = world.scheduler.future()
    assert told(world, waits) == (7200 + 7200, 7200 + 8 * 3600)
    world.wait("1h59m")
    assert world.scheduler.future() is kept
    world.wait("2m")
    assert world.scheduler.future() is not kept


def test_nothing_is_said_of_a_job_that_does_not_wait() -> None:
    world = World(1)
    assert world.scheduler.forecast(world.submit("li", time="1h")) == Wait(1)
    assert world.scheduler.forecast(99) == Wait(99)


def test_it_looks_only_so_far_ahead() -> None:
    world = World(1)
    numbers = [world.submit("alice", time="1h") for _ in range(30)]
    state = world.scheduler._state
    most, future.MOST_COST = future.MOST_COST, 100
    try:
        assert told(world, numbers[2]) == (7200, 7200)
        assert told(world, numbers[-1]) == (None, None)
        assert unknown(world, numbers[-1]) == ("far", ())
    finally:
        future.MOST_COST = most
    assert len(state.queue) == 29


def test_what_a_window_ends_each_morning_is_not_followed_for_ever() -> None:
    windows = "[windows.long]\njobs_over = '1h'\nopen = ['02:00-09:00']\nat_close = \"end\"\n"
    world = World(1, windows)
    world.wait("3h")
    first = world.submit("li")
    after = world.submit("li", after=(first,))
    assert unknown(world, after) == ("far", ())
    runs = world.scheduler.future()._runs
    assert runs is not None
    assert runs.latest._left > future.MOST_COST // 2


def test_an_equal_run_is_made_once() -> None:
    world = World(1)
    world.submit("alice", time="1h")
    waits = world.submit("alice", time="1h")
    kept = world.scheduler.future()
    told(world, waits)
    runs = kept._runs
    assert runs is not None
    assert runs.likely is runs.latest
    assert isinstance(runs.latest, Run)


def test_the_sentences() -> None:
    why = "job 3 of li runs without a time limit"
    assert [
        forecast_sentence("en", "14:30", "2h10m", "18:00", None),
        forecast_sentence("en", "18:00", "2h10m", "18:00", None),
        forecast_sentence("en", "14:30", "2h10m", None, why),
        forecast_sentence("en", None, "", "18:00", None),
        forecast_sentence("en", None, "", None, why),
        forecast_sentence("en", None, "", None, None),
    ] == [
        "Expected to start about 14:30 (in 2h10m); at the latest 18:00,"
        " unless somebody comes before.",
        "Expected to start by 18:00 (in 2h10m) at the latest, unless somebody comes before.",
        f"Expected to start about 14:30 (in 2h10m); how late at most cannot be said: {why}.",
        "Starts at 18:00 at the latest, unless somebody comes before.",
        f"When it starts cannot be said: {why}.",
        "When it starts cannot be said.",
    ]
