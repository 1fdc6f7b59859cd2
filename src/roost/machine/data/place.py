"""The shared place of data sets: made, listed, and taken from. All of it is root's own (or, where
Roost serves one person, theirs); no path of a person's is touched here.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from contextlib import suppress
from typing import Any

FOLDERS = ("incoming", "manifests", "records", "removed")
KEPT_REMOVED_S = 7 * 86400.0
MOST_RECORD_BYTES = 64 * 1024
MOST_LOOKED_AT = 200
OVERFLOW_UID = 65534


class PlaceError(Exception):
    """`code` names a message of the `data` catalogue."""

    def __init__(self, code: str, **numbers: str) -> None:
        super().__init__(code)
        self.code = code
        self.numbers = numbers


def made(place: str) -> None:
    """Makes the place where it is not there. Raises PlaceError where others may change it."""
    try:
        _make_way(place)
        stands_safely(place)
        if not os.path.isdir(f"{place}/.roost") and os.listdir(place):
            raise PlaceError("place_not_ours", place=place)
        for folder in ("", *FOLDERS):
            path = f"{place}/.roost/{folder}"
            os.makedirs(path, exist_ok=True)
            hidden = folder in ("incoming", "removed")
            os.chmod(path, 0o700 if hidden else 0o755)
        os.chmod(place, 0o755)  # noqa: S103 - everybody reads it
    except OSError as error:
        why = error.strerror or "?"
        raise PlaceError("no_place", place=place, why=why) from error


def _make_way(place: str) -> None:
    """The folders that are missing, open to all whatever this process's umask: who could not enter
    one would reach nothing below it. What was there stays as it is. Raises OSError."""
    missing = []
    while not os.path.isdir(place):
        missing.append(place)
        place = os.path.dirname(place)
    for one in reversed(missing):
        os.mkdir(one, 0o755)
        os.chmod(one, 0o755)  # noqa: S103 - everybody goes through it


def stands_safely(place: str) -> None:
    """Raises PlaceError where somebody but root and this account could put something else in the
    place of `place`, or of a folder above it. Raises OSError."""
    own = os.geteuid()
    trusted = (0,) if own == 0 else (0, own, OVERFLOW_UID)
    shared = 0o022 if own == 0 else 0o002
    above = place
    while True:
        about = os.lstat(above)
        loose = about.st_mode & shared and not about.st_mode & stat.S_ISVTX
        if not stat.S_ISDIR(about.st_mode) or about.st_uid not in trusted or loose:
            raise PlaceError("place_unsafe", place=place, above=above)
        if above == "/":
            return
        above = os.path.dirname(above)


def records(place: str) -> list[dict[str, Any]]:
    """What is on record of every set that is there whole, by name."""
    found = []
    with suppress(FileNotFoundError, NotADirectoryError):
        for name in sorted(os.listdir(f"{place}/.roost/records")):
            one = record(place, name)
            if one is not None:
                found.append(one)
    return found


def record(place: str, name: str) -> dict[str, Any] | None:
    try:
        with open(f"{place}/.roost/records/{name}", "rb") as file:
            known = json.loads(file.read(MOST_RECORD_BYTES))
        if not os.path.isdir(f"{place}/{name}"):
            return None
    except (OSError, ValueError):
        return None
    return {**known, "used_at": last_use(place, name)} if isinstance(known, dict) else None


def last_use(place: str, name: str) -> float | None:
    """When one of its first files was last read, as the file system keeps it (with relatime to the
    day); None where it keeps none."""
    tree = f"{place}/{name}"
    try:
        if os.statvfs(tree).f_flag & os.ST_NOATIME:
            return None
    except OSError:
        return None
    newest, looked_at = 0.0, 0
    for folder, _, files in os.walk(tree):
        for file in files:
            with suppress(OSError):
                newest = max(newest, os.lstat(f"{folder}/{file}").st_atime)
            looked_at += 1
            if looked_at >= MOST_LOOKED_AT:
                return newest or None
    return newest or None


def users_of(tree: str) -> dict[int, str]:
    """pids of processes that have something of it open, mapped, or as their folder; with what."""
    inside = tree.rstrip("/") + "/"
    found: dict[int, str] = {}
    for pid in (entry for entry in os.listdir("/proc") if entry.isdigit()):
        with suppress(OSError):
            for what in _held(pid):
                if what == tree or what.startswith(inside):
                    found[int(pid)] = what
                    break
    return found


def _held(pid: str) -> list[str]:
    held = []
    with suppress(OSError):
        held.append(os.readlink(f"/proc/{pid}/cwd"))
    for number in os.listdir(f"/proc/{pid}/fd"):
        with suppress(OSError):
            held.append(os.readlink(f"/proc/{pid}/fd/{number}"))
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as file:
        held += [words[5] for line in file if len(words := line.rstrip("\n").split(None, 5)) > 5]
    return held


def removed(place: str, name: str, now: float) -> str:
    """Moves the set to where it is kept for `KEPT_REMOVED_S`. Raises OSError."""
    kept = f"{place}/.roost/removed/{name}@{int(now)}"
    os.mkdir(kept, 0o700)
    os.utime(kept, (now, now))
    os.rename(f"{place}/{name}", f"{kept}/tree")  # from here on it is not listed
    for folder in ("records", "manifests"):
        os.rename(f"{place}/.roost/{folder}/{name}", f"{kept}/{folder.removesuffix('s')}")
    return kept


def purge(place: str, now: float | None = None) -> None:
    """Deletes for good what was removed long enough ago."""
    now = time.time() if now is None else now
    with suppress(FileNotFoundError, NotADirectoryError):
        for entry in os.listdir(f"{place}/.roost/removed"):
            _, _, at = entry.rpartition("@")
            if at.isdigit() and int(at) < now - KEPT_REMOVED_S:
                shutil.rmtree(f"{place}/.roost/removed/{entry}", ignore_errors=True)
