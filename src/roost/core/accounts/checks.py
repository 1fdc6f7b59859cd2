"""What is written of a person, held against what an account can have. Server and agent both ask.

Pure. It must not know what accounts there are; that is in `planning`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from roost.core.accounts.keys import KeyProblemError, read_key
from roost.core.accounts.model import Asked, Problem, Wanted
from roost.core.rules.units import UnitError, parse_size
from roost.core.text.printable import printable

MOST_NAME = 32
MOST_KNOWN = 256
MOST_FULL_NAME = 100
MOST_KEYS = 20
LEAST_QUOTA_BYTES = 1 << 20
WITHOUT = frozenset({"0", "none", "unlimited", "no", "无", "不限", "无限制"})
_NEW = re.compile(r"[a-z][a-z0-9_-]{0,31}\Z")
_KNOWN = re.compile(r"[^\s:/,.\\\0-\x1f\x7f-][^\s:/,\0-\x1f\x7f]*\Z")
_BETWEEN = re.compile(r"[,;，；、\s]+")


def new_name(name: str) -> bool:
    """Whether an account, or a group, of that name may be made: as `useradd` of every system takes
    it, and nothing that a shell, a path or a file of accounts could take otherwise."""
    return _NEW.match(name) is not None


def known_name(name: str) -> bool:
    """Whether an account of that name, made elsewhere, may be asked for."""
    return len(name) <= MOST_KNOWN and _KNOWN.match(name) is not None and name.isprintable()


def full_name_right(text: str) -> bool:
    """Of the first field of gecos (passwd(5)): no colon, comma, or control character."""
    return len(text) <= MOST_FULL_NAME and text.isprintable() and not set(text) & set(':,=\\"')


def shown(text: str) -> str:
    """What was written, fit to be shown and not endless."""
    plain = printable(text.encode("utf-8", "replace"))
    return plain if len(plain) <= 80 else plain[:79] + "…"


def wanted(asked: Asked) -> tuple[Wanted | None, list[Problem]]:
    """What that row wants; None with what is wrong in it."""
    problems: list[Problem] = []

    def wrong(column: str, value: str, code: str, **numbers: str) -> None:
        problems.append(Problem(code, shown(asked.name), column, shown(value), asked.row, numbers))

    name = asked.name.strip()
    if not known_name(name):
        wrong("name", asked.name, "name_wrong" if name else "name_missing")
    full_name = " ".join(asked.full_name.split(" ")).strip()
    if not full_name_right(full_name):
        wrong("full_name", asked.full_name, "full_name_wrong", most=str(MOST_FULL_NAME))
    keys: list[str] = []
    for text in asked.keys[:MOST_KEYS]:
        try:
            keys.append(read_key(text))
        except KeyProblemError as error:
            wrong("key", text, error.code)
    if len(asked.keys) > MOST_KEYS:
        wrong("key", str(len(asked.keys)), "keys_many", most=str(MOST_KEYS))
    quota = None
    if asked.quota.strip():
        quota = quota_bytes(asked.quota)
        if quota is None:
            wrong("quota", asked.quota, "quota_wrong")
    groups = tuple(dict.fromkeys(part for part in _BETWEEN.split(asked.group) if part))
    if problems:
        return None, problems
    return Wanted(name, full_name, groups, tuple(dict.fromkeys(keys)), quota, asked.row), []


def quota_bytes(text: str) -> int | None:
    """Bytes of "500G", whole KiB as quotas count; 0 for what means no quota; None for no size."""
    plain = text.strip().lower()
    if plain in WITHOUT:
        return 0
    try:
        found = parse_size(plain)
    except UnitError:
        return None
    return -(-found // 1024) * 1024 if found >= LEAST_QUOTA_BYTES else None


def twice(rows: Sequence[Asked]) -> list[Problem]:
    """Names that stand in more than one row: which of them holds would be a guess."""
    first: dict[str, int | None] = {}
    found = []
    for asked in rows:
        name = asked.name.strip()
        if name in first:
            before = {"before": str(first[name] or "?")}
            found.append(Problem("name_twice", shown(name), "name", shown(name), asked.row, before))
        else:
            first[name] = asked.row
    return found
