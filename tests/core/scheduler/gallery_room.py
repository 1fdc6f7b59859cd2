"""Jobs that wait for room: GPUs, shares, CPUs, memory, and what is kept for others.

Each function is a situation, its name what it is called; what is said stands in gallery.txt.
"""

from __future__ import annotations

from dataclasses import replace

from roost.core.rules.load import load
from tests.core.scheduler.gallery_made import Made, book, inventory, situation
from tests.core.scheduler.pictures import IN_PLACE, NO_MIN_RUN, World

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
def a_card_was_taken_out_of_the_server_while_a_job_for_both_was_held() -> Made:
    world = World(2)
    waits = world.submit("alice", 2, held=True)
    inventory(world, world.gpus["GPU-0"])
    world.hold(waits, False)
    return world, waits


@situation
def the_last_gpu_of_a_model_was_taken_out() -> Made:
    world = World(2)
    waits = world.submit("alice", model="A100", held=True)
    inventory(world, replace(world.gpus["GPU-1"], model="NVIDIA L4"))
    world.hold(waits, False)
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
def a_share_whose_compute_others_were_promised() -> Made:
    world = World(1, "shared_gpus = [0]\n")
    world.submit("li", share="10G", compute=50)
    world.submit("wu", share="10G", compute=40, time="2h")
    world.submit("carol", share="20G")
    return world, world.submit("alice", share="10G", compute=30)


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
def a_gpu_is_free_and_the_scheduler_is_about_to_give_it() -> Made:
    world = World(1)
    number = world.job("alice").id
    return world, number


# -- suspended where they are ----------------------------------------------------------------------


def _suspended(time: str | None, **more: int) -> World:
    """li's background job stands still under bob's urgent one."""
    world = World(1, IN_PLACE, **more)
    world.submit("li", which="background", time="2h", cpus=4)
    world.submit("bob", which="urgent", time=time, cpus=4)
    world.give_way()
    return world


@situation
def a_job_that_is_suspended_for_an_urgent_one() -> Made:
    return _suspended(None), 1


@situation
def a_job_that_is_suspended_for_an_urgent_one_with_a_time_limit() -> Made:
    return _suspended("1h"), 1


@situation
def a_suspended_job_whose_gpu_is_free_again_but_its_cpus_are_not() -> Made:
    world = _suspended("1h", cpus=8)
    world.submit("wu", 0, cpus=4)
    world.submit("eve", 0, cpus=4)
    world.end(2)
    return world, 1


@situation
def a_gpu_on_which_a_job_stands_still() -> Made:
    world = _suspended("1h")
    return world, world.submit("alice")
