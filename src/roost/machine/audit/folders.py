"""Folders and files of shared places that everybody may write: a bounded walk, no link followed,
and no other file system entered."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from roost.core.audit.facts import Shared
from roost.machine.audit.tree import Tree

MOST_ENTRIES = 300_000
MOST_FOUND = 200
MOST_DEPTH = 12
WITHIN_S = 15.0
# Never searched, whatever the rules say: the system's own, and what is no disk.
NEVER = (
    "/", "/proc", "/sys", "/dev", "/run", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64",
    "/boot", "/root", "/var",
)  # fmt: skip
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass
class Walk:
    """`cut_off`: places that were not searched to the end."""

    tree: Tree
    until: float = field(default_factory=lambda: time.monotonic() + WITHIN_S)
    entries: int = 0
    found: list[Shared] = field(default_factory=list)
    cut_off: list[str] = field(default_factory=list)


def may_search(place: str) -> bool:
    """Whether a place of the rules is one that is searched: absolute, plain, none of the system."""
    if not place.startswith("/") or os.path.normpath(place) != place or "\0" in place:
        return False
    return place not in NEVER and not any(
        place.startswith(one + "/") for one in NEVER if one not in ("/", "/var", "/run")
    )


def shared_folders(tree: Tree, places: Sequence[str]) -> tuple[tuple[Shared, ...], tuple[str, ...]]:
    """What was found, and the places that were not searched to the end."""
    walk = Walk(tree)
    for place in places:
        if not may_search(place):
            continue
        try:
            top = os.open(tree.path(place), _FOLDER)
        except OSError:
            continue  # not there, a link, or no folder
        try:
            about = os.fstat(top)
            if _wide(about) and not about.st_mode & stat.S_ISVTX:
                _add(walk, place, "folder", about)
            if not _folder(walk, top, place, about.st_dev, 0):
                walk.cut_off.append(place)
        finally:
            os.close(top)
    return tuple(walk.found), tuple(walk.cut_off)


def _folder(walk: Walk, folder: int, path: str, device: int, depth: int) -> bool:
    """False where the search was cut off."""
    if depth > MOST_DEPTH or time.monotonic() > walk.until:
        return False
    whole = True
    with os.scandir(folder) as entries:
        for entry in entries:
            walk.entries += 1
            if walk.entries > MOST_ENTRIES or len(walk.found) >= MOST_FOUND:
                return False
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile
            inner = f"{path}/{entry.name}"
            if stat.S_ISREG(about.st_mode) and _wide(about):
                _add(walk, inner, "file", about)
            elif stat.S_ISDIR(about.st_mode) and about.st_dev == device:
                if _wide(about) and not about.st_mode & stat.S_ISVTX:
                    _add(walk, inner, "folder", about)
                whole = _enter(walk, folder, entry.name, inner, about, depth) and whole
    return whole


def _enter(
    walk: Walk, folder: int, name: str, path: str, about: os.stat_result, depth: int
) -> bool:
    try:
        inner = os.open(name, _FOLDER, dir_fd=folder)
    except OSError:
        return True  # gone, or a link by now
    try:
        now = os.fstat(inner)
        if (now.st_dev, now.st_ino) != (about.st_dev, about.st_ino):
            return True
        return _folder(walk, inner, path, about.st_dev, depth + 1)
    finally:
        os.close(inner)


def _wide(about: os.stat_result) -> bool:
    return bool(about.st_mode & stat.S_IWOTH)


def _add(walk: Walk, path: str, kind: str, about: os.stat_result) -> None:
    user = walk.tree.user_name(about.st_uid)
    mode = stat.S_IMODE(about.st_mode)
    walk.found.append(Shared(os.fsencode(path), kind, mode, about.st_uid, user))
