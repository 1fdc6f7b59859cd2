"""Route of the last hour: each GPU's readings as short rows of means, to be drawn as lines.

Reads what the board keeps; knows nothing of the ledger.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from roost.server.api.context import Caller, answer
from roost.server.api.machine import gpu_uuid
from roost.server.api.render import iso
from roost.server.api.shown import RecentOut
from roost.server.readings import HOUR_S

router = APIRouter(prefix="/v1", tags=["machine"])


@router.get("/recent", response_model=RecentOut)
async def recent(
    call: Caller,
    gpu: Annotated[str | None, Query(max_length=100, description="Index or UUID")] = None,
    points: Annotated[int, Query(ge=2, le=720)] = 60,
) -> Response:
    """The last hour of every GPU, or of one."""
    uuid = gpu_uuid(call, gpu) if gpu is not None else None
    start = call.context.clock() - HOUR_S
    step_s = HOUR_S / points
    readings = call.context.board.readings
    rows = await call.context.in_thread(lambda: readings.means(start, step_s, points, uuid))
    return answer({"from": iso(start, call.context.time_zone), "step_s": step_s, "gpus": rows})
