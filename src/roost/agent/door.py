"""agent.sock: one server at a time, known by the kernel's word, speaking frames of `roost.wire`.

Knows bytes and who sent them; what a message asks for is `service`'s business.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress

import structlog

from roost.wire.frames import FrameError, encode, peer_credentials, requests
from roost.wire.messages import AgentMessage, AgentRequest, Observed

log = structlog.get_logger()
BACKLOG_BYTES = 8 * 1024 * 1024
MOST_BACKLOG_BYTES = 256 * 1024 * 1024


class ServerDoor(asyncio.Protocol):
    """One accepted connection. `take` gets each message, `gone` hears of the end."""

    def __init__(
        self,
        allowed: Callable[[int], bool],
        entered: Callable[[ServerDoor], None],
        take: Callable[[ServerDoor, AgentRequest], None],
        gone: Callable[[ServerDoor], None],
    ) -> None:
        self._allowed = allowed
        self._entered = entered
        self._take = take
        self._gone = gone
        self._reader = requests()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a stream transport is needed")
        connection = transport.get_extra_info("socket")
        _pid, uid, _gid = peer_credentials(connection)
        if not self._allowed(uid):
            log.warning("connection refused", uid=uid)
            transport.abort()
            return
        transport.set_write_buffer_limits(high=BACKLOG_BYTES)
        self._transport = transport
        self._entered(self)

    def data_received(self, data: bytes) -> None:
        if self._transport is None:
            return
        try:
            messages = self._reader.feed(data)
        except FrameError as error:
            log.warning("server sent what is no message", error=str(error))
            self.close()
            return
        for message in messages:
            if self._transport is None:
                return  # replaced by a newer connection meanwhile
            self._take(self, message)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._gone(self)

    def send(self, message: AgentMessage) -> bool:
        """False when it was not sent: no connection, too large, or a sample for a server that
        does not keep up (it asks for SamplesSince)."""
        transport = self._transport
        if transport is None:
            return False
        waiting = transport.get_write_buffer_size()
        if waiting > BACKLOG_BYTES and isinstance(message, Observed) and not message.request:
            return False
        if waiting > MOST_BACKLOG_BYTES:
            log.warning("server does not read; connection closed")
            self.close()
            return False
        try:
            transport.write(encode(message))
        except FrameError as error:
            log.error("message too large", error=str(error))
            return False
        return True

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()
            self._transport = None


def listener(path: str, group: int | None) -> socket.socket:
    """The bound socket, 0660, its group the server's. Raises OSError."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    old = os.umask(0o177)
    try:
        made.bind(path)
    finally:
        os.umask(old)
    if group is not None:
        os.chown(path, -1, group)
    os.chmod(path, 0o660)
    made.listen(4)
    made.setblocking(False)
    return made
