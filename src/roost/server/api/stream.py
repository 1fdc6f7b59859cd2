"""The live stream: server-sent events `status`, `who`, `jobs`, at most one of each a second."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
from fastapi import APIRouter
from starlette.responses import StreamingResponse

from roost.server.api.context import Call, Caller
from roost.server.api.jobs import job_row
from roost.server.api.machine import status_json, who_json

router = APIRouter(prefix="/v1", tags=["live"])
_json = msgspec.json.Encoder()


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(call: Caller) -> StreamingResponse:
    """Everything now, and then whatever changes, whole each time."""
    return StreamingResponse(
        _stream(call),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(call: Call) -> AsyncIterator[bytes]:
    last: dict[str, bytes] = {}
    async for topics in call.context.live.topics():
        if not topics:
            yield b": still here\n\n"
        for topic in topics:
            data = _json.encode(_payload(call, topic))
            if last.get(topic) != data:
                last[topic] = data
                yield b"event: " + topic.encode() + b"\ndata: " + data + b"\n\n"


def _payload(call: Call, topic: str) -> Any:
    board = call.context.board
    if topic == "status":
        return status_json(call)
    if topic == "who":
        if board.attribution is None:
            return {"holders": [], "unattributed": [], "checks": [], "time": None}
        return who_json(call, board.attribution)
    return {"jobs": [job_row(call, job) for job in board.live()]}
