"""Reading a machine below a root: the true one, or a prepared tree that looks like one."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from roost.core.audit.facts import FileMode
from roost.machine.accounts import NOBODY, uid_min
from roost.machine.proc.users import Account, accounts_of

MOST_BYTES = 4 * 1024 * 1024
Words = tuple[str, int, tuple[str, ...]]


@dataclass(frozen=True)
class Tree:
    """`root` "/" is this machine. `proc` and `dev` are below it too, where they are prepared."""

    root: str = "/"

    @property
    def real(self) -> bool:
        return self.root == "/"

    def path(self, path: str) -> str:
        return path if self.real else self.root.rstrip("/") + path

    def shown(self, path: str) -> str:
        """The path without the root before it, as it is called on that machine."""
        return path if self.real else "/" + path.removeprefix(self.root).lstrip("/")

    def text(self, path: str) -> str | None:
        """A file of the system's; None where it is not there. Raises OSError for other reasons."""
        try:
            with open(self.path(path), "rb", buffering=0) as file:
                data = b""
                while len(data) < MOST_BYTES and (more := file.read(65536)):
                    data += more
                return data.decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, path: str) -> list[str]:
        """What is in a folder of the system's, sorted; nothing where it is not there."""
        try:
            return sorted(os.listdir(self.path(path)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def mode(self, path: str, kind: str) -> FileMode | None:
        """Of a file or folder of the system's, links followed; None where it is not there."""
        try:
            about = os.stat(self.path(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return FileMode(
            os.fsencode(path), kind, stat.S_IMODE(about.st_mode), about.st_uid,
            self.group_name(about.st_gid),
        )  # fmt: skip

    @cached_property
    def accounts(self) -> tuple[Account, ...]:
        """All that are known here, those of a name service too where it lists them."""
        found = {one.uid: one for one in reversed(accounts_of(self.path("/etc/passwd")))}
        if self.real:
            for entry in pwd.getpwall():
                found.setdefault(entry.pw_uid, Account(entry.pw_name, entry.pw_uid, entry.pw_dir))
        return tuple(sorted(found.values(), key=lambda one: one.uid))

    @cached_property
    def people(self) -> tuple[Account, ...]:
        least = uid_min(self.path("/etc/login.defs"))
        return tuple(one for one in self.accounts if one.uid >= least and one.uid not in NOBODY)

    @cached_property
    def groups(self) -> dict[str, tuple[int, frozenset[str]]]:
        """Names to gid and members, those whose first group it is too."""
        found: dict[str, tuple[int, set[str]]] = {}
        for name, gid, listed in self._groups():
            found.setdefault(name, (gid, set()))[1].update(listed)
        first: dict[int, set[str]] = {}
        for user, gid in self._gids.items():
            first.setdefault(gid, set()).add(user)
        for gid, members in found.values():
            members |= first.get(gid, set())
        return {name: (gid, frozenset(members)) for name, (gid, members) in found.items()}

    def _groups(self) -> Iterator[Words]:
        if self.real:
            for entry in grp.getgrall():
                yield entry.gr_name, entry.gr_gid, tuple(entry.gr_mem)
            return
        for line in (self.text("/etc/group") or "").splitlines():
            parts = line.split(":")
            if len(parts) == 4 and parts[2].isdigit():
                yield parts[0], int(parts[2]), tuple(n for n in parts[3].split(",") if n)

    @cached_property
    def _gids(self) -> dict[str, int]:
        """The first group of each account."""
        if self.real:
            return {entry.pw_name: entry.pw_gid for entry in pwd.getpwall()}
        lines = (line.split(":") for line in (self.text("/etc/passwd") or "").splitlines())
        return {one[0]: int(one[3]) for one in lines if len(one) >= 4 and one[3].isdigit()}

    def gid(self, account: Account) -> int:
        return self._gids.get(account.name, account.uid)

    def group_name(self, gid: int) -> str:
        return next((name for name, (number, _) in self.groups.items() if number == gid), str(gid))

    def shares_group(self, gid: int, user: str) -> bool:
        """Whether somebody else than `user` is in that group."""
        return any(members - {user} for number, members in self.groups.values() if number == gid)

    def user_name(self, uid: int) -> str:
        return next((one.name for one in self.accounts if one.uid == uid), str(uid))
