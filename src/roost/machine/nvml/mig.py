"""MIG instances of a GPU: every slot is asked, since an empty one is a hole and not the end.

Their utilisation is not measured here: NVML says nothing of it on MIG (nvtop#256 shows 0 %).
"""

from __future__ import annotations

from ctypes import c_void_p
from dataclasses import dataclass

from roost.core.observation import MigInstance
from roost.machine.nvml.calls import Calls, count_64
from roost.machine.nvml.library import OK, Library
from roost.machine.nvml.processes import ProcessList, Rows


@dataclass(frozen=True, slots=True)
class _Identity:
    uuid: str
    name: str
    gpu_instance_id: int
    compute_instance_id: int


class MigReader:
    """Lists instances anew each time: they come and go while the card runs."""

    def __init__(self, library: Library, calls: Calls, compute: ProcessList) -> None:
        self._library = library
        self._calls = calls
        self._compute = compute
        self._slots: dict[int, int] = {}

    def _handles(self, handle: c_void_p) -> list[c_void_p]:
        key = handle.value or 0
        if key not in self._slots:
            code, slots = self._calls.number("nvmlDeviceGetMaxMigDeviceCount", handle)
            self._slots[key] = slots or 0 if code == OK else 0
        found = []
        for slot in range(self._slots[key]):
            _, one = self._calls.mig_handle(handle, slot)
            if one is not None:
                found.append(one)
        return found

    def instances(self, handle: c_void_p) -> tuple[MigInstance, ...]:
        """In order of slots. One that vanishes while it is asked is left out."""
        found = []
        for one in self._handles(handle):
            identity = self._identity(one)
            if identity is None:
                continue
            total = used = None
            if self._calls.memory_info(one) == OK:
                memory = self._calls.memory
                total, used = count_64(memory.total), count_64(memory.used)
            elif self._calls.memory_info_old(one) == OK:
                old = self._calls.memory_old
                total, used = count_64(old.total), count_64(old.used)
            found.append(
                MigInstance(
                    identity.uuid,
                    identity.name,
                    identity.gpu_instance_id,
                    identity.compute_instance_id,
                    total,
                    used,
                )
            )
        return tuple(found)

    def _identity(self, handle: c_void_p) -> _Identity | None:
        code, uuid = self._library.text("nvmlDeviceGetUUID", handle)
        if code != OK:
            return None
        _, name = self._library.text("nvmlDeviceGetName", handle)
        gi_code, gi = self._library.number("nvmlDeviceGetGpuInstanceId", handle)
        ci_code, ci = self._library.number("nvmlDeviceGetComputeInstanceId", handle)
        if gi_code != OK or ci_code != OK:
            return None
        return _Identity(uuid, name or "?", gi, ci)

    def compute_rows(self, handle: c_void_p) -> tuple[int, Rows]:
        """Processes by instance, for who may not see the card's whole list (no mig/monitor)."""
        rows: Rows = []
        for one in self._handles(handle):
            identity = self._identity(one)
            if identity is None:
                continue
            code, some = self._compute.read(one)
            if code == OK:
                ids = (identity.gpu_instance_id, identity.compute_instance_id)
                rows += [(*row[:2], *ids) for row in some]
        return OK, rows
