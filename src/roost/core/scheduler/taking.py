"""From whom a job takes where turns decide, not classes: the running jobs whose turn comes last, on
the server where the fewest GPUs change hands, and only if the job can then really start.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from roost.core.model import JobState
from roost.core.scheduler.entry import Claim, Entry
from roost.core.scheduler.limits import UNITS
from roost.core.scheduler.nodes import Node
from roost.core.scheduler.order import Order, expected_s, turn_of
from roost.core.scheduler.pool import Pool
from roost.core.scheduler.slot import Slot
from roost.core.scheduler.state import State

NOBODY = float("-inf")
# (turn, job, its slots on this server), the last turn first.
Held = list[tuple[float, int, list[Slot]]]


@dataclass(frozen=True, slots=True)
class _Bound:
    """Of one server at that version until that instant: no turn there is later than `latest`; and
    for one that takes from turns later than `reach[n]` or more it cannot have n GPUs."""

    version: int
    until: float
    latest: float
    reach: list[float]


def _later_first(one: tuple[float, Node]) -> float:
    return -one[0]


class Victims:
    """Who could have to give way on each server. Turns only come nearer while jobs run as long as
    was expected: so the last turn of a server, once known, bounds it from above until a job there
    comes, goes, or outlives what was expected of it."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._bounds: dict[int, _Bound] = {}
        # By server: version and time of the exact answer.
        self._exact: dict[int, tuple[int, float, Held, list[Slot]]] = {}
        # Version of all, valid until, and the servers with their bounds, the latest first.
        self._ranked: tuple[int, float, list[tuple[float, Node]]] = (-1, NOBODY, [])
        # By number of GPUs: before which turn some server may have so many for one that takes.
        self._most: dict[int, float] = {}

    def on(self, node: Node) -> tuple[Held, list[Slot]]:
        """Jobs that hold whole GPUs there and may be asked to go; GPUs that come free anyway."""
        now = self._state.now
        known = self._exact.get(node.order)
        if known is not None and known[0] == node.version and known[1] == now:
            return known[2], known[3]
        held, coming = self._look(node)
        self._exact[node.order] = node.version, now, held, coming
        return held, coming

    def _look(self, node: Node) -> tuple[Held, list[Slot]]:
        state = self._state
        policy, now = state.policy, state.now
        slots: dict[int, list[Slot]] = {}
        coming: list[Slot] = []
        for slot in node.slots:
            number = slot.whole
            if number is None or slot.claim is not None or slot.foreign_bytes or not slot.open:
                continue
            if slot.frozen is not None:
                continue
            if number in slots:
                slots[number].append(slot)
            elif state.ending_soon(number) and not state.entries[number].suspend:
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

    def ranked(self) -> list[tuple[float, Node]]:
        """The servers, each with the turn that no job that runs there exceeds, the latest first."""
        nodes, now = self._state.nodes, self._state.now
        if self._ranked[0] != nodes.version or now >= self._ranked[1]:
            bounds = [(self._bound(node), node) for node in nodes.all]
            ranked = sorted(((bound.latest, node) for bound, node in bounds), key=_later_first)
            until = min((bound.until for bound, _ in bounds), default=NOBODY)
            self._ranked = nodes.version, until, ranked
            self._most.clear()
        return self._ranked[2]

    def may_free(self, node: Node, count: int, after: float) -> bool:
        """False where the server certainly cannot have so many GPUs free by taking from turns later
        than that. Only of servers that `ranked` has just named."""
        return self._bounds[node.order].reach[count] > after

    def any_may_free(self, count: int, after: float) -> bool:
        """The same of all servers together."""
        ranked = self.ranked()
        most = self._most.get(count)
        if most is None:
            reaches = [self._bounds[node.order].reach for _, node in ranked]
            enough = [reach[count] for reach in reaches if len(reach) > count]
            most = self._most[count] = max(enough, default=NOBODY)
        return most > after

    def _bound(self, node: Node) -> _Bound:
        state = self._state
        known = self._bounds.get(node.order)
        if known is not None and known.version == node.version and state.now < known.until:
            return known
        gpus: dict[int, int] = {}
        for slot in node.slots:
            if slot.whole is not None:
                kept = slot.claim is not None or slot.foreign_bytes or not slot.open
                gpus[slot.whole] = gpus.get(slot.whole, 0) + (0 if kept else 1)
        latest, until = NOBODY, float("inf")
        reach = [math.inf] * (1 + len(node.free))
        turns: list[tuple[float, int]] = []
        for number, count in gpus.items():
            entry = state.entries[number]
            turn = turn_of(state.policy, entry, state.now)
            latest = max(latest, turn)
            left_s = expected_s(entry) - entry.done_s - (state.now - entry.started_at)
            # Of one that has outlived its expectation the turn moves, though not at this instant.
            until = min(until, math.nextafter(state.now + max(0.0, left_s), math.inf))
            if entry.ending_by is not None:
                reach += [math.inf] * count
            elif count and entry.job.requeue:
                turns.append((turn, count))
        turns.sort(reverse=True)
        for turn, count in turns:
            reach += [turn] * count
        reach += [NOBODY] * (1 + len(node.slots) - len(reach))
        found = self._bounds[node.order] = _Bound(node.version, until, latest, reach)
        return found

    def any_after(self, turn: float) -> bool:
        """Perhaps some running job has a later turn."""
        ranked = self.ranked()
        return bool(ranked) and ranked[0][0] > turn


@dataclass(frozen=True, slots=True)
class Taking:
    """On one server: who is preempted, which GPUs the job then has, and how many change hands."""

    gpus: int
    order: int
    victims: tuple[int, ...]
    slots: tuple[Slot, ...]


def take_by_turn(
    state: State,
    pool: Pool,
    entry: Entry,
    banned: Collection[str],
    victims: Victims,
    order: Order,
) -> tuple[tuple[int, ...], Claim] | None:
    """Victims and claim; None where not enough would come free on any server (or servers).

    A job's turn does not change while it waits and only comes nearer while it runs, so that two
    jobs never take from each other in turns. Nor does one take from a job that would come before
    it by fair share: that one would be started again at once, before it.
    """  # fmt: skip
    count, largest = entry.job.request.gpus, pool.nodes.largest
    after = turn_of(state.policy, entry, state.now) + state.policy.margin_s
    if not largest:
        return None
    whole, rest = (0, count) if count <= largest else divmod(count, largest)
    parts = [largest] * whole + ([rest] if rest else [])
    if not all(victims.any_may_free(part, after) for part in parts):
        return None
    chosen: list[Taking] = []
    for part in parts:
        taken = {one.order for one in chosen}
        best: Taking | None = None
        for latest, node in victims.ranked():
            # One server must give up something; of several, some may be free already.
            if latest <= after and len(parts) == 1:
                break
            if node.size < part or node.order in taken:
                continue
            if not victims.may_free(node, part, after):
                continue
            found = _on(state, pool, entry, node, part, after, banned, victims, order)
            if found is not None and (
                best is None or (found.gpus, found.order) < (best.gpus, best.order)
            ):
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
    banned: Collection[str], victims: Victims, order: Order,
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
        victim = state.entries[number]
        if victim.job.priority_class is not which or not order.before(entry, victim, state.now):
            continue
        if mine:
            picked.append((number, mine))
            got += len(mine)
    if got < count:
        return None
    for one in list(picked):
        if got - len(one[1]) >= count:
            picked.remove(one)
            got -= len(one[1])
    given = sorted([*have, *(slot for _, mine in picked for slot in mine)], key=lambda s: s.order)
    gpus = sum(len(state.entries[number].grants) for number, _ in picked)
    return Taking(gpus, node.order, tuple(number for number, _ in picked), tuple(given[:count]))
