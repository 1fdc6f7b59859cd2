"""From whom a job takes where turns decide, not classes: the running jobs whose turn comes last, on
the server where the fewest GPUs change hands, and only if the job can then really start.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from roost.core.model import JobState
from roost.core.scheduler.limits import UNITS
from roost.core.scheduler.nodes import Node
from roost.core.scheduler.order import turn_of
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import Claim, Entry, State

NOBODY = float("-inf")
# (turn, job, its slots on this server), the last turn first.
Held = list[tuple[float, int, list[Slot]]]


class Victims:
    """Who could have to give way on each server, as of this round; looked up once and kept."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._nodes: dict[int, tuple[Held, list[Slot]]] = {}
        self._latest: dict[str, float] | None = None

    def on(self, node: Node) -> tuple[Held, list[Slot]]:
        """Jobs that hold whole GPUs there and may be asked to go; GPUs that come free anyway."""
        found = self._nodes.get(node.order)
        if found is None:
            found = self._nodes[node.order] = self._look(node)
        return found

    def _look(self, node: Node) -> tuple[Held, list[Slot]]:
        state = self._state
        policy, now = state.policy, state.now
        slots: dict[int, list[Slot]] = {}
        coming: list[Slot] = []
        for slot in node.slots:
            number = slot.whole
            if number is None or slot.claim is not None or slot.foreign_bytes or not slot.open:
                continue
            if number in slots:
                slots[number].append(slot)
            elif state.ending_soon(number):
                coming.append(slot)
            else:
                slots[number] = [slot]
        held: Held = []
        for number, mine in slots.items():
            entry = state.entries[number]
            if entry.state not in (JobState.RUNNING, JobState.STARTING) or not entry.job.requeue:
                continue
            if now >= entry.started_at + policy.min_run_s:
                held.append((turn_of(policy, entry, now), number, mine))
        held.sort(key=lambda one: (-one[0], one[1]))
        return held, coming

    def latest(self, which: str) -> float:
        """No running job of that class has a later turn."""
        if self._latest is None:
            self._latest = {}
            for node in self._state.nodes.all:
                for turn, number, _ in self.on(node)[0]:
                    name = self._state.entries[number].job.priority_class.value
                    self._latest[name] = max(turn, self._latest.get(name, NOBODY))
        return self._latest.get(which, NOBODY)

    def asked_to_go(self, numbers: Collection[int]) -> None:
        """These jobs give way now: their servers are looked at anew."""
        state = self._state
        names = {
            state.slots[grant.gpu_uuid].gpu.server
            for number in numbers
            for grant in state.entries[number].grants
        }
        for node in state.nodes.all:
            if node.name in names:
                self._nodes.pop(node.order, None)
        self._latest = None


@dataclass(frozen=True, slots=True)
class Taking:
    """On one server: who is preempted, which GPUs the job then has, and how many change hands."""

    gpus: int
    order: int
    victims: tuple[int, ...]
    slots: tuple[Slot, ...]


def take_by_turn(
    state: State, pool: Pool, entry: Entry, banned: Collection[str], victims: Victims
) -> tuple[tuple[int, ...], Claim] | None:
    """Victims and claim; None where not enough would come free on any server (or servers).

    A job's turn does not change while it waits and only comes nearer while it runs, so that two
    jobs never take from each other in turns.
    """
    count, largest = entry.job.request.gpus, pool.nodes.largest
    after = turn_of(state.policy, entry, state.now) + state.policy.margin_s
    if not largest or victims.latest(entry.job.priority_class.value) <= after:
        return None
    whole, rest = (0, count) if count <= largest else divmod(count, largest)
    parts = [largest] * whole + ([rest] if rest else [])
    chosen: list[Taking] = []
    for part in parts:
        taken = {one.order for one in chosen}
        best: Taking | None = None
        for node in pool.nodes.all:
            if node.size < part or node.order in taken:
                continue
            found = _on(state, pool, entry, node, part, after, banned, victims)
            if found is not None and (best is None or found.gpus < best.gpus):
                best = found
        if best is None:
            return None
        chosen.append(best)
    going = tuple(sorted({number for one in chosen for number in one.victims}))
    slots = tuple(slot for one in chosen for slot in one.slots)
    if not going or not _room(state, pool, entry, going):
        return None
    helping = {*going, *(number for slot in slots for number in slot.holders)}
    names = tuple(slot.gpu.uuid for slot in slots)
    return going, Claim(names, tuple(sorted(helping)), count * UNITS)


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
    state: State, pool: Pool, entry: Entry, node: Node, count: int, after: float,
    banned: Collection[str], victims: Victims,
) -> Taking | None:  # fmt: skip
    held, coming = victims.on(node)
    slots = pool.slots
    have = [slots[order] for order in node.free]
    have += coming
    choosy = bool(banned) or entry.job.request.gpu_model is not None

    def fit(among: list[Slot]) -> list[Slot]:
        if not choosy:
            return among
        return [s for s in among if s.gpu.uuid not in banned and pool.model_fits(s, entry)]

    have = fit(have)
    got = len(have)
    which = entry.job.priority_class
    picked: list[tuple[int, list[Slot]]] = []
    for turn, number, mine in held:
        if got >= count or turn <= after:
            break
        mine = fit(mine)
        if mine and state.entries[number].job.priority_class is which:
            picked.append((number, mine))
            got += len(mine)
    if got < count:
        return None
    for one in list(picked):
        if got - len(one[1]) >= count:
            picked.remove(one)
            got -= len(one[1])
    given = sorted([*have, *(slot for _, mine in picked for slot in mine)], key=lambda s: s.order)
    gpus = sum(state.entries[number].job.request.gpus for number, _ in picked)
    return Taking(gpus, node.order, tuple(number for number, _ in picked), tuple(given[:count]))
