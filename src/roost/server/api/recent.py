"""Route of the last hour: each GPU's readings as short rows of means, to be drawn as lines.

Reads the samples that the board keeps; knows nothing of the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from roost.server.api.context import Caller, answer
from roost.server.api.machine import gpu_uuid
from roost.server.api.render import iso
from roost.server.api.shown import RecentOut
from roost.server.board import RAW_S, Sample

router = APIRouter(prefix="/v1", tags=["machine"])
READINGS = ("utilisation_percent", "memory_used_bytes", "power_w", "temperature_c")


@router.get("/recent", response_model=RecentOut)
async def recent(
    call: Caller,
    gpu: Annotated[str | None, Query(max_length=100, description="Index or UUID")] = None,
    points: Annotated[int, Query(ge=2, le=720)] = 60,
) -> Response:
    """The last hour of every GPU, or of one."""
    uuid = gpu_uuid(call, gpu) if gpu is not None else None
    start = call.context.clock() - RAW_S
    step_s = RAW_S / points
    samples = [each for look in tuple(call.context.board.samples) for each in look]
    rows = means((s for s in samples if uuid in (None, s.gpu_uuid)), start, step_s, points)
    zone = call.context.time_zone
    return answer({"from": iso(start, zone), "step_s": step_s, "gpus": rows})


def means(
    samples: Iterable[Sample], start: float, step_s: float, points: int
) -> dict[str, dict[str, list[float | None]]]:
    """By GPU and reading, the mean over each of `points` steps; None for a step without any."""
    sums: dict[str, dict[str, list[list[float]]]] = {}
    for sample in samples:
        place = int((sample.at - start) // step_s)
        if not 0 <= place < points:
            continue
        rows = sums.setdefault(sample.gpu_uuid, {r: [[] for _ in range(points)] for r in READINGS})
        for reading, steps in rows.items():
            value: Any = getattr(sample, reading)
            if value is not None:
                steps[place].append(float(value))
    return {
        uuid: {
            reading: [round(sum(step) / len(step), 1) if step else None for step in steps]
            for reading, steps in rows.items()
        }
        for uuid, rows in sums.items()
    }
