"""Two child processes kept running: started again with growing pauses, stopped together.

A child that ends before the daemon was ever ready is not started again: it has said why. Children
get SIGTERM if this process is killed (PR_SET_PDEATHSIG), so that no half daemon stays behind.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

from roost.cli.relay import relay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0
HEALTHY_AFTER_S = 20.0
STOP_WITHIN_S = 15.0
READY_EVERY_MS = 100.0
KILLED = (-signal.SIGKILL, -signal.SIGTERM)  # by somebody: no fault of its own
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Part:
    """One of "agent" and "server": its words, the account it runs as (None: ours), its life.

    `write` gets what it says as sentences; None leaves its lines on standard error as they are.
    """

    name: str
    words: list[str]
    account: pwd.struct_passwd | None = None
    process: subprocess.Popen[bytes] | None = None
    descriptor: int = -1
    started_at: float = 0.0
    failures: int = 0
    start_again_at: float | None = None
    environment: dict[str, str] = field(default_factory=dict)
    write: Callable[[str], None] | None = None
    lines: threading.Thread | None = None

    def start(self) -> None:
        parent = os.getpid()

        def die_with_parent() -> None:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:
                os._exit(1)

        account = self.account
        self.process = subprocess.Popen(  # the child runs only prctl before exec
            [sys.executable, "-m", "roost", *self.words],
            stdin=subprocess.DEVNULL,
            cwd="/",
            env={**os.environ, **self.environment},
            user=account.pw_uid if account else None,
            group=account.pw_gid if account else None,
            extra_groups=[] if account else None,
            process_group=0,
            stderr=subprocess.PIPE if self.write else None,
            preexec_fn=die_with_parent,
        )
        if self.write is not None and self.process.stderr is not None:
            self.lines = relay(self.process.stderr, self.name, self.write)
        self.descriptor = os.pidfd_open(self.process.pid)
        self.started_at = time.monotonic()
        self.start_again_at = None

    def reap(self) -> int:
        """The exit status of the ended child, -N for signal N."""
        assert self.process is not None
        code = self.process.wait()
        self.let_go()
        return code

    def let_go(self) -> None:
        """After its end: all that it said is written, nothing of it is kept."""
        if self.lines is not None:
            self.lines.join(2.0)
        os.close(self.descriptor)
        self.descriptor, self.process, self.lines = -1, None, None


class Supervisor:
    """`run` returns when told to stop, or with the part that gave up before the daemon was ready.

    `told_restart(part, status, pause_s)` is called before each pause.
    """

    def __init__(
        self,
        parts: list[Part],
        is_ready: Callable[[], bool],
        when_ready: Callable[[], None],
        told_restart: Callable[[Part, int, float], None],
    ) -> None:
        self.parts = parts
        self.is_ready = is_ready
        self.when_ready = when_ready
        self.told_restart = told_restart
        self.ready = False
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._stop = False

    def run(self) -> tuple[Part, int] | None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stopped)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            for part in self.parts:
                part.start()
            while not self._stop:
                failed = self._turn()
                if failed is not None:
                    return failed
        finally:
            self._end()
        return None

    def _stopped(self, *_: object) -> None:
        self._stop = True
        with suppress(OSError):
            os.write(self._wake_write, b"x")

    def _turn(self) -> tuple[Part, int] | None:
        now = time.monotonic()
        for part in self.parts:
            if part.start_again_at is not None and now >= part.start_again_at:
                part.start()
        poll = select.poll()
        poll.register(self._wake_read, select.POLLIN)
        for part in self.parts:
            if part.process is not None:
                poll.register(part.descriptor, select.POLLIN)
        ended = {descriptor for descriptor, _ in poll.poll(self._pause_ms(now))}
        for part in self.parts:
            if part.process is not None and part.descriptor in ended:
                status = part.reap()
                if not self.ready and status not in KILLED:
                    return part, status
                self._again(part, status)
        if not self.ready and not self._stop and self.is_ready():
            self.ready = True
            self.when_ready()
        return None

    def _again(self, part: Part, status: int) -> None:
        lived = time.monotonic() - part.started_at
        part.failures = 0 if status in KILLED or lived > HEALTHY_AFTER_S else part.failures + 1
        pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** max(0, part.failures - 1))
        part.start_again_at = time.monotonic() + pause
        self.told_restart(part, status, pause)

    def _pause_ms(self, now: float) -> float | None:
        if not self.ready:
            return READY_EVERY_MS
        waiting = [part.start_again_at for part in self.parts if part.start_again_at is not None]
        return max(0.0, min(waiting) - now) * 1000 + 1 if waiting else None

    def _end(self) -> None:
        """SIGTERM to the server first, then to the agent; SIGKILL to what does not go."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        for part in reversed(self.parts):
            if part.process is None:
                continue
            part.process.terminate()
            try:
                part.process.wait(STOP_WITHIN_S)
            except subprocess.TimeoutExpired:
                part.process.kill()
                part.process.wait()
            part.let_go()
