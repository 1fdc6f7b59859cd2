"""HTTP over TCP as it is safe to offer to a network: few connections of one place, none slow.

Beside what the socket's protocol cuts off (heads and messages without end, readers that do not
read), a head must come within seconds and a whole request within a minute; where there are as many
connections as may be, the one that has waited longest without a request makes room. Whole teams
sit behind one address: a connection by which somebody is signed in counts for that account instead.
The door says who that is; nothing else is known here of people.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter, OrderedDict
from typing import Any

from roost.core.web import account_of_address, literal
from roost.server.web.patience import PatientProtocol

MOST_OF_ONE = 512
MOST_OF_ACCOUNT = 256
MOST = 4_096
HEAD_S = 15.0
REQUEST_S = 60.0
MAX_HEAD_BYTES = 64 * 1024
MAX_MESSAGE_BYTES = 24 * 1024 * 1024
# What the kernel takes for a reader before it is known whether he reads; it would take megabytes.
MOST_SENT_AHEAD_BYTES = 256 * 1024
CONNECTION = "roost.connection"
_connections: Counter[str | int] = Counter()
"""By address of strangers, and by account (uid) of who is signed in."""
_asking: OrderedDict[WebProtocol, None] = OrderedDict()
"""Those of which no whole request has come, the longest first."""


class WebProtocol(PatientProtocol):
    """uvicorn's HTTP protocol with limits. A loopback address (a proxy, a tunnel) stands for many
    people, and has no limit but that of all; a connection of it is an account's for one request."""

    _place: str | int | None = None
    _address = ""
    _shared = False
    _timer: asyncio.TimerHandle | None = None
    _in_head = True
    _taken = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        sock: Any = transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_SENT_AHEAD_BYTES)
        host = self.client[0] if self.client else ""
        address = literal(host)
        self._shared = address is not None and address.is_loopback
        self._address = account_of_address(host)
        self._count_for(self._address)
        crowd = not self._shared and _connections[self._address] > MOST_OF_ONE
        if crowd or (_connections.total() > MOST and not _room_made()):
            transport.abort()
            return
        _asking[self] = None
        self._within(HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        _asking.pop(self, None)
        self._stop_timer()
        self._count_for(None)

    def belongs_to(self, uid: int) -> bool:
        """Whether this request of that account's may be answered: not where it has too many."""
        if self._place in (uid, None):
            return True
        if uid != 0 and _connections[uid] >= MOST_OF_ACCOUNT:
            return False
        self._count_for(uid)
        return True

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope[CONNECTION] = self

    def on_response_complete(self) -> None:
        if self._shared and self._place is not None:
            self._count_for(self._address)
        if not self.transport.is_closing() and not self.pipeline:
            _asking[self] = None
        super().on_response_complete()

    def _count_for(self, place: str | int | None) -> None:
        if self._place is not None:
            _connections[self._place] -= 1
            if _connections[self._place] <= 0:
                del _connections[self._place]
        self._place = place
        if place is not None:
            _connections[place] += 1

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
        _asking.pop(self, None)
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
        self.cut()

    def cut(self) -> None:
        transport: Any = self.transport
        transport.abort()


def _room_made() -> bool:
    """Ends the connection that has waited longest: nobody can keep all others out by waiting."""
    if not _asking:
        return False
    longest, _ = _asking.popitem(last=False)
    longest.cut()
    return True
