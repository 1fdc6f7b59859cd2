"""What Roost must remember of accounts so that each step can be taken back; root's alone.

A file an account in `FOLDER/accounts`, and in `FOLDER/archive` the homes that were packed, each
with a file about it. Knows no program and touches no path of a user's.
"""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from roost.core.accounts.model import Archive
from roost.machine.accounts import expired, line_of


class Before(msgspec.Struct, frozen=True):
    """How an account was before it was disabled: the expiry of shadow(5), "" without one."""

    expire: str
    locked: bool


class Entry(msgspec.Struct, frozen=True):
    """`made_at`: 0.0 where Roost did not make it. `before`: it is disabled by Roost."""

    name: str
    uid: int
    made_at: float = 0.0
    before: Before | None = None
    held_jobs: tuple[int, ...] = ()


class Packed(msgspec.Struct, frozen=True):
    """All that brings an account back. `shadow`: the fields of its line from the password on, as
    they were before Roost disabled it. `with_home`: there was one to pack."""

    archive: Archive
    gid: int
    group: str
    groups: tuple[str, ...]
    shell: str
    shadow: tuple[str, ...]
    made_at: float = 0.0
    left_out: tuple[str, ...] = ()
    with_home: bool = True


class Book:
    """`folder` is the agent's state, which nobody but root can enter."""

    def __init__(self, folder: str) -> None:
        self.entries = f"{folder}/accounts"
        self.archive = f"{folder}/archive"

    def open(self) -> None:
        for path in (self.entries, self.archive):
            os.makedirs(path, 0o700, exist_ok=True)
            os.chmod(path, 0o700)

    def entry(self, name: str, uid: int) -> Entry:
        """What is remembered of the account of that name and uid; of an earlier one nothing."""
        try:
            with open(f"{self.entries}/{name}.json", "rb") as file:
                found = msgspec.json.decode(file.read(), type=Entry)
        except (FileNotFoundError, msgspec.MsgspecError):
            return Entry(name, uid)
        return found if found.uid == uid else Entry(name, uid)

    def put(self, entry: Entry) -> None:
        _write(f"{self.entries}/{entry.name}.json", msgspec.json.encode(entry))

    def drop(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(f"{self.entries}/{name}.json")

    def disabled(self) -> dict[str, int]:
        """uids by name of the accounts that Roost has disabled, and that are it still."""
        found = {}
        with suppress(OSError):
            for name in os.listdir(self.entries):
                with suppress(OSError, msgspec.MsgspecError):
                    with open(f"{self.entries}/{name}", "rb") as file:
                        entry = msgspec.json.decode(file.read(), type=Entry)
                    if entry.before is not None and expired(line_of(entry.name, "/etc/shadow")):
                        found[entry.name] = entry.uid
        return found

    def packed(self) -> list[Packed]:
        """Everything in the archive; what cannot be read is passed over."""
        found = []
        with suppress(FileNotFoundError):
            for name in sorted(os.listdir(self.archive)):
                if name.endswith(".json"):
                    found += _read(f"{self.archive}/{name}")
        return found

    def put_packed(self, packed: Packed) -> None:
        _write(packed.archive.path + ".json", msgspec.json.encode(packed))


def _read(path: str) -> list[Packed]:
    with suppress(OSError, msgspec.MsgspecError), open(path, "rb") as file:
        return [msgspec.json.decode(file.read(), type=Packed)]
    return []


def _write(path: str, data: bytes) -> None:
    """Whole or not at all, and on the disk."""
    temporary = path + ".part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600)
    try:
        os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(temporary, path)
