"""What is done in a person's home: with that person's rights, in a process of its own, and through
no symbolic link.

Each call forks, so it belongs in a process with one thread (`account_work`). A home on a server
that does not answer costs `WITHIN_S` and holds nobody else up.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import msgspec

from roost.core.accounts.keys import keys_of, same_key
from roost.core.accounts.model import Home
from roost.machine import kernel

WITHIN_S = 20.0
MOST_BYTES = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class HomeError(Exception):
    """`code` is of the catalogue `account`, or "" where the system's own words are `why`."""

    def __init__(self, code: str, why: str = "") -> None:
        super().__init__(why or code)
        self.code = code
        self.why = why or code


class Said(msgspec.Struct, frozen=True):
    """What the process with the person's rights answers."""

    state: str = ""
    mode: int = 0
    keys: tuple[str, ...] = ()
    code: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str


def look(person: Person) -> Said:
    """State and mode of the home, and the keys of its authorized_keys, or why not."""
    return _as(person, lambda: _look(person))


def make_private(person: Person) -> None:
    """Mode 0700. Raises HomeError."""
    _raise(_as(person, lambda: _make_private(person)))


def add_key(person: Person, key: str) -> None:
    """One line more in authorized_keys, unless it is there. Raises HomeError."""
    _raise(_as(person, lambda: _add_key(person, key)))


def unpack(person: Person, archive: int, work: Callable[[int, int], None], within_s: float) -> None:
    """`work(archive, home)` with the person's rights, given both as descriptors.

    Raises HomeError.
    """

    def there() -> Said:
        work(archive, _home(person))
        return Said()

    _raise(_as(person, there, within_s))


def _raise(said: Said) -> None:
    if said.code or said.why:
        raise HomeError(said.code, said.why)


# -- as the person -----------------------------------------------------------------------------


def _as(person: Person, work: Callable[[], Said], within_s: float = WITHIN_S) -> Said:
    if person.uid == 0:
        raise HomeError("", "root has no home here")
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        _child(person, work, theirs)
    os.close(theirs)
    answer, end = b"", time.monotonic() + within_s
    try:
        while select.select([ours], [], [], max(0.0, end - time.monotonic()))[0]:
            block = os.read(ours, 1 << 16)
            if not block:
                break
            answer += block
    finally:
        os.close(ours)
        os.kill(child, signal.SIGKILL)
        _reap(child)
    try:
        return msgspec.msgpack.decode(answer, type=Said)
    except msgspec.MsgspecError:
        return Said(code="keys_unread", why="no answer from the home in time")


def _reap(child: int) -> None:
    """Waits a moment: one that hangs in a file system cannot be ended, and is left to init."""
    for _ in range(100):
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        time.sleep(0.01)


def _child(person: Person, work: Callable[[], Said], answer: int) -> NoReturn:
    said = Said(why="it could not take that person's rights")
    try:
        os.setgroups(person.groups or (person.gid,))
        os.setresgid(person.gid, person.gid, person.gid)
        os.setresuid(person.uid, person.uid, person.uid)
        if 0 not in (*os.getresuid(), *os.getresgid()):
            kernel.no_new_privileges()
            os.umask(0o077)
            said = work()
    except HomeError as error:
        said = Said(code=error.code, why=error.why)
    except OSError as error:
        said = Said(why=f"{error.filename or person.home}: {error.strerror}")
    except BaseException as error:  # noqa: BLE001 - the answer says it; nothing may leave here
        said = Said(why=f"{type(error).__name__}: {error}")
    try:
        data = msgspec.msgpack.encode(said)
        while data:
            data = data[os.write(answer, data) :]
    finally:
        os._exit(0)


def _look(person: Person) -> Said:
    try:
        status = os.lstat(person.home)
    except FileNotFoundError:
        return Said(Home.ABSENT.value, code="keys_home")
    except OSError as error:
        return Said(Home.OTHERS.value, code="keys_home", why=str(error.strerror))
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return Said(Home.LINK.value, mode, code="keys_home")
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != person.uid:
        return Said(Home.OTHERS.value, mode, code="keys_home")
    state = Home.OPEN if mode & 0o077 else Home.PRIVATE
    try:
        keys = keys_of(_keys_text(_home(person), person.uid))
    except HomeError as error:
        return Said(state.value, mode, code=error.code, why=error.why)
    return Said(state.value, mode, keys)


def _home(person: Person) -> int:
    try:
        home = os.open(person.home, _FOLDER)
    except OSError as error:
        raise HomeError("keys_home", str(error.strerror)) from error
    if os.fstat(home).st_uid != person.uid:
        raise HomeError("keys_home")
    return home


def _make_private(person: Person) -> Said:
    os.fchmod(_home(person), 0o700)
    return Said()


def _opened(name: str, flags: int, folder: int, uid: int) -> int | None:
    """None where it is not there. Raises HomeError for a link, and for what is not their own."""
    try:
        found = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        link = stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
        if link or error.errno == errno.ELOOP:
            raise HomeError("keys_link") from error
        code = "keys_others" if error.errno in (errno.ENOTDIR, errno.ENXIO) else "keys_unread"
        raise HomeError(code, str(error.strerror)) from error
    if os.fstat(found).st_uid != uid:
        raise HomeError("keys_others")
    return found


def _keys_text(home: int, uid: int) -> str:
    """Raises HomeError."""
    folder = _opened(".ssh", _FOLDER, home, uid)
    return "" if folder is None else _keys_file(folder, uid)


def _keys_file(folder: int, uid: int) -> str:
    number = _opened("authorized_keys", _FILE, folder, uid)
    if number is None:
        return ""
    if not stat.S_ISREG(os.fstat(number).st_mode):
        raise HomeError("keys_others")
    with open(number, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise HomeError("keys_unread", "it is larger than 1 MiB")
    return data.decode("utf-8", "surrogateescape")


def _add_key(person: Person, key: str) -> Said:
    home = _home(person)
    folder = _opened(".ssh", _FOLDER, home, person.uid)
    if folder is None:
        os.mkdir(".ssh", 0o700, dir_fd=home)
        folder = _opened(".ssh", _FOLDER, home, person.uid)
    if folder is None:
        raise HomeError("keys_unread")
    text = _keys_file(folder, person.uid)
    if same_key(key) in keys_of(text):
        return Said()
    lines = text if not text or text.endswith("\n") else text + "\n"
    temporary = f".authorized_keys.roost-{os.getpid()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    number = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with open(number, "wb") as file:
            file.write((lines + key + "\n").encode("utf-8", "surrogateescape"))
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, "authorized_keys", src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        os.unlink(temporary, dir_fd=folder)
        raise
    return Said()
