"""Takes one folder into the shared place: two processes for one set, then gone.

One is the person, and opens and looks; the other is root without any capability, and writes what it
is handed. Neither can do the other's part. A set is there when its manifest and its tree are, each
put there whole; what is half copied lies where nobody looks. Run by the agent with one line of
JSON; lines of JSON tell how far it is.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import stat
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

from roost.core.data.manifest import Entry, line_of, pickled, sound_path, stays_inside
from roost.machine import kernel
from roost.machine.data.tree import TreeError, open_file, walk

PIECE = 1 << 20
TOLD_EVERY_S = 0.3
KEPT_FREE = 0.02
MOST_MESSAGE = 32 * 1024
FICLONE = 0x40049409
_CAP_VERSION = 0x20080522


def drop_capabilities() -> None:
    """Root's account, with the rights of its ownership alone: what the kernel would show to root
    through a descriptor that a person opened is not shown. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(64):
        if libc.prctl(24, number, 0, 0, 0) < 0:  # PR_CAPBSET_DROP
            break  # the kernel has no more of them
    header = (ctypes.c_uint32 * 2)(_CAP_VERSION, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "capabilities")


# -- the person's process ----------------------------------------------------------------------


def read_tree(path: bytes, out: socket.socket) -> None:
    """Says how much there is, then each entry, files with their descriptor."""
    about = os.stat(path)
    if stat.S_ISREG(about.st_mode):
        _say(out, {"k": "all", "bytes": about.st_size, "files": 1})
        name = os.path.basename(os.path.normpath(path))
        file = open_file(None, path, name, follow=True)
        _say(out, {"k": "f", "p": name.hex(), "x": bool(about.st_mode & 0o100)}, file)
        os.close(file)
        return
    top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    size = files = 0
    for found in walk(top):
        if found.kind == "f":
            size, files = size + found.about.st_size, files + 1
    _say(out, {"k": "all", "bytes": size, "files": files})
    for found in walk(top):
        told: dict[str, Any] = {"k": found.kind, "p": found.path.hex()}
        if found.kind == "f":
            file = open_file(found.folder, found.name, found.path)
            _say(out, {**told, "x": bool(found.about.st_mode & 0o100)}, file)
            os.close(file)
        elif found.kind == "l":
            target = os.readlink(found.name, dir_fd=found.folder)
            _say(out, {**told, "t": target.hex()})
        else:
            _say(out, told)


def _say(out: socket.socket, told: dict[str, Any], file: int | None = None) -> None:
    socket.send_fds(out, [json.dumps(told).encode()], [] if file is None else [file])


def be_reader(question: dict[str, Any], out: socket.socket) -> NoReturn:
    code = 1
    try:
        kernel.die_with_parent()
        if os.geteuid() == 0:
            os.setgroups(question["groups"] or [question["gid"]])
            os.setresgid(*[question["gid"]] * 3)
            os.setresuid(*[question["uid"]] * 3)
            kernel.die_with_parent()  # becoming somebody else takes it back
        if os.geteuid() != question["uid"]:
            raise PermissionError(errno.EPERM, "not the person")
        read_tree(bytes.fromhex(question["path"]), out)
        _say(out, {"k": "end"})
        code = 0
    except TreeError as error:
        _say(out, {"k": "no", "code": error.code, "p": error.path.hex()})
    except OSError as error:
        name = error.filename
        path = os.fsencode(name) if isinstance(name, str | bytes) else b""
        _say(out, {"k": "no", "code": "unreadable", "p": path.hex(), "why": error.strerror or "?"})
    finally:
        os._exit(code)


# -- root's process ----------------------------------------------------------------------------


class Writer:
    """Writes a tree below a folder of its own, believing nothing of what it is told."""

    def __init__(self, tree: bytes, manifest: str) -> None:
        self._tree = tree
        self._above = [b""]
        self._manifest = open(manifest, "xb")  # noqa: SIM115 - closed by `close`
        self._total = hashlib.sha256()
        self._told = 0.0
        self.bytes = self.files = self.pickled = 0
        self.all: dict[str, int] = {}

    def take(self, told: dict[str, Any], file: int | None) -> None:
        """Raises OSError, TreeError."""
        kind, path = told["k"], bytes.fromhex(told["p"])
        folder = path.rpartition(b"/")[0]
        while self._above[-1] != folder and len(self._above) > 1:
            self._above.pop()
        if not sound_path(path) or self._above[-1] != folder:
            raise TreeError("bad_name", path)
        place = os.path.join(self._tree, path)
        if kind == "d":
            os.mkdir(place, 0o755)
            self._above.append(path)
            entry = Entry("d", path)
        elif kind == "l":
            target = bytes.fromhex(told["t"])
            if not stays_inside(path, target):
                raise TreeError("link_outside", path)
            os.symlink(target, place)
            entry = Entry("l", path, target=target)
        elif kind == "f" and file is not None:
            entry = self._file(path, place, file, bool(told["x"]))
        else:
            raise TreeError("bad_name", path)
        line = line_of(entry)
        self._total.update(line)
        self._manifest.write(line)

    def _file(self, path: bytes, place: bytes, file: int, executable: bool) -> Entry:
        before = os.fstat(file)
        if not stat.S_ISREG(before.st_mode):
            raise TreeError("special_file", path)
        digest = hashlib.sha256()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        out = os.open(place, flags, 0o600)
        try:
            source = file
            with suppress(OSError):  # another file system, or one that shares no blocks
                fcntl.ioctl(out, FICLONE, file)
                source = out
            # Only as much as the file says it has: what has no size (in /proc) has nothing in it.
            size = 0
            while size < before.st_size:
                data = os.pread(source, min(PIECE, before.st_size - size), size)
                if not data:
                    break
                digest.update(data)
                if source != out:
                    _write(out, data)
                size += len(data)
                self.bytes += len(data)
                self.tell()
            after = os.fstat(file)
            if size != before.st_size or _state(before) != _state(after):
                raise TreeError("changed", path)
            os.utime(out, ns=(before.st_atime_ns, before.st_mtime_ns))
            os.fchmod(out, 0o555 if executable else 0o444)
        finally:
            os.close(out)
        self.files += 1
        self.pickled += pickled(path)
        return Entry("f", path, size, executable, digest.hexdigest())

    def tell(self) -> None:
        now = time.monotonic()
        if now - self._told > TOLD_EVERY_S:
            self._told = now
            answer({"bytes": self.bytes, **{f"all_{k}": n for k, n in self.all.items()}})

    def close(self) -> str:
        """The SHA-256 of the whole. Raises OSError."""
        self._manifest.flush()
        os.fsync(self._manifest.fileno())
        self._manifest.close()
        return self._total.hexdigest()


def _write(out: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(out, view) :]


def _state(about: os.stat_result) -> tuple[int, int, int]:
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns


def answer(told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def take_in(question: dict[str, Any], heard: socket.socket) -> dict[str, Any]:
    """What is on record of the new set. Raises OSError, TreeError."""
    place, name = question["place"], question["name"]
    work = f"{place}/.roost/incoming/{name}"
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work, 0o700)
    try:
        os.mkdir(f"{work}/tree", 0o755)
        writer = Writer(os.fsencode(f"{work}/tree"), f"{work}/manifest")
        hear(writer, heard, place)
        record = {
            **question["record"], "sha256": writer.close(), "bytes": writer.bytes,
            "files": writer.files, "pickled": writer.pickled,
        }  # fmt: skip
        with open(f"{work}/record", "x", encoding="ascii") as file:
            json.dump(record, file)
        os.chmod(f"{work}/manifest", 0o444)
        os.chmod(f"{work}/record", 0o444)
        folder = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        ctypes.CDLL(None).syncfs(folder)
        os.close(folder)
        if os.path.lexists(f"{place}/{name}"):
            raise TreeError("name_taken")
        # A set is listed where all three are there; the tree comes last.
        os.rename(f"{work}/manifest", f"{place}/.roost/manifests/{name}")
        os.rename(f"{work}/record", f"{place}/.roost/records/{name}")
        os.rename(f"{work}/tree", f"{place}/{name}")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return record


def hear(writer: Writer, heard: socket.socket, place: str) -> None:
    while True:
        data, files, _, _ = socket.recv_fds(heard, MOST_MESSAGE, 4)
        try:
            if not data:
                raise TreeError("unreadable")
            told = json.loads(data)
            if told["k"] == "end":
                return
            if told["k"] == "no":
                error = TreeError(str(told["code"]), bytes.fromhex(told["p"]))
                error.args = (str(told.get("why", "")),)
                raise error
            if told["k"] == "all":
                writer.all = {"bytes": int(told["bytes"]), "files": int(told["files"])}
                there = os.statvfs(place)
                kept = int(there.f_blocks * KEPT_FREE)
                if writer.all["bytes"] > (there.f_bavail - kept) * there.f_frsize:
                    raise TreeError("no_room")
                writer.tell()
            else:
                writer.take(told, files[0] if files else None)
        finally:
            for file in files:
                os.close(file)


def main() -> int:
    kernel.die_with_parent()
    question = json.loads(sys.stdin.buffer.readline())
    os.umask(0o022)
    os.nice(10)
    heard, out = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        heard.close()
        be_reader(question, out)
    out.close()
    if os.geteuid() == 0:
        drop_capabilities()
    try:
        answer({"done": take_in(question, heard)})
    except TreeError as error:
        path = error.path.decode("utf-8", "backslashreplace")
        answer({"failed": error.code, "path": path, "why": str(error.args[0])})
    except OSError as error:
        code = "no_room" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "not_written"
        answer({"failed": code, "path": "", "why": error.strerror or "?"})
    heard.close()
    with suppress(ProcessLookupError, PermissionError):
        os.kill(child, signal.SIGKILL)  # without capabilities this is allowed to its own alone
    return 0


if __name__ == "__main__":
    sys.exit(main())
