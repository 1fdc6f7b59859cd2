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
from dataclasses import replace
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from roost.core.rules import who
from roost.core.rules.model import Rules
from roost.server.intents import Person
from roost.wire.frames import peer_credentials

REMEMBER_S = 30.0
PEER = "roost.peer"


class PeerProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with (pid, uid, gid) of the caller in the scope."""

    _peer: tuple[int, int, int] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        connection: Any = transport.get_extra_info("socket")
        if connection is not None and connection.family == socket.AF_UNIX:
            self._peer = peer_credentials(connection)
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        scope: Any = self.scope
        scope[PEER] = self._peer


class People:
    """Accounts by uid, remembered for half a minute."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[float, Person]] = {}
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
        return replace(person, operator=is_operator(person, rules))


def has_account(name: str) -> bool:
    """Whether the account database knows that name. Blocks."""
    try:
        pwd.getpwnam(name)
    except (KeyError, ValueError):  # ValueError: a zero byte in it
        return False
    return True


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
    return Person(uid, entry.pw_name, frozenset(names), operator=False)


def is_operator(person: Person, rules: Rules) -> bool:
    """root, who runs the server itself, and whom the rules name."""
    if person.uid in (0, os.geteuid()):
        return True
    return who.is_operator(rules, person.name, person.groups)
