"""The mode of one file, taken or given back: with its owner's rights, by no link, or not at all."""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack

from roost.core.audit.model import SetMode
from roost.machine.audit.homes import as_account
from roost.machine.audit.tree import Tree
from roost.machine.proc.users import Account

_STEP = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class ChangedError(Exception):
    """It is not what it was when it was looked at."""


def change_mode(tree: Tree, change: SetMode, expected: int, mode: int) -> tuple[int, int]:
    """(device, inode) of the file whose mode was `expected` and is `mode` now.

    Raises ChangedError, OSError. Where the file is a person's, the person's rights are all that is
    used; where it is root's, no link on the way to it is followed.
    """
    path = os.fsencode(tree.path("/")) + change.path.lstrip(b"/")
    with ExitStack() as stack:
        if change.uid != 0:
            owner = Account(tree.user_name(change.uid), change.uid, "")
            stack.enter_context(as_account(owner, tree.gid(owner)))
        descriptor = _opened(path, links=change.uid != 0)
        stack.callback(os.close, descriptor)
        about = os.fstat(descriptor)
        if about.st_uid != change.uid or stat.S_ISDIR(about.st_mode) != change.folder:
            raise ChangedError("another file is there")
        if stat.S_ISLNK(about.st_mode):
            raise ChangedError("it is a link")
        if stat.S_IMODE(about.st_mode) != expected:
            raise ChangedError(f"its mode is {stat.S_IMODE(about.st_mode):04o}")
        os.chmod(f"/proc/self/fd/{descriptor}", mode)
        return about.st_dev, about.st_ino


def identity(tree: Tree, change: SetMode) -> tuple[int, int]:
    """(device, inode) of what lies there now. Raises OSError."""
    about = os.lstat(os.fsencode(tree.path("/")) + change.path.lstrip(b"/"))
    return about.st_dev, about.st_ino


def _opened(path: bytes, links: bool) -> int:
    """`links`: of the folders on the way some may be links, the file itself never."""
    try:
        if links:
            return os.open(path, _STEP)
        at = os.open(b"/", _STEP | os.O_DIRECTORY)
        for part in path.strip(b"/").split(b"/"):
            inner = os.open(part, _STEP, dir_fd=at)
            os.close(at)
            at = inner
            if stat.S_ISLNK(os.fstat(at).st_mode):
                os.close(at)
                raise ChangedError("a link is on the way to it")
    except FileNotFoundError:
        raise ChangedError("it is gone") from None
    except NotADirectoryError:
        raise ChangedError("a folder on the way to it is none any more") from None
    return at
