"""The process of a job between fork and exec: into its cgroup, its /dev, its user, its command.

It runs as root up to `_become`, touches no path of the user's before, and lets go of everything of
the supervisor's first. What fails is reported as a `Failure` with the sentence for its user.
"""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import socket
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NoReturn

import msgspec

from roost.agent.environment import expanded, kind_at, within
from roost.agent.record import Prepared
from roost.core.text import agent as text
from roost.core.text.printable import printable
from roost.machine import accounts, cgroup, kernel, private_dev
from roost.wire.messages import SourceFile

OOM_SCORE_RAISED = 300
SOURCE_LIMIT_BYTES = 64 * 1024 * 1024
SOURCE_LIMIT_S = 3.0
_ALL_SIGNALS = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


class Failure(msgspec.Struct, frozen=True):
    """Why it did not start: a code of the `agent` catalogue, and the exit code to show."""

    code: str
    numbers: dict[str, str] = {}
    exit_code: int | None = None

    def text(self) -> str:
        return text.MESSAGES[self.code][0].format(**self.numbers)


class Ready(msgspec.Struct, frozen=True):
    """All is prepared; the command executes at the supervisor's word."""

    source_changed: bool | None = None


class LaunchError(Exception):
    def __init__(self, code: str, exit_code: int | None = None, **numbers: str) -> None:
        super().__init__(code)
        self.failure = Failure(code, numbers, exit_code)


def _why(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def run(
    prepared: Prepared,
    environment: Mapping[bytes, bytes],
    script: str | None,
    sync: socket.socket,
    terminal: int | None,
) -> NoReturn:
    """Becomes the job. Never returns: it executes, or reports over `sync` and exits."""
    channel = 3
    try:
        channel = _only_descriptors(sync.fileno(), terminal)
        _step("signals", _reset_signals)
        changed = _surround(prepared, terminal is not None)
        environment = _environment(prepared, environment)
        os.write(channel, b"r" + msgspec.msgpack.encode(Ready(changed)))
        if os.read(channel, 1) != b"g":
            os._exit(0)  # the supervisor is gone: nothing was recorded, so nothing executes
        _execute(prepared, environment, script)
    except LaunchError as error:
        failure = error.failure
    except OSError as error:
        failure = Failure("setup_failed", {"step": "-", "detail": _why(error)})
    except MemoryError:
        failure = Failure("setup_failed", {"step": "memory", "detail": os.strerror(errno.ENOMEM)})
    with suppress(OSError):
        os.write(channel, b"f" + msgspec.msgpack.encode(failure))
    os._exit(failure.exit_code or 125)


def _step(name: str, action: Callable[[], None]) -> None:
    try:
        action()
    except OSError as error:
        raise LaunchError("setup_failed", step=name, detail=_why(error)) from error


def _only_descriptors(sync: int, terminal: int | None) -> int:
    """Keeps 0-2 (the terminal where there is one) and the channel as descriptor 3, alone."""
    moved = os.dup2(sync, 10 if sync != 10 else 11, inheritable=False)
    if terminal is not None:
        kept = os.dup2(terminal, 12, inheritable=False)
        for number in range(3):
            os.dup2(kept, number)
    os.dup2(moved, 3, inheritable=False)
    kernel.close_from(4)
    return 3


def _reset_signals() -> None:
    """Handlers go with the execution; what is ignored would stay so."""
    for number in _ALL_SIGNALS:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    kernel.default_library_signals()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _surround(prepared: Prepared, terminal: bool) -> bool | None:
    """Everything from the cgroup to the open output. The source's `changed`."""
    spec = prepared.spec
    name = cgroup.name_of(spec.job, spec.attempt)
    os.setsid()
    _step("cgroup", lambda: cgroup.join(prepared.layout, name))
    if prepared.nodes is not None:
        nodes = prepared.nodes
        _step("/dev", lambda: private_dev.enter(nodes))
    if terminal:
        _step("terminal", _take_terminal)
    else:
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        if null > 2:
            os.close(null)
    _step("limits", lambda: accounts.apply_limits(prepared.account.limits))
    _raise_oom_score()
    if prepared.as_root:
        _become(prepared)
    if prepared.no_new_privileges:
        _step("no_new_privs", kernel.no_new_privileges)
    os.umask(0o022 if spec.umask is None else spec.umask & 0o777)
    _enter_directory(spec.directory, prepared.account.home)
    if not terminal and spec.output is not None:
        _open_output(spec.output, prepared.account.name)
    return None if spec.source is None else source_changed(spec.source)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _raise_oom_score() -> None:
    """Jobs go before daemons when the whole machine is out of memory; it is never lowered."""
    with suppress(OSError, ValueError), open("/proc/self/oom_score_adj", "r+b", 0) as file:
        if int(file.read()) < OOM_SCORE_RAISED:
            file.write(b"%d" % OOM_SCORE_RAISED)


def _become(prepared: Prepared) -> None:
    account = prepared.account
    _step("session key ring", kernel.new_session_keyring)
    with suppress(OSError), open("/proc/self/loginuid", "wb", 0) as file:
        file.write(b"%d" % account.uid)  # for audit; refused where a log-in is set already
    try:
        os.setgroups(account.groups or (account.gid,))
        os.setresgid(account.gid, account.gid, account.gid)
        os.setresuid(account.uid, account.uid, account.uid)
    except OSError as error:
        raise LaunchError("setup_failed", step="identity", detail=_why(error)) from error
    if 0 in (*os.getresuid(), *os.getresgid()):
        raise LaunchError("setup_failed", step="identity", detail="still root")


def _environment(prepared: Prepared, variables: Mapping[bytes, bytes]) -> Mapping[bytes, bytes]:
    """The variables with those of the job's environment, which is looked at as its user."""
    spec = prepared.spec
    if not spec.env:
        return variables
    path = expanded(spec.env_path, os.fsencode(prepared.account.home))
    try:
        kind = kind_at(path)
    except OSError as error:
        raise LaunchError(
            "environment_gone", name=spec.env, path=printable(path), detail=_why(error)
        ) from error
    return within(variables, path, kind, spec.env)


def _enter_directory(directory: bytes, home: str) -> None:
    path = directory or os.fsencode(home)
    try:
        os.chdir(path)
    except OSError as error:
        raise LaunchError("directory_gone", path=printable(path), detail=_why(error)) from error


def _open_output(path: bytes, user: str) -> None:
    """As the user, so with the user's rights and nothing more; a FIFO nobody reads is refused."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        raise LaunchError(
            "output_failed", path=printable(path), user=user, detail=_why(error)
        ) from error
    os.set_blocking(descriptor, True)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


def source_changed(source: SourceFile) -> bool | None:
    """Whether the file differs from what its submitter saw; None: it cannot be told in time."""
    end = time.monotonic() + SOURCE_LIMIT_S
    digest = hashlib.sha256()
    try:
        path = source.path.encode("utf-8", "surrogateescape")
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > SOURCE_LIMIT_BYTES:
            return None
        left = SOURCE_LIMIT_BYTES
        while block := os.read(descriptor, 1 << 20):
            digest.update(block)
            left -= len(block)
            if left < 0 or time.monotonic() > end:
                return None
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return digest.hexdigest() != source.sha256.lower()


# -- the command -------------------------------------------------------------------------------


def _execute(
    prepared: Prepared, environment: Mapping[bytes, bytes], script: str | None
) -> NoReturn:
    spec = prepared.spec
    if script is not None:
        _execute_script(spec.script or b"", os.fsencode(script), spec.script_args, environment)
    user = prepared.account.name
    if b"/" in spec.argv[0]:
        _try(spec.argv[0], spec.argv, environment, user)
    denied = None
    path = environment.get(b"PATH", b"")
    for folder in path.split(b":"):
        candidate = (folder or b".") + b"/" + spec.argv[0]
        try:
            _exec(candidate, spec.argv, environment)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError:
            if os.path.isfile(candidate):
                denied = denied or candidate
        except OSError as error:
            raise _failed(candidate, error, user) from error
    if denied:
        raise _failed(denied, PermissionError(errno.EACCES, ""), user)
    raise LaunchError("command_not_in_path", 127, command=_shown(spec.argv[0]), path=_shown(path))


def _try(path: bytes, argv: Sequence[bytes], env: Mapping[bytes, bytes], user: str) -> NoReturn:
    try:
        _exec(path, argv, env)
    except OSError as error:
        raise _failed(path, error, user) from error


def _exec(path: bytes, argv: Sequence[bytes], environment: Mapping[bytes, bytes]) -> NoReturn:
    try:
        os.execve(path, list(argv), dict(environment))
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    # A file without a format that the kernel knows is a script for sh, as in every shell.
    os.execve(b"/bin/sh", [b"/bin/sh", path, *argv[1:]], dict(environment))


def _failed(path: bytes, error: OSError, user: str) -> LaunchError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR) and not os.path.lexists(path):
        return LaunchError("command_not_found", 127, command=_shown(path))
    if error.errno in (errno.EACCES, errno.EPERM):
        return LaunchError(
            "command_not_executable", 126, command=_shown(path), user=user, detail=_why(error)
        )
    return LaunchError("command_failed", 126, command=_shown(path), detail=_why(error))


def _execute_script(
    content: bytes, path: bytes, arguments: Sequence[bytes], environment: Mapping[bytes, bytes]
) -> NoReturn:
    """By the interpreter that `#!` names, as the kernel would (execve(2)), so that it does not
    matter whether /run allows execution; /bin/sh where it names none."""
    first = content.split(b"\n", 1)[0]
    interpreter = [b"/bin/sh"]
    if first.startswith(b"#!"):
        interpreter = first[2:].strip().split(None, 1) or interpreter
    try:
        os.execve(interpreter[0], [*interpreter, path, *arguments], dict(environment))
    except (OSError, ValueError) as error:
        detail = _why(error) if isinstance(error, OSError) else str(error)
        code = 127 if isinstance(error, FileNotFoundError) else 126
        raise LaunchError(
            "script_interpreter", code, command=_shown(interpreter[0]), detail=detail
        ) from error


def _shown(path: bytes) -> str:
    return printable(path)[:300]
