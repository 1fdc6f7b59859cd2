"""Which GPUs: least fragmentation, then closeness; shares by best fit, strangers counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.model import Gpu
from roost.core.scheduler.events import InventoryChanged
from roost.core.scheduler.links import link_islands
from roost.core.scheduler.placement import choose_whole, model_matches
from roost.core.scheduler.state import Slot
from tests.core.scheduler.pictures import GIB, World, gpus_of


def chosen(gpus: list[Gpu], free: list[int], count: int, shared: tuple[int, ...] = ()) -> list[int]:
    slots = [Slot(gpus[n], n, shared=n in shared) for n in free]
    found = choose_whole(slots, count, link_islands(gpus))
    assert found is not None
    return [slot.gpu.index for slot in found]


def test_one_gpu_is_taken_from_the_numa_node_with_the_fewest_free() -> None:
    assert chosen(gpus_of(8), [0, 1, 2, 3, 6], 1) == [6]


def test_one_gpu_leaves_linked_pairs_whole() -> None:
    assert chosen(gpus_of(4, "pairs"), [0, 1, 3], 1) == [3]


def test_two_gpus_are_a_linked_pair_where_there_is_one() -> None:
    assert chosen(gpus_of(8, "pairs"), [0, 2, 3, 5, 7], 2) == [2, 3]


def test_two_gpus_are_on_one_numa_node_where_all_are_linked() -> None:
    assert chosen(gpus_of(8, "all"), [2, 3, 4, 5, 6], 2) == [2, 3]


def test_four_gpus_fill_a_numa_node_rather_than_break_two() -> None:
    assert chosen(gpus_of(8), [0, 1, 2, 4, 5, 6, 7], 4) == [4, 5, 6, 7]


def test_more_than_a_node_holds_takes_a_whole_node_and_the_best_fit_of_the_rest() -> None:
    assert chosen(gpus_of(8, "all"), [0, 1, 2, 3, 4, 5], 5) == [0, 1, 2, 3, 4]


def test_gpus_of_one_job_are_of_one_model_where_possible() -> None:
    mixed = gpus_of(2) + [
        replace(gpu, uuid=f"L-{gpu.index}", index=gpu.index + 2, model="NVIDIA L4", links=())
        for gpu in gpus_of(2)
    ]
    assert chosen(mixed, [1, 2, 3], 2) == [2, 3]


def test_gpus_marked_shared_are_left_for_shares_while_others_suffice() -> None:
    assert chosen(gpus_of(4), [0, 1, 2, 3], 2, shared=(0, 1)) == [2, 3]
    assert chosen(gpus_of(4), [0, 1, 2, 3], 3, shared=(0, 1)) == [0, 2, 3]


def test_fewer_than_asked_is_none() -> None:
    assert choose_whole([], 1, {}) is None


@given(st.sets(st.integers(0, 7), min_size=1), st.data(), st.sampled_from(["none", "pairs", "all"]))
def test_any_choice_is_that_many_of_the_free_ones(
    free: set[int], data: st.DataObject, links: str
) -> None:
    count = data.draw(st.integers(1, len(free)))
    found = chosen(gpus_of(8, links), sorted(free), count)
    assert len(set(found)) == count
    assert set(found) <= free


@pytest.mark.parametrize(
    ("model", "wanted", "fits"),
    [
        ("NVIDIA A100-SXM4-80GB", "A100", True),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb", True),
        ("NVIDIA A100-SXM4-80GB", "A10", False),
        ("NVIDIA GeForce RTX 4090", "rtx4090", True),
        ("NVIDIA GeForce RTX 4090", "4090", True),
        ("NVIDIA GeForce RTX 4090", "GeForce", True),
        ("NVIDIA GeForce RTX 4090", "409", False),
        ("NVIDIA L40S", "L40", False),
        ("NVIDIA H100 80GB HBM3", "", False),
        ("NVIDIA H100 80GB HBM3", "--", False),
        ("", "A100", False),
    ],
)
def test_models_are_matched_by_whole_words(model: str, wanted: str, fits: bool) -> None:
    assert model_matches(model, wanted) is fits


def test_shares_fill_the_fullest_gpu_that_has_room() -> None:
    world = World(3, "shared_gpus = [0, 1]")
    world.submit("alice", share="50G")
    world.submit("bob", share="60G")
    world.submit("li", share="20G")
    world.submit("wu", share="30G")
    assert world.picture() == "g0:alice+wu g1:bob+li g2:-"


def test_128_jobs_at_once_never_promise_more_than_there_is() -> None:
    world = World(2, "shared_gpus = [0, 1]")
    for _ in range(128):
        world.submit("alice", share="10G")
    assert len(world.running()) == 16


def test_a_stranger_s_memory_counts_and_is_named() -> None:
    world = World(1, "shared_gpus = [0]")
    world.strangers(g0="60G")
    big = world.submit("alice", share="30G")
    small = world.submit("bob", share="10G")
    assert world.running() == [small]
    assert "the most that is free on a shared GPU is 10 GiB" in world.why(big)


def test_a_whole_gpu_is_not_given_beside_a_stranger_and_the_reason_says_so() -> None:
    world = World(2)
    world.strangers(g1="642M")
    world.submit("alice")
    waits = world.submit("bob")
    assert world.picture() == "g0:alice g1:-"
    assert (
        "GPU 1 in use by processes outside the queue (642 MiB): roost who shows whose"
        in world.why(waits)
    )
    world.strangers()
    assert world.picture() == "g0:alice g1:bob"


def test_drained_and_lost_gpus_get_nothing_new_and_their_jobs_go_on() -> None:
    world = World(2)
    world.submit("alice")
    world.usable(0, False, "drained: fan")
    world.submit("bob")
    waits = world.submit("li")
    assert world.picture() == "g0:alice g1:bob"
    world.end(1)
    assert world.picture() == "g0:- g1:bob"
    assert "GPU 0: drained: fan" in world.why(waits)
    world.usable(0, True)
    assert world.picture() == "g0:li g1:bob"


def test_a_gpu_that_goes_and_comes_back_is_still_drained_and_still_used_by_strangers() -> None:
    world = World(3)
    world.usable(0, False, "fan")
    world.strangers(g1="1G")
    for gpus in ([world.gpus["GPU-2"]], list(world.gpus.values())):
        world.step(InventoryChanged(world.now, tuple(gpus), 256, 1 << 40))
    world.submit("alice")
    world.submit("bob")
    assert world.picture() == "g0:- g1:- g2:alice"


def test_a_job_keeps_its_gpu_though_that_is_gone_and_nobody_else_gets_it() -> None:
    world = World(2)
    world.submit("alice", 2)
    world.step(InventoryChanged(world.now, (world.gpus["GPU-1"],), 256, 1 << 40))
    world.submit("bob")
    world.end(1)
    assert world.picture() == "g0:- g1:bob"
    world.submit("li")
    assert world.running() == [2]


def test_the_parent_of_mig_instances_is_no_gpu_of_its_own() -> None:
    parent = gpus_of(1)[0]
    parts = [
        Gpu(f"MIG-{n}", n, "NVIDIA A100 MIG 3g.40gb", 40 * GIB, parent=parent.uuid) for n in (1, 2)
    ]
    world = World(gpus=[parent, *parts])
    world.submit("alice", 3)
    world.submit("bob", 2)
    assert world.picture() == "g0:- g1:bob g2:bob"


def test_a_job_that_names_a_model_waits_for_that_model_alone() -> None:
    gpus = [*gpus_of(1), Gpu("L", 1, "NVIDIA L4", 24 * GIB)]
    world = World(gpus=gpus)
    world.submit("alice", model="L4")
    waits = world.submit("bob", model="L4")
    other = world.submit("li", model="a100")
    assert world.running() == [1, other]
    assert "waits for 1 GPU of model L4: 0 are free" in world.why(waits)
