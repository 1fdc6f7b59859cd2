"""From observations and allocations to ledger rows, minutes, hours and the figures of jobs.

Pure accumulation: no database, no clock. `take` hands out what is to be stored together with
`through`, the time of the last observation in it, so that a restart goes on exactly there.

How a GPU that several use is split, as bills state it: held seconds go to whoever holds the GPU,
times the share of its memory. GB·s (10^9 bytes) go to whose processes hold the bytes. Busy seconds
and joules go by the memory of the processes; where no process is known, to who holds the GPU; where
nobody does, to nobody (user "").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from roost.core.attribution.model import Attribution, GpuAttribution
from roost.core.observation import GpuReading, Observation
from roost.store.records import AllocationRecord, Reading, UsageAmount, UsageKey

HOUR_S = 3600
MINUTE_S = 60
GIGABYTE = 1e9
Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who something is charged to. `user` "" is nobody, `job` 0 no job."""

    user: str = ""
    group: str = ""
    job: int = 0
    priority_class: str = ""


NOBODY = Owner()


@dataclass(slots=True)
class JobFigures:
    """What was added to a job since the last `take`."""

    gpu_s: float = 0.0
    busy_s: float = 0.0
    observed_s: float = 0.0
    joules: float | None = None


@dataclass(slots=True)
class Accumulated:
    """All of it since the last `take`; `through` None where nothing was ever observed.

    `observed`: there was a look since then, so that `through` and `energy` are new.
    """

    through: float | None = None
    observed: bool = False
    usage: dict[UsageKey, UsageAmount] = field(default_factory=dict)
    minutes: dict[tuple[int, str], Reading] = field(default_factory=dict)
    hours: dict[tuple[int, str], Reading] = field(default_factory=dict)
    jobs: dict[int, JobFigures] = field(default_factory=dict)
    gaps: list[tuple[float, float]] = field(default_factory=list)
    energy: dict[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.usage or self.minutes or self.jobs or self.gaps)


class Ledger:
    """What was observed and held, until it is stored. Owned by the control thread."""

    def __init__(self, through: float | None, energy: Mapping[str, float]) -> None:
        self.through = through
        self._energy = dict(energy)
        self._boot_id: str | None = None
        self._new = Accumulated(through)

    def held(
        self, allocation: AllocationRecord, until: float, to_at: float | None = None
    ) -> AllocationRecord:
        """Held seconds of the allocation up to `until`, or to its end `to_at`, exactly.

        An end that lies before what was already counted takes the excess back.
        """
        end = until if to_at is None else to_at
        start = allocation.held_through
        if to_at is None and end <= start:
            return allocation
        owner = Owner(allocation.user, allocation.group, allocation.job, allocation.priority_class)
        sign = 1.0 if end >= start else -1.0
        for hour, span_s in _pieces(min(start, end), max(start, end), HOUR_S):
            row = self._row(hour, allocation.gpu_uuid, owner)
            row.held_s += sign * span_s * allocation.share
        self._job(allocation.job).gpu_s += (end - start) * allocation.share
        return msgspec.structs.replace(allocation, held_through=end, to_at=to_at)

    def observe(
        self,
        observation: Observation,
        attribution: Attribution | None,
        allocations: Sequence[AllocationRecord],
        ends: Mapping[tuple[int, int], float] | None = None,
    ) -> None:
        """Adds the time since the last observation. `ends` of attempts that are not yet taken in.

        Utilisation, memory and power are taken to have been as now over the span since the last
        look. A span that is too long to say that is a gap: nothing is added for it.
        """
        start, end = self.through, observation.taken_at
        if start is not None and end <= start:
            return
        rebooted = self._boot_id not in (None, observation.boot_id)
        self._boot_id = observation.boot_id
        energy, self._energy = (
            self._energy,
            {gpu.uuid: gpu.energy_j for gpu in observation.gpus if gpu.energy_j is not None},
        )
        self.through = self._new.through = end
        self._new.energy = self._energy
        self._new.observed = True
        if start is None:
            return
        if rebooted or end - start > max(5.0, 3.0 * observation.sample_s):
            self._new.gaps.append((start, end))
            return
        by_gpu: dict[str, list[tuple[AllocationRecord, float]]] = {}
        for allocation in allocations:
            last = allocation.to_at
            if last is None and ends is not None:
                last = ends.get((allocation.job, allocation.attempt))
            overlap = min(end, end if last is None else last) - max(start, allocation.from_at)
            if overlap > 0:
                by_gpu.setdefault(allocation.gpu_uuid, []).append((allocation, overlap))
        for gpu in observation.gpus:
            explained = attribution.gpu(gpu.uuid) if attribution is not None else None
            joules = _joules(gpu, energy.get(gpu.uuid), end - start)
            self._add_gpu(gpu, explained, by_gpu.get(gpu.uuid, []), start, end, joules)

    def take(self) -> Accumulated:
        """What is to be stored. If storing fails, the ledger is made anew from what is stored."""
        taken, self._new = self._new, Accumulated(self.through, energy=self._energy)
        return taken

    def _add_gpu(
        self,
        gpu: GpuReading,
        explained: GpuAttribution | None,
        holding: Sequence[tuple[AllocationRecord, float]],
        start: float,
        end: float,
        joules: float | None,
    ) -> None:
        span_s = end - start
        used = gpu.utilisation_percent
        busy_s = None if used is None else used / 100.0 * span_s
        self._add_readings(gpu, start, end, busy_s, joules)
        held = {
            Owner(a.user, a.group, a.job, a.priority_class): (a, overlap) for a, overlap in holding
        }
        memory = _memory(explained, held, gpu)
        weights = _weights(memory, held)
        for owner in sorted({*memory, *weights, *held}, key=_order):
            weight = weights.get(owner, 0.0)
            observed_s = 0.0
            if busy_s is not None:
                observed_s = held[owner][1] * held[owner][0].share if owner in held else (
                    weight * span_s
                )  # fmt: skip
            for hour, piece_s in _pieces(start, end, HOUR_S):
                part = piece_s / span_s
                row = self._row(hour, gpu.uuid, owner)
                row.observed_s += observed_s * part
                row.busy_s += (busy_s or 0.0) * weight * part
                row.gb_s += memory.get(owner, 0) / GIGABYTE * piece_s
                row.joules += (joules or 0.0) * weight * part
            if owner.job:
                figures = self._job(owner.job)
                if joules is not None:
                    figures.joules = (figures.joules or 0.0) + joules * weight
                if owner in held and used is not None:
                    figures.observed_s += held[owner][1]
                    figures.busy_s += held[owner][1] * used / 100.0

    def _add_readings(
        self,
        gpu: GpuReading,
        start: float,
        end: float,
        busy_s: float | None,
        joules: float | None,
    ) -> None:
        span_s = end - start
        for table, size in ((self._new.minutes, MINUTE_S), (self._new.hours, HOUR_S)):
            for begin, piece_s in _pieces(start, end, size):
                reading = table.setdefault((begin, gpu.uuid), Reading())
                part = piece_s / span_s
                reading.observed_s += piece_s
                if busy_s is not None:
                    reading.utilisation_s += piece_s
                    reading.busy_s += busy_s * part
                reading.memory_byte_s += (gpu.memory_used_bytes or 0) * piece_s
                reading.joules += (joules or 0.0) * part
                reading.memory_max_bytes = _higher(reading.memory_max_bytes, gpu.memory_used_bytes)
                reading.power_max_w = _higher(reading.power_max_w, gpu.power_w)
                reading.temperature_max_c = _higher(reading.temperature_max_c, gpu.temperature_c)

    def _row(self, hour: int, gpu_uuid: str, owner: Owner) -> UsageAmount:
        key = UsageKey(hour, gpu_uuid, owner.user, owner.group, owner.job, owner.priority_class)
        return self._new.usage.setdefault(key, UsageAmount())

    def _job(self, job: int) -> JobFigures:
        return self._new.jobs.setdefault(job, JobFigures())


def _memory(
    explained: GpuAttribution | None,
    held: Mapping[Owner, tuple[AllocationRecord, float]],
    gpu: GpuReading,
) -> dict[Owner, int]:
    """Bytes by owner; what nobody is known to hold is nobody's."""
    if explained is None:
        return {}
    by_job = {owner.job: owner for owner in held}
    found: dict[Owner, int] = {}
    for holder in explained.holders:
        if holder.job is not None and holder.job in by_job:
            owner = by_job[holder.job]
        else:
            owner = Owner(holder.user or "", holder.group or "")
        found[owner] = found.get(owner, 0) + (holder.memory_bytes or 0)
    if explained.rest is not None and explained.rest.memory_bytes:
        found[NOBODY] = found.get(NOBODY, 0) + explained.rest.memory_bytes
    return found


def _weights(
    memory: Mapping[Owner, int], held: Mapping[Owner, tuple[AllocationRecord, float]]
) -> dict[Owner, float]:
    """Parts of a GPU's busy time and energy; they add up to 1."""
    known = {owner: size for owner, size in memory.items() if owner.user and size > 0}
    total: float = sum(known.values())
    if total:
        return {owner: size / total for owner, size in known.items()}
    shares = {owner: a.share * overlap for owner, (a, overlap) in held.items()}
    total = sum(shares.values())
    if total:
        return {owner: share / total for owner, share in shares.items()}
    return {NOBODY: 1.0}


def _joules(gpu: GpuReading, before_j: float | None, span_s: float) -> float | None:
    """Energy over the span: of the card's counter, else its power; None where it says neither."""
    if gpu.energy_j is not None and before_j is not None and gpu.energy_j >= before_j:
        return gpu.energy_j - before_j
    return None if gpu.power_w is None else gpu.power_w * span_s


def _pieces(start: float, end: float, size: int) -> Iterator[tuple[int, float]]:
    """[start, end) cut where minutes or hours begin: (begin of it, seconds in it)."""
    while start < end:
        begin = int(start // size) * size
        stop = min(end, begin + size)
        yield begin, stop - start
        start = stop


def _order(owner: Owner) -> tuple[str, str, int, str]:
    return owner.user, owner.group, owner.job, owner.priority_class


def _higher(a: Number | None, b: Number | None) -> Number | None:
    if a is None or b is None:
        return b if a is None else a
    return max(a, b)
