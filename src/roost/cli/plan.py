"""Where a daemon started here keeps its files and where it listens. Decides, and does nothing.

Paths are those of docs/design/001-two-processes.md.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from roost.cli.failure import CommandError
from roost.client.http import MAX_PATH_BYTES
from roost.client.paths import (
    SOCKET_NAME,
    SYSTEM_RULES,
    SYSTEM_SOCKET,
    SYSTEM_STATE,
    user_rules,
    user_runtime_dir,
    user_state_dir,
)

ACCOUNT = "roost"


@dataclass(frozen=True, slots=True)
class Plan:
    """`root`: for the whole machine, with the server as the system user roost; else for the caller
    alone. `rules` need not exist; `database` None is SQLite in the state. `web`: the server's
    options of the page."""

    root: bool
    state: str
    socket: str
    rules: str
    database: str | None
    simulate: str | None
    record: str | None = None
    web: tuple[str, ...] = ()

    @property
    def runtime(self) -> str:
        return os.path.dirname(self.socket)

    def agent_words(self, server_uid: int | None) -> list[str]:
        words = ["agent", "--state", self.state, "--socket", self.socket]
        if self.simulate:
            words += ["--simulate", self.simulate]
        if server_uid is not None:
            words += ["--server-uid", str(server_uid)]
        return words

    def server_words(self) -> list[str]:
        words = ["server", "--state", self.state, "--socket", self.socket, "--rules", self.rules]
        if self.database:
            words += ["--database", self.database]
        if self.record:
            words += ["--record", self.record]
        return [*words, *self.web]


def plan(
    *,
    root: bool,
    state: str | None = None,
    socket: str | None = None,
    rules: str | None = None,
    database: str | None = None,
    simulate: str | None = None,
    record: str | None = None,
    web: tuple[str, ...] = (),
) -> Plan:
    """From options, then ROOST_STATE and ROOST_SOCKET, then the defaults for root or for a user.

    Raises CommandError for a socket path that Linux cannot bind.
    """
    state = state or os.environ.get("ROOST_STATE") or None
    socket = socket or os.environ.get("ROOST_SOCKET") or None
    if socket is None:
        if state is not None:
            socket = os.path.join(state, SOCKET_NAME)
        else:
            socket = SYSTEM_SOCKET if root else os.path.join(user_runtime_dir(), SOCKET_NAME)
    if state is None:
        state = SYSTEM_STATE if root else user_state_dir()
    if rules is None:
        rules = SYSTEM_RULES if root else user_rules()
    socket = os.path.abspath(socket)
    longest = os.path.join(os.path.dirname(socket), "attach.sock")
    for path in (socket, longest):
        size = len(os.fsencode(path))
        if size > MAX_PATH_BYTES:
            raise CommandError("socket_path_too_long", path=path, bytes=size, limit=MAX_PATH_BYTES)
    record = os.path.abspath(record) if record else None
    return Plan(
        root,
        os.path.abspath(state),
        socket,
        os.path.abspath(rules),
        database,
        simulate,
        record,
        web,
    )
