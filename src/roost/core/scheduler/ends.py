"""When the GPUs of each server come free by the known ends of what runs, kept until that changes.

The quick answer to the commonest question, asked at nearly every step: where is there first room
for a job that takes from nobody, when no room is kept for anybody else. `horizon` answers the rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from roost.core.scheduler.nodes import Node, Nodes
from roost.core.scheduler.reserved import NEVER
from roost.core.scheduler.slot import Slot

# Instants, ascending, and the order numbers of the slots that come free then.
Line = tuple[list[float], list[int]]


class Ends:
    """`end_of` gives the known end of a job, NEVER for none; a past one means it is overdue."""

    def __init__(self, nodes: Nodes, end_of: Callable[[int], float]) -> None:
        self._nodes = nodes
        self._end_of = end_of
        self._lines: dict[int, tuple[int, Line]] = {}

    def _line(self, node: Node) -> Line:
        known = self._lines.get(node.order)
        if known is not None and known[0] == node.version:
            return known[1]
        found = []
        for slot in node.slots:
            if not slot.open or slot.foreign_bytes:
                continue
            end = 0.0
            for number in slot.occupants:
                end = max(end, self._end_of(number))
            found.append((NEVER if slot.claim is not None else end, slot.order))
        found.sort()
        line = [end for end, _ in found], [order for _, order in found]
        self._lines[node.order] = node.version, line
        return line

    def first(self, count: int, now: float) -> tuple[list[Slot], float] | None:
        """All slots of the chosen server (or servers) that are free by the first instant at which
        `count` GPUs are; of several servers the one that is then fullest. None: never."""
        nodes = self._nodes
        if count > nodes.largest:
            return self._whole(count, now)
        at = NEVER
        lines = []
        for node in nodes.all:
            line = self._line(node)
            if len(line[0]) < count:
                continue
            end = line[0][count - 1]
            lines.append((end, line))
            at = min(at, end)
        if not lines:
            return None
        at = max(at, now)
        best: Line | None = None
        fewest = 0
        for end, line in lines:
            if end > at:
                continue
            free = bisect_right(line[0], at)
            if best is None or free < fewest:
                best, fewest = line, free
        if best is None:
            return None
        return [nodes.slots[order] for order in sorted(best[1][:fewest])], at

    def _whole(self, count: int, now: float) -> tuple[list[Slot], float] | None:
        """All slots of whole servers that are free when there are enough of them; None also where
        a part of a server is wanted beside them."""
        nodes = self._nodes
        if not nodes.largest or count % nodes.largest:
            return None
        lines = [self._line(node) for node in nodes.all]
        full = sorted(
            (line[0][-1], n) for n, line in enumerate(lines) if len(line[0]) == nodes.largest
        )
        wanted = count // nodes.largest
        if len(full) < wanted:
            return None
        at = max(now, full[wanted - 1][0])
        orders = sorted(o for end, n in full if end <= at for o in lines[n][1])
        return [nodes.slots[order] for order in orders], at
