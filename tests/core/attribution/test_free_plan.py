"""What `free` would end on one GPU, for whom, and what it leaves alone."""

from __future__ import annotations

import pytest

from roost.core.attribution import FreePlan, Known, Memory, attribute, free_plan
from roost.core.observation import Observation, Place
from tests.core.attribution.pictures import GIB, claim, former, gpu, process, seen

CONTAINER = Place(container_id="c" * 64, container_engine="docker")


def plan(
    observation: Observation, caller: str = "root", operator: bool = True, user: str | None = None
) -> FreePlan:
    answer, _ = attribute(observation, Known(), Memory())
    return free_plan(observation, answer, "GPU-0", caller, operator, user)


def test_an_operator_s_plan_is_everybody_on_that_gpu_and_nobody_else() -> None:
    made = plan(
        seen(
            gpu(0, 2 * GIB, claim(100), claim(200)),
            gpu(1, GIB, claim(300)),
            process(100, "alice", 0),
            process(200, "bob", 0),
            process(300, "alice", 1),
        )
    )
    assert [p.pid for p in made.processes] == [100, 200]
    assert [p.memory_bytes for p in made.processes] == [GIB, GIB]
    assert not made.left


def test_what_else_a_process_holds_is_said() -> None:
    made = plan(
        seen(
            gpu(0, GIB, claim(100)),
            gpu(1, 0),
            gpu(2, GIB, claim(100)),
            process(100, "alice", 0, 1, 2),
        )
    )
    assert made.processes[0].also_gpus == (2,)
    assert [e.code for e in made.processes[0].evidence] == ["free_fd", "free_list", "free_also"]


def test_a_member_ends_their_own_only() -> None:
    made = plan(
        seen(
            gpu(0, 2 * GIB, claim(100), claim(200)),
            process(100, "alice", 0),
            process(200, "bob", 0),
        ),
        "bob",
        operator=False,
    )
    assert [p.pid for p in made.processes] == [200]
    assert [(left.pid, left.uid, left.why.code) for left in made.left] == [
        (100, process(100, "alice", 0).uid, "free_not_yours")
    ]


def test_jobs_are_cancelled_and_not_killed() -> None:
    made = plan(
        seen(
            gpu(0, GIB, claim(100)),
            process(100, "alice", 0, place=Place(roost_job=42)),
            process(110, "alice", 0, ppid=100, place=Place(roost_job=42)),
        )
    )
    assert not made.processes
    assert [(j.job, j.user, j.pids) for j in made.jobs] == [(42, "alice", (100, 110))]


def test_the_main_process_of_a_container_is_stopped_by_its_engine() -> None:
    made = plan(
        seen(
            gpu(0, 2 * GIB, claim(100), claim(120)),
            process(100, "root", 0, place=CONTAINER, ns_pids=(100, 1)),
            process(120, "root", 0, place=CONTAINER, ns_pids=(120, 9)),
        )
    )
    assert {p.pid: p.container_id for p in made.processes} == {100: "c" * 64, 120: None}


def test_an_owner_by_evidence_alone_may_not_end_root_s_process() -> None:
    facts = process(100, "root", 0, login_uid=1001, login_user="alice")
    made = plan(seen(gpu(0, GIB, claim(100)), facts), "alice", operator=False)
    assert not made.processes
    assert [left.why.code for left in made.left] == ["free_not_yours"]


def test_an_innocent_process_with_a_dead_one_s_number_is_in_no_plan() -> None:
    made = plan(
        seen(
            gpu(0, 5 * GIB, claim(100, 5 * GIB)),
            former(100, "alice", 0),
            process(100, "bob", start_ticks=99999),
            process(110, "alice", 0, ppid=1, session_id=100),
        )
    )
    assert [p.pid for p in made.processes] == [110]


def test_parts_of_the_driver_and_of_the_system_are_left_alone() -> None:
    made = plan(
        seen(
            gpu(0, GIB, claim(200)),
            process(60, "persist", 0, comm="nvidia-persiste"),
            process(61, "root", 0, comm="dockerd"),
            process(200, "bob", 0, comm="dockerd"),
        )
    )
    assert [p.pid for p in made.processes] == [200]
    assert {left.why.code for left in made.left} == {"free_system"}


def test_the_driver_s_list_is_proof_only_where_device_files_cannot_be_seen() -> None:
    observation = seen(gpu(0, GIB, claim(100)), process(100, "alice"), gpu_nodes=())
    assert [e.code for e in plan(observation).processes[0].evidence] == ["free_list"]
    hidden = seen(gpu(0, GIB, claim(100)), process(100, "alice", visible=False))
    made = plan(hidden)
    assert not made.processes
    assert [left.why.code for left in made.left] == ["free_not_proved"]


def test_one_person_s_part_and_a_gpu_that_is_not_there() -> None:
    observation = seen(
        gpu(0, 2 * GIB, claim(100), claim(200)),
        process(100, "alice", 0),
        process(200, "bob", 0),
    )
    assert [p.pid for p in plan(observation, user="bob").processes] == [200]
    answer, _ = attribute(observation, Known(), Memory())
    with pytest.raises(KeyError):
        free_plan(observation, answer, "GPU-9", "root", True)


def test_who_only_has_it_open_is_left_alone() -> None:
    """CUDA opens every GPU that it can see; a monitor opens all and uses none."""
    made = plan(
        seen(
            gpu(0, GIB, claim(100)),
            gpu(1, GIB, claim(200)),
            process(100, "alice", 0, 1),
            process(200, "bob", 0, 1),
            process(300, "carol", 0, 1, comm="nvtop"),
        )
    )
    assert [p.pid for p in made.processes] == [100]
    assert [(left.pid, left.why.code) for left in made.left] == [(300, "free_open_only")]


def test_where_several_may_hold_memory_of_nobody_an_operator_may_end_them() -> None:
    made = plan(
        seen(
            gpu(0, 4 * GIB),
            process(100, "carol", 0, ppid=1),
            process(200, "bob", 0, ppid=1),
        )
    )
    assert [p.pid for p in made.processes] == [100, 200]
