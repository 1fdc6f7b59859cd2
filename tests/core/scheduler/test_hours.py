"""Windows and limits by time of day, as pictures. The world begins at a Thursday's 00:16:40 UTC."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from roost.core.model import JobState
from roost.core.rules.load import load
from roost.core.scheduler.decisions import Stop
from tests.core.scheduler.pictures import World

LONG_AT_NIGHT = """
[periods]
night = ["20:00-08:00", "sat-sun"]
[windows.long]
jobs_over = "4h"
open = ["night"]
exempt = ["urgent"]
at_close = "{close}"
notice = "30m"
"""
FINISH, END = (LONG_AT_NIGHT.format(close=how) for how in ("finish", "end"))
# 1000 s after the epoch; so long until the clock shows eight in the morning, and eight at night.
TO_EIGHT, TO_TWENTY = 8 * 3600 - 1000, 20 * 3600 - 1000


def day(text: str = FINISH, zone: str = "UTC") -> World:
    """A world at 09:00."""
    world = World(2, f'time_zone = "{zone}"\n' + text)
    world.wait(f"{TO_EIGHT + 3600}s")
    return world


def test_a_short_job_runs_by_day_and_a_long_one_waits_for_the_night() -> None:
    world = day()
    short = world.submit("alice", time="4h")
    long = world.submit("bob", time="5h")
    assert world.running() == [short]
    assert world.why(long) == (
        "jobs longer than 4h start only in the window long, which opens at 71000s "
        "(rules: windows.long.open)"
    )
    assert "时段 long" in world.why(long, "zh")
    world.wait(f"{TO_TWENTY - TO_EIGHT - 3600 - 1}s")
    assert long not in world.running()
    world.wait("1s")
    assert long in world.running()


def test_a_job_that_says_no_length_is_long_and_an_urgent_one_is_exempt() -> None:
    world = day()
    unsaid = world.submit("alice")
    urgent = world.submit("bob", which="urgent", time="9h")
    assert world.running() == [urgent]
    assert world.codes(unsaid) == ["window"]


def test_a_long_job_that_waits_for_the_night_keeps_nobody_from_the_gpus() -> None:
    world = day()
    world.submit("carol", 1, time="1h")
    world.submit("alice", 2, time="9h")
    assert world.submit("bob", 1, time="4h") in world.running()


def test_where_the_close_ends_jobs_one_starts_only_if_it_fits_before_it() -> None:
    world = World(2, END)
    world.wait(f"{TO_EIGHT - 5 * 3600}s")
    fits = world.submit("alice", time="5h")
    too_long = world.submit("bob", time="5h1m")
    assert world.running() == [fits]
    assert world.codes(too_long) == ["window"]
    world.end(fits)
    world.wait("17h")
    assert too_long in world.running()


def test_a_job_of_no_length_is_told_before_the_close_and_waits_for_the_next_night() -> None:
    world = World(1, END)
    number = world.submit("alice")
    assert world.running() == [number]
    world.wait(f"{TO_EIGHT - 1801}s")
    assert world.states[number] is JobState.RUNNING
    world.wait("1s")
    stop = next(d for d in world.log if isinstance(d, Stop))
    assert (stop.job, stop.grace_s, stop.requeue) == (number, 1800.0, True)
    world.wait("29m")
    world.end(number, state=JobState.CANCELLED, requeue=True)
    assert world.running() == []
    assert world.codes(number) == ["window"]
    world.wait("12h")
    assert world.running() == []
    world.wait("1h")
    assert world.running() == [number]
    assert world.attempts[number] == 2


def test_a_window_that_comes_with_new_rules_ends_what_runs_after_its_notice() -> None:
    world = day("")
    number = world.submit("alice", time="9h")
    world.change_rules(load(END))
    stop = next(d for d in world.log if isinstance(d, Stop))
    assert (stop.job, stop.grace_s) == (number, 1800.0)


def test_a_window_that_is_never_open_long_enough_is_said() -> None:
    world = World(1, END.replace(', "sat-sun"', ""))
    number = world.submit("alice", time="13h")
    assert world.codes(number) == ["window_never"]
    assert "ask for a shorter walltime" in world.why(number)


def test_the_next_job_of_the_same_request_that_fits_before_the_close_starts() -> None:
    world = World(2, END)
    world.wait(f"{TO_EIGHT - 5 * 3600}s")
    world.submit("alice", time="6h")
    fits = world.submit("alice", time="5h")
    assert world.running() == [fits]


DURING = """
[periods]
day = ["daily 08:00-20:00"]
[limits.per_user]
max_gpus = 4
[limits.during.day.per_user]
max_gpus = 1
max_walltime = "2h"
"""


def test_a_limit_of_the_day_holds_by_day_and_not_by_night() -> None:
    world = World(4, DURING.replace("daily ", ""))
    at_night = [world.submit("alice", time="20h") for _ in range(2)]
    assert world.running() == at_night
    world.wait(f"{TO_EIGHT}s")
    more = world.submit("alice", time="1h")
    assert world.running() == at_night
    assert world.codes(more)[0] == "limit_gpus"
    assert "limits.during.day.per_user.max_gpus" in world.why(more)
    world.wait("12h")
    assert more in world.running()


def test_a_walltime_that_is_too_long_for_the_day_waits_for_the_night() -> None:
    world = World(4, DURING.replace("daily ", ""))
    world.wait(f"{TO_EIGHT}s")
    number = world.submit("alice", time="3h")
    assert world.why(number) == (
        "at this hour alice may run for 2h at most: ask for a walltime within it, or wait "
        "(rules: limits.during.day.per_user.max_walltime)"
    )
    assert "最长可运行 2h" in world.why(number, "zh")
    world.wait("12h")
    assert world.running() == [number]


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "Europe/Berlin", "America/New_York",
                                  "Australia/Lord_Howe"])  # fmt: skip
def test_the_window_is_that_of_the_clock_on_the_wall_there(zone: str) -> None:
    world = World(1, f'time_zone = "{zone}"\n' + FINISH)
    there = ZoneInfo(zone)
    # A Tuesday on which Berlin and New York have summer time and Lord Howe has not.
    noon = datetime(2026, 6, 2, 12, tzinfo=there).timestamp()
    world.wait(f"{noon - world.now}s")
    long = world.submit("alice", time="9h")
    assert world.running() == []
    world.wait("7h59m")
    assert world.running() == []
    world.wait("1m")
    assert world.running() == [long]
    assert datetime.fromtimestamp(world.now, there).hour == 20


def test_groups_within_groups_share_what_the_one_above_is_owed() -> None:
    """vision and nlp are owed half each; vision's half is divided between its two."""
    world = World(
        1,
        '[groups.vision]\n[groups.cv]\nparent = "vision"\n[groups.video]\nparent = "vision"\n'
        '[groups.nlp]\n[fair_share]\nhalf_life = "100d"\n',
    )
    held = dict.fromkeys(("cv", "video", "nlp"), 0)
    for name in held:
        world.submit(name, group=name)
    for _ in range(40):
        number = world.running()[0]
        name = world.jobs[number].group
        held[name] += 1
        world.wait("10h")
        world.submit(name, group=name)
        world.end(number)
    assert 18 <= held["nlp"] <= 22
    assert 8 <= held["cv"] <= 12
    assert 8 <= held["video"] <= 12
