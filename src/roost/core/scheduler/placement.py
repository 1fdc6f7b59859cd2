"""Which free GPUs a job gets: least fragmentation first, then closeness by NVLink and NUMA.

Pure choice among the slots it is given; who may have them at all is decided before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

from roost.core.scheduler.slot import Slot


@lru_cache(maxsize=4096)
def model_matches(model: str, wanted: str) -> bool:
    """Whether a GPU of that model is what "A100", "rtx4090" or "A100-SXM4-80GB" asks for.

    Whole words of the name, written together or apart, in any case: "A10" is not "A100".
    """
    words = "".join(c if c.isalnum() else " " for c in model.lower()).split()
    sought = "".join(c for c in wanted.lower() if c.isalnum())
    if not sought:
        return False
    return any(
        "".join(words[first:last]) == sought
        for first in range(len(words))
        for last in range(first + 1, len(words) + 1)
    )


Domain = Callable[[Slot], Hashable]


def domains(islands: dict[str, int]) -> tuple[Domain, ...]:
    """From the closest neighbourhood to the widest: what GPUs of one job should have in common."""

    def linked(slot: Slot) -> int:
        return islands.get(slot.gpu.uuid, -1 - slot.order)

    return (
        lambda slot: (slot.gpu.model, linked(slot), slot.gpu.numa_node),
        lambda slot: (slot.gpu.model, linked(slot)),
        lambda slot: (slot.gpu.model, slot.gpu.numa_node),
        lambda slot: slot.gpu.model,
    )


def choose_whole(
    free: Sequence[Slot], count: int, islands: dict[str, int], largest: int = 0
) -> tuple[Slot, ...] | None:
    """`count` of the free slots, or None where there is no room. A job is kept on one server where
    one can hold it (`largest`: the GPUs of the largest), on whole servers and a part where not.

    GPUs marked shared are left for shares as long as the others suffice. Equal choices go to the
    lowest index.
    """
    if count > len(free):
        return None
    if count == 0:
        return ()
    first = free[0].gpu.server
    if all(slot.gpu.server == first for slot in free):
        return _on_one(free, count, islands) if count <= largest or not largest else None
    by_server: dict[str, list[Slot]] = {}
    for slot in free:
        by_server.setdefault(slot.gpu.server, []).append(slot)
    chosen = choose_servers({name: len(slots) for name, slots in by_server.items()}, count, largest)
    if chosen is None:
        return None
    found: list[Slot] = []
    for name, part in chosen:
        found += _on_one(by_server[name], part, islands)
    return tuple(sorted(found, key=lambda slot: slot.order))


def choose_servers(
    free: Mapping[str, int], count: int, largest: int
) -> list[tuple[str, int]] | None:
    """How many GPUs of which server: the fullest that holds them all; more than the largest has,
    on empty servers of that size and the fullest that holds the rest."""
    found: list[tuple[str, int]] = []
    taken: set[str] = set()
    if count > largest:
        empty = [name for name, size in free.items() if size >= largest > 0]
        whole = count // largest if largest else 0
        if len(empty) < whole or not whole:
            return None
        taken.update(empty[:whole])
        found = [(name, largest) for name in empty[:whole]]
        count -= whole * largest
    if count:
        fitting = [(n, size) for n, size in free.items() if size >= count and n not in taken]
        if not fitting:
            return None
        found.append((min(fitting, key=itemgetter(1))[0], count))
    return found


def _on_one(free: Sequence[Slot], count: int, islands: dict[str, int]) -> tuple[Slot, ...]:
    kinds = domains(islands)
    plain = [slot for slot in free if not slot.shared]
    if len(plain) >= count:
        chosen = _closest(plain, count, kinds)
    else:
        marked = [slot for slot in free if slot.shared]
        chosen = [*plain, *_closest(marked, count - len(plain), kinds)]
    return tuple(sorted(chosen, key=lambda slot: slot.order))


def _closest(free: list[Slot], count: int, kinds: tuple[Domain, ...]) -> list[Slot]:
    """Best fit: the closest kind of neighbourhood that can hold them all, of these the one with
    the fewest left over, seen also in the wider ones; none: the fullest ones put together."""
    if count <= 0:
        return []
    if count == len(free):
        return free
    sizes = [_sizes(free, kind) for kind in kinds]
    for level, kind in enumerate(kinds):
        fitting = [slot for slot in free if sizes[level][kind(slot)] >= count]
        if not fitting:
            continue

        def crowding(slot: Slot, level: int = level) -> tuple[int, ...]:
            left = tuple(sizes[n][kinds[n](slot)] for n in range(level, len(kinds)))
            return (slot.gpu.memory_bytes, *left, slot.order)

        best = min(fitting, key=crowding)
        inside = [slot for slot in fitting if kind(slot) == kind(best)]
        return _fill(inside, count, kinds[:level])
    return _fill(free, count, kinds)


def _fill(inside: list[Slot], count: int, kinds: tuple[Domain, ...]) -> list[Slot]:
    """`count` of these by whole closer neighbourhoods, the largest first, the last by best fit."""
    found: list[Slot] = []
    while kinds and 0 < count < len(inside):
        kind = kinds[-1]
        sizes = _sizes(inside, kind)
        if len(sizes) == 1:
            kinds = kinds[:-1]
            continue
        enough = [size for size in sizes.values() if size >= count]
        target = min(enough) if enough else max(sizes.values())
        first = kind(next(slot for slot in inside if sizes[kind(slot)] == target))
        part = [slot for slot in inside if kind(slot) == first]
        if len(part) >= count:
            inside, kinds = part, kinds[:-1]
            continue
        found += part
        count -= len(part)
        inside = [slot for slot in inside if kind(slot) != first]
    return found + inside[:count]


def _sizes(free: Sequence[Slot], kind: Domain) -> dict[Hashable, int]:
    sizes: dict[Hashable, int] = {}
    for slot in free:
        name = kind(slot)
        sizes[name] = sizes.get(name, 0) + 1
    return sizes


def choose_share(
    candidates: Sequence[Slot], memory_bytes: int, percent: int | None = None
) -> Slot | None:
    """Best fit: the slot with the least memory left over that still holds the share, of several the
    one with the least compute left. `percent` None: no compute is kept for it, any will do."""
    fitting = [
        slot
        for slot in candidates
        if slot.free_bytes >= memory_bytes and slot.free_percent >= (percent or 0)
    ]
    return min(fitting, key=lambda s: (s.free_bytes, s.free_percent, s.order), default=None)
