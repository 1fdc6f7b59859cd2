"""The rules file on disk: read at start, on SIGHUP and when it changed; wrong ones change nothing.

Knows the file and its author; what the rules mean is `core.rules`.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from roost.core.rules.load import load
from roost.core.rules.model import Rules
from roost.core.rules.read import RulesError
from roost.server.board import RulesInForce
from roost.server.intents import AdoptRules, RulesWrong
from roost.store.database import Store
from roost.store.log import last_rules

MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Mark:
    """By what a change of the file is noticed; None everywhere: there is no file."""

    inode: int | None = None
    size: int | None = None
    changed_ns: int | None = None


class RulesFile:
    """`poll` says what to do about the file, or None while it stays as it is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mark: Mark | None = None
        self._wrong = False

    def poll(self, force: bool = False) -> AdoptRules | RulesWrong | None:
        """Looks at the file and, where it changed, reads it. Blocks; raises nothing."""
        try:
            mark = self._look()
            if mark == self._mark and not force:
                return None
            self._mark = mark
            text, uid = self._read()
        except OSError as error:
            # The next look reads again, whatever the file says of itself.
            self._mark = None
            if self._wrong and not force:
                return None
            self._wrong = True
            return RulesWrong(f"{self.path}: {error.strerror or error}")
        try:
            rules = load(text)
        except RulesError as error:
            self._wrong = True
            problems = tuple(error.problems)
            return RulesWrong("; ".join(p.text() for p in problems[:20]), problems)
        self._wrong = False
        return AdoptRules(
            rules=rules,
            text=text.decode("utf-8", "replace"),
            sha256=hashlib.sha256(text).hexdigest(),
            uid=uid,
            user=_name(uid),
        )

    def again(self) -> None:
        """What was found could not be stored: the next look finds it again."""
        self._mark = None

    def _look(self) -> Mark:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return Mark()
        return Mark(found.st_ino, found.st_size, found.st_mtime_ns)

    def _read(self) -> tuple[bytes, int | None]:
        """Text and owner; no file is an empty one. Raises OSError."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return b"", None
        with open(fd, "rb") as file:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(0, "this is no file")
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise OSError(0, f"larger than {MAX_BYTES} bytes")
        return text, found.st_uid


def _name(uid: int | None) -> str:
    if uid is None:
        return "roost"
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def last_in_force(store: Store) -> RulesInForce:
    """The newest accepted rules of the database, or the defaults. Raises StoreError.

    A text that this version cannot read any more counts as none, and is said.
    """
    with store.read() as connection:
        row = last_rules(connection)
    if row is None:
        return RulesInForce(Rules())
    try:
        rules = load(row["text"])
    except RulesError as error:
        return RulesInForce(Rules(), problem=str(error), mistakes=tuple(error.problems))
    return RulesInForce(rules, row["version"], row["at"], row["user"], row["text"])
