"""Which GPUs reach each other without leaving NVLink. It must not know who holds them."""

from __future__ import annotations

from collections.abc import Sequence

from roost.core.model import Gpu


def link_islands(gpus: Sequence[Gpu]) -> dict[str, int]:
    """For each UUID the number of its NVLink island: GPUs that reach each other by links."""
    island: dict[str, int] = {}
    by_uuid = {gpu.uuid: gpu for gpu in gpus}
    neighbours: dict[str, list[str]] = {gpu.uuid: [] for gpu in gpus}
    for gpu in gpus:
        for other in gpu.links:
            if other in by_uuid:
                neighbours[gpu.uuid].append(other)
                neighbours[other].append(gpu.uuid)
    for number, gpu in enumerate(gpus):
        reach = [gpu.uuid] if gpu.uuid not in island else []
        while reach:
            uuid = reach.pop()
            if uuid not in island:
                island[uuid] = number
                reach += neighbours[uuid]
    return island
