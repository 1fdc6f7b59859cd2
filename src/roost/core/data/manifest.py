"""What a registered data set holds, one line for each entry, and what may be in one.

The SHA-256 of the manifest is that of the set: equal trees have equal ones, whoever copied them.
Knows names and bytes; touches no file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote_from_bytes, unquote_to_bytes

MOST_PATH_BYTES = 4000
MOST_DEPTH = 100
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_SAFE = "/!#$&'()*+,:;=@[]^{}~|<>?"
# Formats in which a file can hold code that runs when it is loaded.
_PICKLED = (b".bin", b".ckpt", b".pkl", b".pickle", b".pt", b".pth", b".joblib")


class ManifestError(Exception):
    """This is no line of a manifest; or its entry may not be in a set."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`kind`: "d" a folder, "f" a file of `size` bytes with `sha256`, "l" a link to `target`."""

    kind: str
    path: bytes
    size: int = 0
    executable: bool = False
    sha256: str = ""
    target: bytes = b""


def sound_name(name: str) -> bool:
    """Whether a set may be called so: letters, digits, dots, dashes; it is a folder's name."""
    return _NAME.fullmatch(name) is not None


def sound_path(path: bytes) -> bool:
    """Whether it is relative, with no part that leads elsewhere."""
    parts = path.split(b"/")
    return (
        0 < len(path) <= MOST_PATH_BYTES
        and b"\0" not in path
        and len(parts) <= MOST_DEPTH
        and not any(part in (b"", b".", b"..") for part in parts)
    )


def stays_inside(path: bytes, target: bytes) -> bool:
    """Whether the link at `path` leads to within the set: relative, and up only at its beginning,
    where every folder on the way is a real one."""
    if not target or len(target) > MOST_PATH_BYTES or target.startswith(b"/") or b"\0" in target:
        return False
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    up = 0
    while up < len(parts) and parts[up] == b"..":
        up += 1
    return b".." not in parts[up:] and up <= path.count(b"/")


def pickled(path: bytes) -> bool:
    """Whether loading such a file usually runs what is in it, so that its maker must be trusted."""
    return path.lower().endswith(_PICKLED)


def line_of(entry: Entry) -> bytes:
    """Its line, with the line feed: kind, mode, size, SHA-256, path, target; ASCII."""
    words = (
        entry.kind,
        "x" if entry.executable else "-",
        str(entry.size),
        entry.sha256 or "-",
        quote_from_bytes(entry.path, _SAFE),
        quote_from_bytes(entry.target, _SAFE) or "-",
    )
    return " ".join(words).encode("ascii") + b"\n"


def entry_of(line: bytes) -> Entry:
    """Raises ManifestError."""
    try:
        kind, mode, size, sha256, path, target = line.decode("ascii").rstrip("\n").split(" ")
        entry = Entry(
            kind,
            unquote_to_bytes(path),
            int(size),
            mode == "x",
            "" if sha256 == "-" else sha256,
            unquote_to_bytes(target) if kind == "l" else b"",
        )
    except ValueError:
        raise ManifestError("no line of a manifest") from None
    good = {
        "d": not entry.size and not entry.sha256,
        "f": entry.size >= 0 and _SHA256.fullmatch(entry.sha256) is not None,
        "l": not entry.size and not entry.sha256 and stays_inside(entry.path, entry.target),
    }.get(kind, False)
    if not good or not sound_path(entry.path):
        raise ManifestError("no entry of a manifest")
    return entry
