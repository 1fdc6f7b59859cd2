"""Walks a folder that somebody else may be changing: in a fixed order, through descriptors.

Follows no link below its top and opens nothing but folders and regular files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import NamedTuple

from roost.core.data.manifest import MOST_DEPTH


class TreeError(Exception):
    """Something that cannot be in a data set. `code` names a message of the `data` catalogue."""

    def __init__(self, code: str, path: bytes = b"") -> None:
        super().__init__(code)
        self.code = code
        self.path = path


class Found(NamedTuple):
    """`folder` is a descriptor of the folder that `name` is in, for as long as it is looked at."""

    kind: str
    path: bytes
    folder: int
    name: bytes
    about: os.stat_result


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def walk(top: int) -> Iterator[Found]:
    """Everything below the folder, each folder before what is in it, by the bytes of the names.

    Raises OSError; TreeError for what is neither folder, file nor link, and for too deep a tree.
    """
    with closing(_walk(os.dup(top), b"", 1)) as found:
        yield from found


def _walk(folder: int, above: bytes, depth: int) -> Generator[Found, None, None]:
    try:
        for name in sorted(os.fsencode(name) for name in os.listdir(folder)):
            path = above + name
            about = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISDIR(about.st_mode):
                if depth >= MOST_DEPTH:
                    raise TreeError("too_deep", path)
                yield Found("d", path, folder, name, about)
                inner = os.open(name, _FOLDER, dir_fd=folder)
                yield from _walk(inner, path + b"/", depth + 1)
            elif stat.S_ISREG(about.st_mode):
                yield Found("f", path, folder, name, about)
            elif stat.S_ISLNK(about.st_mode):
                yield Found("l", path, folder, name, about)
            else:
                raise TreeError("special_file", path)
    finally:
        os.close(folder)


def open_file(folder: int | None, name: bytes, path: bytes, follow: bool = False) -> int:
    """The regular file, for reading. What it is is looked at before it is opened: to open a FIFO or
    a device may wait or do things. Raises OSError, TreeError."""
    flags = os.O_PATH | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    found = os.open(name, flags, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(found).st_mode):
            raise TreeError("special_file", path)
        return os.open(
            f"/proc/self/fd/{found}", os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
        )
    finally:
        os.close(found)
