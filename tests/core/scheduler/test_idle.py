"""Background on GPUs that nobody used for a while, and limits of groups above groups."""

from __future__ import annotations

from roost.core.rules.load import load
from tests.core.scheduler.pictures import World

IDLE = '[classes.background]\nidle_for = "10m"\n'


def test_background_waits_until_a_gpu_was_idle_for_long_enough() -> None:
    world = World(2, IDLE)
    first = world.submit("alice")
    world.end(first)
    world.submit("bob", which="background")
    waiting = world.submit("bob", 1, "background")
    assert world.picture() == "g0:- g1:bob", "the other one was never used"
    assert world.why(waiting) == (
        "waits for 1 GPU: 0 are free; GPU 0 in use until just now: background jobs start on GPUs"
        " that were idle for 10m, from 600s on (rules: classes.background.idle_for);"
        " job 2 of bob runs without a time limit"
    )
    assert world.scheduler.explain(waiting).forecast_start_at == world.now + 600.0
    world.wait("9m59s")
    assert world.picture() == "g0:- g1:bob"
    world.wait("1s")
    assert world.picture() == "g0:bob g1:bob"


def test_one_background_job_follows_another_at_once() -> None:
    world = World(1, IDLE)
    first = world.submit("bob", which="background")
    world.submit("wu", which="background")
    world.end(first)
    assert world.picture() == "g0:wu"


def test_a_hand_started_process_counts_as_use() -> None:
    world = World(1, IDLE)
    world.strangers(g0="2G")
    world.strangers()
    world.submit("bob", which="background")
    assert world.picture() == "g0:-"
    world.wait("10m")
    assert world.picture() == "g0:bob"


def test_regular_jobs_take_the_gpu_meanwhile() -> None:
    world = World(1, IDLE)
    world.end(world.submit("alice"))
    world.submit("bob", which="background")
    world.submit("alice")
    assert world.picture() == "g0:alice"


def test_what_a_group_holds_counts_towards_the_group_above_it() -> None:
    groups = '[groups.lab]\n[groups.cv]\nparent = "lab"\n[groups.nlp]\nparent = "lab"\n'
    world = World(4, groups + "[limits.groups.lab]\nmax_gpus = 2\n")
    world.submit("alice", group="cv")
    world.submit("li", group="nlp")
    waiting = world.submit("li", group="nlp")
    world.submit("wu")
    assert world.picture() == "g0:alice g1:li g2:wu g3:-"
    assert world.why(waiting) == (
        "group lab may hold 2 GPUs, 2 are held, this job needs 1"
        " (rules: limits.groups.lab.max_gpus)"
    )
    assert world.scheduler.explain(waiting).reasons[0].blocking_jobs == (1, 2)


def test_a_group_that_is_moved_counts_where_it_is_now() -> None:
    limit = "[limits.groups.lab]\nmax_jobs = 1\n"
    world = World(4, "[groups.lab]\n[groups.cv]\n" + limit)
    world.submit("alice", group="cv")
    world.submit("wu", group="lab")
    assert world.picture() == "g0:alice g1:wu g2:- g3:-"
    world.change_rules(load('[groups.lab]\n[groups.cv]\nparent = "lab"\n' + limit))
    third = world.submit("li", group="lab")
    assert world.codes(third) == ["limit_jobs"]
    world.end(1, 2)
    assert third in world.held
