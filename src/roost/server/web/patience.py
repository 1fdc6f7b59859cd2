"""HTTP that lets go of who does not read: his answer would lie in memory for as long as he likes.

Knows bytes that were not taken yet, in this process and in the kernel, not what they say.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import termios
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

STALL_S = 30.0
LEAST_BYTES = 16 * 1024


class PatientProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol that cuts off a reader who takes less than `LEAST_BYTES` in `STALL_S`
    while an answer waits for him. One who is merely slow is waited for."""

    _stall: asyncio.TimerHandle | None = None
    _unread = 0

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._unwatch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        self._unwatch()
        self._unread = _unread(self.transport)
        self._stall = self.loop.call_later(STALL_S, self._look)

    def _unwatch(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _look(self) -> None:
        self._stall = None
        if self._unread - _unread(self.transport) < LEAST_BYTES:
            _forget_unsent(self.transport)
            self.transport.abort()
        else:
            self._watch()


def _forget_unsent(transport: asyncio.Transport) -> None:
    """Else the kernel would offer it to him for minutes after we have closed."""
    sock: Any = transport.get_extra_info("socket")
    if sock is not None and sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _unread(transport: asyncio.Transport) -> int:
    """Bytes that wait here, and those in the kernel that the other side did not take."""
    waiting = transport.get_write_buffer_size()
    sock: Any = transport.get_extra_info("socket")
    if sock is None or sock.fileno() < 0:
        return waiting
    try:
        answer = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, struct.pack("i", 0))
    except OSError:
        return waiting
    return waiting + int(struct.unpack("i", answer)[0])
