"""Which GPUs, as pictures: gangs on several servers, links and NUMA nodes, parts, shares."""

from __future__ import annotations

from roost.core.model import Gpu
from roost.core.rules.load import load
from tests.core.scheduler.pictures import GIB, NO_MIN_RUN, World, gpus_of, servers_of


def halves_and_wholes() -> list[Gpu]:
    """GPU 0 is split into two instances, 1 and 2; GPU 3 is whole."""
    parent, last = gpus_of(2)
    parts = [
        Gpu(f"GPU-{n}", n, "NVIDIA A100 MIG 3g.40gb", 40 * GIB, parent=parent.uuid) for n in (1, 2)
    ]
    whole = Gpu("GPU-3", 3, last.model, last.memory_bytes)
    return [parent, *parts, whole]


# -- several servers -------------------------------------------------------------------------------


def test_a_job_is_kept_on_one_server_though_other_servers_have_room_too() -> None:
    world = World(gpus=servers_of(2, 4))
    world.submit("li", 1)
    assert world.picture_after("alice", 4) == (
        "g0:li g1:- g2:- g3:- g4:alice g5:alice g6:alice g7:alice"
    )


def test_a_small_job_fills_the_server_that_is_begun() -> None:
    world = World(gpus=servers_of(2, 4))
    world.submit("li", 2)
    assert world.picture_after("alice", 2) == ("g0:li g1:li g2:alice g3:alice g4:- g5:- g6:- g7:-")


def test_free_gpus_of_two_servers_are_not_room_for_a_job_that_one_could_hold() -> None:
    world = World(gpus=servers_of(2, 4))
    world.submit("li", 3)
    world.submit("wu", 3)
    waits = world.submit("alice", 2)
    assert world.picture() == "g0:li g1:li g2:li g3:- g4:wu g5:wu g6:wu g7:-"
    assert waits not in world.held
    world.end(2)
    assert world.picture() == "g0:li g1:li g2:li g3:- g4:alice g5:alice g6:- g7:-"


def test_a_gang_larger_than_a_server_takes_a_whole_one_and_the_rest_of_another() -> None:
    world = World(gpus=servers_of(3, 2))
    world.submit("li", 1)
    assert world.picture_after("alice", 3) == "g0:li g1:alice g2:alice g3:alice g4:- g5:-"


def test_a_gang_starts_all_at_once_or_not_at_all() -> None:
    world = World(gpus=servers_of(2, 2))
    world.submit("li", 1, time="1h")
    assert world.picture_after("alice", 4) == "g0:li g1:- g2:- g3:-"
    world.end(1)
    assert world.picture() == "g0:alice g1:alice g2:alice g3:alice"


def test_one_job_for_every_gpu_there_is() -> None:
    world = World(gpus=servers_of(2, 2))
    assert world.picture_after("alice", 4) == "g0:alice g1:alice g2:alice g3:alice"
    waits = world.submit("bob")
    assert world.codes(waits) == ["gpus", "job_open"]


# -- links and NUMA nodes --------------------------------------------------------------------------


def test_two_gpus_are_a_linked_pair_and_single_jobs_leave_pairs_whole() -> None:
    world = World(4, links="pairs")
    world.submit("li")
    world.submit("wu")
    assert world.picture_after("alice", 2) == "g0:li g1:wu g2:alice g3:alice"


def test_two_gpus_that_are_not_linked_are_better_than_none() -> None:
    world = World(4, links="pairs")
    for user in ("li", "wu", "bob", "eve"):
        world.submit(user)
    world.end(1, 3)
    assert world.picture_after("alice", 2) == "g0:alice g1:wu g2:alice g3:eve"


def test_a_job_stays_on_its_numa_node() -> None:
    world = World(4)
    world.submit("li")
    assert world.picture_after("alice", 2) == "g0:li g1:- g2:alice g3:alice"


# -- parts of GPUs ---------------------------------------------------------------------------------


def test_instances_are_given_like_gpus_and_their_parent_never() -> None:
    world = World(gpus=halves_and_wholes())
    for user in ("li", "wu", "bob", "eve"):
        world.submit(user)
    assert world.picture() == "g0:- g1:li g2:wu g3:bob"


def test_who_names_the_model_of_an_instance_gets_one_though_a_whole_gpu_is_free() -> None:
    world = World(gpus=halves_and_wholes())
    world.submit("li", 1, model="3g.40gb")
    world.submit("wu", 1, model="3g.40gb")
    waits = world.submit("alice", 1, model="3g.40gb")
    assert world.picture() == "g0:- g1:li g2:wu g3:-"
    assert world.why(waits).startswith("waits for 1 GPU of model 3g.40gb: 0 are free")


def test_a_share_is_put_on_an_instance_that_is_marked_shared() -> None:
    world = World(gpus=halves_and_wholes(), text="shared_gpus = [1]\n")
    world.submit("li", share="30G")
    waits = world.submit("wu", share="20G")
    assert world.picture() == "g0:- g1:li g2:- g3:-"
    assert world.why(waits) == (
        "waits for 20 GiB of GPU memory: the most that is free on a shared GPU is 10 GiB (GPU 1)"
    )


# -- shares ----------------------------------------------------------------------------------------


def test_a_share_fills_the_gpu_that_is_begun_and_leaves_the_other_whole() -> None:
    world = World(2, "shared_gpus = [0, 1]\n")
    world.submit("li", share="40G")
    assert world.picture_after("wu", share="40G") == "g0:li+wu g1:-"
    assert world.picture_after("alice") == "g0:li+wu g1:alice"


def test_shares_never_come_to_more_than_the_memory_of_the_gpu() -> None:
    world = World(1, "shared_gpus = [0]\n")
    world.submit("li", share="50G")
    assert world.picture_after("wu", share="31G") == "g0:li"
    world.end(1)
    assert world.picture() == "g0:wu"


def test_a_smaller_share_passes_a_larger_one_only_where_it_is_gone_in_time() -> None:
    world = World(1, "shared_gpus = [0]\n")
    world.submit("li", share="60G", time="1h")
    world.submit("wu", share="70G", time="1h")
    world.wait("1m")
    assert world.picture_after("alice", share="20G", time="2h") == "g0:li"
    assert world.picture_after("bob", share="20G", time="30m") == "g0:li+bob"


def test_a_whole_job_drains_a_shared_gpu_and_new_shares_wait_behind_it() -> None:
    world = World(1, "shared_gpus = [0]\n")
    world.submit("li", share="20G")
    world.submit("wu", share="20G")
    world.wait("10m")
    whole = world.submit("alice")
    world.wait("10m")
    late = world.submit("bob", share="20G")
    assert world.picture() == "g0:li+wu", "40 GiB are free, and kept"
    assert world.codes(late)[-1] == "behind"
    world.end(1)
    assert world.picture() == "g0:wu"
    world.end(2)
    assert world.running() == [whole]
    world.end(whole)
    assert world.picture() == "g0:bob"


def test_a_whole_job_starts_although_shares_of_everybody_keep_coming() -> None:
    world = World(2, "shared_gpus = [0, 1]\n")
    for number in range(8):
        world.submit(f"s{number}", share="20G")
    whole = world.submit("alice", 2)
    for number in range(12):
        world.wait("15m")
        world.submit(f"t{number}", share="20G")
        oldest = min(world.held)
        world.end(oldest)
        if whole in world.held:
            break
    assert world.picture() == "g0:alice g1:alice"
    assert len(world.held) == 1


def test_while_one_gpu_drains_shares_still_start_on_the_other() -> None:
    world = World(2, "shared_gpus = [0, 1]\n")
    world.submit("li", share="60G", time="1h")
    world.submit("wu", share="60G", time="5h")
    world.wait("1m")
    world.submit("alice")
    world.wait("1m")
    assert world.picture_after("bob", share="20G", time="9h") == "g0:li g1:wu+bob"
    world.end(1)
    assert world.picture() == "g0:alice g1:wu+bob"


def test_a_share_that_waits_keeps_no_whole_gpu_that_it_could_not_use() -> None:
    world = World(2, "shared_gpus = [0]\n")
    world.submit("li", share="60G", time="1h")
    waits = world.submit("wu", share="40G")
    assert world.picture_after("alice") == "g0:li g1:alice"
    assert world.scheduler.explain(waits).forecast_start_at == world.now + 3600


def test_a_share_that_can_never_start_keeps_no_gpu_from_others() -> None:
    world = World(1, "shared_gpus = [0]\n")
    world.submit("li")
    world.submit("wu", share="40G")
    world.change_rules(load(""))
    world.end(1)
    assert world.picture_after("alice") == "g0:alice"


def test_an_urgent_whole_job_takes_a_gpu_from_all_its_background_shares() -> None:
    world = World(1, "shared_gpus = [0]\n" + NO_MIN_RUN)
    world.submit("li", 1, "background", share="20G")
    world.submit("wu", 1, "background", share="20G")
    assert world.picture_after("bob", 1, "urgent") == "g0:~li+~wu"
    world.give_way()
    assert world.picture() == "g0:bob"


def test_a_share_is_not_put_beside_a_stranger_who_uses_the_memory() -> None:
    world = World(2, "shared_gpus = [0, 1]\n")
    world.strangers(g0="60G")
    assert world.picture_after("li", share="30G") == "g0:- g1:li"
    assert world.picture_after("wu", share="20G") == "g0:wu g1:li"
