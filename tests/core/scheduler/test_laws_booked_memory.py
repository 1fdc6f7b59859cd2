"""Bookings of a shared GPU's memory among shares that come and go: what is booked is always there
for its person, and the rest is used. `World` counts after every step who stands beside a booking.
"""

from __future__ import annotations

import random

from roost.core.model import Booking, JobState
from tests.core.scheduler.pictures import NO_MIN_RUN, World

PEOPLE = ("alice", "bob", "li", "wu")
GIB = 2**30


def days(seed: int, steps: int) -> tuple[World, int]:
    """The world afterwards, and how many jobs began by right in memory that was booked."""
    chance = random.Random(seed)
    world = World(2, "shared_gpus = [0]\n" + NO_MIN_RUN)
    by_right = 0
    for step in range(steps):
        if step % 12 == 0:
            at, found = world.now, []
            for number in range(step * 10 + 1, step * 10 + 4):
                begins_at = at + 60.0 * chance.randint(0, 60)
                at = begins_at + 60.0 * chance.randint(5, 90)
                size = chance.choice((10, 20, 40)) * GIB
                user = chance.choice(PEOPLE)
                found.append(Booking(number, user, ("GPU-0",), begins_at, at, False, size))
            world.book(*found)
        live = [n for n, state in world.states.items() if state is JobState.RUNNING]
        if live and chance.random() < 0.4:
            world.end(chance.choice(live))
        world.submit(
            chance.choice(PEOPLE),
            which=chance.choice(("regular", "background")),
            share=chance.choice(("5G", "10G", "20G", "40G")),
            time=chance.choice((None, "5m", "30m", "2h")),
        )
        for one in world.bookings:
            if one.starts_at <= world.now < one.ends_at:
                number = world.submit(one.user, share="5G", time="5m")
                by_right += world.states[number].holds_gpus
                break
        world.wait(f"{chance.randint(1, 12)}m")
        world.give_way()
    return world, by_right


def test_booked_memory_is_there_and_shares_stand_beside_it() -> None:
    found = [days(seed, 60) for seed in range(12)]
    assert sum(world.beside for world, _ in found) > 200, "the law did not reach its case"
    assert sum(by_right for _, by_right in found) > 50, "nor did it reach this"
