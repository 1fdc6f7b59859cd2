"""Jobs that wait although there is room: for a person, an hour, another job, a limit or a budget.

Each function is a situation, its name what it is called; what is said stands in gallery.txt.
"""

from __future__ import annotations

from roost.core.model import JobState
from roost.core.rules.load import load
from roost.core.scheduler.scheduler import Scheduler
from tests.core.scheduler.gallery_made import Made, situation
from tests.core.scheduler.pictures import NO_MIN_RUN, World
from tests.core.scheduler.test_elastic import WAIT, elastic

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
