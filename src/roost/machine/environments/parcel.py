"""An environment as it is sent to the team's: every folder, file by hash, and link, as
`roost.server.environments.manifest` takes them. Read as its owner, following no symbolic link."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from roost.machine.environments import tools, venv
from roost.machine.environments.place import (
    DESCRIPTION,
    USED,
    EnvError,
    Environment,
    site_packages,
)

BLOCK_BYTES = 1 << 20
FRAME_BYTES = 41
LEFT_OUT = {DESCRIPTION, USED, ".lock", ".gitignore", "CACHEDIR.TAG"}
_CHECKED_HASH = b"\x03\0\0\0"


@dataclass
class Parcel:
    """`sources`: (hash, executable) -> (path, size), each content once."""

    folders: list[str] = field(default_factory=list)
    files: list[tuple[str, str, int, bool]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    sources: dict[tuple[str, bool], tuple[str, int]] = field(default_factory=dict)

    def manifest(self, environment: Environment, interpreter: str) -> bytes:
        made = {
            "version": 1, "kind": environment.description.kind,
            "python": environment.description.python, "interpreter": interpreter,
            "folders": self.folders, "files": self.files, "links": self.links,
            "source": environment.description.source,
        }  # fmt: skip
        return msgspec.json.encode(made)


def pack(environment: Environment) -> tuple[Parcel, bytes]:
    """What there is to send, and its manifest. Raises EnvError, OSError."""
    if environment.description.kind != "venv":
        raise EnvError("conda_share", name=environment.name)
    compile_all(environment.path)
    parcel = Parcel()
    interpreter = os.path.realpath(venv.interpreter(environment.path))
    for relative, entry in _walk(environment.path):
        if entry.is_symlink():
            target = interpreter if relative == "bin/python" else os.readlink(entry.path)
            if relative != "bin/python" and os.path.isabs(target):
                _add_file(parcel, relative, os.path.realpath(entry.path))
            else:
                parcel.links.append((relative, target))
        elif entry.is_dir(follow_symlinks=False):
            parcel.folders.append(relative)
        elif entry.is_file(follow_symlinks=False) and not _stale(entry):
            _add_file(parcel, relative, entry.path)
    return parcel, parcel.manifest(environment, interpreter)


def compile_all(path: str) -> None:
    """Bytecode that is checked by the source's hash and not by its time: nobody can write any into
    an environment that is shared, and its files have other times there."""
    words = [venv.interpreter(path), "-I", "-m", "compileall", "-q", "-f", "-j", "0"]
    words += ["--invalidation-mode", "checked-hash", *site_packages(path)]
    done = tools.attempt(words, where=path)
    if done > 1:  # 1: a file that is no Python of this version, which packages do have
        raise EnvError("interpreter_fails", path=words[0])


def _stale(entry: os.DirEntry[str]) -> bool:
    """Bytecode by the source's time, which nothing there would believe."""
    if not entry.name.endswith(".pyc"):
        return False
    with open(entry.path, "rb") as file:
        return file.read(8)[4:] != _CHECKED_HASH


def _walk(top: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    left = [""]
    while left:
        folder = left.pop()
        with os.scandir(os.path.join(top, folder)) as entries:
            found = sorted(entries, key=lambda one: one.name)
        for entry in found:
            relative = f"{folder}/{entry.name}" if folder else entry.name
            if not folder and entry.name in LEFT_OUT:
                continue
            yield relative, entry
            if entry.is_dir(follow_symlinks=False):
                left.append(relative)


def _add_file(parcel: Parcel, relative: str, path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    executable = bool(status.st_mode & 0o100)
    parcel.files.append((relative, digest, status.st_size, executable))
    parcel.sources[digest, executable] = (path, status.st_size)


def frames(parcel: Parcel, wanted: list[tuple[str, bool]]) -> tuple[Iterator[bytes], int]:
    """The upload of these files, and how long it is."""
    size = sum(FRAME_BYTES + parcel.sources[key][1] for key in wanted)
    return _frames(parcel, wanted), size


def _frames(parcel: Parcel, wanted: list[tuple[str, bool]]) -> Iterator[bytes]:
    """Small files together, large ones by blocks. Raises EnvError for one that changed."""
    gathered = b""
    for digest, executable in wanted:
        path, size = parcel.sources[digest, executable]
        gathered += bytes.fromhex(digest) + bytes([executable]) + size.to_bytes(8, "big")
        with open(path, "rb") as file:
            left = size
            while left:
                block = file.read(min(BLOCK_BYTES, left))
                if not block:
                    raise EnvError("changed_meanwhile", path=path)
                left -= len(block)
                gathered += block
                if len(gathered) >= BLOCK_BYTES:
                    yield gathered
                    gathered = b""
    if gathered:
        yield gathered
