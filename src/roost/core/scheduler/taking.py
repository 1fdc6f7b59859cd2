"""From whom a job takes where turns decide, not classes: the running jobs whose turn comes last, on
the server where the fewest GPUs change hands, and only if the job can then really start.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from roost.core.scheduler.limits import UNITS
from roost.core.scheduler.nodes import Node
from roost.core.scheduler.order import turn_of
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import Claim, Entry, State

Yields = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Taking:
    """On one server: who is preempted, which GPUs the job then has, and how many change hands."""

    gpus: int
    order: int
    victims: tuple[int, ...]
    slots: tuple[Slot, ...]


def take_by_turn(
    state: State, pool: Pool, entry: Entry, banned: Collection[str], yields: Yields
) -> tuple[tuple[int, ...], Claim] | None:
    """Victims and claim; None where not enough would come free on any server (or servers)."""
    count, largest = entry.job.request.gpus, pool.nodes.largest
    nodes = pool.nodes.all
    if count <= largest:
        parts = [count]
    else:
        whole, rest = divmod(count, largest)
        parts = [largest] * whole + ([rest] if rest else [])
    answers: dict[int, bool] = {}

    def asked(number: int) -> bool:
        if number not in answers:
            answers[number] = yields(number)
        return answers[number]

    chosen: list[Taking] = []
    for part in parts:
        taken = {one.order for one in chosen}
        options = [
            found
            for node in nodes
            if node.order not in taken
            and (found := _on(state, pool, entry, node, part, banned, asked)) is not None
        ]
        if not options:
            return None
        chosen.append(min(options, key=lambda one: (one.gpus, one.order)))
    victims = tuple(sorted({number for one in chosen for number in one.victims}))
    slots = tuple(slot for one in chosen for slot in one.slots)
    if not victims or not _room(state, pool, entry, victims):
        return None
    helping = {*victims, *(number for slot in slots for number in slot.holders)}
    names = tuple(slot.gpu.uuid for slot in slots)
    return victims, Claim(names, tuple(sorted(helping)), count * UNITS)


def _room(state: State, pool: Pool, entry: Entry, victims: tuple[int, ...]) -> bool:
    """CPUs and memory suffice too, once the victims have gone."""
    cpus, memory_bytes = pool.room_for(entry)
    for number in victims:
        request = state.entries[number].job.request
        cpus += request.cpus
        memory_bytes += request.memory_bytes or 0
    request = entry.job.request
    return request.cpus <= cpus and (request.memory_bytes or 0) <= memory_bytes


def _on(
    state: State, pool: Pool, entry: Entry, node: Node, count: int, banned: Collection[str],
    yields: Yields,
) -> Taking | None:  # fmt: skip
    free: list[Slot] = []
    held: dict[int, list[Slot]] = {}
    for slot in node.slots:
        if slot.gpu.uuid in banned or not pool.fits(slot, entry) or slot.foreign_bytes:
            continue
        if slot.claim not in (None, entry.job.id):
            continue
        if slot.whole is None and not slot.shares:
            free.append(slot)
        elif slot.whole is not None and (state.ending_soon(slot.whole) or yields(slot.whole)):
            held.setdefault(slot.whole, []).append(slot)
    if len(free) + sum(map(len, held.values())) < count:
        return None
    now, policy, entries = state.now, state.policy, state.entries
    later = sorted(
        held, key=lambda n: (not state.ending_soon(n), -turn_of(policy, entries[n], now), n)
    )
    got = len(free)
    picked: list[int] = []
    for number in later:
        if got >= count:
            break
        picked.append(number)
        got += len(held[number])
    for number in list(picked):
        if got - len(held[number]) >= count:
            picked.remove(number)
            got -= len(held[number])
    victims = tuple(n for n in picked if not state.ending_soon(n))
    slots = sorted([*free, *(s for n in picked for s in held[n])], key=lambda s: s.order)
    gpus = sum(entries[n].job.request.gpus for n in victims)
    return Taking(gpus, node.order, victims, tuple(slots[:count]))
