"""A process beside the agent that lives for one question: what may hang, crash or be led astray
there takes nothing of the agent with it. Knows no question.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import structlog

log = structlog.get_logger()


def begun(module: str, stderr: int | None = None) -> subprocess.Popen[bytes]:
    """Python at `module`, with a clean environment and a session of its own. Raises OSError."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd="/",
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )


def answered(
    module: str, order: bytes, within_s: float, stderr: int | None = None
) -> tuple[bytes, bytes, int]:
    """What it writes, also to `stderr` where that is a pipe, and its exit code. Blocks. Raises
    OSError, and subprocess.TimeoutExpired after it and all below it have been ended."""
    process = begun(module, stderr)
    with process:
        try:
            said, wrong = process.communicate(order, within_s)
        except subprocess.TimeoutExpired:
            end_tree(process.pid)
            raise
    return said, wrong or b"", process.returncode


def end_tree(pid: int) -> None:
    """Ends a child of ours and all below it, also what a PAM module put into a session of its own.

    Each is stopped before its children are named: none of their pids becomes another's meanwhile.
    """
    try:
        os.kill(pid, signal.SIGSTOP)
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                for child in file.read().split():
                    end_tree(int(child))
    except OSError as error:
        log.info(
            "a process beside the agent had gone, or its children are not told", why=str(error)
        )
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
