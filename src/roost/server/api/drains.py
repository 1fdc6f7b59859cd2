"""The route of drains: which GPUs take no new work, by whom, and whom draining each would touch.

Operators only. Draining itself is `POST /v1/gpus/{gpu}/drain`.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from roost.core.model import JobState
from roost.server.api.context import Caller, answer, operators_only
from roost.server.api.operate_models import DrainsOut
from roost.server.api.render import iso
from roost.store import operate

router = APIRouter(prefix="/v1", tags=["operate"])
MOST_BOOKINGS = 50


@router.get("/drains", response_model=DrainsOut)
async def drains(call: Caller) -> Response:
    """Every GPU that can be drained: whether it is, why, since when and by whom; the jobs on it,
    which a drain lets go on until they end, and the next bookings of it (50 at most), which keep
    their GPU, though no new job of theirs starts there before it is used again. Operators only."""
    operators_only(call)
    context, board = call.context, call.context.board
    zone, now = context.time_zone, context.clock()
    gpus, drained, live = dict(board.gpus), dict(board.drained), board.live()
    bookings = sorted(
        (one for one in list(board.bookings.values()) if one.live and one.ends_at > now),
        key=lambda one: (one.starts_at, one.id),
    )

    def look() -> dict[str, dict[str, Any]]:
        if not drained:
            return {}
        with context.store.read() as connection:
            return operate.drained_by(connection, drained)

    by = await context.in_thread(look)
    rows = []
    for gpu in sorted(gpus.values(), key=lambda gpu: gpu.index):
        done = by.get(gpu.uuid)
        rows.append(
            {
                "gpu_uuid": gpu.uuid,
                "gpu_index": gpu.index,
                "name": gpu.model,
                "drained": gpu.uuid in drained,
                "reason": drained.get(gpu.uuid),
                "time": iso(done["at"], zone) if done else None,
                "by": done["user"] if done else None,
                "jobs": [
                    {
                        "job": job.id, "user": job.user, "name": job.name, "state": job.state.value,
                        "gpus": len(job.granted), "latest_end": iso(job.latest_end, zone),
                    }
                    for job in live
                    if job.state.holds_gpus and any(g.gpu_uuid == gpu.uuid for g in job.granted)
                ],
                "bookings": [
                    {
                        "booking": one.id, "user": one.user, "start": iso(one.starts_at, zone),
                        "end": iso(one.ends_at, zone), "maintenance": one.maintenance,
                    }
                    for one in bookings
                    if gpu.uuid in one.gpu_uuids
                ][:MOST_BOOKINGS],
            }
        )  # fmt: skip
    waiting = sum(job.state is JobState.PENDING for job in live)
    without = sum(job.state is not JobState.PENDING and not job.granted for job in live)
    return answer({"gpus": rows, "jobs_waiting": waiting, "jobs_without_gpus": without})
