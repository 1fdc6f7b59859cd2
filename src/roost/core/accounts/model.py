"""Accounts as data: what is asked for, what the machine has, the steps from one to the other.

Knows no file and no program. The same dataclasses travel between server and agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Asked:
    """One person as written on the command line or in a row; "" and () where nothing is said."""

    name: str
    full_name: str = ""
    group: str = ""
    keys: tuple[str, ...] = ()
    quota: str = ""
    share: str = ""
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """`groups`: of the rules. `keys`: SSH public keys, each with its comment. `quota_bytes`: None
    leaves the quota as it is, 0 is without one."""

    name: str
    full_name: str = ""
    groups: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    quota_bytes: int | None = None
    row: int | None = None


class Home(StrEnum):
    """What stands where the account's home should be. `OTHERS`: somebody else's."""

    PRIVATE = "private"
    OPEN = "open"
    ABSENT = "absent"
    LINK = "link"
    OTHERS = "others"


@dataclass(frozen=True, slots=True)
class AccountSeen:
    """An account as the machine has it.

    `local`: of /etc/passwd, else of a directory (LDAP, SSSD). `powerful`: the group by which it may
    act as root, or "sudoers". `keys` are those of its authorized_keys; `keys_why`: why these cannot
    be read or written, a code. `disabled` by Roost, or by somebody else where `barred` is False.
    `held_jobs`: what Roost held when it was disabled. `made`: Roost made it. `processes`: some of
    those that are no job of Roost's, "1234 bash".
    """

    name: str
    uid: int
    gid: int
    full_name: str
    home: str
    shell: str
    local: bool
    system: bool
    powerful: str
    home_state: Home
    home_mode: int
    groups: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    keys_why: str = ""
    quota_bytes: int | None = None
    disabled: bool = False
    barred: bool = False
    held_jobs: tuple[int, ...] = ()
    made: bool = False
    processes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupSeen:
    """A Linux group. `system`: below the first gid of people's; `powerful`: its members may act as
    root."""

    name: str
    local: bool
    system: bool
    powerful: bool


@dataclass(frozen=True, slots=True)
class Archive:
    """A home that was packed before its account went."""

    name: str
    uid: int
    full_name: str
    home: str
    at: float
    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class HostSeen:
    """What of the machine matters to accounts. `quota`: "on", or a code that says why there is
    none; `taken`: folders that stand where homes of accounts that are not there would be, with
    whose they are; `uids_taken`: of archived accounts whose uid another one has now."""

    home_base: str
    shell: str
    quota: str
    archive_folder: str
    groups: tuple[GroupSeen, ...] = ()
    taken: Mapping[str, str] = field(default_factory=dict)
    archives: tuple[Archive, ...] = ()
    uids_taken: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rights:
    """What an account has of Roost now: ways in, and numbers of jobs and bookings."""

    sessions: int = 0
    tokens: int = 0
    feeds: int = 0
    waiting: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    running: tuple[int, ...] = ()
    bookings: tuple[int, ...] = ()


class Do(StrEnum):
    """What a step does. Those of `SERVERS` the server does itself, all others the agent."""

    CREATE = "create"
    GROUP = "group"
    JOIN = "join"
    FULL_NAME = "full_name"
    PRIVATE = "private"
    KEY = "key"
    QUOTA = "quota"
    DISABLE = "disable"
    ENABLE = "enable"
    ARCHIVE = "archive"
    REMOVE = "remove"
    RESTORE = "restore"
    PUT_OUT = "put_out"
    HOLD = "hold"
    RELEASE = "release"
    END = "end"
    UNBOOK = "unbook"


SERVERS = frozenset({Do.PUT_OUT, Do.HOLD, Do.RELEASE, Do.END, Do.UNBOOK})


@dataclass(frozen=True, slots=True)
class Step:
    """`group`: a Linux group. `text`: the full name, the SSH key, or the path of the archive that
    it is about. `numbers`: jobs or bookings. `before`: what it takes the place of, to show."""

    do: Do
    user: str
    uid: int | None = None
    group: str = ""
    text: str = ""
    home: str = ""
    size_bytes: int | None = None
    numbers: tuple[int, ...] = ()
    before: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why nothing is done. `column`: which part of the row is wrong; `code`: of `account`."""

    code: str
    user: str
    column: str
    value: str
    row: int | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remark:
    """What the steps do not change, to be said with them."""

    code: str
    user: str
    numbers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """With problems it has no steps: all or nothing is begun."""

    steps: tuple[Step, ...] = ()
    remarks: tuple[Remark, ...] = ()
    problems: tuple[Problem, ...] = ()
