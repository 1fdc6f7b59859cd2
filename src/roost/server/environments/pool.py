"""Files by the hash of what is in them, each once, for nobody to write.

An upload is a row of frames: 32 bytes of SHA-256, one byte (1: may be executed), 8 bytes of length,
then the file. What does not hash to what it says is dropped, so a file is what its name says
whoever sent it. Executable files are kept beside the others: a hard link shares its mode.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import BinaryIO

FRAME_BYTES = 41
UNUSED_S = 86_400.0


class PoolError(Exception):
    """`code`: "bad_frame", "other_hash", "too_much"."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Pool:
    """The folder `objects` of the server's; made on first use."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def path(self, sha256: str, executable: bool) -> str:
        name = sha256[2:] + (".x" if executable else "")
        return os.path.join(self._folder, sha256[:2], name)

    def size(self, sha256: str, executable: bool) -> int | None:
        """In bytes; None where it is not there."""
        try:
            return os.stat(self.path(sha256, executable)).st_size
        except OSError:
            return None

    def missing(self, wanted: Iterable[tuple[str, bool]]) -> list[tuple[str, bool]]:
        return [one for one in wanted if self.size(*one) is None]

    def upload(self, most_bytes: int) -> Upload:
        os.makedirs(self._folder, 0o700, exist_ok=True)
        return Upload(self, self._folder, most_bytes)

    def sweep(self, now: float) -> int:
        """Removes what no environment has a link to any more, a day after; returns the bytes."""
        freed = 0
        for folder, _, files in os.walk(self._folder):
            for name in files:
                path = os.path.join(folder, name)
                with suppress(FileNotFoundError):
                    status = os.stat(path)
                    if status.st_nlink == 1 and status.st_ctime < now - UNUSED_S:
                        os.unlink(path)
                        freed += status.st_blocks * 512
        return freed


class Upload:
    """Takes the pieces of one body as they come. `close` in every case."""

    def __init__(self, pool: Pool, folder: str, most_bytes: int) -> None:
        self._pool = pool
        self._folder = folder
        self._left = most_bytes
        self._buffer = b""
        self._file: BinaryIO | None = None
        self._temporary = ""
        self._sha256 = ""
        self._executable = False
        self._size = 0
        self._digest = hashlib.sha256()
        self.added = 0
        self.bytes = 0

    def feed(self, data: bytes) -> None:
        """Raises PoolError, OSError."""
        self._left -= len(data)
        self.bytes += len(data)
        if self._left < 0:
            raise PoolError("too_much")
        view = memoryview(self._buffer + data if self._buffer else data)
        at = 0
        while at < len(view):
            if self._file is None:
                if len(view) - at < FRAME_BYTES:
                    break
                self._begin(bytes(view[at : at + FRAME_BYTES]))
                at += FRAME_BYTES
                if self._size == 0:
                    self._end()
                continue
            piece = view[at : at + self._size]
            self._write(piece)
            at += len(piece)
        self._buffer = bytes(view[at:]) if self._file is None else b""

    def _begin(self, frame: bytes) -> None:
        self._sha256 = frame[:32].hex()
        self._executable = frame[32] == 1
        self._size = int.from_bytes(frame[33:], "big")
        if frame[32] > 1 or self._size > self._left + len(self._buffer) + (1 << 32):
            raise PoolError("bad_frame")
        descriptor, self._temporary = tempfile.mkstemp(prefix=".coming-", dir=self._folder)
        self._file = os.fdopen(descriptor, "wb")
        self._digest = hashlib.sha256()

    def _write(self, piece: memoryview) -> None:
        assert self._file is not None
        self._file.write(piece)
        self._digest.update(piece)
        self._size -= len(piece)
        if self._size == 0:
            self._end()

    def _end(self) -> None:
        assert self._file is not None
        self._file.flush()
        os.fchmod(self._file.fileno(), 0o555 if self._executable else 0o444)
        self._file.close()
        self._file = None
        if self._digest.hexdigest() != self._sha256:
            os.unlink(self._temporary)
            raise PoolError("other_hash")
        path = self._pool.path(self._sha256, self._executable)
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        os.replace(self._temporary, path)
        self.added += 1

    def finish(self) -> None:
        """Raises PoolError for a body that ended within a frame."""
        if self._file is not None or self._buffer:
            raise PoolError("bad_frame")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            with suppress(OSError):
                os.unlink(self._temporary)


def drop_halves(folder: str, now: float | None = None) -> None:
    """Removes what uploads of before a crash left."""
    limit = (time.time() if now is None else now) - UNUSED_S
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if entry.name.startswith(".coming-") and entry.stat().st_ctime < limit:
                os.unlink(entry.path)
