"""Who holds a GPU: a line of what is there, a line of what is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roost.core.attribution import Allocation, Known, Memory, Reason, RightCode, attribute, who_rows
from roost.core.attribution.model import Kind, Sure
from roost.core.observation import (
    ContainerFacts,
    DriverReading,
    DriverState,
    GpuState,
    MigInstance,
    Place,
)
from roost.core.rules.model import IgnoreRule
from tests.core.attribution.pictures import (
    GIB,
    MIB,
    claim,
    explain,
    former,
    gpu,
    picture,
    process,
    seen,
)


def test_two_people_on_one_gpu_each_have_their_part() -> None:
    answer = explain(
        seen(
            gpu(0, 3 * GIB, claim(100), claim(200, 2 * GIB)),
            process(100, "alice", 0),
            process(200, "bob", 0),
        )
    )
    assert picture(answer) == "alice:100=1024 bob:200=2048"


def test_the_same_process_in_two_lists_counts_once() -> None:
    both = seen(gpu(0, GIB, claim(100), claim(100, kinds=("graphics",))), process(100, "alice", 0))
    assert picture(explain(both)) == "alice:100=1024"


def test_parts_in_two_mig_instances_add_up() -> None:
    observation = seen(
        gpu(
            0,
            3 * GIB,
            claim(100, GIB, gpu_instance_id=1),
            claim(100, 2 * GIB, gpu_instance_id=2),
        ),
        process(100, "alice", 0),
    )
    assert picture(explain(observation)) == "alice:100=3072"


def test_one_process_on_two_gpus_has_what_it_has_on_each() -> None:
    answer = explain(
        seen(
            gpu(0, GIB, claim(100)),
            gpu(1, 2 * GIB, claim(100, 2 * GIB)),
            process(100, "alice", 0, 1),
        )
    )
    assert picture(answer, 0) == "alice:100=1024"
    assert picture(answer, 1) == "alice:100=2048"


def test_impossible_pids_and_memory_are_no_holders() -> None:
    answer = explain(
        seen(
            gpu(
                0,
                2 * GIB,
                claim(0),
                claim(4294967295),
                claim(100),
                claim(200, (1 << 64) - 1),
            ),
            process(100, "alice", 0),
            process(200, "bob", 0),
        )
    )
    assert picture(answer) == "alice:100=1024 bob:200=1024"


def test_unknown_memory_of_several_stays_unknown() -> None:
    answer = explain(
        seen(
            gpu(0, 4 * GIB, claim(100, None), claim(200, None)),
            process(100, "alice", 0),
            process(200, "bob", 0),
        )
    )
    assert picture(answer) == "alice:100=? bob:200=? -=4096(unexplained)"


def test_the_figures_of_shared_memory_are_cut_to_what_is_used() -> None:
    answer = explain(
        seen(
            gpu(0, 3 * GIB, claim(100, 2 * GIB), claim(200, 2 * GIB)),
            process(100, "alice", 0),
            process(200, "alice", 0),
        )
    )
    assert picture(answer) == "alice:100=1536(cuda_ipc) alice:200=1536(cuda_ipc)"
    assert answer.gpus[0].overlap_bytes == GIB
    assert answer.gpus[0].holders[0].claimed_bytes == 2 * GIB


def test_the_reserve_of_the_driver_is_nobody_s() -> None:
    answer = explain(seen(gpu(0, 0)))
    assert answer.gpus[0].rest is None
    assert answer.gpus[0].reserved_bytes == 512 * MIB


# -- the dead and their heirs ------------------------------------------------------------------


def test_a_remembered_parent_s_worker_inherits_for_certain() -> None:
    answer = explain(
        seen(
            gpu(0, 5 * GIB, claim(100, 5 * GIB)),
            former(100, "alice", 0),
            process(110, "alice", 0, ppid=1, session_id=100),
        )
    )
    assert picture(answer) == "alice:110=5120(worker_of_dead_parent)"
    assert answer.gpus[0].holders[0].finding.sure is Sure.CERTAIN  # type: ignore[union-attr]


def test_several_workers_share_one_inheritance() -> None:
    answer = explain(
        seen(
            gpu(0, 5 * GIB, claim(100, 5 * GIB)),
            former(100, "alice", 0),
            process(110, "alice", 0, ppid=1, session_id=100),
            process(111, "alice", 0, ppid=1, session_id=100),
        )
    )
    assert picture(answer) == "alice:110=5120(worker_of_dead_parent)"
    assert [w.pid for w in answer.gpus[0].holders[0].workers] == [111]


def test_the_heir_is_of_the_family_and_not_another_person_s_process() -> None:
    answer = explain(
        seen(
            gpu(0, 5 * GIB, claim(100, 5 * GIB)),
            former(100, "alice", 0),
            process(90, "bob", 0, ppid=1),
            process(110, "alice", 0, ppid=1, session_id=100),
        )
    )
    assert "alice:110=5120(worker_of_dead_parent)" in picture(answer)
    assert "bob:90=0(no_context_client)" in picture(answer)


def test_a_dead_person_s_memory_is_never_given_to_another_one() -> None:
    answer = explain(
        seen(
            gpu(0, 5 * GIB, claim(100, 5 * GIB)),
            former(100, "alice", 0),
            process(90, "bob", 0),
            process(91, "carol", 0),
        )
    )
    assert "bob:90=0" in picture(answer)
    assert answer.gpus[0].rest is not None
    assert answer.gpus[0].rest.memory_bytes == 5 * GIB


def test_who_has_a_dead_one_s_number_by_now_is_innocent() -> None:
    answer = explain(
        seen(
            gpu(0, 5 * GIB, claim(100, 5 * GIB)),
            former(100, "alice", 0),
            process(100, "bob", start_ticks=99999),
            process(110, "alice", 0, ppid=1, session_id=100),
        )
    )
    assert picture(answer) == "alice:110=5120(worker_of_dead_parent)"
    sign = answer.gpus[0].holders[0].finding.sign  # type: ignore[union-attr]
    assert sign.code == "sign_reused_pid"


def test_who_has_a_dead_one_s_number_is_innocent_also_without_any_heir() -> None:
    answer = explain(
        seen(gpu(0, 5 * GIB, claim(100, 5 * GIB)), process(100, "bob", start_ticks=99999))
    )
    assert not answer.gpus[0].holders
    assert answer.gpus[0].rest is not None
    assert answer.gpus[0].rest.memory_bytes == 5 * GIB


def test_an_earlier_run_s_orphans_are_not_the_present_run_s_workers() -> None:
    answer = explain(
        seen(
            gpu(0, 4 * GIB, claim(300)),
            process(200, "alice", 0, ppid=1, session_id=70),
            process(300, "alice", 0, session_id=70),
        )
    )
    assert picture(answer) == "alice:200=3072(worker_of_dead_parent) alice:300=1024"


def test_two_dead_parents_have_their_own_heirs() -> None:
    answer = explain(
        seen(
            gpu(0, 5 * GIB, claim(100, 2 * GIB), claim(200, 3 * GIB)),
            former(100, "alice", 0),
            former(200, "bob", 0),
            process(110, "alice", 0, ppid=1, session_id=100),
            process(210, "bob", 0, ppid=1, session_id=200),
        )
    )
    assert "alice:110=2048" in picture(answer)
    assert "bob:210=3072" in picture(answer)


# -- persons and rights ------------------------------------------------------------------------

JOB = Place(roost_job=42, roost_attempt=0)
ALLOCATED = Known(
    allocations=(Allocation("alice", "vision", ("GPU-0",), job=42, attempt=0),),
    groups={"alice": "vision", "bob": "speech"},
)


def test_a_job_on_its_gpu_is_there_by_right() -> None:
    answer = explain(seen(gpu(0, GIB, claim(100)), process(100, "alice", 0, place=JOB)), ALLOCATED)
    holder = answer.gpus[0].holders[0]
    assert (holder.kind, holder.job, holder.group) == (Kind.JOB, 42, "vision")
    assert holder.right.code is RightCode.JOB
    assert holder.right.lawful


def test_a_job_on_a_gpu_that_it_was_not_given_is_flagged() -> None:
    answer = explain(
        seen(gpu(0, 0), gpu(1, GIB, claim(100)), process(100, "alice", 1, place=JOB)), ALLOCATED
    )
    holder = answer.gpus[1].holders[0]
    assert holder.right.code is RightCode.NOT_GRANTED
    assert not holder.right.lawful
    assert who_rows(answer)[-1]["right"] == "no right: job 42 was not given GPU 1"


def test_a_process_of_a_job_that_ended_has_no_right() -> None:
    answer = explain(
        seen(
            gpu(0, GIB, claim(100)),
            process(100, "alice", 0, place=Place(roost_job=41, roost_attempt=0)),
        ),
        ALLOCATED,
    )
    assert answer.gpus[0].holders[0].right.code is RightCode.ENDED_JOB


def test_a_booking_is_a_right_of_the_person() -> None:
    known = Known(allocations=(Allocation("bob", "speech", ("GPU-0",), booking=7),))
    answer = explain(seen(gpu(0, GIB, claim(100)), process(100, "bob", 0)), known)
    holder = answer.gpus[0].holders[0]
    assert (holder.kind, holder.booking, holder.right.code) == (
        Kind.BOOKING,
        7,
        RightCode.BOOKING,
    )


def test_a_hand_started_process_has_none() -> None:
    rows = who_rows(explain(seen(gpu(0, GIB, claim(100)), process(100, "bob", 0)), ALLOCATED))
    assert (rows[0]["right"], rows[0]["lawful"]) == ("no right: hand-started", False)
    assert (rows[0]["kind"], rows[0]["group"]) == ("session", "speech")


def test_ignored_processes_are_shown_and_do_not_count() -> None:
    known = Known(ignore=(IgnoreRule(command="Xorg", below_bytes=200 * MIB),))
    answer = explain(
        seen(
            gpu(0, GIB + 150 * MIB, claim(100, 150 * MIB, kinds=("graphics",)), claim(200)),
            process(100, "root", 0, comm="Xorg", cmdline=("/usr/lib/xorg/Xorg", ":0")),
            process(200, "bob", 0, comm="Xorg"),
        ),
        known,
    )
    rights = {holder.pid: holder.right.code for holder in answer.gpus[0].holders}
    assert rights == {100: RightCode.IGNORED, 200: RightCode.NONE}


def test_an_empty_ignore_rule_ignores_nothing() -> None:
    known = Known(ignore=(IgnoreRule(),))
    answer = explain(seen(gpu(0, GIB, claim(100)), process(100, "bob", 0)), known)
    assert answer.gpus[0].holders[0].right.code is RightCode.NONE


def test_behind_a_container_s_root_stands_the_person_whom_the_engine_names() -> None:
    place = Place(container_id="c" * 64, container_engine="docker")
    facts = ContainerFacts(
        "c" * 64, "docker", "trainer", "pytorch", "alice", "mounts /home/alice", "likely"
    )
    answer = explain(seen(gpu(0, GIB, claim(100)), process(100, "root", 0, place=place), facts))
    holder = answer.gpus[0].holders[0]
    assert (holder.user, holder.uid, holder.kind) == ("alice", 0, Kind.CONTAINER)
    assert (holder.container, holder.owner_sure) == ("trainer", Sure.LIKELY)
    assert who_rows(answer)[0]["owner_evidence"] == "mounts /home/alice"


@pytest.mark.parametrize(("sure", "user"), [("likely", "bob"), ("possible", "alice")])
def test_an_image_s_own_number_does_not_make_its_namesake_the_owner(sure: str, user: str) -> None:
    """uid 1001 of the image is alice's number out here; bob's home is mounted."""
    place = Place(container_id="c" * 64, container_engine="docker")
    facts = ContainerFacts("c" * 64, "docker", "n", "i", "bob", "mounts /home/bob", sure)
    answer = explain(seen(gpu(0, GIB, claim(100)), process(100, "alice", 0, place=place), facts))
    holder = answer.gpus[0].holders[0]
    assert (holder.user, holder.uid) == (user, 1001)


def test_a_container_of_nobody_known_is_root_s() -> None:
    place = Place(container_id="c" * 64, container_engine="docker")
    answer = explain(seen(gpu(0, GIB, claim(100)), process(100, "root", 0, place=place)))
    holder = answer.gpus[0].holders[0]
    assert (holder.user, holder.container) == ("root", "c" * 12)


def test_root_by_sudo_is_the_person_who_logged_in() -> None:
    facts = process(100, "root", 0, login_uid=1001, login_user="alice")
    holder = explain(seen(gpu(0, GIB, claim(100)), facts)).gpus[0].holders[0]
    assert (holder.user, holder.uid, holder.owner_sure) == ("alice", 0, Sure.LIKELY)


def test_nobody_becomes_a_part_of_the_driver_by_name() -> None:
    answer = explain(
        seen(
            gpu(0, GIB, claim(100)),
            process(100, "bob", 0, comm="nvidia-persiste"),
            process(60, "persist", 0, comm="nvidia-persiste"),
        )
    )
    rights = {holder.pid: holder.right.lawful for holder in answer.gpus[0].holders}
    assert rights == {100: False, 60: True}


# -- over time ---------------------------------------------------------------------------------


def test_idle_since_the_last_work_and_not_known_where_not_measured() -> None:
    memory = Memory()
    facts = process(100, "alice", 0)
    idle = []
    for at, percent in ((2000.0, 5), (2010.0, 0), (2020.0, 0), (2030.0, 1), (2040.0, 0)):
        observation = seen(gpu(0, GIB, claim(100, sm_percent=percent)), facts, at=at)
        answer, memory = attribute(observation, Known(), memory)
        idle.append(answer.gpus[0].holders[0].idle_s)
    assert idle == [0.0, 10.0, 20.0, 0.0, 10.0]
    on_mig = seen(gpu(0, GIB, claim(100), utilisation_percent=None), facts, at=2050.0)
    answer, _ = attribute(on_mig, Known(), memory)
    assert answer.gpus[0].holders[0].idle_s is None


def test_since_is_when_it_took_the_gpu_or_its_start_if_it_was_there_before() -> None:
    first = seen(gpu(0, GIB, claim(100)), process(100, "alice", 0), at=2000.0)
    answer, memory = attribute(first, Known(), Memory())
    assert answer.gpus[0].holders[0].since == 1000.0
    second = seen(
        gpu(0, 2 * GIB, claim(100), claim(70)),
        process(100, "alice", 0),
        process(70, "bob", 0),
        at=2100.0,
    )
    answer, _ = attribute(second, Known(), memory)
    assert {h.pid: h.since for h in answer.gpus[0].holders} == {100: 1000.0, 70: 2100.0}


def test_nothing_is_remembered_over_a_reboot() -> None:
    first = seen(gpu(0, GIB, claim(100)), process(100, "alice", 0), at=2000.0)
    _, memory = attribute(first, Known(), Memory())
    after = seen(
        gpu(0, GIB, claim(100)),
        process(100, "bob", 0, started_at=5000.0),
        at=5001.0,
        boot_id="another",
    )
    answer, _ = attribute(after, Known(), memory)
    assert answer.gpus[0].holders[0].since == 5000.0
    assert answer.gpus[0].holders[0].idle_s == 0.0


def test_where_no_device_file_is_the_driver_s_word_has_to_do() -> None:
    observation = seen(gpu(0, GIB, claim(100)), process(100, "alice"), gpu_nodes=())
    assert picture(explain(observation)) == "alice:100=1024"
    simulated = seen(
        gpu(0, GIB, claim(100)),
        process(100, "alice"),
        driver=DriverReading(DriverState.SIMULATED),
    )
    assert picture(explain(simulated)) == "alice:100=1024"


def test_a_process_that_may_not_be_looked_into_counts_by_the_driver_s_word() -> None:
    observation = seen(gpu(0, GIB, claim(100)), process(100, "alice", visible=False))
    assert picture(explain(observation)) == "alice:100=1024"


def test_a_stale_process_is_named_with_age_owner_and_what_frees_the_card() -> None:
    """642 MB at 0 % for two days."""
    memory = Memory()
    facts = process(100, "carol", 0)
    for at, percent in ((2000.0, 1), (2000.0 + 2 * 86400, 0)):
        observation = seen(
            gpu(0, 642 * MIB, claim(100, 642 * MIB, sm_percent=percent)), facts, at=at
        )
        answer, memory = attribute(observation, Known(), memory)
    row = who_rows(answer)[0]
    assert (row["user"], row["idle_s"], row["since"]) == ("carol", 2 * 86400.0, 1000.0)
    assert row["free"] == "roost free 0"


def test_a_gpu_is_known_by_its_uuid_and_not_by_its_index() -> None:
    facts = process(100, "alice", 0)
    before = seen(gpu(0, GIB, claim(100, sm_percent=5)), facts, at=2000.0)
    _, memory = attribute(before, Known(), Memory())
    renumbered = replace(before.gpus[0], index=3, processes=(claim(100, sm_percent=0),))
    answer, _ = attribute(seen(renumbered, facts, at=2060.0), Known(), memory)
    holder = answer.gpus[0].holders[0]
    assert (holder.gpu_index, holder.idle_s, holder.since) == (3, 60.0, 1000.0)


def test_a_grant_of_a_mig_instance_is_a_right_to_that_instance_only() -> None:
    migs = tuple(MigInstance(f"MIG-{n}", "1g.10gb", n, 0) for n in (1, 2))
    known = Known(allocations=(Allocation("alice", "vision", ("MIG-1",), job=42),))
    answer = explain(
        seen(
            gpu(
                0,
                2 * GIB,
                claim(100, gpu_instance_id=1, compute_instance_id=0),
                claim(200, gpu_instance_id=2, compute_instance_id=0),
                mig_mode=True,
                mig_instances=migs,
            ),
            process(100, "alice", 0, place=JOB),
            process(200, "alice", 0, place=JOB),
        ),
        known,
    )
    found = {h.pid: (h.right.code, h.mig_uuids) for h in answer.gpus[0].holders}
    assert found == {
        100: (RightCode.JOB, ("MIG-1",)),
        200: (RightCode.NOT_GRANTED, ("MIG-2",)),
    }


def test_a_gpu_that_is_only_open_in_passing_has_no_holder() -> None:
    answer = explain(
        seen(
            gpu(0, GIB, claim(100)),
            gpu(1, 3 * GIB),
            process(100, "alice", 0, 1, place=JOB),
        ),
        ALLOCATED,
    )
    assert picture(answer, 0) == "alice:100=1024"
    assert picture(answer, 1) == "-=3072(unexplained)"
    assert [opener.pid for opener in answer.gpus[1].openers] == [100]


def test_who_opened_a_gpu_in_passing_inherits_nothing() -> None:
    answer = explain(
        seen(
            gpu(0, GIB, claim(100)),
            gpu(1, 3 * GIB, claim(90, 3 * GIB)),
            former(90, "alice", 1, session_id=70),
            process(100, "alice", 0, 1, session_id=70),
            process(95, "alice", 1, session_id=70, ppid=1),
        )
    )
    assert picture(answer, 1) == "alice:95=3072(worker_of_dead_parent)"


def test_a_job_that_only_opens_another_gpu_is_not_called_a_stray() -> None:
    answer = explain(seen(gpu(0, 0), gpu(1, 0), process(100, "alice", 1, place=JOB)), ALLOCATED)
    right = answer.gpus[1].holders[0].right
    assert (right.code, right.lawful) == (RightCode.OPEN_ONLY, True)


def test_a_gpu_that_does_not_answer_keeps_its_holders_and_their_history() -> None:
    facts = process(100, "alice", 0)
    busy = seen(gpu(0, GIB, claim(100, sm_percent=5)), facts, at=2000.0)
    _, memory = attribute(busy, Known(), Memory())
    silent = seen(
        gpu(0, None, state=GpuState.NOT_ANSWERING, utilisation_percent=None),
        facts,
        process(200, "bob", 0),
        at=2010.0,
    )
    answer, memory = attribute(silent, Known(), memory)
    assert picture(answer) == "alice:100=?"
    back = seen(gpu(0, GIB + 300 * MIB, claim(100, sm_percent=0)), facts, at=2020.0)
    answer, _ = attribute(back, Known(), memory)
    assert (answer.gpus[0].holders[0].idle_s, answer.gpus[0].holders[0].since) == (20.0, 1000.0)
    assert answer.gpus[0].rest is not None
    assert answer.gpus[0].rest.finding.reason is not Reason.JUST_EXITING
