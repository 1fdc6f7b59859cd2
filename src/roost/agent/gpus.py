"""Which device files the granted GPUs are, by the latest observation. Knows no jobs."""

from __future__ import annotations

from collections.abc import Iterable

from roost.agent.validate import RefusedError
from roost.core.observation import GpuReading
from roost.machine.private_dev import GpuAccess
from roost.wire.messages import GpuGrant


class Gpus:
    """The machine's GPUs and MIG instances by UUID; those seen once stay known."""

    def __init__(self, simulated: bool) -> None:
        self._simulated = simulated
        self._access: dict[str, GpuAccess | None] = {}

    def see(self, readings: Iterable[GpuReading]) -> None:
        for gpu in readings:
            if gpu.minor is None:
                self._access.setdefault(gpu.uuid, None)
                for instance in gpu.mig_instances:
                    self._access.setdefault(instance.uuid, None)
                continue
            self._access[gpu.uuid] = GpuAccess(gpu.minor, gpu.pci_bus_id)
            for instance in gpu.mig_instances:
                self._access[instance.uuid] = GpuAccess(
                    gpu.minor,
                    gpu.pci_bus_id,
                    instance.gpu_instance_id,
                    instance.compute_instance_id,
                )

    def access(self, grants: Iterable[GpuGrant]) -> list[GpuAccess]:
        """What opens these. Raises RefusedError for a GPU that is not this machine's, or whose
        device file is not known (a simulated one needs none)."""
        found = []
        for grant in grants:
            if grant.uuid not in self._access:
                raise RefusedError("unknown_gpu", uuid=grant.uuid)
            access = self._access[grant.uuid]
            if access is not None:
                found.append(access)
            elif not self._simulated:
                raise RefusedError("gpu_without_node", uuid=grant.uuid)
        return found
