"""The line on which each key of a TOML text stands, which tomllib does not tell.

Only for texts that tomllib has already accepted; it need not find mistakes of syntax.
"""

from __future__ import annotations

import re

_KEY = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(\.)?""")
_STRING = re.compile(r"""\"{3}|'{3}|"(?:[^"\\]|\\.)*"|'[^']*'|#.*|[\[\]{}]""")

Path = tuple[str | int, ...]


def key_lines(text: str) -> dict[Path, int]:
    """Lines, from 1, by path: ("limits", "regular", "max_gpus"), ("ignore", 0, "user")."""
    found: dict[Path, int] = {}
    table: Path = ()
    counts: dict[Path, int] = {}
    depth, quote = 0, ""
    for number, line in enumerate(text.splitlines(), start=1):
        start = line.lstrip()
        if depth == 0 and not quote and start and not start.startswith("#"):
            if start.startswith("["):
                table = _header(start, counts)
                _note(found, table, number)
                continue
            path, rest = _keys(line, 0)
            if rest < len(line) and line[rest] == "=":
                _note(found, table + path, number)
                _inline(found, table + path, line[rest + 1 :], number)
        depth, quote = _state(line, depth, quote)
    return found


def line_of(lines: dict[Path, int], path: Path) -> int | None:
    """The line of that key, else of the nearest table around it, else None."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


def _note(found: dict[Path, int], path: Path, number: int) -> None:
    for length in range(1, len(path) + 1):
        found.setdefault(path[:length], number)


def _keys(text: str, at: int) -> tuple[Path, int]:
    path: list[str | int] = []
    while (match := _KEY.match(text, at)) is not None:
        path.append(next(part for part in match.groups()[:3] if part is not None))
        at = match.end()
        if match[4] is None:
            break
    return tuple(path), at


def _header(text: str, counts: dict[Path, int]) -> Path:
    double = text.startswith("[[")
    path, _ = _keys(text, 2 if double else 1)
    known: list[str | int] = []
    for part in path[:-1] if double else path:
        known.append(part)
        if tuple(known) in counts:
            known.append(counts[tuple(known)] - 1)
    if double:
        known.append(path[-1])
        counts[tuple(known)] = counts.get(tuple(known), 0) + 1
        known.append(counts[tuple(known)] - 1)
    return tuple(known)


def _inline(found: dict[Path, int], path: Path, value: str, number: int) -> None:
    """Keys of an inline table stand on its own line; naming the line is enough."""
    if value.lstrip().startswith("{"):
        found.setdefault(path, number)


def _state(line: str, depth: int, quote: str) -> tuple[int, str]:
    """Open brackets and open multi-line string after `line`."""
    at = 0
    while at < len(line):
        if quote:
            end = line.find(quote, at)
            if end < 0:
                return depth, quote
            at, quote = end + 3, ""
            continue
        match = _STRING.search(line, at)
        if match is None:
            break
        word, at = match[0], match.end()
        if word in ('"""', "'''"):
            quote = word
        elif word in "[{":
            depth += 1
        elif word in "]}":
            depth -= 1
    return depth, quote
