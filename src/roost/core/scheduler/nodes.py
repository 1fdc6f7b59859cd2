"""Which GPUs are free on which server, kept as jobs come and go, so that asking costs little.

A GPU is free here when a whole-GPU job could be put onto it: nothing on it, not claimed, not out.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Sequence

from roost.core.scheduler.placement import choose_servers
from roost.core.scheduler.slot import Slot


class Node:
    """One server. `free` holds the order numbers of its free GPUs, ascending. `version` changes
    with whatever happens to one of them, and no server ever has one that another had before."""

    __slots__ = ("free", "name", "order", "size", "slots", "version")

    def __init__(self, name: str, order: int, version: int) -> None:
        self.name = name
        self.order = order
        self.size = 0
        self.slots: list[Slot] = []
        self.free: list[int] = []
        self.version = version


class Nodes:
    """All servers with GPUs; one, for the daemon. `alike`: any GPU anywhere does equally well (one
    model, on each server one NUMA node, no links, none shared).
    `version` changes with whatever happens to any of them."""

    def __init__(self) -> None:
        self.all: list[Node] = []
        self.slots: list[Slot] = []
        self.by_uuid: dict[str, Slot] = {}
        self.free_count = 0
        self.largest = 0
        self.alike = False
        self.version = 0
        self._by_name: dict[str, Node] = {}
        # Which servers (their orders, ascending) have so many GPUs free, and the most that any may.
        self._with_free: list[list[int]] = [[]]
        self._most_free = 0

    def rebuild(self, slots: Sequence[Slot]) -> None:
        """Anew from all slots; to be called when there are other slots, or marks of them change."""
        self.slots = sorted(slots, key=lambda slot: slot.order)
        self.by_uuid = {slot.gpu.uuid: slot for slot in self.slots}
        self._by_name, self.free_count = {}, 0
        self.version += 1
        kinds: dict[str, set[tuple[object, ...]]] = {}
        for slot in self.slots:
            node = self._by_name.get(slot.gpu.server)
            if node is None:
                node = Node(slot.gpu.server, len(self._by_name), self.version)
                self._by_name[slot.gpu.server] = node
            node.slots.append(slot)
            if slot.present and not slot.split:
                node.size += 1
            gpu = slot.gpu
            kinds.setdefault(node.name, set()).add(
                (gpu.model, gpu.memory_bytes, gpu.numa_node, slot.shared, gpu.links)
            )
            slot.free = slot.available
            if slot.free:
                node.free.append(slot.order)
                self.free_count += 1
        self.all = list(self._by_name.values())
        self.largest = max((node.size for node in self.all), default=0)
        self._most_free = max((len(node.free) for node in self.all), default=0)
        widest = max((len(node.slots) for node in self.all), default=0)
        self._with_free = [[] for _ in range(1 + widest)]
        for node in self.all:
            self._with_free[len(node.free)].append(node.order)
        models = {(model, size) for mine in kinds.values() for model, size, *_ in mine}
        self.alike = len(models) == 1 and all(
            len(mine) == 1 and not any(links or shared for *_, shared, links in mine)
            for mine in kinds.values()
        )

    def update(self, slot: Slot) -> None:
        """Something about this slot has changed: is it free?"""
        node = self._by_name[slot.gpu.server]
        self.version += 1
        node.version = self.version
        free = slot.available
        if free is slot.free:
            return
        slot.free = free
        mine = node.free
        alike = self._with_free[len(mine)]
        del alike[bisect_left(alike, node.order)]
        if free:
            insort(mine, slot.order)
            self.free_count += 1
            if len(mine) > self._most_free:
                self._most_free = len(mine)
        else:
            del mine[bisect_left(mine, slot.order)]
            self.free_count -= 1
        insort(self._with_free[len(mine)], node.order)

    def take_alike(self, count: int, banned: Collection[str]) -> list[Slot] | None:
        """`count` free slots past the banned ones where any do equally well (`alike`): of the
        fullest server that holds them all, or of whole servers and the fullest that holds the
        rest; the lowest first. None where there is no room."""
        if not banned:
            return self._take_any(count)
        orders = {node.name: node.free for node in self.all}
        for name in {self.by_uuid[uuid].gpu.server for uuid in banned if uuid in self.by_uuid}:
            orders[name] = [o for o in orders[name] if self.slots[o].gpu.uuid not in banned]
        free = {name: len(mine) for name, mine in orders.items()}
        chosen = choose_servers(free, count, self.largest)
        if chosen is None:
            return None
        taken = sorted(order for name, part in chosen for order in orders[name][:part])
        return [self.slots[order] for order in taken]

    def _take_any(self, count: int) -> list[Slot] | None:
        """The same where none is banned, from what is kept."""
        found: list[int] = []
        chosen: list[int] = []
        if count > self.largest > 0:
            whole, count = divmod(count, self.largest)
            chosen = sorted(order for full in self._with_free[self.largest :] for order in full)
            if len(chosen) < whole:
                return None
            chosen = chosen[:whole]
            for order in chosen:
                found += self.all[order].free[: self.largest]
        if count:
            fitting = (o for nodes in self._with_free[count:] for o in nodes if o not in chosen)
            best = next(fitting, None)
            if best is None:
                return None
            found += self.all[best].free[:count]
        return [self.slots[order] for order in sorted(found)]

    def free_slots(self) -> list[Slot]:
        """The free slots of all servers, in order."""
        slots = self.slots
        if len(self.all) == 1:
            return [slots[order] for order in self.all[0].free]
        return [slots[order] for order in sorted(o for node in self.all for o in node.free)]

    def could_hold(self, gpus: int) -> bool:
        """So many whole GPUs are free together: on one server, or on whole ones."""
        if gpus > self.free_count:
            return False
        if gpus > self.largest:
            return True
        while self._most_free and not self._with_free[self._most_free]:
            self._most_free -= 1
        return gpus <= self._most_free
