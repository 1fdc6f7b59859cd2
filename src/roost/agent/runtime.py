"""The folder of a running job: its script, and the pipe through which it reports on its work.

The folder and the script stay root's, so that no user can fill /run through them; its user gets in
by an access list, nobody else does. Knows nothing of supervisors.
"""

from __future__ import annotations

import os
import shutil
import struct
from contextlib import suppress
from dataclasses import dataclass

from roost.agent.record import Prepared, folder_name

_ACL_VERSION = 2
_USER_OBJ, _USER, _GROUP_OBJ, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x10, 0x20
_NO_ID = 0xFFFFFFFF
MAX_LINE_BYTES = 1024


@dataclass(frozen=True, slots=True)
class JobFolder:
    """`status` is the descriptor of the status pipe's reading end; `script` None: no script."""

    path: str
    status: int
    status_path: str
    script: str | None


def make(prepared: Prepared) -> JobFolder:
    """Makes the folder anew. Raises OSError."""
    spec, account = prepared.spec, prepared.account
    path = f"{prepared.runtime}/{folder_name(spec.job, spec.attempt)}"
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:  # left by a supervisor that was killed
        shutil.rmtree(path)
        os.mkdir(path, 0o700)
    if prepared.as_root:
        _let_in(path, account.uid, account.gid)
    status_path = f"{path}/status"
    os.mkfifo(status_path, 0o600)
    if prepared.as_root:
        os.chown(status_path, account.uid, account.gid)
    status = os.open(status_path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    script = None
    if spec.script is not None:
        script = f"{path}/script"
        descriptor = os.open(script, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o500)
        with open(descriptor, "wb") as file:
            file.write(spec.script)
            os.fchmod(descriptor, 0o555)
    return JobFolder(path, status, status_path, script)


def _let_in(path: str, uid: int, gid: int) -> None:
    """r-x for this user alone by an access list (acl(5)); by ownership, without the right to
    write, where the file system has no lists."""
    entries = (
        (_USER_OBJ, 7, _NO_ID),
        (_USER, 5, uid),
        (_GROUP_OBJ, 0, _NO_ID),
        (_MASK, 5, _NO_ID),
        (_OTHER, 0, _NO_ID),
    )
    raw = struct.pack("<I", _ACL_VERSION) + b"".join(struct.pack("<HHI", *e) for e in entries)
    try:
        os.setxattr(path, "system.posix_acl_access", raw)
    except OSError:
        os.chown(path, uid, gid)
        os.chmod(path, 0o500)


def remove(path: str) -> None:
    """Removes the folder; what cannot be is left for the next boot."""
    for name in ("status", "script"):
        with suppress(OSError):
            os.unlink(f"{path}/{name}")
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return
    except OSError:
        shutil.rmtree(path, ignore_errors=True)


class StatusLines:
    """Cuts what the job wrote into lines; text without an end is bounded."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Complete lines, stripped, lower case; what is no ASCII is no word of ours."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-MAX_LINE_BYTES:]
        return [line.strip().lower().decode("ascii", "replace") for line in lines]

    def last(self) -> list[str]:
        """The line that the job did not end, at its end."""
        return self.feed(b"\n") if self._rest else []
