"""NVML's process lists: which function, in which layout, joined over the lists and checked.

The layout is found by what was written into a patterned buffer, not by the driver's version: 535.43
to 535.8x wrote 32 bytes where the same name writes 24 (gpustat#161, nvitop#88). What is told here
is NVML's claim; whether the pid is alive or even the same process is for others to check.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_char, c_uint, c_ulonglong, memset
from dataclasses import dataclass
from struct import Struct

from roost.core.observation import GpuProcess
from roost.machine.nvml.library import (
    FUNCTION_NOT_FOUND,
    INSUFFICIENT_SIZE,
    NOT_FOUND,
    OK,
    Call,
    Library,
)

PATTERN = 0xA5
NOWHERE = 0xFFFFFFFF
NOT_AVAILABLE = 1 << 63  # sentinels of NVML have the top bit set
BAD_PIDS = frozenset((0, 0xFFFFFFFF))
WIDEST = 32

# Bytes of an entry, and how it is read: pid, memory, then instances where the layout has them.
LAYOUTS = {
    16: Struct("=I4xQ"),
    24: Struct("=I4xQII"),
    32: Struct("=I4xQII8x"),
}
SAMPLE = Struct("=I4xQIIII")

Rows = list[tuple[int, ...]]


def stride_of(buffer: bytes, count: int) -> int | None:
    """Bytes of an entry when `count` of them were written over a pattern; None: no known layout."""
    written = len(buffer.rstrip(bytes([PATTERN])))
    return next((stride for stride in LAYOUTS if written == stride * count), None)


class ProcessList:
    """One of the lists (compute, graphics, MPS), by the newest function that tells the truth."""

    def __init__(self, library: Library, what: str) -> None:
        self._functions: list[Call] = [
            function
            for suffix in ("_v3", "_v2", "")
            if (function := library.find(f"nvmlDeviceGet{what}RunningProcesses{suffix}"))
        ]
        self._stride: int | None = None
        self._count = c_uint()
        self._count_ref = byref(self._count)
        self._make_room(256)

    def _make_room(self, capacity: int) -> None:
        self._capacity = capacity
        self._buffer = (c_char * (capacity * WIDEST))()
        self._view = memoryview(self._buffer).cast("B")

    def read(self, handle: object) -> tuple[int, Rows]:
        """Code, and rows of (pid, memory) or (pid, memory, GPU instance, compute instance)."""
        while self._functions:
            code = self._call(self._functions[0], handle)
            if code == OK:
                count = self._count.value
                if not count:
                    return OK, []
                if self._stride is None:
                    self._stride = stride_of(bytes(self._view[: (count + 1) * WIDEST]), count)
                if self._stride is not None:
                    end = count * self._stride
                    return OK, list(LAYOUTS[self._stride].iter_unpack(self._view[:end]))
            elif code != FUNCTION_NOT_FOUND:
                return code, []
            self._functions.pop(0)  # an unknown layout, or a name without a function
        return FUNCTION_NOT_FOUND, []

    def _call(self, function: Call, handle: object) -> int:
        for _ in range(5):
            if self._stride is None:
                memset(self._buffer, PATTERN, len(self._buffer))
            self._count.value = self._capacity - 1
            code = function(handle, self._count_ref, self._buffer)
            if code != INSUFFICIENT_SIZE:
                return code
            self._make_room(max(self._count.value, self._capacity) * 2)
        return INSUFFICIENT_SIZE


class UtilisationSamples:
    """Per-process utilisation since the last look. Garbage is dropped (nvtop#110), not clamped."""

    def __init__(self, library: Library) -> None:
        self._function = library.find("nvmlDeviceGetProcessUtilization")
        self._count = c_uint()
        self._count_ref = byref(self._count)
        self._make_room(1024)

    def _make_room(self, capacity: int) -> None:
        self._capacity = capacity
        self._buffer = (c_char * (capacity * SAMPLE.size))()
        self._view = memoryview(self._buffer).cast("B")

    def read(
        self, handle: object, since_us: int, pids: frozenset[int] | set[int]
    ) -> tuple[dict[int, int] | None, int]:
        """SM percent by pid, and the newest time stamp (microseconds of the CPU's clock).

        A pid of `pids` that is missing was idle (nvml.h: only processes with non-zero use are
        told). None: not told at all, or told of pids that are not in the lists, so that silence
        about one means nothing (another pid namespace).
        """
        if self._function is None:
            return None, since_us
        for _ in range(3):
            self._count.value = self._capacity
            code = self._function(handle, self._buffer, self._count_ref, c_ulonglong(since_us))
            if code != INSUFFICIENT_SIZE:
                break
            self._make_room(max(self._count.value, self._capacity) * 2)
        if code == NOT_FOUND:
            return {}, since_us
        if code != OK:
            return None, since_us
        newest = since_us
        found: dict[int, tuple[int, int]] = {}
        foreign = False
        end = self._count.value * SAMPLE.size
        for pid, at, sm, memory, encoder, decoder in SAMPLE.iter_unpack(self._view[:end]):
            if at <= since_us or sm > 100 or memory > 100 or encoder > 100 or decoder > 100:
                continue
            if pid not in pids:
                foreign = True
                continue
            newest = max(newest, at)
            if pid not in found or found[pid][0] < at:
                found[pid] = (at, sm)
        if foreign and not found:
            return None, newest
        return {pid: sm for pid, (_, sm) in found.items()}, newest


@dataclass(slots=True)
class Joined:
    """One process of a GPU while lists are joined."""

    memory: int | None
    kinds: tuple[str, ...]


Key = tuple[int, int | None, int | None]


def join(lists: tuple[tuple[str, Rows], ...]) -> dict[Key, Joined]:
    """Each (pid, GPU instance, compute instance) once, with the largest memory told (gpustat#84).

    Pids that are none (0, 2^32-1) are dropped; memory with the top bit set is not available.
    """
    joined: dict[Key, Joined] = {}
    for kind, rows in lists:
        for row in rows:
            pid = row[0]
            if pid in BAD_PIDS:
                continue
            memory: int | None = row[1] if row[1] < NOT_AVAILABLE else None
            key: Key = (pid, None, None)
            if len(row) > 2:
                gi, ci = row[2], row[3]
                key = (pid, None if gi == NOWHERE else gi, None if ci == NOWHERE else ci)
            known = joined.get(key)
            if known is None:
                joined[key] = Joined(memory, (kind,))
                continue
            if memory is not None and (known.memory is None or memory > known.memory):
                known.memory = memory
            if kind not in known.kinds:
                known.kinds = (*known.kinds, kind)
    return joined


def as_processes(
    joined: dict[Key, Joined], percent: Callable[[int], int | None]
) -> tuple[GpuProcess, ...]:
    """As the observation has them, in order of pid."""
    return tuple(
        GpuProcess(pid, one.memory, one.kinds, gi, ci, percent(pid))
        for (pid, gi, ci), one in sorted(
            joined.items(), key=lambda item: (item[0][0], item[0][1] or 0, item[0][2] or 0)
        )
    )
