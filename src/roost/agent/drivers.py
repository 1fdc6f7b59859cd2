"""Which driver reads this machine's GPUs: NVML's, or the simulated one that was asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from roost.machine.gpu import GpuDriver

Uses = Mapping[str, Iterable[tuple[int, int | None, bool]]]


def open_driver(simulate: str | None) -> GpuDriver:
    """`simulate` as in "8xA100"; None is the real one. Raises ValueError for an unknown card.

    ROOST_SIMULATE_FAULTS names the file by which simulated GPUs are told to fail.
    """
    if simulate is not None:
        from roost.machine.simulated import SimulatedDriver

        return SimulatedDriver(simulate, os.environ.get("ROOST_SIMULATE_FAULTS") or None)
    from roost.machine.nvml import NvmlDriver

    return NvmlDriver()


def tell_load(driver: GpuDriver, uses: Uses) -> None:
    """Simulated GPUs react to what runs on them, and have to be told: UUID to (pid, bytes of its
    share, or None for a whole GPU; whether it works, or stands still). Real ones need nothing."""
    from roost.machine.simulated import SimulatedDriver
    from roost.machine.simulation import SimulatedLoad

    if isinstance(driver, SimulatedDriver):
        driver.set_load(
            {
                uuid: [
                    SimulatedLoad((pid,), memory_bytes, None if works else 0)
                    for pid, memory_bytes, works in some
                ]
                for uuid, some in uses.items()
            }
        )
