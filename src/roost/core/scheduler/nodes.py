"""Which GPUs are free on which server, kept as jobs come and go, so that asking costs little.

A GPU is free here when a whole-GPU job could be put onto it: nothing on it, not claimed, not out.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Sequence

from roost.core.scheduler.slot import Slot


class Node:
    """One server. `free` holds the order numbers of its free GPUs, ascending.

    `plain`: its GPUs are all alike to a job (one model, one NUMA node, no links, none shared), so
    that any of them do equally well. `version` changes with whatever happens to one of them.
    """

    __slots__ = ("free", "name", "order", "plain", "size", "slots", "version")

    def __init__(self, name: str, order: int) -> None:
        self.name = name
        self.order = order
        self.size = 0
        self.slots: list[Slot] = []
        self.free: list[int] = []
        self.plain = False
        self.version = 0


class Nodes:
    """All servers with GPUs; one, for the daemon. `alike`: any GPU anywhere does equally well.
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
        # How many servers have so many free GPUs, and the most that any may have.
        self._with_free: list[int] = [0]
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
                node = Node(slot.gpu.server, len(self._by_name))
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
        for node in self.all:
            mine = kinds[node.name]
            node.plain = len(mine) == 1 and not any(links or shared for *_, shared, links in mine)
        self._most_free = max((len(node.free) for node in self.all), default=0)
        self._with_free = [0] * (1 + max((len(node.slots) for node in self.all), default=0))
        for node in self.all:
            self._with_free[len(node.free)] += 1
        first = {(model, size) for mine in kinds.values() for model, size, *_ in mine}
        self.alike = len(first) == 1 and all(node.plain for node in self.all)

    def update(self, slot: Slot) -> None:
        """Something about this slot has changed: is it free?"""
        node = self._by_name[slot.gpu.server]
        node.version += 1
        self.version += 1
        free = slot.available
        if free is slot.free:
            return
        slot.free = free
        self._with_free[len(node.free)] -= 1
        if free:
            insort(node.free, slot.order)
            self.free_count += 1
            self._most_free = max(self._most_free, len(node.free))
        else:
            del node.free[bisect_left(node.free, slot.order)]
            self.free_count -= 1
        self._with_free[len(node.free)] += 1

    def take_alike(self, count: int, banned: Collection[str]) -> list[Slot] | None:
        """`count` free slots past the banned ones where any do equally well (`alike`): of the
        fullest server that holds them all, or of whole servers and the fullest that holds the
        rest; the lowest first. None where there is no room."""
        usable = self._past(banned) if banned else None
        found: list[Slot] = []
        taken: list[Node] = []
        while count > self.largest > 0:
            node = next(
                (
                    node
                    for node in self.all
                    if node not in taken and self._count(node, usable) >= self.largest
                ),
                None,
            )
            if node is None:
                return None
            taken.append(node)
            found += self._lowest(node, self.largest, usable)
            count -= self.largest
        best: Node | None = None
        least = 0
        for node in self.all if count else ():
            size = len(node.free) if usable is None else self._count(node, usable)
            if size >= count and (best is None or size < least) and node not in taken:
                best, least = node, size
        if best is not None:
            found += self._lowest(best, count, usable)
        elif count:
            return None
        if taken:
            found.sort(key=lambda slot: slot.order)
        return found

    def _past(self, banned: Collection[str]) -> dict[int, list[int]]:
        """The free orders without the banned ones, of servers that have any of these."""
        found: dict[int, list[int]] = {}
        servers = {self.by_uuid[uuid].gpu.server for uuid in banned if uuid in self.by_uuid}
        for name in servers:
            node = self._by_name[name]
            found[node.order] = [o for o in node.free if self.slots[o].gpu.uuid not in banned]
        return found

    def _count(self, node: Node, usable: dict[int, list[int]] | None) -> int:
        orders = None if usable is None else usable.get(node.order)
        return len(node.free if orders is None else orders)

    def _lowest(self, node: Node, count: int, usable: dict[int, list[int]] | None) -> list[Slot]:
        orders = None if usable is None else usable.get(node.order)
        return [self.slots[order] for order in (node.free if orders is None else orders)[:count]]

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
