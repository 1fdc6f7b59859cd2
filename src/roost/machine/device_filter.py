"""The wall: which device numbers a cgroup's processes may open, held by the kernel at open(2).

On cgroup v2 it is a BPF program, assembled here and loaded by bpf(2) (Linux Documentation/
admin-guide/cgroup-v2.rst, "Device controller"; include/uapi/linux/bpf.h); on v1 the lines of
devices.allow. Both are whitelists. It knows numbers, not what they stand for.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)
_PROG_LOAD, _PROG_ATTACH, _PROG_DETACH = 5, 8, 9
_PROG_TYPE_CGROUP_DEVICE = 15
_ATTACH_CGROUP_DEVICE = 6
_ALLOW_MULTI = 2
_CHAR = 2  # BPF_DEVCG_DEV_CHAR

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


@dataclass(frozen=True, slots=True)
class DeviceNumber:
    """A character device; `minor` None is every minor of that major."""

    major: int
    minor: int | None = None


def _bpf(command: int, attributes: bytes) -> int:
    if _SYS_BPF is None:
        raise OSError(38, "bpf(2) has no known number on this machine", os.uname().machine)
    buffer = ctypes.create_string_buffer(attributes, max(len(attributes), 128))
    result = int(_libc.syscall(_SYS_BPF, command, buffer, 128))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "bpf")
    return result


def _instruction(code: int, dst: int = 0, src: int = 0, offset: int = 0, value: int = 0) -> bytes:
    return struct.pack("<BBhi", code, (src << 4) | dst, offset, value)


def program(allowed: Iterable[DeviceNumber]) -> bytes:
    """BPF code that answers 1 for the character devices in `allowed` and 0 for all others."""
    load, jump_not, set_, end = 0x61, 0x55, 0xB7, 0x95
    code = [
        _instruction(load, 2, 1, 0),  # r2 = access_type: low half type, high half mknod|read|write
        _instruction(0x57, 2, value=0xFFFF),
        _instruction(load, 3, 1, 4),  # r3 = major
        _instruction(load, 4, 1, 8),  # r4 = minor
        _instruction(jump_not, 2, offset=1, value=_CHAR),  # no character device: to the refusal
        _instruction(0x05, offset=2),  # over the refusal
        _instruction(set_, 0, value=0),
        _instruction(end),
    ]
    for device in allowed:
        if device.minor is None:
            code.append(_instruction(jump_not, 3, offset=2, value=device.major))
        else:
            code.append(_instruction(jump_not, 3, offset=3, value=device.major))
            code.append(_instruction(jump_not, 4, offset=2, value=device.minor))
        code += [_instruction(set_, 0, value=1), _instruction(end)]
    code += [_instruction(set_, 0, value=0), _instruction(end)]
    return b"".join(code)


def load(code: bytes) -> int:
    """Descriptor of the loaded program. Raises OSError (EPERM, EINVAL where BPF is not there)."""
    instructions = ctypes.create_string_buffer(code, len(code))
    licence = ctypes.create_string_buffer(b"Apache-2.0")
    attributes = struct.pack(
        "<IIQQIIQII16sII",
        _PROG_TYPE_CGROUP_DEVICE,
        len(code) // 8,
        ctypes.addressof(instructions),
        ctypes.addressof(licence),
        0,
        0,
        0,
        0,
        0,
        b"roost_devices",
        0,
        _ATTACH_CGROUP_DEVICE,
    )
    return _bpf(_PROG_LOAD, attributes)


def attach(cgroup: str, program_fd: int) -> None:
    """Puts the program on a v2 cgroup; it goes with the cgroup. Raises OSError."""
    directory = os.open(cgroup, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _bpf(
            _PROG_ATTACH,
            struct.pack("<IIIII", directory, program_fd, _ATTACH_CGROUP_DEVICE, _ALLOW_MULTI, 0),
        )
    finally:
        os.close(directory)


def attach_v2(cgroup: str, allowed: Iterable[DeviceNumber]) -> None:
    """Only `allowed` can be opened from within the v2 cgroup from now on. Raises OSError."""
    descriptor = load(program(allowed))
    try:
        attach(cgroup, descriptor)
    finally:
        os.close(descriptor)


def lines_v1(allowed: Iterable[DeviceNumber]) -> list[bytes]:
    """What to write into devices.allow, one write each, after `a` went into devices.deny."""
    return [
        b"c %d:%s rwm" % (d.major, b"*" if d.minor is None else b"%d" % d.minor) for d in allowed
    ]


def attach_v1(cgroup: str, allowed: Sequence[DeviceNumber]) -> None:
    """The same on a v1 devices cgroup. Raises OSError."""
    for name, lines in (("devices.deny", [b"a"]), ("devices.allow", lines_v1(allowed))):
        descriptor = os.open(f"{cgroup}/{name}", os.O_WRONLY | os.O_CLOEXEC)
        try:
            for line in lines:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)
