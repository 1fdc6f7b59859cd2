"""What the galleries of waiting jobs have in common: their situations by name, and what is said of
a job that waits or that ended without having run.
"""

from __future__ import annotations

from collections.abc import Callable

from roost.core.model import Booking, Gpu
from roost.core.scheduler.decisions import Finish
from roost.core.scheduler.events import InventoryChanged
from roost.core.text.catalogue import say
from tests.core.scheduler.pictures import World

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


def inventory(world: World, *gpus: Gpu) -> None:
    """These are the GPUs from now on."""
    world.gpus = {gpu.uuid: gpu for gpu in gpus}
    world.step(InventoryChanged(world.now, gpus, world.cpus, world.memory_bytes))
