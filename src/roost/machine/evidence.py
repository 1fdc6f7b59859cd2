"""When a search of every process is worth its cost: claims that nobody bears out, memory of nobody.

Decides from numbers alone and keeps the history that this takes (how long memory has been without
an owner, when the last search was and for what).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from roost.core.observation import GpuReading, GpuState
from roost.machine.known import Known, Watched

MIB = 1024 * 1024
REST_BASE_BYTES = 128 * MIB
REST_PER_CONTEXT_BYTES = 64 * MIB
REST_FOR_S = 3.0
SAME_EVIDENCE_S = (60.0, 240.0, 900.0)
NEW_EVIDENCE_S = 2.0
MAX_PID = 1 << 22  # PID_MAX_LIMIT of 64-bit kernels
LOOK_AGAIN_S = (0.0, 1.0, 2.0, 5.0, 15.0, 60.0)


class Claim(NamedTuple):
    """What NVML says of one pid on one GPU."""

    gpu_uuid: str
    minor: int | None
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class Claims:
    """NVML's process lists of all GPUs, joined: pids that cannot be any are left out."""

    by_pid: dict[int, list[Claim]]
    by_gpu: dict[str, list[int]]
    uuid_of_minor: dict[int, str]

    @staticmethod
    def of(gpus: tuple[GpuReading, ...]) -> Claims:
        by_pid: dict[int, list[Claim]] = {}
        by_gpu: dict[str, list[int]] = {}
        uuids: dict[int, str] = {}
        for gpu in gpus:
            if gpu.minor is not None:
                uuids[gpu.minor] = gpu.uuid
            pids = by_gpu.setdefault(gpu.uuid, [])
            for process in gpu.processes:
                if 0 < process.pid < MAX_PID:
                    claim = Claim(gpu.uuid, gpu.minor, process.memory_bytes)
                    by_pid.setdefault(process.pid, []).append(claim)
                    if process.pid not in pids:
                        pids.append(process.pid)
        return Claims(by_pid, by_gpu, uuids)


class Evidence:
    """Remembers since when memory is without an owner, and what was searched for last."""

    def __init__(self) -> None:
        self._rest_since: dict[str, float] = {}
        self._searched_at = float("-inf")
        self._in_vain = 0
        self._searched_for: frozenset[tuple[str, object]] = frozenset()
        self._asked_for: frozenset[tuple[str, object]] = frozenset()

    def look_again(self, entry: Known, minor: int | None, now: float) -> bool:
        """Whether to read once more a process that is named for a GPU and not seen to hold it: at
        once, then less and less often."""
        if minor is None:
            return False
        last, times = entry.looked_for.get(minor, (float("-inf"), 0))
        if now - last < LOOK_AGAIN_S[min(times, len(LOOK_AGAIN_S) - 1)]:
            return False
        entry.looked_for[minor] = (now, times + 1)
        return True

    def wants_search(
        self, gpus: tuple[GpuReading, ...], claims: Claims, watched: Watched, now: float
    ) -> bool:
        """True for evidence that is new, or that no search has explained for a minute, for four,
        then every quarter of an hour."""
        found: set[tuple[str, object]] = set()
        for gpu in gpus:
            if gpu.state is not GpuState.OK:
                continue
            for pid in claims.by_gpu.get(gpu.uuid, ()):
                entry = watched.get(pid)
                if entry is None or gpu.uuid not in entry.held:
                    found.add((gpu.uuid, pid))
            if _rest(gpu) > _tolerance(gpu):
                since = self._rest_since.setdefault(gpu.uuid, now)
                if now - since >= REST_FOR_S:
                    found.add((gpu.uuid, _rest(gpu) // (256 * MIB)))
            else:
                self._rest_since.pop(gpu.uuid, None)
        if not found:
            return False
        fresh = not found <= self._searched_for
        wait = SAME_EVIDENCE_S[min(self._in_vain, len(SAME_EVIDENCE_S) - 1)]
        if now - self._searched_at < (NEW_EVIDENCE_S if fresh else wait):
            return False
        self._in_vain = 0 if fresh else self._in_vain + 1
        self._asked_for = frozenset(found)
        return True

    def searched(self, now: float) -> None:
        self._searched_at = now
        self._searched_for = self._asked_for

    def unexplained(self, gpus: tuple[GpuReading, ...], claims: Claims, watched: Watched) -> bool:
        """True while some GPU has memory of nobody and no unnamed process is seen to hold it."""
        for gpu in gpus:
            if gpu.state is not GpuState.OK or gpu.minor is None:
                continue
            pids = claims.by_gpu.get(gpu.uuid, ())
            orphaned = any(not _bears_out(watched.get(pid), gpu.minor) for pid in pids)
            if not orphaned and _rest(gpu) <= _tolerance(gpu):
                continue
            holders = (
                entry
                for entry in watched
                if entry.facts.pid not in claims.by_pid
                and any(use.minor == gpu.minor for use in entry.facts.devices)
            )
            if next(holders, None) is None:
                return True
        return False


def _bears_out(entry: Known | None, minor: int) -> bool:
    return entry is not None and any(use.minor == minor for use in entry.facts.devices)


def _rest(gpu: GpuReading) -> int:
    if gpu.memory_used_bytes is None:
        return 0
    return gpu.memory_used_bytes - sum(process.memory_bytes or 0 for process in gpu.processes)


def _tolerance(gpu: GpuReading) -> int:
    return REST_BASE_BYTES + REST_PER_CONTEXT_BYTES * len(gpu.processes)
