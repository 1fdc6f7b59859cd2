"""Every reason for a wait, each in a situation made by hand: the world, the job that waits, and what
is said of it stand in `gallery_told.py`. `python -m tests.core.scheduler.gallery` prints it anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from roost.core.model import Booking, JobState
from roost.core.rules.load import load
from roost.core.scheduler.decisions import Finish
from roost.core.scheduler.events import InventoryChanged, JobSubmitted
from roost.core.scheduler.scheduler import Scheduler
from roost.core.text.catalogue import say
from tests.core.scheduler.pictures import NO_MIN_RUN, World
from tests.core.scheduler.test_elastic import WAIT, elastic

Made = tuple[World, int]
SITUATIONS: dict[str, Callable[[], Made]] = {}


def situation(make: Callable[[], Made]) -> Callable[[], Made]:
    """Its name is that of the function, with spaces."""
    SITUATIONS[make.__name__.replace("_", " ")] = make
    return make


def said(world: World, number: int, language: str) -> str:
    """Why the job waits, or why it ended without having run."""
    if number in world.finished:
        return say(language, f"wait.{world.finished[number]}")
    return world.why(number, language)


def codes_of(world: World, number: int) -> set[str]:
    """The codes that stand in the picture."""
    if number in world.finished:
        return {d.reason_code for d in world.log if isinstance(d, Finish) and d.job == number}
    return set(world.codes(number)) or {"being_decided"}


def book(world: World, user: str, begin_s: float, end_s: float, *gpus: int) -> None:
    """One booking, in seconds from now; "maintenance" is nobody's."""
    uuids = tuple(f"GPU-{index}" for index in gpus)
    begin, end = world.now + begin_s, world.now + end_s
    world.book(Booking(1, user, uuids, begin, end, user == "maintenance"))


# -- before room is looked for ---------------------------------------------------------------------


@situation
def a_job_that_was_cancelled_while_it_waited() -> Made:
    world = World(1)
    world.submit("li")
    waits = world.submit("alice")
    world.cancel(waits)
    return world, waits


@situation
def a_job_whose_predecessor_failed() -> Made:
    world = World(2)
    first = world.submit("li")
    waits = world.submit("alice", after=(first,))
    world.end(first, state=JobState.FAILED)
    return world, waits


@situation
def a_job_that_is_to_follow_one_that_never_was() -> Made:
    world = World(1)
    return world, world.submit("alice", after=(77,))


@situation
def a_job_held_back_by_a_person_although_a_gpu_is_free() -> Made:
    world = World(1)
    return world, world.submit("alice", held=True)


@situation
def a_job_that_is_to_begin_later() -> Made:
    world = World(1)
    return world, world.submit("alice", begin_at=4600.0)


@situation
def a_job_that_follows_a_running_one() -> Made:
    world = World(2)
    first = world.submit("li")
    return world, world.submit("alice", after=(first,))


@situation
def the_last_link_of_a_chain() -> Made:
    world = World(1)
    first = world.submit("li")
    second = world.submit("wu", after=(first,))
    return world, world.submit("alice", after=(second,))


@situation
def a_job_that_gathers_what_three_others_make() -> Made:
    world = World(4)
    parts = tuple(world.submit("alice") for _ in range(3))
    return world, world.submit("alice", after=parts)


@situation
def a_held_job_that_also_has_a_begin_time_says_both() -> Made:
    world = World(1)
    return world, world.submit("alice", held=True, begin_at=4600.0)


@situation
def a_server_that_has_not_looked_at_its_gpus_yet() -> Made:
    world = World(1)
    world.scheduler = Scheduler()
    return world, world.submit("alice")


@situation
def an_array_that_may_run_two_at_once() -> Made:
    world = World(4)
    for _ in range(2):
        world.submit("alice", array_id=1, array_limit=2)
    return world, world.submit("alice", array_id=1, array_limit=2)


# -- rules -----------------------------------------------------------------------------------------


@situation
def a_person_who_holds_as_many_gpus_as_one_may() -> Made:
    world = World(4, "[limits.per_user]\nmax_gpus = 2\n")
    world.submit("alice", 2)
    return world, world.submit("alice")


@situation
def a_group_that_holds_as_many_gpus_as_it_may() -> Made:
    world = World(4, "[groups.cv]\n[limits.groups.cv]\nmax_gpus = 2\n")
    world.submit("li", 2, group="cv")
    return world, world.submit("alice", group="cv")


@situation
def new_rules_that_make_a_waiting_job_too_large() -> Made:
    world = World(4)
    world.submit("li", 4)
    waits = world.submit("alice", 3)
    world.change_rules(load("[limits.per_user]\nmax_gpus = 2\n"))
    return world, waits


@situation
def a_class_of_which_one_job_may_run() -> Made:
    world = World(4, "[limits.background]\nmax_jobs = 1\n")
    world.submit("li", 1, "background")
    return world, world.submit("alice", 1, "background")


@situation
def new_rules_that_let_no_background_job_run() -> Made:
    world = World(1)
    world.submit("li")
    waits = world.submit("alice", 1, "background")
    world.change_rules(load("[limits.background]\nmax_jobs = 0\n"))
    return world, waits


@situation
def a_job_too_long_for_the_day() -> Made:
    world = World(
        1, "[periods]\nday = ['00:00-20:00']\n[limits.during.day.regular]\nmax_walltime = '2h'\n"
    )
    return world, world.submit("alice", time="3h")


@situation
def new_rules_that_make_a_waiting_job_too_long() -> Made:
    world = World(1)
    world.submit("li")
    waits = world.submit("alice", time="3h")
    world.change_rules(load("[limits.regular]\nmax_walltime = '2h'\n"))
    return world, waits


@situation
def a_long_job_by_day() -> Made:
    world = World(1, "[windows.long]\njobs_over = '4h'\nopen = ['20:00-08:00']\n")
    world.wait("9h")
    return world, world.submit("alice", time="5h")


@situation
def a_job_longer_than_any_night() -> Made:
    text = "[windows.long]\njobs_over = '4h'\nopen = ['20:00-08:00']\nat_close = 'end'\n"
    world = World(1, text)
    return world, world.submit("alice", time="13h")


@situation
def a_person_whose_urgent_hours_of_the_month_are_planned_for() -> Made:
    world = World(4, '[classes.urgent]\nbudget = "10h"\n')
    world.submit("alice", 2, "urgent", time="4h")
    return world, world.submit("alice", 1, "urgent", time="3h")


@situation
def new_rules_that_leave_too_few_urgent_hours() -> Made:
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "urgent")
    waits = world.submit("alice", 1, "urgent", time="3h")
    world.change_rules(load('[classes.urgent]\nbudget = "2h"\n'))
    return world, waits


@situation
def a_gpu_that_was_in_use_until_just_now_and_a_background_job() -> Made:
    world = World(1, '[classes.background]\nidle_for = "10m"\n')
    world.end(world.submit("li"))
    return world, world.submit("alice", 1, "background")


@situation
def a_job_for_two_to_four_gpus_that_waits_for_four_for_a_while() -> Made:
    world = World(4, WAIT)
    world.submit("li", time="1h")
    return world, elastic(world, 2, 4)


# -- GPUs ------------------------------------------------------------------------------------------


@situation
def two_gpus_asked_for_and_one_free() -> Made:
    world = World(2)
    world.submit("li", time="2h")
    return world, world.submit("alice", 2)


@situation
def the_only_gpu_of_a_model_is_held() -> Made:
    plain = World(2).gpus
    gpus = [plain["GPU-0"], replace(plain["GPU-1"], model="NVIDIA H200")]
    world = World(gpus=gpus)
    world.submit("li", model="H200")
    return world, world.submit("alice", model="H200")


@situation
def a_card_was_taken_out_of_the_server_while_a_job_for_both_waited() -> Made:
    world = World(2)
    world.submit("li", 2)
    waits = world.submit("alice", 2)
    world.end(1)
    world.end(waits, state=JobState.NODE_FAIL, requeue=True)
    world.gpus.pop("GPU-1")
    world.step(InventoryChanged(world.now, tuple(world.gpus.values()), 256, 1 << 41))
    return world, waits


@situation
def a_model_that_is_not_here_any_more() -> Made:
    world = World(1)
    world.submit("li")
    waits = world.submit("alice", model="A100")
    other = replace(world.gpus["GPU-0"], uuid="GPU-1", index=1, model="NVIDIA L4")
    world.gpus = {"GPU-1": other}
    world.end(1)
    world.end(waits, state=JobState.NODE_FAIL, requeue=True)
    world.step(InventoryChanged(world.now, (other,), 256, 1 << 41))
    return world, waits


@situation
def a_gpu_that_is_out_of_use_and_nobody_said_why() -> Made:
    world = World(1)
    world.usable(0, False)
    return world, world.submit("alice")


@situation
def a_gpu_that_an_operator_drained_and_said_why() -> Made:
    world = World(2)
    world.usable(1, False, "drained: new fan on Tuesday")
    world.submit("li")
    return world, world.submit("alice")


@situation
def somebody_s_hand_started_server_is_on_the_gpu() -> Made:
    world = World(1)
    world.strangers(g0="60G")
    return world, world.submit("alice")


@situation
def a_gpu_that_is_being_freed_for_an_urgent_job() -> Made:
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.submit("wu", 1, "urgent")
    return world, world.submit("alice")


@situation
def the_first_in_line_keeps_a_gpu_and_nobody_knows_until_when() -> Made:
    world = World(2)
    world.submit("li")
    world.submit("wu", 2)
    world.wait("1m")
    return world, world.submit("alice")


@situation
def the_first_in_line_keeps_a_gpu_until_a_known_hour() -> Made:
    world = World(2)
    world.submit("li", time="1h")
    world.submit("wu", 2)
    world.wait("1m")
    return world, world.submit("alice", time="3h")


@situation
def a_job_on_the_gpu_was_cancelled_and_is_leaving() -> Made:
    world = World(2)
    world.submit("li", 1)
    world.submit("wu", 1)
    world.cancel(1)
    return world, world.submit("alice", 2)


# -- taking from others ----------------------------------------------------------------------------


@situation
def an_urgent_job_for_two_of_which_one_is_regular() -> Made:
    world = World(2, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.submit("carol", 1, "regular", time="1h")
    return world, world.submit("alice", 2, "urgent")


@situation
def an_urgent_job_and_a_victim_that_has_only_just_begun() -> Made:
    world = World(1, "[classes.background]\nmin_run = '10m'\n")
    world.submit("li", 1, "background")
    return world, world.submit("alice", 1, "urgent")


@situation
def an_urgent_job_whose_victim_is_saving_its_work() -> Made:
    world = World(1, NO_MIN_RUN)
    world.submit("li", 1, "background")
    return world, world.submit("alice", 1, "urgent")


@situation
def an_urgent_job_that_waits_for_one_who_leaves_anyway() -> Made:
    world = World(2, NO_MIN_RUN)
    world.submit("li", 1, "background")
    world.submit("wu")
    world.cancel(2)
    return world, world.submit("alice", 1, "urgent")


# -- other room ------------------------------------------------------------------------------------


@situation
def a_gpu_is_free_and_no_cpu_core() -> Made:
    world = World(2, cpus=16)
    world.submit("li", cpus=12, time="1h")
    return world, world.submit("alice", cpus=8)


@situation
def a_gpu_is_free_and_too_little_memory() -> Made:
    world = World(2, memory="64G")
    world.submit("li", memory="48G")
    return world, world.submit("alice", memory="32G")


@situation
def a_share_that_finds_too_little_memory_on_the_gpu() -> Made:
    world = World(1, "shared_gpus = [0]\n")
    world.submit("li", share="60G")
    return world, world.submit("alice", share="30G")


@situation
def new_rules_that_mark_no_gpu_as_shared() -> Made:
    world = World(1, "shared_gpus = [0]\n")
    world.submit("li", share="60G")
    waits = world.submit("alice", share="30G")
    world.change_rules(load(""))
    return world, waits


@situation
def a_share_larger_than_the_gpu_that_is_left_for_shares() -> Made:
    plain = World(2).gpus
    small = replace(plain["GPU-1"], memory_bytes=24 << 30, model="NVIDIA L4")
    world = World(gpus=[plain["GPU-0"], small], text="shared_gpus = [0, 1]\n")
    world.submit("li", share="70G")
    waits = world.submit("alice", share="30G")
    world.change_rules(load("shared_gpus = [1]\n"))
    return world, waits


# -- bookings --------------------------------------------------------------------------------------


@situation
def a_gpu_that_somebody_booked_for_now() -> Made:
    world = World(1)
    book(world, "li", 0, 7200, 0)
    return world, world.submit("alice", time="1h")


@situation
def a_job_that_would_run_into_a_booking() -> Made:
    world = World(1)
    book(world, "li", 3600, 7200, 0)
    return world, world.submit("alice", time="2h")


@situation
def a_gpu_under_maintenance() -> Made:
    world = World(1)
    book(world, "maintenance", 0, 7200, 0)
    return world, world.submit("alice", time="1h")


@situation
def a_job_that_would_run_into_maintenance() -> Made:
    world = World(1)
    book(world, "maintenance", 3600, 7200, 0)
    return world, world.submit("alice", time="2h")


@situation
def a_job_without_gpus_on_a_server_under_maintenance() -> Made:
    world = World(1)
    book(world, "maintenance", 0, 7200, 0)
    return world, world.submit("alice", 0, time="1h")


@situation
def a_job_without_gpus_that_would_run_into_maintenance() -> Made:
    world = World(1)
    book(world, "maintenance", 3600, 7200, 0)
    return world, world.submit("alice", 0, time="2h")


@situation
def a_job_that_has_only_just_been_queued() -> Made:
    world = World(1)
    job = world.job("alice")
    world.scheduler.step([JobSubmitted(world.now, replace(job, gpus=0) if False else job)])
    return world, job.id


if __name__ == "__main__":
    for name, make in SITUATIONS.items():
        world, number = make()
        lines = [repr(name), world.picture(), said(world, number, "en"), said(world, number, "zh")]
        print("\n    ".join(lines))
