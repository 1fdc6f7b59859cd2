"""How a simulated GPU behaves in time: memory, utilisation, heat and power with inertia. Pure.

Every quantity approaches its target exponentially, so that one step of ten seconds and ten of one
end at the same values, and the energy is the exact integral of the power.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from roost.machine.simulated_cards import MIB, SimulatedModel

POWER_TAU_S = 3.0
HEAT_TAU_S = 40.0
COOL_TAU_S = 60.0
MEMORY_TAU_S = 2.0
AMBIENT_C = 29.0
USUAL_MEMORY = 0.62
USUAL_PERCENT = 93


@dataclass(frozen=True, slots=True)
class SimulatedLoad:
    """What a job does to one GPU. `pids` are real processes, which share its memory evenly.

    Bytes and utilisation (0 to 100) that are None are as a training job has them.
    """

    pids: tuple[int, ...]
    memory_bytes: int | None = None
    utilisation_percent: int | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A load with when it came, and what it holds by now."""

    load: SimulatedLoad
    since: float
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class CardState:
    """One simulated card at time `at` (seconds of any clock)."""

    at: float
    power_w: float
    temperature_c: float
    energy_j: float = 0.0
    held: tuple[Held, ...] = ()


def at_rest(model: SimulatedModel, now: float) -> CardState:
    """An idle card that has been idle for long."""
    return CardState(now, float(model.power_idle_w), _rest_c(model, model.power_idle_w))


def advance(
    model: SimulatedModel, state: CardState, loads: Sequence[SimulatedLoad], now: float
) -> CardState:
    """The card at `now`, after the loads it had until then; from then on it has `loads`."""
    passed = max(0.0, now - state.at)
    wanted = wanted_power_w(model, state.held)
    fade = math.exp(-passed / POWER_TAU_S)
    power = wanted + (state.power_w - wanted) * fade
    energy = state.energy_j + wanted * passed + (state.power_w - wanted) * POWER_TAU_S * (1 - fade)
    heat = _rest_c(model, wanted)
    tau = HEAT_TAU_S if heat > state.temperature_c else COOL_TAU_S
    temperature = heat + (state.temperature_c - heat) * math.exp(-passed / tau)
    came = {one.load.pids: one.since for one in state.held}
    held = _memory(model, [Held(load, came.get(load.pids, now)) for load in loads], now)
    return CardState(max(now, state.at), power, temperature, energy, held)


def percent(held: Sequence[Held]) -> int:
    """The utilisation that these loads ask for together, at most 100."""
    return min(100, sum(_percent(one.load) for one in held))


def shown_percent(held: Sequence[Held], now: float, phase: float) -> int:
    """As a meter would show it: a few points of swing around a busy card's mean."""
    mean = percent(held)
    if not mean:
        return 0
    return max(1, min(100, round(mean + 5 * math.sin(now / 2 + phase))))


def wanted_power_w(model: SimulatedModel, held: Sequence[Held]) -> float:
    """Where the power settles under these loads."""
    span = model.power_limit_w - model.power_idle_w
    return model.power_idle_w + span * 0.95 * percent(held) / 100


def _percent(load: SimulatedLoad) -> int:
    given = load.utilisation_percent
    return USUAL_PERCENT if given is None else max(0, min(100, given))


def _rest_c(model: SimulatedModel, power_w: float) -> float:
    return AMBIENT_C + (model.slowdown_c - 10 - AMBIENT_C) * power_w / model.power_limit_w


def _memory(model: SimulatedModel, held: Sequence[Held], now: float) -> tuple[Held, ...]:
    """What each load holds by now; together never more than the card has."""
    usable = (model.memory_mib - model.reserved_mib) * MIB
    wanted = []
    for one in held:
        most = one.load.memory_bytes
        if most is None:
            most = int(usable * USUAL_MEMORY / len(held))
        grown = 1 - math.exp(-max(0.0, now - one.since) / MEMORY_TAU_S)
        wanted.append(most * max(grown, 0.02))
    share = min(1.0, usable / sum(wanted)) if sum(wanted) else 1.0
    return tuple(
        replace(one, memory_bytes=math.floor(memory * share + 0.01))
        for one, memory in zip(held, wanted, strict=True)
    )
