"""A shared environment as a list: its folders, files by hash, and links. What comes is from a
person, and becomes paths of the server's: everything that could lead out of the folder is refused.

A symbolic link may climb first and then descend ("../../a/b"), never out of the environment, and
nothing lies below a link, so no chain of them leads out either. The one absolute link is that to
the interpreter, which only root may write.
"""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

VERSION = 1
MOST_ENTRIES = 1_000_000
MOST_PATH = 1000
MOST_PART = 255
MOST_FILE_BYTES = 64 * 2**30
PYTHON_LINK = "bin/python"
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")

Sha = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class File(msgspec.Struct, frozen=True, array_like=True):
    path: str
    sha256: str
    size: int
    executable: bool = False


class Link(msgspec.Struct, frozen=True, array_like=True):
    path: str
    target: str


class Manifest(msgspec.Struct, frozen=True):
    """`interpreter`: the absolute path that bin/python leads to."""

    version: int
    kind: str
    python: str
    interpreter: str
    folders: tuple[str, ...]
    files: tuple[File, ...]
    links: tuple[Link, ...]
    source: str = ""

    @property
    def size_bytes(self) -> int:
        return sum(file.size for file in self.files)


class ManifestError(ValueError):
    """What is wrong with it, in one phrase."""


_decoder = msgspec.json.Decoder(Manifest)


def read(data: bytes) -> Manifest:
    """A manifest that can be made into a folder as it is. Raises ManifestError."""
    try:
        found = _decoder.decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError) as error:
        raise ManifestError(str(error)[:200]) from error
    if found.version != VERSION or found.kind != "venv":
        raise ManifestError("another kind or version")
    if len(found.folders) + len(found.files) + len(found.links) > MOST_ENTRIES:
        raise ManifestError(f"more than {MOST_ENTRIES} entries")
    if len(found.python) > 32 or len(found.source) > 255:
        raise ManifestError("python or source is too long")
    _check(found)
    return found


def _check(found: Manifest) -> None:
    folders = {""}
    taken: set[str] = set()
    for folder in found.folders:  # in order: each after the one that it lies in
        _place(folder, folders, taken)
        folders.add(folder)
    for file in found.files:
        _place(file.path, folders, taken)
        if not _SHA256.match(file.sha256) or not 0 <= file.size <= MOST_FILE_BYTES:
            raise ManifestError(f"hash or size of {file.path[:100]!r}")
    python = False
    for link in found.links:
        _place(link.path, folders, taken)
        if link.path == PYTHON_LINK:
            python = True
            if link.target != found.interpreter or not link.target.startswith("/"):
                raise ManifestError("bin/python does not lead to the interpreter")
        else:
            _target(link)
    if not python or "\0" in found.interpreter or len(found.interpreter) > MOST_PATH:
        raise ManifestError("no interpreter")


def _place(path: str, folders: set[str], taken: set[str]) -> None:
    """Raises ManifestError for a path that is not plainly a new one inside."""
    parts = path.split("/")
    wrong = (
        not path
        or len(path) > MOST_PATH
        or "\0" in path
        or any(part in ("", ".", "..") or len(part.encode()) > MOST_PART for part in parts)
    )
    if wrong or "/".join(parts[:-1]) not in folders or path in taken:
        raise ManifestError(f"path {path[:100]!r}")
    taken.add(path)


def _target(link: Link) -> None:
    parts = link.target.split("/")
    depth = link.path.count("/")
    climbs = 0
    while climbs < len(parts) and parts[climbs] == "..":
        climbs += 1
    rest = parts[climbs:]
    wrong = (
        not link.target
        or len(link.target) > MOST_PATH
        or "\0" in link.target
        or climbs > depth
        or any(part in ("", "..") for part in rest)
    )
    if wrong:
        raise ManifestError(f"link {link.path[:100]!r}")
