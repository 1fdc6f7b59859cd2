"""The peer: starlette on uvicorn: constants of the same sizes, and the same stream for all.

What any server of this make costs for this load at least: it knows no people, no rights, no GPUs.
"""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.error import URLError

from benchmarks.viewers.side import Ask, Headers, Side, free_port

PROGRAM = """
import asyncio, json, sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

port, status, other, every, rare = map(int, sys.argv[1:])
small, middle = b'"' + b"s" * status + b'"', b'"' + b"o" * other + b'"'
tick = b"event: status\\ndata: \\"" + b"e" * every + b"\\"\\n\\n"
news, latest = asyncio.Event(), (0, b"")

def change(piece):
    global news, latest
    latest = (latest[0] + 1, piece)
    old, news = news, asyncio.Event()
    old.set()

async def clock():
    while True:
        await asyncio.sleep(1.0)
        change(tick)

async def pieces():
    yield tick
    while True:
        await news.wait()
        yield latest[1]

async def events(request):
    return StreamingResponse(pieces(), media_type="text/event-stream")

async def stir(request):
    data = {"name": json.loads(await request.body())["name"], "rest": "j" * rare}
    text = json.dumps(data, separators=(",", ":")).encode()
    change(b"event: jobs\\ndata: " + text + b"\\n\\n")
    return Response(b'{"job":1}', 201, media_type="application/json")

async def answer(request):
    return Response(small, media_type="application/json")

async def another(request):
    return Response(middle, media_type="application/json")

app = Starlette(routes=[
    Route("/events", events), Route("/stir", stir, methods=["POST"]),
    Route("/status", answer), Route("/other", another),
])

async def main():
    beside = asyncio.create_task(clock())
    config = uvicorn.Config(app, port=port, log_level="warning", http="httptools", loop="asyncio",
                            ws="none", lifespan="off", timeout_keep_alive=120)
    await uvicorn.Server(config).serve()

asyncio.run(main())
"""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of Roost's answers: status, the mean of the other calls, what a stream says each
    second, and its list of jobs."""

    status: int
    other: int
    every: int
    jobs: int


class BareSide(Side):
    name = "bare"

    def __init__(self, sizes: Sizes) -> None:
        self.port = free_port()
        self._sizes = sizes
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        sizes = self._sizes
        numbers = (self.port, sizes.status, sizes.other, sizes.every, sizes.jobs)
        self._process = subprocess.Popen([sys.executable, "-c", PROGRAM, *map(str, numbers)])
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status", timeout=2).read()
            except (URLError, ConnectionError):
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("the bare server does not answer")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def pids(self) -> Mapping[str, int]:
        assert self._process is not None
        return {"server": self._process.pid}

    def headers(self, viewer: int) -> Headers:
        return {}

    def asks(self) -> Sequence[Ask]:
        return (Ask("status", "GET", "/status", 10), Ask("other", "GET", "/other", 10))

    def stir(self, mark: str) -> Ask:
        return Ask("submit", "POST", "/stir", 0, f'{{"name":"{mark}"}}')
