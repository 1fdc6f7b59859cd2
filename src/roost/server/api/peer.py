"""Who is calling: the kernel's word on the Unix socket, as an account with its groups.

Account look-ups may take seconds (LDAP), so they run beside the event loop and are remembered.
"""

from __future__ import annotations

import asyncio
import grp
import os
import pwd
import socket
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from roost.core.rules import who
from roost.core.rules.model import Rules
from roost.core.text.printable import printable
from roost.server.api.body import STREAMED
from roost.server.intents import Person
from roost.server.web.patience import PatientProtocol
from roost.wire.frames import peer_credentials

REMEMBER_S = 30.0
PEER = "roost.peer"
CROWDED = "roost.crowded"
MOST_CONNECTIONS = 512
CROWDED_S = 5.0
MAX_HEAD_BYTES = 512 * 1024
MAX_MESSAGE_BYTES = 24 * 1024 * 1024
_connections: Counter[int] = Counter()


class PeerProtocol(PatientProtocol):
    """uvicorn's HTTP protocol with (pid, uid, gid) of the caller in the scope.

    Nobody but root has more than `MOST_CONNECTIONS` for long: those above are told so (`CROWDED` in
    the scope) and closed, and twice as many are closed at once, so that one person's connections
    never stop another's. A head, or a whole message, without end is cut off.
    """

    _peer: tuple[int, int, int] | None = None
    _crowded = False
    _in_head = True
    _taken = 0
    _streamed = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        connection: Any = transport.get_extra_info("socket")
        if connection is not None and connection.family == socket.AF_UNIX:
            self._peer = peer_credentials(connection)
        super().connection_made(transport)
        if self._peer is None:
            return
        uid = self._peer[1]
        _connections[uid] += 1
        if uid != 0 and _connections[uid] > MOST_CONNECTIONS:
            self._crowded = True
            if _connections[uid] > 2 * MOST_CONNECTIONS:
                transport.abort()
            else:
                self.loop.call_later(CROWDED_S, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._peer is not None:
            uid = self._peer[1]
            _connections[uid] -= 1
            if _connections[uid] <= 0:
                del _connections[uid]

    def data_received(self, data: bytes) -> None:
        self._taken += len(data)
        super().data_received(data)
        if self._streamed and not self._in_head:
            return  # read as it comes, by a route that has a limit of its own
        if self._taken > (MAX_HEAD_BYTES if self._in_head else MAX_MESSAGE_BYTES):
            self.transport.abort()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope[PEER] = self._peer
        scope[CROWDED] = self._crowded

    def on_headers_complete(self) -> None:
        self._in_head, self._taken = False, 0
        super().on_headers_complete()
        scope: Any = self.scope
        self._streamed = scope["path"] in STREAMED

    def on_message_complete(self) -> None:
        self._in_head, self._taken = True, 0
        super().on_message_complete()


class People:
    """Accounts by uid, remembered for half a minute."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[float, Person]] = {}
        self._placed: dict[int, tuple[Person, Rules, Person]] = {}
        self._asking: dict[int, asyncio.Task[Person]] = {}

    async def person(self, uid: int, rules: Rules) -> Person:
        """The account of `uid`; `operator` by the rules. Never raises for an unknown uid."""
        remembered = self._known.get(uid)
        if remembered is None or time.monotonic() - remembered[0] > REMEMBER_S:
            task = self._asking.get(uid)
            if task is None:
                task = asyncio.create_task(asyncio.to_thread(look_up, uid))
                self._asking[uid] = task
                task.add_done_callback(lambda _: self._asking.pop(uid, None))
            person = await asyncio.shield(task)
            self._known[uid] = (time.monotonic(), person)
        else:
            person = remembered[1]
        kept = self._placed.get(uid)
        if kept is None or kept[0] is not person or kept[1] is not rules:
            kept = self._placed[uid] = person, rules, placed(person, rules)
        return kept[2]

    def forget_all(self) -> None:
        self._known.clear()

    def forget(self, uid: int) -> None:
        """Look that account up anew."""
        self._known.pop(uid, None)


def has_account(name: str) -> bool:
    """Whether the account database knows that name. Blocks."""
    return uid_of(name) is not None


def uid_of(name: str) -> int | None:
    """The account of that name; None where there is none. Blocks."""
    try:
        return pwd.getpwnam(name).pw_uid
    except (KeyError, ValueError):  # ValueError: a zero byte in it
        return None


def look_up(uid: int) -> Person:
    """Name and groups of a uid from the account database. Blocks."""
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return Person(uid, str(uid), frozenset(), operator=False, known=False)
    names = set()
    for gid in os.getgrouplist(entry.pw_name, entry.pw_gid):
        try:
            names.add(grp.getgrgid(gid).gr_name)
        except KeyError:
            names.add(str(gid))
    full_name = printable(entry.pw_gecos.split(",", 1)[0].encode("utf-8", "replace")).strip()
    return Person(uid, entry.pw_name, frozenset(names), operator=False, full_name=full_name)


def placed(person: Person, rules: Rules) -> Person:
    """The person as the rules have them now: operator, viewer, lead of groups."""
    name, groups, operator = person.name, person.groups, is_operator(person, rules)
    viewer = not operator and who.is_viewer(rules, name, groups)
    leads = frozenset() if viewer else who.led_by(rules, name, groups)
    return replace(person, operator=operator, viewer=viewer, leads=leads)


def is_operator(person: Person, rules: Rules) -> bool:
    """root, who runs the server itself, and whom the rules name."""
    if person.uid in (0, os.geteuid()):
        return True
    return who.is_operator(rules, person.name, person.groups)
