"""The load: streams that are read, streams that never are, and calls at fixed times.

Calls begin when they are due, whether or not earlier ones were answered, and their time counts from
then: a server that stands still for a second is seen to. Runs in one event loop, on another core.
"""

from __future__ import annotations

import asyncio
import random
import socket
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.viewers.side import Ask, Headers, Side, busy_s, cpu_s, rss_mb

STIR_EVERY_S = 3.0
SETTLE_S = 5.0
CALL_S = 30.0


@dataclass
class Figures:
    """Seconds and MB. `rows`: (seconds since the start, {part: (CPU seconds, MB)})."""

    calls: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failed: list[str] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    unseen: int = 0
    bytes_read: int = 0
    events: int = 0
    slow_open: int = 0
    rows: list[tuple[float, dict[str, tuple[float, float]]]] = field(default_factory=list)
    core_busy_s: float = 0.0
    took_s: float = 0.0


def head(method: str, path: str, headers: Headers, body: str = "") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


class Viewer(asyncio.Protocol):
    """Reads its stream; notes when it first sees what is looked for."""

    def __init__(self, load: Load, request: bytes) -> None:
        self._load, self._request = load, request
        self._tail = b""
        self._sought = b""
        self.answered = asyncio.get_running_loop().create_future()
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._request)

    def seek(self, mark: bytes) -> None:
        self._sought = mark

    def data_received(self, data: bytes) -> None:
        figures = self._load.figures
        if not self.answered.done():
            self.answered.set_result(data[:12])
        figures.bytes_read += len(data)
        figures.events += data.count(b"\nevent: ")
        if self._sought and (self._sought in data or self._sought in self._tail + data[:64]):
            figures.delays.append(time.monotonic() - self._load.stirred_at)
            self._sought = b""
        self._tail = data[-64:]

    @property
    def waits(self) -> bool:
        return bool(self._sought)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        if not self.answered.done():
            self.answered.set_result(b"lost")


class Load:
    """One run against one side."""

    def __init__(self, side: Side, events: str, core: int) -> None:
        self.side, self.events, self._core = side, events, core
        self.figures = Figures()
        self.stirred_at = 0.0
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._measuring = False
        self._pids: Mapping[str, int] = side.pids()
        self._drawn = random.Random(2)

    async def run(self, viewers: int, slow: int, rate: float, seconds: float) -> Figures:
        watching = [await self._watch(number) for number in range(viewers)]
        stuck = [await self._never_reads(viewers + number) for number in range(slow)]
        said = [await one.answered for one in watching]
        refused = [one for one in said if not one.startswith(b"HTTP/1.1 200")]
        if refused:
            self.figures.failed.append(f"{len(refused)} viewers not let in: {refused[0]!r}")
        background = [
            asyncio.create_task(self._calls(rate)),
            asyncio.create_task(self._stir(watching)),
        ]
        await asyncio.sleep(SETTLE_S)
        self._measuring, began = True, time.monotonic()
        self.figures.bytes_read = self.figures.events = 0
        busy = busy_s(self._core)
        every = 1.0 if seconds < 120 else 5.0
        while time.monotonic() < began + seconds:
            self._row(began)
            await asyncio.sleep(every)
        self._row(began)
        self.figures.took_s = time.monotonic() - began
        self.figures.core_busy_s = busy_s(self._core) - busy
        self._measuring = False
        for task in background:
            task.cancel()
        lost = sum(one.lost for one in watching)
        if lost:
            self.figures.failed.append(f"{lost} viewers were cut off")
        for one in watching:
            one.transport.abort()
        for sock in stuck:
            self.figures.slow_open += _is_open(sock)
            sock.close()
        for _, writer in self._idle:
            writer.close()
        return self.figures

    def _row(self, began: float) -> None:
        pids = self._pids
        now = {part: (cpu_s(pid), rss_mb(pid)) for part, pid in pids.items()}
        self.figures.rows.append((time.monotonic() - began, now))

    async def _watch(self, number: int) -> Viewer:
        request = head("GET", self.events, self.side.headers(number))
        _, made = await asyncio.get_running_loop().create_connection(
            lambda: Viewer(self, request), "127.0.0.1", self.side.port
        )
        return made

    async def _never_reads(self, number: int) -> socket.socket:
        made = socket.socket()
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", self.side.port))
        request = head("GET", self.events, self.side.headers(number))
        await asyncio.get_running_loop().sock_sendall(made, request)
        return made

    # -- calls -----------------------------------------------------------------------------------

    async def _calls(self, rate: float) -> None:
        asks = self.side.asks()
        weights = [ask.weight for ask in asks]
        running: set[asyncio.Task[None]] = set()
        due = time.monotonic()
        number = 0
        while True:
            due += 1.0 / rate
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            ask = self._drawn.choices(asks, weights)[0]
            number += 1
            task = asyncio.create_task(self._call(ask, self.side.headers(number), due))
            running.add(task)
            task.add_done_callback(running.discard)

    async def _call(self, ask: Ask, headers: Headers, due: float) -> bytes:
        """The answer's body, b"" where there was none."""
        body = b""
        try:
            status, body = await asyncio.wait_for(self._asked(ask, headers), CALL_S)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            status = type(error).__name__
        if self._measuring and ask.weight >= 0:
            self.figures.calls[ask.name].append(time.monotonic() - due)
            if status not in ("200", "201"):
                self.figures.failed.append(f"{ask.name}: {status}")
        return body

    async def _asked(self, ask: Ask, headers: Headers) -> tuple[str, bytes]:
        while self._idle:
            reader, writer = self._idle.pop()
            try:
                return await self._on(reader, writer, ask, headers)
            except (asyncio.IncompleteReadError, ConnectionError):
                continue  # it was idle for longer than the server keeps one
        reader, writer = await asyncio.open_connection("127.0.0.1", self.side.port)
        return await self._on(reader, writer, ask, headers)

    async def _on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ask: Ask, headers: Headers
    ) -> tuple[str, bytes]:
        writer.write(head(ask.method, ask.path, headers, ask.body))
        top = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = next(
            int(line.split(":")[1])
            for line in top.split("\r\n")
            if line.lower().startswith("content-length:")
        )
        body = await reader.readexactly(length)
        self._idle.append((reader, writer))
        return top.split(" ", 2)[1], body

    async def _stir(self, watching: Sequence[Viewer]) -> None:
        number = 0
        while True:
            await asyncio.sleep(STIR_EVERY_S)
            for one in watching:
                self.figures.unseen += self._measuring and one.waits
            number += 1
            mark = f"stir-{number}"
            for one in watching:
                one.seek(self.side.seen(mark) if self._measuring else b"")
            self.stirred_at = time.monotonic()
            answer = await self._call(self.side.stir(mark), self.side.headers(0), self.stirred_at)
            if (after := self.side.still(answer)) is not None:
                await asyncio.sleep(STIR_EVERY_S / 2)
                await self._call(after, self.side.headers(0), time.monotonic())


def _is_open(sock: socket.socket) -> bool:
    """Whether the server still holds that connection, by what the kernel knows of it."""
    state = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    return state == 1  # TCP_ESTABLISHED
