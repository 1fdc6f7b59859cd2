"""Data sets for the agent: taken in by a worker of its own each, listed, removed.

The server says where the place is, by the rules; that it is safe is looked at here each time.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
import time
from contextlib import suppress
from typing import Any

import structlog

from roost.agent.aside import begun
from roost.agent.people import People
from roost.core.data.manifest import sound_name
from roost.machine.accounts import Account, RefusedAccountError
from roost.machine.data import place as places
from roost.machine.data.place import PlaceError
from roost.wire.data import AddData, DataDone, DataSet, DataSets, ListData, RemoveData

log = structlog.get_logger()
MOST_AT_ONCE = 4
MOST_REMEMBERED = 100
MOST_LICENCE = 500


class Coming:
    """A set on its way in, or why it did not come."""

    def __init__(self, message: AddData) -> None:
        self.message = message
        self.process: subprocess.Popen[bytes] | None = None
        self.state = "adding"
        self.bytes = self.all_bytes = self.all_files = 0
        self.code = self.path = self.why = ""

    def shown(self) -> DataSet:
        m = self.message
        return DataSet(
            m.name, m.user, m.uid, m.licence, self.state, self.bytes, self.all_files,
            all_bytes=self.all_bytes, code=self.code, path=self.path, why=self.why,
        )  # fmt: skip


class AgentData:
    """One an agent, in its event loop."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._coming: dict[tuple[str, str], Coming] = {}

    async def add(self, message: AddData) -> DataDone:
        """Begins; how far it is and how it ended is listed."""
        place, name, request = message.place, message.name, message.request
        try:
            account = await self._people.ask(message.user)
            if account.uid != message.uid:
                raise PlaceError("other_account", user=message.user)
            self._check(place, name, message.path)
            running = [one for one in self._coming.values() if one.state == "adding"]
            if len(running) >= MOST_AT_ONCE:
                raise PlaceError("too_many", count=str(len(running)))
            if any(one.message.name == name and one.message.place == place for one in running):
                raise PlaceError("being_added", name=name)
            coming = Coming(message)
            self._remember(place, name, coming)
            await asyncio.to_thread(_made, place, name, coming)
        except RefusedAccountError as error:
            return DataDone(request, "other_account", {"user": error.numbers["user"]})
        except PlaceError as error:
            return DataDone(request, error.code, error.numbers)
        threading.Thread(target=_bring, args=(coming, account), name="data", daemon=True).start()
        return DataDone(request)

    def _check(self, place: str, name: str, path: bytes) -> None:
        if not sound_name(name):
            raise PlaceError("bad_set_name", name=name[:100])
        if not place.startswith("/") or "\0" in place or os.path.normpath(place) != place:
            raise PlaceError("no_place", place=place[:200], why="no absolute path")
        if not path.startswith(b"/") or b"\0" in path or len(path) > 4096:
            raise PlaceError("bad_path")

    def _remember(self, place: str, name: str, coming: Coming) -> None:
        self._coming.pop((place, name), None)
        for key, one in list(self._coming.items()):
            if len(self._coming) >= MOST_REMEMBERED and one.state != "adding":
                del self._coming[key]
        self._coming[place, name] = coming

    async def listed(self, message: ListData) -> DataSets:
        """Those that are there, those on their way, and those that lately did not come."""
        there = await asyncio.to_thread(places.records, message.place)
        sets = [_shown(one) for one in there]
        names = {one.name for one in sets}
        for (place, name), coming in list(self._coming.items()):
            if place == message.place and name not in names and coming.state != "ready":
                sets.append(coming.shown())
        return DataSets(message.request, tuple(sorted(sets, key=lambda one: one.name)))

    async def remove(self, message: RemoveData) -> DataDone:
        """Refused while a process uses it; one on its way is stopped."""
        request, place, name = message.request, message.place, message.name
        try:
            self._check(place, name, b"/")
            coming = self._coming.get((place, name))
            if coming is not None and coming.state == "adding":
                _allowed(coming.message.uid, coming.message.user, name, message.only_uid)
                coming.code = "stopped"
                if coming.process is not None:
                    coming.process.kill()
                return DataDone(request)
            await asyncio.to_thread(_removed, place, name, message.only_uid)
        except PlaceError as error:
            return DataDone(request, error.code, error.numbers)
        return DataDone(request)


def _made(place: str, name: str, coming: Coming) -> None:
    try:
        places.made(place)
        if os.path.lexists(f"{place}/{name}"):
            raise PlaceError("name_taken", name=name)
    except PlaceError:
        coming.state = "gone"
        raise
    places.purge(place)


def _removed(place: str, name: str, only_uid: int | None) -> None:
    known = places.record(place, name)
    if known is None:
        raise PlaceError("no_set", name=name)
    _allowed(int(known.get("uid", -1)), str(known.get("owner", "?")), name, only_uid)
    try:
        places.stands_safely(place)
        using = places.users_of(os.path.realpath(f"{place}/{name}"))
        if using:
            pids = ", ".join(str(pid) for pid in sorted(using)[:5])
            raise PlaceError("in_use", name=name, count=str(len(using)), pids=pids)
        places.removed(place, name, time.time())
        places.purge(place)
    except OSError as error:
        raise PlaceError("no_place", place=place, why=error.strerror or "?") from error


def _allowed(uid: int, owner: str, name: str, only_uid: int | None) -> None:
    if only_uid is not None and only_uid != uid:
        raise PlaceError("not_your_set", name=name, owner=owner)


def _shown(known: dict[str, Any]) -> DataSet:
    size, files = int(known["bytes"]), int(known["files"])
    return DataSet(
        str(known["name"]), str(known["owner"]), int(known["uid"]), str(known["licence"]), "ready",
        size, files, sha256=str(known["sha256"]), pickled=int(known["pickled"]), all_bytes=size,
        made_at=float(known["made_at"]), used_at=known["used_at"],
    )  # fmt: skip


def _bring(coming: Coming, account: Account) -> None:
    """Runs the worker to its end, in a thread: with the thread it would end as well."""
    message = coming.message
    question = {
        "place": message.place, "name": message.name, "path": message.path.hex(),
        "uid": account.uid, "gid": account.gid, "groups": account.groups,
        "record": {
            "name": message.name, "owner": account.name, "uid": account.uid,
            "licence": message.licence[:MOST_LICENCE], "made_at": time.time(),
        },
    }  # fmt: skip
    last: dict[str, Any] = {}
    try:
        process = begun("roost.machine.data.worker", subprocess.DEVNULL)
        coming.process = process
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(question).encode() + b"\n")
                process.stdin.close()
            for line in process.stdout:
                last = json.loads(line)
                coming.bytes = last.get("bytes", coming.bytes)
                coming.all_bytes = last.get("all_bytes", coming.all_bytes)
                coming.all_files = last.get("all_files", coming.all_files)
    except (OSError, ValueError) as error:
        last = {"failed": "not_written", "path": "", "why": str(error)}
    if "done" in last:
        coming.state = "ready"
    else:
        coming.code = coming.code or str(last.get("failed", "stopped"))
        coming.path, coming.why = str(last.get("path", "")), str(last.get("why", ""))
        coming.state = "failed"
    log.info("data set", name=message.name, user=account.name, state=coming.state, code=coming.code)
