"""HTTP over TCP as it is safe to offer to a network: few connections of one place, none slow.

Beside what the socket's protocol cuts off (heads and messages without end), a head must come within
seconds and a whole request within a minute. Knows connections, not who is signed in.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from roost.core.web import account_of_address, literal

MOST_OF_ONE = 512
MOST = 4_096
HEAD_S = 15.0
REQUEST_S = 60.0
MAX_HEAD_BYTES = 64 * 1024
MAX_MESSAGE_BYTES = 24 * 1024 * 1024
_connections: Counter[str] = Counter()


class WebProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits. A loopback address (a proxy, a tunnel) stands for many
    people, and has no limit but that of all."""

    _place: str | None = None
    _timer: asyncio.TimerHandle | None = None
    _in_head = True
    _taken = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        address = literal(host)
        shared = address is not None and address.is_loopback
        self._place = account_of_address(host)
        _connections[self._place] += 1
        full = _connections.total() > MOST
        if full or (not shared and _connections[self._place] > MOST_OF_ONE):
            transport.abort()
            return
        self._within(HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_timer()
        if self._place is not None:
            _connections[self._place] -= 1
            if _connections[self._place] <= 0:
                del _connections[self._place]
            self._place = None

    def data_received(self, data: bytes) -> None:
        if self._in_head and self._taken == 0 and self._timer is None:
            self._within(HEAD_S)  # the next request of a connection that was kept
        self._taken += len(data)
        super().data_received(data)
        if self._taken > (MAX_HEAD_BYTES if self._in_head else MAX_MESSAGE_BYTES):
            self.transport.abort()

    def on_headers_complete(self) -> None:
        self._in_head, self._taken = False, 0
        self._within(REQUEST_S)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._taken = True, 0
        self._stop_timer()
        super().on_message_complete()

    def _within(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self._too_late)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_late(self) -> None:
        self._timer = None
        transport: Any = self.transport
        transport.abort()
