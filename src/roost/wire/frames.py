"""Framing and encoding of wire messages. Knows bytes and sockets, not what messages mean."""

from __future__ import annotations

import socket
import struct
from typing import Generic, TypeVar

import msgspec

from roost.wire.messages import MAX_FRAME_BYTES, AgentMessage, AgentRequest

_HEADER = struct.Struct(">I")
_encoder = msgspec.msgpack.Encoder()
T = TypeVar("T")


class FrameError(Exception):
    """The peer closed in the middle of a frame, sent too much, or something that is no message."""


def encode(message: AgentRequest | AgentMessage) -> bytes:
    """The message as one frame. Raises FrameError above MAX_FRAME_BYTES."""
    body = _encoder.encode(message)
    if len(body) > MAX_FRAME_BYTES:
        raise FrameError(f"message of {len(body)} bytes; the limit is {MAX_FRAME_BYTES}")
    return _HEADER.pack(len(body)) + body


class FrameReader(Generic[T]):
    """Cuts a byte stream into messages of one side's types."""

    def __init__(self, decoder: msgspec.msgpack.Decoder[T]) -> None:
        self._decoder = decoder
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[T]:
        """Messages completed by `data`. Raises FrameError on an oversized or invalid frame."""
        self._buffer += data
        messages: list[T] = []
        while len(self._buffer) >= _HEADER.size:
            (size,) = _HEADER.unpack_from(self._buffer)
            if size > MAX_FRAME_BYTES:
                raise FrameError(f"frame of {size} bytes; the limit is {MAX_FRAME_BYTES}")
            end = _HEADER.size + size
            if len(self._buffer) < end:
                break
            body = bytes(memoryview(self._buffer)[_HEADER.size : end])
            del self._buffer[:end]
            try:
                messages.append(self._decoder.decode(body))
            except msgspec.MsgspecError as error:
                raise FrameError(str(error)) from error
        return messages


def requests() -> FrameReader[AgentRequest]:
    """A reader for the agent's side."""
    return FrameReader(msgspec.msgpack.Decoder(AgentRequest))


def answers() -> FrameReader[AgentMessage]:
    """A reader for the server's side."""
    return FrameReader(msgspec.msgpack.Decoder(AgentMessage))


def peer_credentials(connection: socket.socket) -> tuple[int, int, int]:
    """(pid, uid, gid) of the process at the other end of a Unix socket, from the kernel."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, uid, gid = struct.unpack("iII", raw)
    return pid, uid, gid
