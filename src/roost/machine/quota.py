"""Disk quotas of users by quotactl(2): whether the file system keeps them, reading and setting.

Linux 5.14 takes a descriptor on the file system (quotactl_fd); before that the device is named.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

_Q_GETQUOTA, _Q_SETQUOTA, _USRQUOTA = 0x800007, 0x800008, 0
_QIF_BLIMITS = 1
_BLOCK = 1024
_SYS_QUOTACTL_FD = 443
_DQBLK = struct.Struct("=QQQQQQQQI4x")  # struct if_dqblk of linux/quota.h
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def state(folder: str) -> str:
    """ "on", or a code of the catalogue `account`: quotas are off, or unknown to the system."""
    try:
        get(folder, 0)
    except OSError as error:
        return "quota_off" if error.errno in (errno.ESRCH, errno.ENOENT) else "quota_unknown"
    return "on"


def get(folder: str, uid: int) -> int:
    """The hard limit in bytes, 0 without one. Raises OSError."""
    buffer = ctypes.create_string_buffer(_DQBLK.size)
    _call(folder, _Q_GETQUOTA, uid, buffer)
    hard: int = _DQBLK.unpack(buffer.raw)[0]
    return hard * _BLOCK


def set_limit(folder: str, uid: int, size_bytes: int) -> None:
    """Both limits; 0 takes them away. Raises OSError."""
    blocks = (size_bytes + _BLOCK - 1) // _BLOCK
    packed = _DQBLK.pack(blocks, blocks, 0, 0, 0, 0, 0, 0, _QIF_BLIMITS)
    _call(folder, _Q_SETQUOTA, uid, ctypes.create_string_buffer(packed, _DQBLK.size))


def _call(folder: str, command: int, uid: int, buffer: ctypes.Array[ctypes.c_char]) -> None:
    what = ctypes.c_uint(command << 8 | _USRQUOTA)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        done = _libc.syscall(_SYS_QUOTACTL_FD, descriptor, what, ctypes.c_int(uid), buffer)
        number = ctypes.get_errno()
        if done < 0 and number == errno.ENOSYS:
            device = _device(os.fstat(descriptor).st_dev)
            done = _libc.quotactl(what, os.fsencode(device), ctypes.c_int(uid), buffer)
            number = ctypes.get_errno()
    finally:
        os.close(descriptor)
    if done < 0:
        raise OSError(number, os.strerror(number), folder)


def _device(number: int) -> str:
    """The block device of that number, as /proc/self/mountinfo says (proc(5)). Raises OSError."""
    wanted = f"{os.major(number)}:{os.minor(number)}"
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            if before.split()[2] == wanted and after.split()[1].startswith("/"):
                return after.split()[1]
    raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), wanted)
