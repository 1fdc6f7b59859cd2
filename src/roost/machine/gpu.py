"""The `GpuDriver` protocol: one way to ask for GPUs, whether real, fake or simulated."""

from __future__ import annotations

from typing import Protocol

from roost.core.observation import DriverReading, GpuReading


class GpuDriver(Protocol):
    """Reads the GPUs of this machine. Nothing here raises for a fault of a card or the driver.

    Implementations: `machine.nvml.driver.NvmlDriver` (through its helper process) and
    `machine.simulated.SimulatedDriver`. A contract test holds both to this text.
    """

    def read(self, deadline_s: float) -> tuple[DriverReading, tuple[GpuReading, ...]]:
        """State of the driver and one reading a GPU, in index order, within `deadline_s`.

        After the deadline the cards known before are returned as NOT_ANSWERING. A GPU that was
        seen before and is missing stays in the list with its state.
        """

    def release(self) -> None:
        """Let go of the driver (for a reset or a MIG change); reads say RELEASED until `hold`."""

    def hold(self) -> None:
        """Take the driver up again."""

    def close(self) -> None:
        """Stop for good; no helper process stays behind."""
