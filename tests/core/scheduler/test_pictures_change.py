"""What changes while jobs wait and run, as pictures: holds, chains, clocks, rules, cards."""

from __future__ import annotations

import pytest

from roost.core.model import Booking, JobState
from roost.core.rules.load import load
from roost.core.scheduler.events import InventoryChanged, JobSubmitted, TimeReached
from tests.core.scheduler.pictures import NO_MIN_RUN, World

LIMIT = "[limits.per_user]\nmax_gpus = {most}\n"


# -- holds, arrays, chains -------------------------------------------------------------------------


def test_a_held_job_keeps_nothing_for_itself_and_has_its_old_place_when_it_is_let_go() -> None:
    world = World(1)
    world.submit("li")
    first = world.submit("alice")
    world.wait("1m")
    world.submit("wu")
    world.hold(first)
    world.hold(first, False)
    world.end(1)
    assert world.picture() == "g0:alice"


def test_whoever_comes_after_a_held_job_starts_before_it() -> None:
    world = World(1)
    world.submit("alice", held=True)
    world.wait("1m")
    assert world.picture_after("wu") == "g0:wu"


def test_a_job_that_is_held_while_gpus_are_freed_for_it_gives_its_claim_up() -> None:
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "background")
    urgent = world.submit("bob", 1, "urgent")
    world.hold(urgent)
    world.give_way()
    assert world.picture() == "g0:li"


def test_an_array_of_two_at_once_leaves_the_other_gpus_to_others() -> None:
    world = World(4)
    for _ in range(5):
        world.submit("alice", array_id=1, array_limit=2)
    assert world.picture_after("wu", 2) == "g0:alice g1:alice g2:wu g3:wu"
    world.end(1)
    assert world.running() == [2, 3, 6]


def test_two_arrays_count_each_for_itself() -> None:
    world = World(4)
    for array in (1, 2):
        for _ in range(2):
            world.submit("alice", array_id=array, array_limit=1)
    assert world.picture() == "g0:alice g1:alice g2:- g3:-"


def test_a_limit_of_the_person_holds_for_an_array_too() -> None:
    world = World(4, LIMIT.format(most=1))
    for _ in range(3):
        world.submit("alice", array_id=1, array_limit=2)
    assert world.picture() == "g0:alice g1:- g2:- g3:-"


def test_a_chain_runs_link_after_link() -> None:
    world = World(3)
    first = world.submit("alice")
    second = world.submit("alice", after=(first,))
    third = world.submit("alice", after=(second,))
    for number in (first, second, third):
        assert world.running() == [number]
        world.end(number)


def test_a_job_after_two_others_starts_when_the_second_has_completed() -> None:
    world = World(3)
    world.submit("li")
    world.submit("wu")
    world.submit("alice", after=(1, 2))
    world.end(1)
    assert world.running() == [2]
    world.end(2)
    assert world.running() == [3]


def test_a_link_that_gave_way_is_waited_for_until_it_has_completed() -> None:
    world = World(1, NO_MIN_RUN)
    first = world.submit("alice", 1, "background")
    world.submit("alice", after=(first,))
    urgent = world.submit("bob", 1, "urgent")
    world.give_way()
    world.end(urgent)
    assert world.running() == [first]
    assert world.attempts[first] == 2


# -- the clock -------------------------------------------------------------------------------------


def test_a_clock_set_back_an_hour_ends_nothing_and_starts_nothing_too_early() -> None:
    world = World(2)
    world.wait("2h")
    world.submit("li", time="3h")
    later = world.submit("alice", begin_at=world.now + 1800)
    before = world.now
    assert world.scheduler.step([TimeReached(before - 3600)]) == []
    assert world.scheduler.now == before
    assert world.picture() == "g0:li g1:-"
    assert world.codes(later) == ["begin"]
    world.wait("30m")
    assert world.picture() == "g0:li g1:alice"


def test_a_job_submitted_while_the_clock_was_an_hour_back_starts_at_once() -> None:
    world = World(1)
    world.wait("2h")
    job = world.job("alice")
    world.now -= 3600
    world.step(JobSubmitted(world.now, job))
    assert world.picture() == "g0:alice"


def test_a_booking_still_holds_when_the_clock_is_set_back_within_it() -> None:
    world = World(1)
    world.book(Booking(1, "li", ("GPU-0",), world.now + 3600, world.now + 7200))
    world.wait("1h")
    world.scheduler.step([TimeReached(world.now - 1800)])
    assert world.picture_after("alice", time="10m") == "g0:-"


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "Europe/Berlin", "Australia/Lord_Howe"])
def test_the_zone_of_the_rules_is_changed_and_the_window_moves_with_it(zone: str) -> None:
    text = "[windows.long]\njobs_over = '4h'\nopen = ['20:00-08:00']\n"
    world = World(1, 'time_zone = "UTC"\n' + text)
    world.wait(f"{12 * 3600 - 1000}s")
    waits = world.submit("alice", time="5h")
    assert world.codes(waits) == ["window"], "it is noon"
    world.change_rules(load(f'time_zone = "{zone}"\n' + text))
    # At noon UTC it is evening in Shanghai (20:00) and on Lord Howe (22:00), 13:00 in Berlin.
    assert world.picture() == ("g0:-" if zone == "Europe/Berlin" else "g0:alice")


# -- rules -----------------------------------------------------------------------------------------


def test_a_limit_that_is_lowered_ends_nobody_and_lets_nobody_else_in() -> None:
    world = World(4, LIMIT.format(most=3))
    world.submit("alice", 3)
    world.change_rules(load(LIMIT.format(most=1)))
    waits = world.submit("alice")
    assert world.picture() == "g0:alice g1:alice g2:alice g3:-"
    assert world.codes(waits) == ["limit_gpus"]
    world.end(1)
    assert world.picture() == "g0:alice g1:- g2:- g3:-"


def test_a_limit_that_is_raised_lets_the_waiting_in_at_once() -> None:
    world = World(4, LIMIT.format(most=1))
    for _ in range(3):
        world.submit("alice")
    assert world.picture() == "g0:alice g1:- g2:- g3:-"
    world.change_rules(load(LIMIT.format(most=3)))
    assert world.picture() == "g0:alice g1:alice g2:alice g3:-"


def test_rules_that_stop_preemption_leave_who_was_told_to_go_and_ask_nobody_else() -> None:
    world = World(2, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.submit("wu", 1, "background")
    world.submit("bob", 1, "urgent")
    assert world.picture() in ("g0:~li g1:wu", "g0:li g1:~wu")
    world.change_rules(load("[classes.urgent]\npreempts = []\n"))
    world.submit("bob", 1, "urgent")
    assert world.picture().count("~") == 1
    world.give_way()
    assert world.picture().count("bob") == 1


def test_a_gpu_that_is_no_longer_shared_keeps_its_shares_and_takes_no_new_ones() -> None:
    world = World(1, "shared_gpus = [0]\n")
    world.submit("li", share="20G")
    world.change_rules(load(""))
    waits = world.submit("wu", share="20G")
    assert world.picture() == "g0:li"
    assert world.codes(waits) == ["share_none"]
    world.end(1)
    assert world.picture_after("alice") == "g0:alice"


def test_a_gpu_that_becomes_shared_while_it_is_held_whole_is_not_shared_with_its_holder() -> None:
    world = World(1)
    world.submit("li")
    world.change_rules(load("shared_gpus = [0]\n"))
    assert world.picture_after("wu", share="20G") == "g0:li"
    world.end(1)
    assert world.picture() == "g0:wu"


# -- cards -----------------------------------------------------------------------------------------


def test_a_card_that_hangs_keeps_its_job_and_the_others_go_on() -> None:
    world = World(2)
    world.submit("li")
    world.usable(0, False, "not_answering")
    assert world.picture_after("alice") == "g0:li g1:alice"
    waits = world.submit("wu")
    assert "GPU 0: does not answer" in world.why(waits)


def test_a_card_that_came_back_is_given_again() -> None:
    world = World(1)
    world.usable(0, False, "lost")
    assert world.picture_after("alice") == "g0:-"
    world.usable(0, True)
    assert world.picture() == "g0:alice"


def test_a_new_card_is_given_to_who_waits() -> None:
    world = World(2)
    both = dict(world.gpus)
    first = {"GPU-0": both["GPU-0"]}
    world.step(InventoryChanged(world.now, tuple(first.values()), 256, 1 << 41))
    world.submit("li")
    assert world.picture_after("alice") == "g0:li g1:-"
    world.step(InventoryChanged(world.now, tuple(both.values()), 256, 1 << 41))
    assert world.picture() == "g0:li g1:alice"


def test_who_lost_a_card_is_queued_again_and_starts_on_another() -> None:
    world = World(2)
    world.submit("li")
    world.usable(0, False, "lost")
    world.end(1, state=JobState.NODE_FAIL, requeue=True)
    assert world.picture() == "g0:- g1:li"
    assert world.attempts[1] == 2


@pytest.mark.parametrize(
    ("why", "english", "chinese"),
    [
        ("drained", "drained", "已停用"),
        ("drained: fan", "drained: fan", "已停用：fan"),
        ("lost", "lost from the bus", "已从总线掉线"),
        ("reset_required", "needs a reset", "需要重置"),
        ("not_answering", "does not answer", "没有应答"),
        ("no_permission", "may not be opened", "无权打开"),
        ("missing", "is gone", "已消失"),
        ("error", "gives errors", "读取出错"),
        ("driver: no_library", "no driver library is installed", "未安装驱动库"),
        ("driver: not_loaded", "the driver is not loaded", "驱动未加载"),
        (
            "driver: version_mismatch",
            "the driver was updated, a reboot is needed",
            "驱动已更新，需要重启",
        ),
        ("driver: reloading", "the driver is being reloaded", "驱动正在重新加载"),
        ("driver: not_answering", "the driver does not answer", "驱动没有响应"),
        ("driver: released", "Roost has let go of the driver", "Roost 已释放驱动"),
        ("driver: error", "the driver gives errors", "驱动报错"),
    ],
)
def test_each_state_of_a_card_is_said_to_who_waits_for_it(
    why: str, english: str, chinese: str
) -> None:
    world = World(1)
    world.usable(0, False, why)
    waits = world.submit("alice")
    assert world.picture() == "g0:-"
    assert world.why(waits) == (
        f"waits for 1 GPU: 0 are free; 1 GPU cannot be used (GPU 0: {english})"
    )
    assert world.why(waits, "zh") == (
        f"等待 1 张 GPU：现有 0 张空闲；1 张 GPU 不可用（GPU 0：{chinese}）"
    )
