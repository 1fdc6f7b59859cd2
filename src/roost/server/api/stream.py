"""The live stream: server-sent events `status`, `who`, `jobs`, `bookings`, at most one of each a
second. What is said is made once for all who may read the same (`pieces`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from fastapi import APIRouter
from starlette.responses import StreamingResponse

from roost.server.api.context import Call, Caller
from roost.server.api.jobs import job_row
from roost.server.api.machine import status_json, who_json
from roost.server.api.pieces import MOST_JOBS
from roost.server.refusal import RefusalError
from roost.store.records import JobRecord

router = APIRouter(prefix="/v1", tags=["live"])
MOST_STREAMS = 16
_streams: Counter[int] = Counter()


class _Stream(StreamingResponse):
    """Counts among its account's from before it begins until it is over, however it ends."""

    def __init__(self, call: Call) -> None:
        super().__init__(
            _pieces(call),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
        self._call = call

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Raises RefusalError where its account has as many as it may."""
        person = self._call.person
        if person.uid != 0 and _streams[person.uid] >= MOST_STREAMS:
            raise RefusalError(
                429, "door.too_many_streams", {"limit": MOST_STREAMS},
                user=person.name, limit=MOST_STREAMS,
            )  # fmt: skip
        _streams[person.uid] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            _streams[person.uid] -= 1
            if _streams[person.uid] <= 0:
                del _streams[person.uid]


@router.get(
    "/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(call: Caller) -> StreamingResponse:
    """Everything now, and then whatever changes, whole each time. Of very many jobs those that hold
    GPUs come first, then the caller's own, up to 5,000; `status` counts all. `bookings` says only
    that they changed: ask for those of the time that is looked at. Who reads slowly is told what is
    so when he has read, not what was meanwhile. Ends when the caller's rights change."""
    return _Stream(call)


async def _pieces(call: Call) -> AsyncIterator[bytes]:
    last: dict[str, bytes] = {}  # digests: the text itself may be megabytes, for each stream
    context = call.context
    async for topics in context.live.topics():
        if not await call.still():
            return
        new = []
        for topic in topics:
            piece = context.pieces.of(
                topic, context.live.version(topic), context.board, call.person, call.language,
                partial(_payload, call, topic),
            )  # fmt: skip
            if last.get(topic) != piece.digest:
                last[topic] = piece.digest
                new.append(piece.data)
        if new:
            yield b"".join(new)
        elif not topics:
            yield b": still here\n\n"


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
