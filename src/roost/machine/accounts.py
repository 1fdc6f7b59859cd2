"""Whose job it is: uid, groups, home, shell and limits of an account, and who may not run jobs.

Name services may be slow or away: whoever calls this does so in a thread of its own. It never
touches a path of the user's.
"""

from __future__ import annotations

import os
import pwd
import resource
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NOBODY = (65534, 65535, 2**32 - 1)
MOST_FILES = 65_536
DISABLED_SHELLS = frozenset({"nologin", "false"})
LIMITS = {
    "core": (resource.RLIMIT_CORE, 1024),
    "cpu": (resource.RLIMIT_CPU, 60),
    "data": (resource.RLIMIT_DATA, 1024),
    "fsize": (resource.RLIMIT_FSIZE, 1024),
    "memlock": (resource.RLIMIT_MEMLOCK, 1024),
    "nofile": (resource.RLIMIT_NOFILE, 1),
    "nproc": (resource.RLIMIT_NPROC, 1),
    "as": (resource.RLIMIT_AS, 1024),
    "stack": (resource.RLIMIT_STACK, 1024),
    "msgqueue": (resource.RLIMIT_MSGQUEUE, 1),
    "sigpending": (resource.RLIMIT_SIGPENDING, 1),
}


class RefusedAccountError(Exception):
    """This account does not run jobs. `code` names a message of the `agent` catalogue."""

    def __init__(self, code: str, user: str, **numbers: object) -> None:
        super().__init__(f"{user}: {code}")
        self.code = code
        self.numbers: dict[str, str] = {
            "user": user,
            **{key: str(value) for key, value in numbers.items()},
        }


@dataclass(frozen=True, slots=True)
class Limit:
    """One resource limit (setrlimit(2)); None keeps what the agent has, -1 is unlimited."""

    resource: int
    soft: int | None
    hard: int | None


@dataclass(frozen=True, slots=True)
class Account:
    """All that is needed to become this person."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    shell: str
    limits: tuple[Limit, ...] = ()


def uid_min(path: str = "/etc/login.defs") -> int:
    """The first uid of people (login.defs(5)); 1000 where the file does not say."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if len(words) == 2 and words[0] == "UID_MIN" and words[1].isdigit():
                    return max(1, int(words[1]))
    except OSError:
        pass  # no login.defs: Debian's and the shadow suite's own default holds
    return 1000


def look_up(user: str, own_uid: int, login_defs: str = "/etc/login.defs") -> Account:
    """The account that jobs of `user` run as.

    Raises RefusedAccountError: no such account, a system account, a disabled one, or (`own_uid`
    not 0) anybody but the person who runs the agent.
    """
    if not user or len(user) > 256 or "\0" in user or "/" in user or user.startswith("-"):
        raise RefusedAccountError("unknown_user", user[:64])
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise RefusedAccountError("unknown_user", user) from None
    if own_uid != 0:
        if entry.pw_uid != own_uid:
            raise RefusedAccountError("other_user", user)
    else:
        least = uid_min(login_defs)
        if entry.pw_uid < least or entry.pw_uid in NOBODY:
            raise RefusedAccountError("system_user", user, uid=entry.pw_uid, uid_min=least)
        if os.path.basename(entry.pw_shell) in DISABLED_SHELLS:
            raise RefusedAccountError("disabled_user", user, shell=entry.pw_shell)
        if expired(line_of(entry.pw_name, "/etc/shadow")):
            raise RefusedAccountError("expired_user", user)
    groups = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid)) if own_uid == 0 else ()
    if own_uid == 0 and 0 in (entry.pw_gid, *groups):
        raise RefusedAccountError("root_group", user)
    return Account(
        name=entry.pw_name,
        uid=entry.pw_uid,
        gid=entry.pw_gid,
        groups=groups,
        home=entry.pw_dir or "/",
        shell=entry.pw_shell or "/bin/sh",
        limits=limits_of(entry.pw_name, entry.pw_uid, entry.pw_gid, groups),
    )


def line_of(name: str, path: str) -> list[str] | None:
    """The fields of the line of that name in passwd(5), group(5) or shadow(5); None without one,
    as of who is in a directory."""
    start = name + ":"
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            if line.startswith(start):
                return line.rstrip("\n").split(":")
    return None


def expired(shadow: Sequence[str] | None) -> bool:
    """Whether the account of that line of shadow(5) is past its last day."""
    day = shadow[7] if shadow is not None and len(shadow) > 7 else ""
    return day.isdigit() and int(day) * 86400 <= time.time()


def limits_files(root: str = "/etc/security") -> list[str]:
    """limits.conf and then limits.d/*.conf in order, as pam_limits(8) reads them."""
    files = [f"{root}/limits.conf"]
    try:
        names = sorted(os.listdir(f"{root}/limits.d"))
    except OSError:
        names = []
    return files + [f"{root}/limits.d/{name}" for name in names if name.endswith(".conf")]


def limits_of(
    user: str, uid: int, gid: int, groups: Sequence[int], files: Iterable[str] | None = None
) -> tuple[Limit, ...]:
    """What limits.conf(5) gives this user: a line for the user wins over its groups, over `*`.

    Core dumps are off and the soft number of files is the hard one where nothing else is said.
    """
    best: dict[tuple[int, str], tuple[int, int]] = {}
    for path in limits_files() if files is None else files:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = file.readlines()
        except OSError:
            continue
        for line in lines:
            _take_line(line, user, uid, (gid, *groups), best)
    core = resource.RLIMIT_CORE
    numbers = sorted({number for number, _ in best} | {core})
    found = []
    for number in numbers:
        soft, hard = best.get((number, "soft")), best.get((number, "hard"))
        soft_value = None if soft is None else soft[1]
        hard_value = None if hard is None else hard[1]
        if number == core and soft_value is None:
            soft_value = 0
        found.append(Limit(number, soft_value, hard_value))
    return tuple(found)


def _take_line(
    line: str,
    user: str,
    uid: int,
    gids: Sequence[int],
    best: dict[tuple[int, str], tuple[int, int]],
) -> None:
    words = line.split("#", 1)[0].split()
    if len(words) != 4 or words[2] not in LIMITS or words[1] not in ("soft", "hard", "-"):
        return
    rank = _rank(words[0], user, uid, gids)
    number, unit = LIMITS[words[2]]
    if rank == 0:
        return
    if words[3] in ("-1", "unlimited", "infinity"):
        value = -1
    elif words[3].isdigit():
        value = int(words[3]) * unit
    else:
        return
    for kind in ("soft", "hard") if words[1] == "-" else (words[1],):
        if best.get((number, kind), (0, 0))[0] <= rank:
            best[(number, kind)] = (rank, value)


def _rank(domain: str, user: str, uid: int, gids: Sequence[int]) -> int:
    """How closely a limits.conf domain names the user: 0 not at all, 1 `*`, 2 group, 3 user."""
    if domain == user:
        return 3
    if domain == "*":
        return 1
    if domain.startswith("@"):
        return 2 if _group_matches(domain[1:], gids) else 0
    low, colon, high = domain.partition(":")
    if colon and (low or high) and all(part.isdigit() for part in (low, high) if part):
        inside = int(low or 0) <= uid <= int(high or 2**32)
        return 3 if inside else 0
    return 0


def _group_matches(name: str, gids: Sequence[int]) -> bool:
    if name.startswith(":") and name[1:].isdigit():
        return int(name[1:]) in gids
    import grp

    try:
        return grp.getgrnam(name).gr_gid in gids
    except KeyError:
        return False


def apply_limits(limits: Iterable[Limit]) -> None:
    """Sets the limits in this process; what exceeds its own rights is cut to what it has.

    Open files, where limits.conf does not speak of them: as many as are allowed, up to MOST_FILES
    (programs that go through every possible descriptor would take seconds with a million).
    """
    for limit in limits:
        own_soft, own_hard = resource.getrlimit(limit.resource)
        hard = own_hard if limit.hard is None else limit.hard
        soft = own_soft if limit.soft is None else limit.soft
        if limit.soft is None and limit.hard is not None:
            soft = _least(own_soft, hard)
        _set(limit.resource, _least(soft, hard), hard, own_hard)
    own_soft, own_hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if not any(limit.resource == resource.RLIMIT_NOFILE for limit in limits):
        resource.setrlimit(resource.RLIMIT_NOFILE, (_least(own_hard, MOST_FILES), own_hard))


def _least(a: int, b: int) -> int:
    if a == -1:
        return b
    return a if b == -1 else min(a, b)


def _set(number: int, soft: int, hard: int, own_hard: int) -> None:
    try:
        resource.setrlimit(number, (soft, hard))
    except (ValueError, PermissionError):  # above the hard limit, without CAP_SYS_RESOURCE
        hard = _least(hard, own_hard)
        resource.setrlimit(number, (_least(soft, hard), hard))
