"""What accounts this machine has: passwd, shadow, groups, sudoers, homes, processes, quotas.

For the process of `account_work`, which is root. Nothing here changes anything.
"""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

from roost.core.accounts.model import AccountSeen, GroupSeen, Home, HostSeen
from roost.machine import account_home, quota
from roost.machine.account_book import Book
from roost.machine.accounts import NOBODY, expired, line_of, uid_min
from roost.machine.place import place_of_cgroup

# Who is in one of these can become root, or read what is root's.
POWERFUL = frozenset(
    {
        "root", "sudo", "wheel", "admin", "docker", "lxd", "incus", "incus-admin", "libvirt",
        "disk", "kmem", "shadow", "roost",
    }
)  # fmt: skip
SUDOERS = ("/etc/sudoers", "/etc/sudoers.d")
MOST_PROCESSES = 5


def gid_min(path: str = "/etc/login.defs") -> int:
    """The first gid of people's groups (login.defs(5))."""
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split()
            if len(words) == 2 and words[0] == "GID_MIN" and words[1].isdigit():
                return max(1, int(words[1]))
    return 1000


def is_system(entry: pwd.struct_passwd) -> bool:
    """Root, Roost, daemons, nobody: accounts that no step ever touches."""
    return entry.pw_uid < uid_min() or entry.pw_uid in NOBODY or entry.pw_name in ("root", "roost")


def in_file(name: str, path: str) -> bool:
    """Whether passwd(5), group(5) or shadow(5) has a line of that name; else a directory does."""
    return line_of(name, path) is not None


def sudoers() -> tuple[frozenset[str], frozenset[str]]:
    """Groups and accounts that sudoers(5) names anywhere at the start of a line, or in an alias of
    users: rather one too many than one too few."""
    groups, users = set[str](), set[str]()
    files = [SUDOERS[0]]
    with suppress(OSError):
        files += [f"{SUDOERS[1]}/{name}" for name in sorted(os.listdir(SUDOERS[1]))]
    for path in files:
        with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if not words or words[0].startswith(("#", "@", "Defaults")):
                    continue
                if words[0] == "User_Alias":
                    words = line.partition("=")[2].replace(",", " ").split()
                elif words[0].endswith("_Alias"):
                    continue
                else:
                    words = words[0].split(",")
                for word in words:
                    found = groups if word.startswith("%") else users
                    found.add(word.lstrip("%").strip('"'))
    return frozenset(groups), frozenset(users - {"ALL"})


class Powers:
    """Which groups and accounts may act as root, read once."""

    def __init__(self) -> None:
        groups, self._users = sudoers()
        self._groups = groups | POWERFUL

    def group(self, name: str, gid: int) -> bool:
        return gid == 0 or name in self._groups or f"#{gid}" in self._groups

    def account(self, entry: pwd.struct_passwd) -> str:
        """By what that account may act as root; "" where it may not."""
        if entry.pw_name in self._users:
            return "sudoers"
        for name, gid in groups_of(entry):
            if self.group(name, gid):
                return name
        return ""


def groups_of(entry: pwd.struct_passwd) -> list[tuple[str, int]]:
    found = []
    for gid in os.getgrouplist(entry.pw_name, entry.pw_gid):
        try:
            found.append((grp.getgrgid(gid).gr_name, gid))
        except KeyError:
            found.append((str(gid), gid))
    return found


def person_of(entry: pwd.struct_passwd) -> account_home.Person:
    gids = tuple(os.getgrouplist(entry.pw_name, entry.pw_gid))
    return account_home.Person(
        entry.pw_name, entry.pw_uid, entry.pw_gid, gids, os.path.normpath(entry.pw_dir or "/")
    )


def account(
    entry: pwd.struct_passwd, book: Book, powers: Powers, busy: dict[int, list[str]]
) -> AccountSeen:
    """`busy`: processes by uid, as `processes` gives them."""
    system = is_system(entry)
    name, home = entry.pw_name, account_home.Said(Home.OTHERS.value)
    kept = book.entry(name, entry.pw_uid)
    off = False if system else expired(line_of(name, "/etc/shadow"))
    limit = None
    if not system:
        home = account_home.look(person_of(entry))
        with suppress(OSError):
            limit = quota.get(home_base(), entry.pw_uid)
    return AccountSeen(
        name=name,
        uid=entry.pw_uid,
        gid=entry.pw_gid,
        full_name=entry.pw_gecos.split(",", 1)[0],
        home=os.path.normpath(entry.pw_dir or "/"),
        shell=entry.pw_shell,
        local=in_file(name, "/etc/passwd"),
        system=system,
        powerful=powers.account(entry),
        home_state=Home(home.state or Home.OTHERS),
        home_mode=home.mode,
        groups=tuple(group for group, _ in groups_of(entry)),
        keys=home.keys,
        keys_why=home.code,
        quota_bytes=limit,
        disabled=off,
        barred=off and kept.before is not None,
        held_jobs=kept.held_jobs if off else (),
        made=kept.made_at > 0,
        processes=tuple(busy.get(entry.pw_uid, ())[:MOST_PROCESSES]),
    )


def processes(uids: Collection[int], bases: Sequence[str]) -> dict[int, list[str]]:
    """ "1234 bash" of each live process of these that is not in a job of Roost's. `bases`: the
    cgroups that the agent makes jobs in, as the cgroup files name them."""
    paths = [base.encode() for base in bases]
    found: dict[int, list[str]] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        with suppress(OSError, KeyError, ValueError, IndexError):
            with open(f"/proc/{entry}/status", encoding="utf-8", errors="replace") as file:
                fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
            theirs = {int(uid) for uid in fields["Uid"].split()[:3]} & set(uids)
            if not theirs or fields["State"].startswith("Z"):
                continue
            with open(f"/proc/{entry}/cgroup", "rb") as cgroup:
                if place_of_cgroup(cgroup.read(), paths).roost_job is not None:
                    continue
            found.setdefault(theirs.pop(), []).append(f"{entry} {fields['Name'].strip()}")
    return found


def default(key: str, otherwise: str, path: str = "/etc/default/useradd") -> str:
    """What useradd(8) takes for `HOME` or `SHELL`."""
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            name, _, value = line.strip().partition("=")
            if name == key and value.startswith("/"):
                return value.rstrip("/") or "/"
    return otherwise


def home_base() -> str:
    return default("HOME", "/home")


def shell() -> str:
    """Of a new account: what the machine's own default is, but bash where that is plain sh."""
    found = default("SHELL", "/bin/sh")
    return "/bin/bash" if found == "/bin/sh" and os.access("/bin/bash", os.X_OK) else found


def group(name: str, powers: Powers) -> GroupSeen | None:
    try:
        entry = grp.getgrnam(name)
    except (KeyError, ValueError):
        return None
    return GroupSeen(
        name, in_file(name, "/etc/group"), entry.gr_gid < gid_min(),
        powers.group(name, entry.gr_gid),
    )  # fmt: skip


def host(book: Book, names: Iterable[str], groups: Iterable[str], powers: Powers) -> HostSeen:
    """`names` are of accounts that are not there."""
    base = home_base()
    taken = {}
    for name in names:
        with suppress(OSError):
            taken[name] = owner(os.lstat(f"{base}/{name}").st_uid)
    archives = tuple(packed.archive for packed in book.packed())
    seen = (group(name, powers) for name in dict.fromkeys((*groups, *names)))
    return HostSeen(
        home_base=base,
        shell=shell(),
        quota=quota.state(base),
        archive_folder=book.archive,
        groups=tuple(one for one in seen if one is not None),
        taken=taken,
        archives=archives,
        uids_taken=tuple(sorted({one.uid for one in archives if owner(one.uid) != str(one.uid)})),
    )


def owner(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def entry_of(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except (KeyError, ValueError):
        return None


def people() -> list[str]:
    """The accounts of people in /etc/passwd: never a whole directory."""
    found = []
    with open("/etc/passwd", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields = line.split(":")
            if len(fields) > 2 and fields[2].isdigit() and int(fields[2]) >= uid_min():
                found.append(fields[0])
    return found
