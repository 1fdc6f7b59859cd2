"""Whether the whole machine is being shut down, in which case jobs end for no reason of their own.

At the end of a shutdown init sends SIGTERM to every process, this one and its job alike (systemd-
shutdown, killall5). A supervisor does not end by it: it notes it, and records the job as lost.
"""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from types import FrameType

RECENT_S = 60.0
_asked_at: float | None = None


def watch() -> None:
    """From here on SIGTERM is noted in this process."""
    signal.signal(signal.SIGTERM, _note)


def _note(_number: int, _frame: FrameType | None) -> None:
    global _asked_at
    _asked_at = time.monotonic()


def going_on() -> bool:
    if _asked_at is not None and time.monotonic() - _asked_at < RECENT_S:
        return True
    with suppress(OSError), open("/proc/1/comm", "rb") as file:
        return file.read().startswith(b"systemd-shutdow")
    return False
