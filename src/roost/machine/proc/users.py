"""Account names for uids, without ever waiting for a name service.

/etc/passwd is read at once; who is not there is asked of NSS (LDAP, sssd) in a helper thread, and
stands as a number meanwhile.
"""

from __future__ import annotations

import os
import pwd
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

KNOWN_FOR_S = 600.0
UNKNOWN_FOR_S = 60.0


@dataclass(frozen=True, slots=True)
class Account:
    """What an owner is recognised by. `home` is a path as /etc/passwd has it."""

    name: str
    uid: int
    home: str


def accounts_of(path: str = "/etc/passwd") -> tuple[Account, ...]:
    """The local accounts; lines that are none are passed over."""
    found = []
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                parts = line.rstrip("\n").split(":")
                if len(parts) >= 6 and parts[2].isdigit():
                    found.append(Account(parts[0], int(parts[2]), parts[5]))
    except OSError:
        return ()
    return tuple(found)


def _ask_nss(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return None


class UserNames:
    """`name(uid)` answers at once: a name, or None while it is looked up or where there is none."""

    def __init__(
        self,
        ask: Callable[[int], str | None] = _ask_nss,
        passwd: str = "/etc/passwd",  # noqa: S107 - a path
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._passwd = passwd
        self._clock = clock
        self._local: dict[int, Account] = {}
        self._local_stamp: tuple[int, int] | None = None
        self._checked_at = -1.0
        self._names: dict[int, tuple[str | None, float]] = {}
        self._asked: set[int] = set()
        self._wanted: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def name(self, uid: int | None) -> str | None:
        """The account's name, or None: unknown so far, or a number without a name."""
        if uid is None:
            return None
        account = self._accounts().get(uid)
        if account is not None:
            return account.name
        now = self._clock()
        name, until = self._names.get(uid, (None, -1.0))
        if now >= until and uid not in self._asked:
            self._asked.add(uid)
            self._start()
            self._wanted.put(uid)
        return name

    def accounts(self) -> tuple[Account, ...]:
        """The local accounts now."""
        return tuple(self._accounts().values())

    def close(self) -> None:
        if self._thread is not None:
            self._wanted.put(None)
            self._thread = None

    def _accounts(self) -> dict[int, Account]:
        now = self._clock()
        if now - self._checked_at < 1.0 and self._local_stamp is not None:
            return self._local
        self._checked_at = now
        try:
            status = os.stat(self._passwd)
        except OSError:
            return self._local
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self._local_stamp:
            self._local_stamp = stamp
            local: dict[int, Account] = {}
            for account in accounts_of(self._passwd):
                local.setdefault(account.uid, account)  # the first line counts, as in libc
            self._local = local
        return self._local

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="user-names", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        while (uid := self._wanted.get()) is not None:
            try:
                name = self._ask(uid)
            except OSError:
                name = None  # the name service failed: asked again after UNKNOWN_FOR_S
            keep = KNOWN_FOR_S if name else UNKNOWN_FOR_S
            self._names[uid] = (name, self._clock() + keep)
            self._asked.discard(uid)
