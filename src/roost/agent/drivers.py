"""Which driver reads this machine's GPUs: NVML's, or the simulated one that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from roost.machine.gpu import GpuDriver

Running = dict[tuple[int, int], tuple[int, int]]


def open_driver(simulate: str | None) -> GpuDriver:
    """`simulate` as in "8xA100"; None is the real one. Raises ValueError for an unknown card."""
    if simulate is not None:
        driver: GpuDriver = import_module("roost.machine.simulated").SimulatedDriver(simulate)
    else:
        driver = import_module("roost.machine.nvml").NvmlDriver()
    return driver


def load_of(driver: GpuDriver) -> Callable[[Running], None] | None:
    """Simulated GPUs react to what runs on them, and have to be told; real ones need nothing."""
    return None
