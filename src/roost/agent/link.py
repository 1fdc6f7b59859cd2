"""A supervisor's links to agents: it listens in the attempt's folder, tells, and takes orders.

Agents come and go; each that connects is told the whole state at once. A link that does not take
what it is told is dropped, and the agent comes back.
"""

from __future__ import annotations

import os
import selectors
import socket
from collections.abc import Callable
from contextlib import suppress

import msgspec

from roost.agent import control
from roost.agent.control import AnyOrder
from roost.wire.messages import AttemptState

Took = Callable[[AnyOrder, list[int]], None]


class AgentLinks:
    """`took(order, descriptors)` is called for each order; descriptors it leaves are closed."""

    def __init__(
        self,
        folder_fd: int,
        selector: selectors.BaseSelector,
        state: AttemptState,
        took: Took,
    ) -> None:
        self._folder_fd = folder_fd
        self._selector = selector
        self._state = state
        self._took = took
        self._links: set[socket.socket] = set()
        self._listener: socket.socket | None = None

    def listen(self) -> None:
        """Raises OSError."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
        self._listener = listener
        with suppress(FileNotFoundError):
            os.unlink("control", dir_fd=self._folder_fd)
        listener.bind(control.at_folder(self._folder_fd))
        listener.listen(8)
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ, self._accept)

    def _accept(self) -> None:
        if self._listener is not None:
            with suppress(OSError):
                link, _ = self._listener.accept()
                self.add(link)

    def add(self, link: socket.socket) -> None:
        link.setblocking(False)
        self._links.add(link)
        self._selector.register(link, selectors.EVENT_READ, lambda: self._hear(link))
        self._tell(link)

    def say(self, state: AttemptState) -> None:
        """To every agent, now and on every later connection."""
        self._state = state
        for link in list(self._links):
            self._tell(link)

    def _tell(self, link: socket.socket) -> None:
        try:
            control.send_state(link, self._state)
        except OSError:
            self._drop(link)

    def _hear(self, link: socket.socket) -> None:
        descriptors: list[int] = []
        order: AnyOrder | None = None
        try:
            order, descriptors = control.receive_order(link)
        except BlockingIOError:
            return
        except (OSError, msgspec.MsgspecError):
            pass  # gone, or no agent of ours: it is dropped below
        if order is None:
            self._drop(link)
        else:
            self._took(order, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)

    def _drop(self, link: socket.socket) -> None:
        if link in self._links:
            self._links.remove(link)
            self._selector.unregister(link)
            link.close()

    def close(self) -> None:
        for link in list(self._links):
            self._drop(link)
        if self._listener is not None:
            self._listener.close()
            self._listener = None
