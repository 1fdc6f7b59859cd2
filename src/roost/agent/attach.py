"""attach.sock: who wants the terminal of a job says which, and is handed to that job's supervisor.

The protocol is described in `terminal`. The kernel says who is calling; nothing is sent on for
anybody but the job's user and root.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import structlog

from roost.agent.attempts import Attempts
from roost.agent.terminal import ATTACH_LINE_BYTES, ATTACH_TIMEOUT_S
from roost.core.text import agent as text
from roost.wire.frames import peer_credentials

log = structlog.get_logger()
MOST_WAITING = 512
MOST_WAITING_OF_ONE = 16


class AttachDoor:
    """Listens on the path, open to everyone, for as long as the agent lives."""

    def __init__(self, path: str, attempts: Attempts) -> None:
        self._attempts = attempts
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[socket.socket, bytearray] = {}
        self._of: Counter[int] = Counter()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        with suppress(FileNotFoundError):
            os.unlink(path)
        self._listener.bind(path)
        os.chmod(path, 0o666)  # noqa: S103 - anybody may knock; who calls is checked
        self._listener.listen(16)
        self._listener.setblocking(False)
        self._loop.add_reader(self._listener.fileno(), self._accept)

    def close(self) -> None:
        self._loop.remove_reader(self._listener.fileno())
        self._listener.close()
        for client in list(self._waiting):
            self._let_go(client)

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:
            return
        uid = peer_credentials(client)[1]
        if len(self._waiting) >= MOST_WAITING or self._of[uid] >= MOST_WAITING_OF_ONE:
            client.close()
            return
        self._of[uid] += 1
        client.setblocking(False)
        self._waiting[client] = bytearray()
        self._loop.add_reader(client.fileno(), self._hear, client)
        self._loop.call_later(ATTACH_TIMEOUT_S, self._let_go, client)

    def _let_go(self, client: socket.socket) -> None:
        if client in self._waiting:
            self._loop.remove_reader(client.fileno())
            del self._waiting[client]
            self._of -= Counter({peer_credentials(client)[1]: 1})  # what falls to 0 goes
            client.close()

    def _hear(self, client: socket.socket) -> None:
        line = self._waiting[client]
        try:
            # One byte further than the line would belong to the terminal's protocol, not here.
            data = client.recv(ATTACH_LINE_BYTES - len(line))
        except BlockingIOError:
            return
        except OSError:
            data = b""
        line += data
        if line.endswith(b"\n"):
            self._serve(client, bytes(line))
            self._let_go(client)  # the supervisor has a descriptor of its own by now
        elif not data or len(line) >= ATTACH_LINE_BYTES:
            self._let_go(client)

    def _serve(self, client: socket.socket, line: bytes) -> None:
        refuse: Callable[..., None] = lambda code, **numbers: _refuse(client, code, **numbers)  # noqa: E731
        try:
            asked = json.loads(line)
            job = asked["job"] if isinstance(asked, dict) else None
        except (ValueError, KeyError, RecursionError):
            job = None
        if not isinstance(job, int) or isinstance(job, bool):
            refuse("bad_spec", detail='a line {"job": NUMBER} was expected')
            return
        _pid, uid, _gid = peer_credentials(client)
        found = self._attempts.terminal(job)
        if found is None:
            refuse("no_terminal", job=job)
            return
        key, owner = found
        if uid not in (0, owner):
            refuse("not_your_job", job=job)
        elif not self._attempts.attach(key, client):
            refuse("no_terminal", job=job)


def _refuse(client: socket.socket, code: str, **numbers: object) -> None:
    answer = {"error": text.MESSAGES[code][0].format(**numbers), "code": code}
    with suppress(OSError):
        client.send(json.dumps(answer).encode() + b"\n")
