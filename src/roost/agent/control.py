"""What agent and supervisors say to each other, over the Unix socket in an attempt's folder.

One msgpack document a datagram (SOCK_SEQPACKET). A supervisor tells its whole state on connect and
at every change; the agent sends orders. Knows no files and no processes.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from roost.core.model import EndReason
from roost.wire.messages import AttemptState

MAX_DATAGRAM_BYTES = 128 * 1024
_CREDENTIALS = struct.Struct("iII")


class Order(msgspec.Struct, frozen=True, tag_field="op", omit_defaults=True):
    """Base of what the agent asks of a supervisor."""


class Stop(Order, frozen=True, tag="stop"):
    reason: EndReason
    grace_s: float


class Signal(Order, frozen=True, tag="signal"):
    signal: int


class Suspend(Order, frozen=True, tag="suspend"):
    """`how` as in `SuspendJob`. For "checkpoint", `tool` is the program that does it, which has
    `call_s` for each step; `gpu_bytes` is what the driver says that each pid of the job holds.
    `lack` says why there is no such program, "" where there is."""

    how: str = "freeze"
    tool: str = ""
    call_s: float = 300.0
    gpu_bytes: dict[int, int] = {}
    lack: str = ""


class Resume(Order, frozen=True, tag="resume"):
    """Lets a suspended job go on."""


class Attach(Order, frozen=True, tag="attach"):
    """Comes with one descriptor: the connection of the person who wants the terminal."""


class Forget(Order, frozen=True, tag="forget"):
    """The end is known for good: a supervisor that could not write it may go."""


AnyOrder = Stop | Signal | Suspend | Resume | Attach | Forget

_encoder = msgspec.msgpack.Encoder()
_orders = msgspec.msgpack.Decoder(AnyOrder)
_states = msgspec.msgpack.Decoder(AttemptState)


def send_order(connection: socket.socket, order: AnyOrder, descriptors: Sequence[int] = ()) -> None:
    """Raises OSError when the supervisor is gone or does not read."""
    socket.send_fds(connection, [_encoder.encode(order)], list(descriptors))


def receive_order(connection: socket.socket) -> tuple[AnyOrder | None, list[int]]:
    """The next order with its descriptors; None at the end of the connection.

    Raises OSError, and msgspec.MsgspecError for what is no order.
    """
    data, descriptors, _, _ = socket.recv_fds(connection, MAX_DATAGRAM_BYTES, 4)
    return (_orders.decode(data) if data else None), descriptors


def send_state(connection: socket.socket, state: AttemptState) -> None:
    """Raises OSError."""
    connection.send(_encoder.encode(state))


def receive_state(connection: socket.socket) -> AttemptState | None:
    """None at the end of the connection. Raises OSError, msgspec.MsgspecError."""
    data = connection.recv(MAX_DATAGRAM_BYTES)
    return _states.decode(data) if data else None


def at_folder(folder_fd: int) -> str:
    """The control socket's address by descriptor: a path of any length fits into sun_path."""
    return f"/proc/self/fd/{folder_fd}/control"


def reach(folder_fd: int) -> socket.socket | None:
    """A connection to the living supervisor; None while it does not listen (yet, or any more)."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
    connection.setblocking(False)
    with suppress(OSError):
        connection.connect(at_folder(folder_fd))
        return connection
    connection.close()
    return None
