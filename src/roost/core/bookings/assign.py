"""Which GPUs a booking gets. Least fragmentation in space first (the closest neighbourhood that can
hold it, as jobs are placed), then in time: of equal ones those whose free stretch it fills best, so
that long free stretches stay in one piece. Nothing here says who may book.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roost.core.bookings.model import Site, Want
from roost.core.model import Booking, Gpu
from roost.core.scheduler.links import link_islands
from roost.core.scheduler.placement import choose_whole, model_matches
from roost.core.scheduler.slot import Slot

Taken = tuple[float, float, int | None]
ENDLESS_S = 366 * 86400.0


class Timetable:
    """When which GPU is booked: by UUID (from, to, share of memory or None for the whole GPU)."""

    def __init__(self, bookings: Iterable[Booking], without: frozenset[int] = frozenset()) -> None:
        self.taken: dict[str, list[Taken]] = {}
        for one in bookings:
            if one.id in without:
                continue
            for uuid in one.gpu_uuids:
                self.taken.setdefault(uuid, []).append(
                    (one.starts_at, one.ends_at, one.memory_bytes)
                )
        for stays in self.taken.values():
            stays.sort(key=lambda stay: stay[0])

    def take(self, uuids: Iterable[str], start: float, end: float, share: int | None) -> None:
        """Books these GPUs, or so many bytes of them, as well."""
        for uuid in uuids:
            stays = self.taken.setdefault(uuid, [])
            stays.append((start, end, share))
            stays.sort(key=lambda stay: stay[0])

    def during(self, uuid: str, start: float, end: float) -> list[Taken]:
        return [one for one in self.taken.get(uuid, ()) if one[0] < end and start < one[1]]

    def free(self, uuid: str, start: float, end: float) -> bool:
        return not any(one[0] < end and start < one[1] for one in self.taken.get(uuid, ()))

    def free_bytes(self, gpu: Gpu, start: float, end: float) -> int:
        """Memory that nobody has booked at any instant of [start, end)."""
        stays = self.during(gpu.uuid, start, end)
        if any(share is None for _, _, share in stays):
            return 0
        most = 0
        for at in [start, *(begin for begin, _, _ in stays if begin > start)]:
            most = max(most, sum(share or 0 for begin, over, share in stays if begin <= at < over))
        return gpu.memory_bytes - most

    def slack_s(self, uuid: str, start: float, end: float) -> float:
        """How much longer the free stretch around the interval is than the interval."""
        stays = self.taken.get(uuid, ())
        before = max((over for _, over, _ in stays if over <= start), default=start - ENDLESS_S)
        after = min((begin for begin, _, _ in stays if begin >= end), default=end + ENDLESS_S)
        return (start - before) + (after - end)

    def edges(self) -> list[float]:
        """Every instant at which a booking begins or ends."""
        return sorted({at for stays in self.taken.values() for one in stays for at in one[:2]})


def candidates(site: Site, want: Want) -> list[Gpu]:
    """GPUs that would do if they were free, in index order."""
    if want.chosen:
        return [gpu for gpu in site.gpus if gpu.uuid in want.chosen]
    return [
        gpu
        for gpu in site.gpus
        if gpu.uuid not in site.unfit
        and (want.model is None or model_matches(gpu.model, want.model))
        and (want.memory_bytes is None or gpu.uuid in site.shared)
    ]


def assign(
    site: Site, table: Timetable, want: Want, start: float, end: float
) -> tuple[str, ...] | None:
    """UUIDs for [start, end), in index order; None where there is no room."""
    fitting = candidates(site, want)
    if want.memory_bytes is not None:
        return _share(fitting, table, want.memory_bytes, start, end)
    free = [gpu for gpu in fitting if table.free(gpu.uuid, start, end)]
    if want.chosen:
        return tuple(gpu.uuid for gpu in free) if len(free) == len(want.chosen) else None
    clear = [gpu for gpu in free if site.held.get(gpu.uuid, start) <= start]
    found = _choose(site, clear, table, want.gpus, start, end)
    return found or _choose(site, free, table, want.gpus, start, end)


def _choose(
    site: Site, free: Sequence[Gpu], table: Timetable, count: int, start: float, end: float
) -> tuple[str, ...] | None:
    if count < 1 or count > len(free):
        return None
    place = {gpu.uuid: number for number, gpu in enumerate(site.gpus)}
    tight = sorted(free, key=lambda gpu: (table.slack_s(gpu.uuid, start, end), place[gpu.uuid]))
    slots = [
        Slot(gpu=gpu, order=number, shared=gpu.uuid in site.shared)
        for number, gpu in enumerate(tight)
    ]
    chosen = choose_whole(slots, count, link_islands(site.gpus))
    if chosen is None:
        return None
    return tuple(sorted((slot.gpu.uuid for slot in chosen), key=place.__getitem__))


def _share(
    fitting: Sequence[Gpu], table: Timetable, memory_bytes: int, start: float, end: float
) -> tuple[str, ...] | None:
    """Best fit: the GPU with the least memory left over."""
    room = [(table.free_bytes(gpu, start, end), gpu.index, gpu.uuid) for gpu in fitting]
    enough = sorted(one for one in room if one[0] >= memory_bytes)
    return (enough[0][2],) if enough else None
