"""A home as one file: packed by descriptors, so that no link and no swapped folder leads out of it;
unpacked with its person's own rights.

Packing is for a process of root, while the account is disabled and none of its processes is left.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
ZSTD = ("/usr/bin/zstd", "/bin/zstd", "/usr/local/bin/zstd")
MOST_NAMED = 100
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def ending() -> str:
    return ".tar.zst" if _zstd() else ".tar.gz"


def _zstd() -> str | None:
    return next((path for path in ZSTD if os.access(path, os.X_OK)), None)


def pack(path: str, home: str | None, others: tuple[str, ...]) -> tuple[str, ...]:
    """Writes `path` (0600): the home as `home/…`, and `others`, files of root's folders that are
    that person's (mail, crontab), as `system/…`. What is no file, folder or link, or on another
    file system, is left out and named. Raises OSError, and leaves nothing then."""
    left_out: list[str] = []
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    target = os.open(path, flags, 0o600)
    try:
        with (
            _compressed(path, target) as stream,
            tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):
            if home is not None:
                root = os.open(home, _FOLDER)
                try:
                    device = os.fstat(root).st_dev
                    tar.addfile(_folder_info(root, "home"))
                    _folder(tar, root, "home", device, left_out)
                finally:
                    os.close(root)
            for other in others:
                _file(tar, other, None, f"system{other}", left_out)
        os.fsync(target)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(target)
    return tuple(left_out[:MOST_NAMED])


def _folder_info(folder: int, arcname: str) -> tarfile.TarInfo:
    """Of an open folder, which tarfile knows only by path."""
    status = os.fstat(folder)
    made = tarfile.TarInfo(arcname)
    made.type = tarfile.DIRTYPE
    made.mode, made.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
    made.uid, made.gid = status.st_uid, status.st_gid
    return made


def _folder(
    tar: tarfile.TarFile, folder: int, arcname: str, device: int, left_out: list[str]
) -> None:
    """What lies in an open folder, by name, each opened from it and never through a link."""
    for name in sorted(os.listdir(folder)):
        at = f"{arcname}/{name}"
        try:
            status = os.lstat(name, dir_fd=folder)
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(status.st_mode):
            tar.addfile(_link(status, at, os.readlink(name, dir_fd=folder)))
        elif stat.S_ISREG(status.st_mode):
            _file(tar, name, folder, at, left_out)
        elif stat.S_ISDIR(status.st_mode) and status.st_dev == device:
            below = os.open(name, _FOLDER, dir_fd=folder)
            try:
                tar.addfile(_folder_info(below, at))
                _folder(tar, below, at, device, left_out)
            finally:
                os.close(below)
        else:
            left_out.append(at)


def _file(
    tar: tarfile.TarFile, name: str, folder: int | None, arcname: str, left_out: list[str]
) -> None:
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            left_out.append(arcname)
            return
        tar.addfile(tar.gettarinfo(arcname=arcname, fileobj=file), file)


def _link(status: os.stat_result, arcname: str, leads_to: str) -> tarfile.TarInfo:
    made = tarfile.TarInfo(arcname)
    made.type, made.linkname = tarfile.SYMTYPE, leads_to
    made.mode, made.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
    made.uid, made.gid = status.st_uid, status.st_gid
    return made


@contextmanager
def _compressed(path: str, target: int) -> Iterator[BinaryIO]:
    """A stream into `target`. Raises OSError where the program that compresses fails."""
    zstd = _zstd()
    if not path.endswith(".zst") or zstd is None:
        import gzip

        with (
            open(target, "wb", closefd=False) as file,
            gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, filename="") as stream,
        ):
            yield stream  # type: ignore[misc]
        return
    process = subprocess.Popen(
        [zstd, "-q", "-3", "-T0", "-c"], stdin=subprocess.PIPE, stdout=target,
        stderr=subprocess.PIPE, env={"LC_ALL": "C"}, cwd="/",
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stderr is not None
    try:
        yield process.stdin  # type: ignore[misc]
        process.stdin.close()
    except BaseException:
        process.kill()
        raise
    finally:
        with suppress(OSError):
            process.stdin.close()
        said = process.stderr.read(1000).decode("utf-8", "replace").strip()
        process.stderr.close()
        process.wait()
    if process.returncode != 0:
        raise OSError(5, said or f"zstd ended with {process.returncode}", path)


def digest(path: str) -> tuple[int, str]:
    """Size and SHA-256 of what is on the disk. Raises OSError."""
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256")
        return file.tell(), found.hexdigest()


def unpack(archive: int, home: int) -> None:
    """Fills the open, empty `home` from the archive that `archive` reads; links and modes as they
    were, everything the caller's own. For a process with that person's rights. Raises OSError."""
    os.fchdir(home)
    with _plain(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        # Root alone could write it, and the caller can do no more than that person.
        tar.extraction_filter = lambda member, _path: member
        tar.extractall(".", _of_home(tar))  # noqa: S202


def _of_home(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in tar:
        if member.name.startswith("home/"):
            member.name = member.name.removeprefix("home/")
            if member.islnk():
                member.linkname = member.linkname.removeprefix("home/")
            yield member


@contextmanager
def _plain(archive: int) -> Iterator[BinaryIO]:
    os.lseek(archive, 0, os.SEEK_SET)
    if os.pread(archive, 4, 0) != _ZSTD_MAGIC:
        import gzip

        with open(archive, "rb", closefd=False) as file, gzip.GzipFile(fileobj=file) as stream:
            yield stream  # type: ignore[misc]
        return
    zstd = _zstd()
    if zstd is None:
        raise OSError(2, "there is no program zstd, with which it was packed", ZSTD[0])
    process = subprocess.Popen(
        [zstd, "-q", "-d", "-c"], stdin=archive, stdout=subprocess.PIPE, env={"LC_ALL": "C"}
    )
    assert process.stdout is not None
    try:
        yield process.stdout  # type: ignore[misc]
        while process.stdout.read(1 << 20):
            pass
    finally:
        process.stdout.close()
        process.wait()
    if process.returncode != 0:
        raise OSError(5, f"zstd ended with {process.returncode}", "archive")


def delete(home: str, uid: int) -> None:
    """The folder and all in it, through no link (shutil.rmtree goes by descriptors).

    It is put aside first: a half of it is never taken for the home. Raises OSError, also where it
    is not that account's.
    """
    aside = f"{os.path.dirname(home)}/.roost-gone-{uid}-{os.path.basename(home)}"
    assert shutil.rmtree.avoids_symlink_attacks
    if os.path.lexists(home):
        status = os.lstat(home)
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != uid:
            raise OSError(1, "it is no folder of that account", home)
        if os.path.lexists(aside):
            shutil.rmtree(aside)
        os.rename(home, aside)
    if os.path.lexists(aside):
        shutil.rmtree(aside)
