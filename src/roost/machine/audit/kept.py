"""What fixes changed, kept so that each can be undone: one file of the agent's, written before."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec

from roost.core.audit.model import (
    Change,
    HoldUpdates,
    SetKernel,
    SetMode,
    SetSshd,
    SetToolkit,
)

_KINDS: dict[str, type[Change]] = {
    kind.__name__: kind for kind in (SetMode, SetKernel, SetSshd, SetToolkit, HoldUpdates)
}


@dataclass(frozen=True, slots=True)
class Record:
    """`file`: (device, inode) that a mode was of. `before`, `after`: a file's whole text, where one
    was written; `before` None where there was none."""

    check: str
    subject: str
    at: float
    by: str
    change: Change
    file: tuple[int, int] = (0, 0)
    before: bytes | None = None
    after: bytes = b""


def load(path: str) -> list[Record]:
    """The oldest first; none where there is no such file. Raises OSError, MsgspecError."""
    try:
        with open(path, "rb") as file:
            raw: list[dict[str, Any]] = msgspec.msgpack.decode(file.read())
    except FileNotFoundError:
        return []
    return [_record(one) for one in raw]


def _record(one: dict[str, Any]) -> Record:
    change = msgspec.convert(one.pop("change"), _KINDS[one.pop("kind")])
    return Record(**{**one, "file": tuple(one["file"]), "change": change})


def save(path: str, records: list[Record]) -> None:
    """Raises OSError."""
    data = msgspec.msgpack.encode(
        [
            {
                "check": one.check,
                "subject": one.subject,
                "at": one.at,
                "by": one.by,
                "kind": type(one.change).__name__,
                "change": one.change,
                "file": one.file,
                "before": one.before,
                "after": one.after,
            }
            for one in records
        ]
    )
    write_whole(path, data, 0o600)


def write_whole(path: str, data: bytes, mode: int) -> None:
    """The file as a whole or not at all, in a folder that only its owner writes. Raises OSError."""
    beside = f"{path}.roost-new"
    with suppress(FileNotFoundError):
        os.unlink(beside)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(beside, flags, mode)
    try:
        os.fchmod(descriptor, mode)
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(beside, path)
