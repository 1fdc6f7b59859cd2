"""Pieces of jobs' outputs: each read by a process of its own that is the job's user.

The path is the user's, who may put anything there, on a disk that never answers too: so a reader is
waited for only so long, in a thread of its own, and only so many are there at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Any

import structlog

from roost.agent.people import People
from roost.machine import tail
from roost.machine.accounts import Account, RefusedAccountError
from roost.wire.messages import OutputRead, ReadOutput

log = structlog.get_logger()
MOST_AT_ONCE = 64
MOST_OF_ONE = 8
WITHIN_S = 5.0
MOST_HEAD_BYTES = 4096
MOST_PATH_BYTES = 4096


class Outputs:
    """One an agent, in its event loop. A reader that cannot be ended keeps its place."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._there: Counter[int] = Counter()

    async def read(self, message: ReadOutput) -> OutputRead:
        """Never raises; within `wait_s` and `WITHIN_S`."""
        request, path = message.request, message.path
        if not path.startswith(b"/") or b"\0" in path or len(path) > MOST_PATH_BYTES:
            return OutputRead(request, "no_file")
        try:
            account = await asyncio.wait_for(self._people.ask(message.user), WITHIN_S)
        except RefusedAccountError as error:
            return OutputRead(request, "unreadable", why=error.code)
        except TimeoutError:
            return OutputRead(request, "slow")
        if account.uid != message.uid:  # the name is another account's by now
            return OutputRead(request, "unreadable", why="other_account")
        uid = account.uid
        if self._there[uid] >= MOST_OF_ONE or self._there.total() >= MOST_AT_ONCE:
            return OutputRead(request, "busy")
        self._there[uid] += 1
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[OutputRead] = loop.create_future()

        def tell(found: OutputRead) -> None:
            if not answer.done():
                answer.set_result(found)

        def ended() -> None:
            self._there[uid] -= 1

        def run() -> None:
            process = None
            try:
                process, found = asked(account, message)
            except OSError as error:
                log.warning("output not read", why=str(error))
                found = OutputRead(request, "slow")
            with suppress(RuntimeError):  # the agent ends
                loop.call_soon_threadsafe(tell, found)
            if process is not None:
                process.wait()  # after a kill it may take as long as its disk does
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(ended)

        threading.Thread(target=run, name="output", daemon=True).start()
        return await answer


def asked(account: Account, message: ReadOutput) -> tuple[subprocess.Popen[bytes], OutputRead]:
    """A reader, ended but not yet waited for, and what it said. Blocks. Raises OSError."""
    wait_s = min(max(0, message.wait_s), tail.MOST_WAIT_S)
    most = min(max(1, message.limit), tail.MOST_BYTES)
    question = {
        "uid": account.uid, "gid": account.gid, "groups": account.groups,
        "path": message.path.hex(), "offset": message.offset, "limit": most,
        "file": message.file, "wait_s": wait_s,
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", tail.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        with suppress(BrokenPipeError):
            os.write(process.stdin.fileno(), json.dumps(question).encode() + b"\n")
        said = _all_of(process.stdout.fileno(), time.monotonic() + wait_s + WITHIN_S, most)
    process.kill()
    if said is None:
        return process, OutputRead(message.request, "slow")
    head, _, data = said.partition(b"\n")
    return process, _answer(message.request, head, data)


def _all_of(descriptor: int, end: float, most: int) -> bytes | None:
    """Everything up to the end of the pipe; None where that is too much, or takes too long."""
    said = b""
    while (left := end - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            return None
        more = os.read(descriptor, 1 << 16)
        if not more:
            return said
        said += more
        if len(said) > most + MOST_HEAD_BYTES:
            return None
    return None


def _answer(request: int, head: bytes, data: bytes) -> OutputRead:
    try:
        told: dict[str, Any] = json.loads(head)
        if told["state"] != "open":
            return OutputRead(request, str(told["state"]), why=str(told.get("why", "")))
        return OutputRead(
            request, "open", data, int(told["offset"]), int(told["size"]), str(told["file"])
        )
    except (ValueError, KeyError, TypeError):
        return OutputRead(request, "unreadable", why="the reader ended before it answered")
