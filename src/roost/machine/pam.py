"""PAM's word on a password and an account, for the short-lived process that `agent.signin` starts.

Knows nothing of who asks. Nothing here may be called in a process that lives on: PAM modules may
hang, leak, and change the process they run in.
"""

from __future__ import annotations

import ctypes
import os

import pamela

SERVICE = "roost"
FALLBACK = "login"
FOLDERS = ("/etc/pam.d", "/usr/lib/pam.d", "/usr/etc/pam.d", "/usr/share/pam.d")
SUCCESS = 0
_FAIL_DELAY = 10
_DISALLOW_NULL_AUTHTOK = 0x0001
_SILENT = 0x8000
_NO_DELAY = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)


class Spwd(ctypes.Structure):
    """struct spwd of shadow(3)."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("password", ctypes.c_char_p),
        ("numbers", ctypes.c_long * 6),
        ("flag", ctypes.c_ulong),
    )


def _ignore(_status: int, _micro_s: int, _data: int | None) -> None:
    """Whoever asked waits elsewhere (`agent.signin`): no process is held for it."""


_no_delay = _NO_DELAY(_ignore)


def service_of(folders: tuple[str, ...] = FOLDERS) -> str | None:
    """The PAM service that signs people in: `roost`, else `login`; None where there is neither."""
    for name in (SERVICE, FALLBACK):
        if any(os.path.exists(f"{folder}/{name}") for folder in folders):
            return name
    return None


def password_right(service: str, user: str, password: str, address: str) -> tuple[bool, str]:
    """Whether PAM takes the password, and then the account; with PAM's words for the agent's log.

    An empty password is never right, whatever the service says of accounts without one.
    """
    if not password:
        return False, "no password"
    answers = pamela.new_simple_password_conv((password,), "utf-8")
    try:
        handle = pamela.pam_start(service, user, conv_func=answers)
    except pamela.PAMError as error:
        return False, str(error)
    if address:
        handle.set_item(pamela.PAM_RHOST, address)
    pamela.PAM_SET_ITEM(handle, _FAIL_DELAY, ctypes.cast(_no_delay, ctypes.c_char_p))
    step = "auth"
    status = pamela.PAM_AUTHENTICATE(handle, _SILENT | _DISALLOW_NULL_AUTHTOK)
    if status == SUCCESS:
        step = "account"
        status = pamela.PAM_ACCT_MGMT(handle, _SILENT | _DISALLOW_NULL_AUTHTOK)
    text = f"{step}: {pamela.pam_strerror(handle, status)}"
    pamela.PAM_END(handle, status)
    return status == SUCCESS, text


def account_stands(service: str | None, user: str) -> bool:
    """Whether an account that was let in before still may: not locked, and PAM's account phase is
    content. Without a PAM service only the lock counts."""
    if locked(user):
        return False
    if service is None:
        return True
    try:
        pamela.check_account(user, service)
    except pamela.PAMError:
        return False
    return True


def locked(user: str) -> bool:
    """Whether a password that there was has been locked (`passwd -l`, `usermod -L`).

    An account that never had one ("!", "*"), and one of which there is no shadow entry, is not.
    """
    libc = ctypes.CDLL(None)
    libc.getspnam.restype = ctypes.POINTER(Spwd)
    libc.getspnam.argtypes = (ctypes.c_char_p,)
    entry = libc.getspnam(os.fsencode(user))
    stored: bytes = (entry.contents.password if entry else None) or b""
    return stored.startswith(b"!") and bool(stored.lstrip(b"!*"))
