"""What the agent is asked to end, of a plan that frees a GPU. Must not know who asks, nor why."""

from __future__ import annotations

from roost.core.attribution.free import FreeProcess
from roost.core.attribution.show import text_of
from roost.wire.messages import FreeItem


def free_item(gpu_uuid: str, process: FreeProcess) -> FreeItem:
    """That process of the plan, with what it is known by."""
    return FreeItem(
        pid=process.pid,
        start_ticks=process.start_ticks,
        gpu_uuid=gpu_uuid,
        evidence="; ".join(text_of(each) for each in process.evidence),
        container_id=process.container_id,
    )
