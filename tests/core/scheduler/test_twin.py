"""A twin is in the same state and goes its own way."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from roost.core.model import JobState
from roost.core.scheduler.policy import FAIR
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.twin import twin_of
from tests.core.scheduler.pictures import World, gpus_of


def test_containers_are_copied_and_what_never_changes_is_shared() -> None:
    gpu = gpus_of(1)[0]
    names = ("a", ("b", 1))
    value: dict[str, Any] = {
        "list": [1, [2]], "dict": {1: {2: 3}}, "set": {1, 2}, "deque": deque([1.0], maxlen=3),
        "gpu": gpu, "tuple": names, "state": JobState.PENDING, "policy": FAIR,
        "zone": ZoneInfo("Asia/Shanghai"), "mixed": ([1], 2),
    }  # fmt: skip
    twin = twin_of(value)
    assert twin == value
    assert twin["gpu"] is gpu
    assert twin["tuple"] is names
    assert twin["zone"] is value["zone"]
    for name in ("list", "dict", "set", "deque", "mixed"):
        assert twin[name] is not value[name], name
    twin["list"][1].append(3)
    twin["dict"][1][2] = 4
    twin["deque"].extend([2.0, 3.0, 4.0])
    twin["mixed"][0].append(3)
    assert value["list"] == [1, [2]]
    assert value["dict"] == {1: {2: 3}}
    assert value["deque"] == deque([1.0])
    assert value["mixed"] == ([1], 2)
    assert twin["deque"] == deque([2.0, 3.0, 4.0])


def test_what_is_met_twice_stays_one() -> None:
    slot = Slot(gpus_of(1)[0], 0)
    twins: list[Any] = twin_of([slot, {"again": slot}])
    assert twins[0] is twins[1]["again"]
    assert twins[0] is not slot
    twins[0].shares[1] = 5
    assert not slot.shares


def test_methods_belong_to_the_twin() -> None:
    state = World(2).scheduler._state
    twin: Any = twin_of(state)
    assert twin.ends._end_of.__self__ is twin
    assert twin.ends._nodes is twin.nodes


def test_what_is_to_be_left_is_none_in_the_twin() -> None:
    slot = Slot(gpus_of(1)[0], 0)
    assert twin_of([slot, 1], leave=[slot]) == [None, 1]


def test_a_function_that_remembers_something_is_refused() -> None:
    kept = [1]

    def remembers() -> list[int]:
        return kept

    with pytest.raises(TypeError, match="remembers"):
        twin_of({"call": remembers})


@dataclass
class Loop:
    """Something that holds itself."""

    name: str
    own: list[Loop] = field(default_factory=list)


Loop.__module__ = "roost.test"


def test_something_that_holds_itself_is_copied_once() -> None:
    loop = Loop("a")
    loop.own.append(loop)
    twin = twin_of(loop)
    assert twin is not loop
    assert twin.own[0] is twin


def test_a_twin_decides_alike_and_leaves_the_first_alone() -> None:
    world = World(4, '[scheduling]\nmode = "throughput"\n')
    for n in range(8):
        world.submit("alice", 1 + n % 3, time=f"{1 + n}h")
    before = world.scheduler.snapshot()
    leave = (world.scheduler._round, world.scheduler._explainer, world.scheduler._future)
    twin = twin_of(world.scheduler, leave)
    assert twin.snapshot() == before
    until = twin.next_time()
    assert until == world.scheduler.next_time()
    events = world.events[-1:]
    twin.step(events)
    assert world.scheduler.snapshot() == before
