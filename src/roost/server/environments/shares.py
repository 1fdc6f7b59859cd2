"""The team's environments on the disk: versions that never change, and who shares which of them.

objects/ab/cdef…        files by their hash (`pool`)
versions/DIGEST/        an environment of hard links to them, for everybody to read
shared/OWNER/NAME.json  which version that name is, at the moment
clones/DIGEST/UID-NAME  somebody's clone that has symbolic links into that version
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from roost.core.environments.names import is_name, is_owner
from roost.server.environments.manifest import Manifest
from roost.server.environments.pool import Pool, drop_halves

KEPT_S = 7 * 86_400.0
THROUGH = 0o711
"""The folders above: a version is reached by who knows its name."""
FOR_ALL = 0o555
"""Folders of a version: to look into, and for nobody to write."""
DESCRIPTION = "roost-env.json"


class SharesError(Exception):
    """`code` is of the catalogue `problem`, under "env_"."""

    def __init__(self, code: str, **numbers: Any) -> None:
        super().__init__(code)
        self.code = code
        self.numbers = numbers


class Share(msgspec.Struct, frozen=True):
    """Times are seconds since the epoch; `uid` is its owner's."""

    owner: str
    uid: int
    name: str
    digest: str
    python: str
    size_bytes: int
    shared_at: float
    kind: str = "venv"
    source: str = ""


class Shares:
    """One a server. Calls block: they belong in a thread."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.pool = Pool(os.path.join(folder, "objects"))
        self._lock = threading.Lock()

    def version_path(self, digest: str) -> str:
        return os.path.join(self.folder, "versions", digest)

    # -- what is there -----------------------------------------------------------------------------

    def all(self) -> list[Share]:
        """By owner and name."""
        return sorted(self._read(), key=lambda one: (one.owner, one.name))

    def find(self, owner: str, name: str) -> Share | None:
        if not is_owner(owner) or not is_name(name):
            return None
        try:
            with open(self._record(owner, name), "rb") as file:
                return msgspec.json.decode(file.read(), type=Share)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError):
            return None

    def _read(self) -> Iterator[Share]:
        top = os.path.join(self.folder, "shared")
        for owner in _names(top):
            for file in _names(os.path.join(top, owner)):
                found = self.find(owner, file.removesuffix(".json"))
                if found is not None:
                    yield found

    def _record(self, owner: str, name: str) -> str:
        return os.path.join(self.folder, "shared", owner, f"{name}.json")

    # -- changes -----------------------------------------------------------------------------------

    def share(
        self, owner: str, uid: int, name: str, digest: str, manifest: Manifest, most_bytes: int
    ) -> Share:
        """Makes the version and gives it the name. Raises SharesError, OSError."""
        with self._lock:
            mine = sum(
                one.size_bytes for one in self._read() if one.uid == uid and one.name != name
            )
            if mine + manifest.size_bytes > most_bytes:
                raise SharesError("share_limit", limit=most_bytes, used=mine)
            _check_interpreter(manifest.interpreter)
            share = Share(
                owner, uid, name, digest, manifest.python, manifest.size_bytes, time.time(),
                manifest.kind, manifest.source,
            )  # fmt: skip
            if not os.path.isdir(self.version_path(digest)):
                self._make(share, manifest)
            before = self.find(owner, name)
            path = self._record(owner, name)
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            _write(path, msgspec.json.encode(share))
            if before is not None:
                self._left(before.digest)
            self._sweep()
        return share

    def remove(self, owner: str, name: str) -> None:
        """The name goes; its version is kept a week for what runs with it. Raises SharesError."""
        with self._lock:
            share = self.find(owner, name)
            if share is None:
                raise SharesError("not_shared", name=f"{owner}/{name}")
            os.unlink(self._record(owner, name))
            self._left(share.digest)
            self._sweep()

    def hold(self, share: Share, uid: int, name: str) -> None:
        """Somebody's clone needs that version from now on."""
        folder = os.path.join(self.folder, "clones", share.digest)
        with self._lock:
            if not os.path.isdir(self.version_path(share.digest)):
                raise SharesError("not_shared", name=f"{share.owner}/{share.name}")
            os.makedirs(folder, 0o700, exist_ok=True)
            _write(os.path.join(folder, f"{uid}-{name}"), b"")

    def let_go(self, uid: int, name: str) -> bool:
        """That clone is no more. Whether there was one."""
        top = os.path.join(self.folder, "clones")
        found = False
        with self._lock:
            for digest in _names(top):
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(top, digest, f"{uid}-{name}"))
                    found = True
                    self._left(digest)
            self._sweep()
        return found

    def clones_of(self, uid: int) -> int:
        top = os.path.join(self.folder, "clones")
        return sum(
            name.startswith(f"{uid}-")
            for digest in _names(top)
            for name in _names(os.path.join(top, digest))
        )

    # -- on the disk -------------------------------------------------------------------------------

    def _make(self, share: Share, manifest: Manifest) -> None:
        """The folder of a version, whole or not at all. Raises SharesError for a missing file."""
        top = os.path.join(self.folder, "versions")
        for each in (self.folder, top):  # whatever the umask
            os.makedirs(each, exist_ok=True)
            os.chmod(each, THROUGH)
        making = tempfile.mkdtemp(prefix=".making-", dir=top)
        try:
            for folder in manifest.folders:
                os.mkdir(os.path.join(making, folder))
            for file in manifest.files:
                source = self.pool.path(file.sha256, file.executable)
                if self.pool.size(file.sha256, file.executable) != file.size:
                    raise SharesError("missing_file", path=file.path)
                os.link(source, os.path.join(making, file.path))
            for link in manifest.links:
                os.symlink(link.target, os.path.join(making, link.path))
            description = {
                "name": share.name, "kind": share.kind, "python": share.python,
                "made_at": share.shared_at, "source": share.source, "owner": share.owner,
            }  # fmt: skip
            _write(os.path.join(making, DESCRIPTION), msgspec.json.encode(description))
            for folder in manifest.folders:
                os.chmod(os.path.join(making, folder), FOR_ALL)
            os.sync()
            os.rename(making, self.version_path(share.digest))
            os.chmod(self.version_path(share.digest), FOR_ALL)
        except BaseException:
            _remove_tree(making)
            raise

    def _left(self, digest: str) -> None:
        """A name or a clone of that version is gone: its week counts from now."""
        now = time.time()
        with suppress(FileNotFoundError):
            os.utime(self.version_path(digest), (now, now))

    def _sweep(self) -> None:
        """Versions that neither a name nor a clone has, a week after; then files of none."""
        now = time.time()
        used = {one.digest for one in self._read()}
        clones = os.path.join(self.folder, "clones")
        used |= {digest for digest in _names(clones) if _names(os.path.join(clones, digest))}
        top = os.path.join(self.folder, "versions")
        for name in _names(top):
            path = os.path.join(top, name)
            if name not in used and os.stat(path).st_mtime < now - KEPT_S:
                _remove_tree(path)
        drop_halves(os.path.join(self.folder, "objects"), now)
        self.pool.sweep(now)


def _check_interpreter(path: str) -> None:
    """Only root may be able to change what a shared environment runs. Raises SharesError."""
    try:
        real = os.path.realpath(path, strict=True)
        if not os.path.isabs(path) or not os.access(real, os.X_OK):
            raise SharesError("interpreter", path=path)
        for step in (*_above(path), *_above(real)):
            status = os.lstat(step)
            loose = status.st_mode & 0o022 and not stat.S_ISLNK(status.st_mode)
            if status.st_uid != 0 or loose:
                raise SharesError("interpreter", path=path)
        if not stat.S_ISREG(os.stat(real).st_mode) or not os.stat(real).st_mode & 0o001:
            raise SharesError("interpreter", path=path)
    except OSError as error:
        raise SharesError("interpreter", path=path) from error


def _above(path: str) -> Iterator[str]:
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _write(path: str, data: bytes) -> None:
    temporary = os.path.join(os.path.dirname(path), f".new-{os.getpid()}-{threading.get_ident()}")
    with open(temporary, "wb") as file:
        file.write(data)
        os.fchmod(file.fileno(), 0o444)
    os.replace(temporary, path)


def _remove_tree(path: str) -> None:
    for folder, _, _ in os.walk(path):
        os.chmod(folder, 0o700)
    shutil.rmtree(path, ignore_errors=True)
