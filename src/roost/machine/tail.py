"""The process that reads a piece of a job's output: as the job's user, for one question alone.

Run by its path (`python -I -S tail.py`), so it knows the standard library alone. One line of JSON
comes in; a line of JSON and then the bytes go out. It is the job's user before it touches the path.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import sys
import time
from typing import Any

MOST_BYTES = 256 * 1024
MOST_WAIT_S = 20
LOOK_AGAIN_S = 0.3
GRACE_S = 5


def become(uid: int, gid: int, groups: list[int]) -> None:
    """Lets go of root for good. Raises OSError; never returns as root."""
    os.setgroups(groups or [gid])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if 0 in (*os.getresuid(), *os.getresgid(), *os.getgroups()):
        raise PermissionError("still root")


def limit(wait_s: int) -> None:
    """Whatever happens to the agent, this process ends by itself."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (GRACE_S, GRACE_S))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(wait_s + GRACE_S)


def opened(path: bytes) -> int:
    """The file, opened for reading. What it is is looked at before: to open a device may do things.

    Raises OSError; ValueError for what is no regular file.
    """
    found = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(found).st_mode):
            raise ValueError("no regular file")
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
        return os.open(f"/proc/self/fd/{found}", flags)
    finally:
        os.close(found)


def piece(question: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """What there is from `offset` on, at most `limit` bytes; the last ones where it is None, or the
    file is another than `file`, or shorter by now. Waits for something new for `wait_s`."""
    most = min(int(question["limit"]), MOST_BYTES)
    end = time.monotonic() + min(int(question["wait_s"]), MOST_WAIT_S)
    path = bytes.fromhex(question["path"])
    descriptor = opened(path)
    while True:
        about = os.fstat(descriptor)
        name = f"{about.st_dev:x}-{about.st_ino:x}"
        offset = question["offset"]
        if offset is None or offset > about.st_size or question["file"] not in ("", name):
            offset = max(0, about.st_size - most)
        # Only as much as the file says it has: what has no size (in /proc) has nothing to show.
        wanted = max(0, min(most, about.st_size - offset))
        data = os.pread(descriptor, wanted, offset)
        if data or time.monotonic() >= end:
            head = {"state": "open", "file": name, "size": about.st_size, "offset": offset}
            return head, data
        time.sleep(LOOK_AGAIN_S)
        os.close(descriptor)
        descriptor = opened(path)  # it may be another one by now


def answer(question: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    try:
        return piece(question)
    except (FileNotFoundError, NotADirectoryError):
        return {"state": "gone"}, b""
    except ValueError:
        return {"state": "no_file"}, b""
    except OSError as error:
        return {"state": "unreadable", "why": error.strerror or type(error).__name__}, b""


def main() -> int:
    question = json.loads(sys.stdin.buffer.readline())
    limit(min(int(question["wait_s"]), MOST_WAIT_S))
    if os.geteuid() == 0:
        become(question["uid"], question["gid"], question["groups"])
    elif os.geteuid() != question["uid"]:
        return 1
    head, data = answer(question)
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + data)
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
