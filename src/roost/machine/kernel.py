"""System calls that Python's library lacks: namespaces, mounts, prctl, key rings.

Thin and typed; each raises OSError with the path or number it was about. Knows no job and no GPU.
"""

from __future__ import annotations

import ctypes
import os

MS_NOSUID = 2
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_SLAVE = 1 << 19
CLONE_NEWNS = 0x00020000

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
_SYS_SIGACTION = {"x86_64": 13, "aarch64": 134}.get(os.uname().machine)
_SYS_CLOSE_RANGE = 436
_LIBRARYS_SIGNALS = (32, 33)
_DEFAULT_ACTION = bytes(32)
_JOIN_SESSION_KEYRING = 1

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _check(result: int, about: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), about)
    return result


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """mount(2). Raises OSError naming the target."""
    _check(
        _libc.mount(
            None if source is None else os.fsencode(source),
            os.fsencode(target),
            None if kind is None else kind.encode(),
            ctypes.c_ulong(flags),
            data.encode() if data else None,
        ),
        target,
    )


def unshare_mounts() -> None:
    """A mount namespace of this process's own, into which later mounts of the host still come."""
    _check(_libc.unshare(CLONE_NEWNS), "mount namespace")
    mount(None, "/", None, MS_REC | MS_SLAVE)


def become_subreaper() -> None:
    """Descendants that lose their parent come to this process (prctl(2), Linux 3.4)."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "child subreaper")


def die_with_parent() -> None:
    """SIGKILL to this process when its parent ends (prctl(2), PR_SET_PDEATHSIG)."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "parent death signal")


def no_new_privileges() -> None:
    """From here on setuid bits and file capabilities give nothing, to any descendant."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def set_name(name: str) -> None:
    """The process's name in `ps -o comm` (15 bytes are kept)."""
    _libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)


def default_library_signals() -> None:
    """The two signals that the C library keeps for itself, and lets nobody name, act by default.

    Whoever started the agent may have ignored them, and an execution would keep that.
    """
    if _SYS_SIGACTION is not None:
        for number in _LIBRARYS_SIGNALS:
            _libc.syscall(_SYS_SIGACTION, number, _DEFAULT_ACTION, None, ctypes.c_size_t(8))


def new_session_keyring() -> None:
    """An empty key ring in place of the one inherited from root, whose keys would be shared.

    Kernels without key rings (ENOSYS) have none to inherit. Raises OSError else.
    """
    if _SYS_KEYCTL is None:
        return
    try:
        _check(_libc.syscall(_SYS_KEYCTL, _JOIN_SESSION_KEYRING, None), "session key ring")
    except OSError as error:
        if error.errno != 38:  # ENOSYS
            raise


def close_from(first: int) -> None:
    """Closes every descriptor from `first` on."""
    if _libc.syscall(_SYS_CLOSE_RANGE, first, 0xFFFFFFFF, 0) < 0:
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))
