"""The live stream: server-sent events `status`, `who`, `jobs`, `bookings`, at most one of each a
second."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from fastapi import APIRouter
from starlette.responses import StreamingResponse

from roost.server.api.context import Call, Caller
from roost.server.api.jobs import job_row
from roost.server.api.machine import status_json, who_json
from roost.server.refusal import RefusalError
from roost.store.records import JobRecord

router = APIRouter(prefix="/v1", tags=["live"])
_json = msgspec.json.Encoder()
MOST_STREAMS = 16
MOST_JOBS = 5000
_streams: Counter[int] = Counter()


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(call: Caller) -> StreamingResponse:
    """Everything now, and then whatever changes, whole each time. Of very many jobs those that hold
    GPUs come first, then the caller's own, up to 5,000; `status` counts all. `bookings` says only
    that they changed: ask for those of the time that is looked at."""
    person = call.person
    if person.uid != 0 and _streams[person.uid] >= MOST_STREAMS:
        raise RefusalError(
            429, "door.too_many_streams", {"limit": MOST_STREAMS},
            user=person.name, limit=MOST_STREAMS,
        )  # fmt: skip
    return StreamingResponse(
        _stream(call),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(call: Call) -> AsyncIterator[bytes]:
    uid = call.person.uid
    _streams[uid] += 1
    try:
        async for piece in _pieces(call):
            yield piece
    finally:
        _streams[uid] -= 1
        if _streams[uid] <= 0:
            del _streams[uid]


async def _pieces(call: Call) -> AsyncIterator[bytes]:
    last: dict[str, bytes] = {}  # digests: the text itself may be megabytes, for each stream
    async for topics in call.context.live.topics():
        if not call.stands:
            return
        if not topics:
            yield b": still here\n\n"
        for topic in topics:
            data = _json.encode(_payload(call, topic))
            digest = hashlib.blake2b(data, digest_size=16).digest()
            if last.get(topic) != digest:
                last[topic] = digest
                yield b"event: " + topic.encode() + b"\ndata: " + data + b"\n\n"


def _payload(call: Call, topic: str) -> Any:
    board = call.context.board
    if topic == "status":
        return status_json(call)
    if topic == "who":
        if board.attribution is None:
            return {"holders": [], "unattributed": [], "checks": [], "time": None}
        return who_json(call, board.attribution)
    if topic == "bookings":
        return {"version": call.context.live.version(topic)}
    return {"jobs": [job_row(call, job) for job in _shown(board.live(), call.person.uid)]}


def _shown(jobs: Sequence[JobRecord], uid: int) -> Sequence[JobRecord]:
    if len(jobs) <= MOST_JOBS:
        return jobs
    first = sorted(jobs, key=lambda job: (not job.state.holds_gpus, job.uid != uid))
    return sorted(first[:MOST_JOBS], key=lambda job: job.id)
