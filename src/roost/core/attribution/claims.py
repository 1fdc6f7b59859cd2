"""What NVML says of processes, joined to one claim a process: validated, deduplicated, summed.

The same process stands in the compute and in the graphics list with the same memory (taken once),
and once in each MIG instance with different memory (added up).
"""

from __future__ import annotations

from dataclasses import dataclass

from roost.core.observation import GpuReading

MAX_PID = 1 << 22  # PID_MAX_LIMIT of 64-bit kernels; NVML has been seen to give 0 and 4294967295


@dataclass(frozen=True, slots=True)
class Claim:
    """`memory_bytes` None: the driver does not say. `sm_percent` None: not measured.

    `instances` are the (GPU instance, compute instance) ids of MIG that it is listed in.
    """

    pid: int
    memory_bytes: int | None
    kinds: tuple[str, ...]
    sm_percent: int | None
    instances: tuple[tuple[int, int | None], ...] = ()


def claims_of(gpu: GpuReading) -> tuple[Claim, ...]:
    """One claim a pid, in the order of the driver; impossible pids are left out."""
    total = gpu.memory_total_bytes
    instances: dict[tuple[int, int | None, int | None], int | None] = {}
    kinds: dict[int, list[str]] = {}
    sm: dict[int, int | None] = {}
    for process in gpu.processes:
        if not 0 < process.pid < MAX_PID:
            continue
        memory = process.memory_bytes
        if memory is not None and (memory < 0 or (total is not None and memory > total)):
            memory = None  # a sentinel or a wrong stride: unknown, never a number
        key = (process.pid, process.gpu_instance_id, process.compute_instance_id)
        known = instances.get(key)
        instances[key] = memory if known is None else max(known, memory or 0)
        of_pid = kinds.setdefault(process.pid, [])
        of_pid.extend(kind for kind in process.kinds if kind not in of_pid)
        percent = process.sm_percent
        if percent is not None and not 0 <= percent <= 100:
            percent = None
        if percent is not None:
            sm[process.pid] = max(percent, sm.get(process.pid) or 0)
    sums: dict[int, int | None] = {}
    inside: dict[int, list[tuple[int, int | None]]] = {}
    for (pid, gi, ci), memory in instances.items():
        if gi is not None:
            inside.setdefault(pid, []).append((gi, ci))
        so_far = sums.get(pid)
        if memory is None:
            sums.setdefault(pid, None)
        else:
            sums[pid] = memory + (so_far or 0)
    return tuple(
        Claim(pid, memory, tuple(kinds[pid]), sm.get(pid), tuple(inside.get(pid, ())))
        for pid, memory in sums.items()
    )
