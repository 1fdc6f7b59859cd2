"""Homes and the keys in them, each looked at with the rights of its owner and no others.

What lies in a home is its owner's, who may put links there, or another disk: nothing is followed,
and root's rights are laid down before anything of theirs is touched.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from roost.core.audit.facts import Home, KeyFile
from roost.machine.audit.tree import Tree
from roost.machine.proc.users import Account

MOST_NAMES = 1000
KEY = b"PRIVATE KEY-----"
SYSTEM_HOMES = ("", "/", "/nonexistent", "/dev/null", "/bin", "/usr/sbin", "/var/empty")
_FOLDER = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
Whose = Callable[[Account], bool]


@contextmanager
def as_account(account: Account, gid: int) -> Iterator[None]:
    """The effective rights of that account, where this process has root's. For a process of one
    thread."""
    if os.geteuid() != 0:
        yield
        return
    groups = os.getgroups()
    os.setgroups(os.getgrouplist(account.name, gid) if _known(account) else [gid])
    os.setegid(gid)
    os.seteuid(account.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def _known(account: Account) -> bool:
    import pwd

    try:
        return pwd.getpwnam(account.name).pw_uid == account.uid
    except KeyError:
        return False


def people_of(tree: Tree, uid: int | None) -> list[Account]:
    """Whose homes are looked at: everybody's, or that account's alone."""
    found = [one for one in tree.people if one.home not in SYSTEM_HOMES]
    return [one for one in found if uid is None or one.uid == uid]


def homes(tree: Tree, uid: int | None) -> tuple[Home, ...]:
    return tuple(_home(tree, account) for account in people_of(tree, uid))


def _home(tree: Tree, account: Account) -> Home:
    path = os.fsencode(account.home)
    try:
        with as_account(account, tree.gid(account)):
            about = os.lstat(tree.path(account.home))
    except OSError:
        return Home(account.name, account.uid, path, "gone")
    state, mode = "there", stat.S_IMODE(about.st_mode)
    if not stat.S_ISDIR(about.st_mode):
        state = "link" if stat.S_ISLNK(about.st_mode) else "gone"
    elif about.st_uid not in (0, account.uid):
        state = "foreign"
    shared = tree.shares_group(about.st_gid, account.name)
    group = tree.group_name(about.st_gid)
    owner = about.st_uid
    return Home(account.name, account.uid, path, state, mode, owner, group, shared)


def ssh_keys(tree: Tree, uid: int | None) -> tuple[KeyFile, ...]:
    found: list[KeyFile] = []
    for account in people_of(tree, uid):
        try:
            with as_account(account, tree.gid(account)):
                listed = list(_keys(tree, account))
        except OSError:
            continue  # no home, no .ssh, or not to be entered even by its owner
        found += listed
    return tuple(found)


def _keys(tree: Tree, account: Account) -> Iterator[KeyFile]:
    home = os.open(tree.path(account.home), _FOLDER)
    try:
        folder = os.open(".ssh", _FOLDER & ~os.O_PATH, dir_fd=home)
        try:
            yield from _in_folder(tree, account, os.fstat(home), folder)
        finally:
            os.close(folder)
    finally:
        os.close(home)


def _in_folder(
    tree: Tree, account: Account, home: os.stat_result, folder: int
) -> Iterator[KeyFile]:
    def key(about: os.stat_result, name: str, kind: str, reachable: bool) -> KeyFile:
        path = os.fsencode(f"{account.home}/.ssh" + (f"/{name}" if name else ""))
        shared = tree.shares_group(about.st_gid, account.name)
        mode = stat.S_IMODE(about.st_mode)
        return KeyFile(account.name, account.uid, path, kind, mode, about.st_uid, reachable, shared)

    about = os.fstat(folder)
    outer = _passable(tree, home, account)
    inner = outer and _passable(tree, about, account)
    yield key(about, "", "folder", outer)
    for name in sorted(os.listdir(folder))[:MOST_NAMES]:
        kind = _kind(name, folder)
        if kind:
            yield key(os.lstat(name, dir_fd=folder), name, kind, inner)


def _passable(tree: Tree, folder: os.stat_result, account: Account) -> bool:
    """Whether somebody else gets into the folder."""
    shared = tree.shares_group(folder.st_gid, account.name)
    return bool(folder.st_mode & (0o011 if shared else 0o001))


def _kind(name: str, folder: int) -> str:
    """ "private", "authorized", or "" for a file that is neither; only regular ones are read."""
    if name in ("authorized_keys", "authorized_keys2"):
        kind = "authorized"
    elif name.endswith(".pub") or name.startswith(("known_hosts", "config")):
        return ""
    else:
        kind = "private"
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        if not stat.S_ISREG(os.lstat(name, dir_fd=folder).st_mode):
            return ""
        if kind == "authorized":
            return kind
        file = os.open(name, flags, dir_fd=folder)
    except OSError:
        return ""
    try:
        return kind if KEY in os.read(file, 100) else ""
    finally:
        os.close(file)
