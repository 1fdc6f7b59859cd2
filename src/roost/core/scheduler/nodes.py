"""Which GPUs are free on which server, kept as jobs come and go, so that asking costs little.

A GPU is free here when a whole-GPU job could be put onto it: nothing on it, not claimed, not out.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

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
    """All servers with GPUs; one, for the daemon."""

    def __init__(self) -> None:
        self.all: list[Node] = []
        self.slots: list[Slot] = []
        self.free_count = 0
        self.largest = 0
        self._by_name: dict[str, Node] = {}
        self._most_free: int | None = None

    def rebuild(self, slots: Sequence[Slot]) -> None:
        """Anew from all slots; to be called when there are other slots, or marks of them change."""
        self.slots = sorted(slots, key=lambda slot: slot.order)
        self._by_name, self.free_count, self._most_free = {}, 0, None
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

    def update(self, slot: Slot) -> None:
        """Something about this slot has changed: is it free?"""
        node = self._by_name[slot.gpu.server]
        node.version += 1
        free = slot.available
        if free is slot.free:
            return
        slot.free = free
        self._most_free = None
        if free:
            insort(node.free, slot.order)
            self.free_count += 1
        else:
            del node.free[bisect_left(node.free, slot.order)]
            self.free_count -= 1

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
        if self._most_free is None:
            self._most_free = max((len(node.free) for node in self.all), default=0)
        return gpus <= self._most_free
