"""A mounted file system whose daemon stops answering: what a dead NFS server is to its readers.

The FUSE protocol by hand, as much as it takes to look up and open one file (linux/fuse.h).
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_IN = struct.Struct("IIQQIIII")
_LOOKUP, _GETATTR, _OPEN, _INIT, _OPENDIR = 1, 3, 14, 26, 27


def _attributes(node: int) -> bytes:
    mode = 0o040755 if node == 1 else 0o100666
    return struct.pack("QQQQQQIIIIIIIIII", node, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def serve(descriptor: int, quiet_after: Path) -> None:
    """Answers until the file `quiet_after` exists; then reads requests and says nothing."""
    while True:
        try:
            request = os.read(descriptor, 1 << 17)
        except OSError:
            return
        _, opcode, unique, node, *_ = _IN.unpack_from(request)
        if quiet_after.exists():
            continue
        if opcode == _INIT:
            body = struct.pack("IIIIHHIIHHIIII", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0, 0, 0, 0)
            body += b"\0" * (64 - len(body))
        elif opcode == _LOOKUP:
            body = struct.pack("QQQQII", 2, 0, 0, 0, 0, 0) + _attributes(2)
        elif opcode == _GETATTR:
            body = struct.pack("QII", 0, 0, 0) + _attributes(node)
        elif opcode in (_OPEN, _OPENDIR):
            body = struct.pack("QII", 1, 0, 0)
        else:
            os.write(descriptor, struct.pack("IiQ", 16, -38, unique))
            continue
        os.write(descriptor, struct.pack("IiQ", 16 + len(body), 0, unique) + body)


@contextmanager
def hung_mount() -> Iterator[tuple[Path, Path]]:
    """(mount point, file to create to make it hang). Everything that hangs on it is let go at the
    end. Attributes are valid for no time, so that each look asks the daemon."""
    base = Path(tempfile.mkdtemp(prefix="roost-hung-"))
    point = base / "mnt"
    point.mkdir()
    base.chmod(0o755)
    quiet = base / "quiet"
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={descriptor},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"roost-test", os.fsencode(point), b"fuse", 0, options) != 0:
        os.close(descriptor)
        raise OSError(ctypes.get_errno(), "cannot mount FUSE")
    server = subprocess.Popen(
        [sys.executable, __file__, str(descriptor), str(quiet)], pass_fds=(descriptor,)
    )
    os.close(descriptor)
    try:
        yield point, quiet
    finally:
        server.send_signal(signal.SIGKILL)  # the connection is aborted: everybody wakes with EIO
        server.wait()
        libc.umount2(os.fsencode(point), 2)
        for _ in range(20):
            try:
                point.rmdir()
                break
            except OSError:
                time.sleep(0.05)
        quiet.unlink(missing_ok=True)
        base.rmdir()


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))
