"""Files that cost no second copy: hard links, reflinks, symbolic links, and which can be had where.

A hard link to somebody else's file is refused by Linux (fs.protected_hardlinks, proc(5)) unless one
may write it; a reflink (FICLONE, ioctl_ficlone(2)) needs only the right to read and gives a file of
one's own, where the file system has them (btrfs, XFS); a symbolic link always works.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress

from roost.machine.environments.place import DESCRIPTION, LOCK, USED, EnvError

FICLONE = 0x40049409
COPIED = ("bin",)
_LEFT_OUT = {DESCRIPTION, USED, ".lock", "CACHEDIR.TAG"}
_NO_REFLINK = (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EXDEV, errno.ENOSYS)


def device_of(path: str) -> int:
    """The file system that the path, or the nearest folder above it that is there, lies on."""
    while True:
        try:
            return os.stat(path).st_dev
        except OSError:
            above = os.path.dirname(path)
            if above == path:
                return -1
            path = above


def mode_for(folder: str) -> str:
    """uv's link mode for environments below that folder: "clone" where it can, else "hardlink"."""
    try:
        with tempfile.TemporaryFile(dir=folder) as one, tempfile.TemporaryFile(dir=folder) as two:
            one.write(b"roost")
            one.flush()
            fcntl.ioctl(two.fileno(), FICLONE, one.fileno())
    except OSError:
        return "hardlink"
    return "clone"


def reflink(source: str, target: str) -> bool:
    """Makes `target` share the blocks of `source`; False where the file system cannot."""
    with open(source, "rb") as old:
        mode = stat.S_IMODE(os.fstat(old.fileno()).st_mode)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode | 0o200)
        try:
            fcntl.ioctl(descriptor, FICLONE, old.fileno())
        except OSError as error:
            os.unlink(target)
            if error.errno in _NO_REFLINK:
                return False
            raise
        finally:
            os.close(descriptor)
    return True


def copy_tree(source: str, target: str, ours: bool) -> int:
    """Makes `target` an environment like `source` and returns how many files it links.

    `ours`: hard links; else the files are somebody else's: reflinks, else symbolic links to them.
    What names its own place (bin/, pyvenv.cfg) is copied. Symbolic links stay what they are.
    """
    linked = 0
    can_reflink = not ours
    os.mkdir(target, 0o700)
    for folder, entry in _entries(source):
        old = os.path.join(source, folder, entry.name)
        new = os.path.join(target, folder, entry.name)
        if not folder and entry.name in _LEFT_OUT:
            continue
        if entry.is_dir(follow_symlinks=False):
            os.mkdir(new, 0o755)
        elif entry.is_symlink():
            os.symlink(os.readlink(old), new)
        elif not entry.is_file(follow_symlinks=False):
            continue
        elif not folder or folder.split("/", 1)[0] in COPIED or entry.name == LOCK:
            shutil.copy2(old, new)
            os.chmod(new, stat.S_IMODE(os.stat(new).st_mode) | 0o200)
        elif ours:
            os.link(old, new, follow_symlinks=False)
            linked += 1
        else:
            can_reflink = can_reflink and reflink(old, new)
            if not can_reflink:
                os.symlink(old, new)
            linked += 1
    return linked


def _entries(source: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every entry below, folders before what is in them. Follows no symbolic link."""
    left = [""]
    while left:
        folder = left.pop()
        with os.scandir(os.path.join(source, folder) if folder else source) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                yield folder, entry
                if entry.is_dir(follow_symlinks=False):
                    left.append(os.path.join(folder, entry.name))


def sizes(path: str) -> tuple[int, int]:
    """(own, shared) bytes on the disk: of files that end with this folder, and of those that have
    links elsewhere too. Each inode counts once."""
    blocks: dict[tuple[int, int], list[int]] = {}
    status = os.lstat(path)
    own = status.st_blocks * 512
    for _, entry in _entries(path):
        with suppress(FileNotFoundError):
            status = entry.stat(follow_symlinks=False)
            key = (status.st_dev, status.st_ino)
            seen = blocks.setdefault(key, [status.st_blocks * 512, status.st_nlink, 0])
            seen[2] += 1
            if entry.is_dir(follow_symlinks=False):
                seen[1] = 0
    shared = 0
    for size, wanted, found in blocks.values():
        if found < wanted:
            shared += size
        else:
            own += size
    return own, shared


def remove(root: str, name: str) -> None:
    """Takes it away at once by its name, then its files. Raises EnvError."""
    path = os.path.join(root, name)
    if os.path.islink(path) or not os.path.isdir(path):
        raise EnvError("missing", name=name, root=root)
    gone = tempfile.mkdtemp(prefix=f".removing-{name}-", dir=root)
    os.rename(path, os.path.join(gone, name))
    shutil.rmtree(gone, onerror=_writable_again)


def _writable_again(function: object, path: str, _why: object) -> None:
    """A folder without the right to write is made writable, and tried once more."""
    above = os.path.dirname(path)
    os.chmod(above, 0o700)
    if os.path.isdir(path) and not os.path.islink(path):
        os.chmod(path, 0o700)
        shutil.rmtree(path)
    else:
        os.unlink(path)
