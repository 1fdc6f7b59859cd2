"""Which boot this is, and whether this process sees every process of the machine."""

from __future__ import annotations

import os

INIT_PID_NAMESPACE = 0xEFFFFFFC


def boot_id(proc: bytes) -> str:
    """The kernel's id of this boot; empty where it cannot be read."""
    try:
        with open(proc + b"/sys/kernel/random/boot_id", "rb") as file:
            return file.read(64).decode("ascii", "replace").strip()
    except OSError:
        return ""


def in_init_pid_namespace(proc: bytes) -> bool:
    """Whether pids here are the machine's own (PROC_PID_INIT_INO of the kernel)."""
    try:
        return os.stat(proc + b"/self/ns/pid").st_ino == INIT_PID_NAMESPACE
    except OSError:
        return False


def exists_unseen(pid: int) -> bool:
    """Whether a process exists that /proc does not show to this account (hidepid)."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return False  # one that may be signalled is shown, or has ended in between
