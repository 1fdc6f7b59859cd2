"""The record of one attempt on disk: spec, lock, started, end. It alone says what to do next.

docs/design/001 holds the protocol. Space for what is written later is taken when the folder is
made, so that a disk that fills up meanwhile loses no end. Knows files, not processes.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from roost.machine.accounts import Account
from roost.machine.cgroup import Layout
from roost.machine.device_filter import DeviceNumber
from roost.machine.private_dev import Node
from roost.wire.messages import AttemptEnd, AttemptState, LaunchSpec

RESERVED_BYTES = 4096
MAX_SPEC_BYTES = 16 * 1024 * 1024


class Prepared(msgspec.Struct, frozen=True):
    """`spec` on disk: what was asked for, and all that the agent found out for it beforehand.

    `devices` None: no device filter; `nodes` None: no private /dev. `runtime` is the folder in
    which the job's own folder (script, status) is made.
    """

    spec: LaunchSpec
    account: Account
    boot_id: str
    created_at: float
    layout: Layout
    devices: tuple[DeviceNumber, ...] | None
    nodes: tuple[Node, ...] | None
    runtime: str
    as_root: bool
    no_new_privileges: bool = True
    max_processes: int | None = None
    terminal_wait_s: float = 60.0


class Started(msgspec.Struct, frozen=True):
    """Written before the job's process executes. `pid` is its, as are `start_ticks`."""

    pid: int
    start_ticks: int
    started_at: float
    source_changed: bool | None = None


class Suspended(msgspec.Struct, frozen=True):
    """Written while the attempt stands still, for an agent that comes before its supervisor is
    heard: since when it does, and how long it did before. `stopped` are pid and start ticks of
    those that were sent SIGSTOP, where there is no cgroup: whoever ends them must find them."""

    suspended_at: float
    suspended_s: float = 0.0
    stopped: tuple[tuple[int, int], ...] = ()


class RecordError(Exception):
    """A file of the record is missing where it must be, or is damaged."""


_spec_encoder = msgspec.msgpack.Encoder()
_spec_decoder = msgspec.msgpack.Decoder(Prepared)


def folder_name(job: int, attempt: int) -> str:
    return f"{job}.{attempt}"


def parse_name(name: str) -> tuple[int, int] | None:
    """(job, attempt) of a folder's name; None for what is no attempt's folder."""
    job, dot, attempt = name.partition(".")
    if not dot or not job.isdecimal() or not attempt.isdecimal() or not name.isascii():
        return None
    key = int(job), int(attempt)
    return key if folder_name(*key) == name else None


def create(attempts: str, prepared: Prepared) -> str:
    """Makes the attempt's folder with its spec and returns its path.

    A folder without `spec` is what a kill left behind before anything was launched: it is made
    anew. Raises FileExistsError when the attempt has its spec already, OSError for a full disk.
    """
    path = f"{attempts}/{folder_name(prepared.spec.job, prepared.spec.attempt)}"
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if os.path.exists(f"{path}/spec"):
            raise
    try:
        for name in ("started.tmp", "suspended.tmp", "end.tmp"):
            _reserve(f"{path}/{name}")
        _write(f"{path}/spec.tmp", _spec_encoder.encode(prepared))
        os.rename(f"{path}/spec.tmp", f"{path}/spec")
    except OSError:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return path


def _reserve(path: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            os.posix_fallocate(descriptor, 0, RESERVED_BYTES)
        except OSError as error:
            if error.errno not in (22, 95):  # EINVAL, EOPNOTSUPP: a file system without
                raise
    finally:
        os.close(descriptor)


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(
        path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
    )
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)


def _commit(folder_fd: int, name: str, data: bytes) -> None:
    """Into the reserved blocks first, cut to length, then under its name."""
    descriptor = os.open(
        f"{name}.tmp",
        os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
        0o600,
        dir_fd=folder_fd,
    )
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.ftruncate(descriptor, len(data))
    finally:
        os.close(descriptor)
    os.rename(f"{name}.tmp", name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)


def open_folder(path: str) -> int:
    """A descriptor of the folder. Raises OSError."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _read(folder_fd: int, name: str) -> bytes | None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=folder_fd)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        return file.read(MAX_SPEC_BYTES)


def read_prepared(folder_fd: int) -> Prepared:
    """Raises RecordError, OSError."""
    raw = _read(folder_fd, "spec")
    if raw is None:
        raise RecordError("there is no spec")
    try:
        return _spec_decoder.decode(raw)
    except msgspec.MsgspecError as error:
        raise RecordError(f"spec is damaged: {error}") from error


def write_started(folder_fd: int, started: Started) -> None:
    """Raises OSError; then nothing may be executed."""
    _commit(folder_fd, "started", msgspec.json.encode(started))


def read_started(folder_fd: int) -> Started | None:
    """None where there is none. A damaged one still says that something was executed.

    Raises RecordError, OSError.
    """
    raw = _read(folder_fd, "started")
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=Started)
    except msgspec.MsgspecError as error:
        raise RecordError(f"started is damaged: {error}") from error


def write_suspended(folder_fd: int, suspended: Suspended | None) -> None:
    """None: it goes on; the blocks are kept for the next time. Raises OSError."""
    if suspended is not None:
        _commit(folder_fd, "suspended", msgspec.json.encode(suspended))
        return
    with suppress(FileNotFoundError):
        os.rename("suspended", "suspended.tmp", src_dir_fd=folder_fd, dst_dir_fd=folder_fd)


def read_suspended(folder_fd: int) -> Suspended | None:
    """None where it goes on, or the file is damaged. Raises OSError."""
    raw = _read(folder_fd, "suspended")
    with suppress(msgspec.MsgspecError):
        return None if raw is None else msgspec.json.decode(raw, type=Suspended)
    return None


def write_end(folder_fd: int, state: AttemptState) -> None:
    """`state` with its end. Raises OSError (a full disk)."""
    _commit(folder_fd, "end", msgspec.json.encode(state))


def read_end(folder_fd: int) -> AttemptState | None:
    """None where there is none, or a damaged one (the machine lost power as it was written)."""
    raw = _read(folder_fd, "end")
    if raw is None:
        return None
    with suppress(msgspec.MsgspecError):
        state = msgspec.json.decode(raw, type=AttemptState)
        if isinstance(state.end, AttemptEnd):
            return state
    return None


def try_lock(folder_fd: int) -> int | None:
    """Takes the attempt's lock: a descriptor that holds it until closed; None: it is taken."""
    descriptor = os.open(
        "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=folder_fd
    )
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def remove(attempts: str, job: int, attempt: int) -> None:
    """Removes the folder: a kill in between leaves nothing that looks like an attempt."""
    path = f"{attempts}/{folder_name(job, attempt)}"
    with suppress(FileNotFoundError):
        os.rename(path, f"{path}.gone")
    shutil.rmtree(f"{path}.gone", ignore_errors=True)


def known(attempts: str) -> list[tuple[int, int]]:
    """(job, attempt) of every folder, in order; what a kill left of a removal is cleaned up."""
    found = []
    for name in os.listdir(attempts):
        if name.endswith(".gone"):
            shutil.rmtree(Path(attempts) / name, ignore_errors=True)
            continue
        key = parse_name(name)
        if key is not None:
            found.append(key)
    return sorted(found)
