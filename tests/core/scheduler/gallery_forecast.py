"""Every reason why it cannot be said when a job starts, each in a situation made by hand; what is
said stands beside it. `python -m tests.core.scheduler.gallery_forecast` prints that anew.
"""

from __future__ import annotations

from collections.abc import Callable

from roost.core.scheduler.decisions import Reason
from roost.core.text.forecast import render_unknown
from tests.core.scheduler.pictures import World

Made = tuple[World, int]


def why(world: World, number: int) -> Reason:
    found = world.scheduler.forecast(number).forecast_unknown
    assert found is not None
    return found


def open_end() -> Made:
    world = World(1)
    world.submit("li")
    return world, world.submit("alice", time="1h")


def open_ends_before_it() -> Made:
    world = World(1)
    world.submit("li", time="1h")
    world.submit("wu")
    world.wait("1m")
    return world, world.submit("alice", time="1h")


def held() -> Made:
    world = World(1)
    return world, world.submit("alice", held=True)


def too_many() -> Made:
    world = World(2)
    return world, world.submit("alice", 4, time="1h")


def each_morning() -> Made:
    text = "[windows.long]\njobs_over = '1h'\nopen = ['02:00-09:00']\nat_close = 'end'\n"
    world = World(1, text)
    world.wait("3h")
    first = world.submit("li")
    return world, world.submit("alice", after=(first,))


SITUATIONS: dict[str, Callable[[], Made]] = {
    "who holds the GPU has no time limit": open_end,
    "who comes before says no walltime": open_ends_before_it,
    "a job that a person holds back": held,
    "more GPUs than there are": too_many,
    "it follows a job that is ended each morning and never completes": each_morning,
}


def told(name: str) -> str:
    """Its part of the text: the name, the picture, the sentence in both languages."""
    world, number = SITUATIONS[name]()
    sentences = [render_unknown(language, why(world, number)) for language in ("en", "zh")]
    return "\n    ".join([name, world.picture(), *sentences])


if __name__ == "__main__":
    print("\n\n".join(told(name) for name in SITUATIONS))
