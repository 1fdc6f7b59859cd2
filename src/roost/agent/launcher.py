"""The fork server: keeps a few supervisors ready, so that no job pays for an interpreter or a fork.

It has everything loaded that a supervisor needs. The agent talks to it over one SEQPACKET socket: a
datagram is the name of an attempt's folder, with the supervisor's end of a link to the agent.
Whichever ready supervisor reads it has that job; when the job has ended it is ready again. When the
agent is gone those that are ready end, and those that have a job end with it.
"""

from __future__ import annotations

import gc
import mmap
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress

from roost.agent import record, shutdown, supervise
from roost.agent.note import note
from roost.machine import kernel

MAX_NAME_BYTES = 64
READY = 2
MOST_READY = 12
MOST_JOBS = 500
COLLECT_EVERY = 32
_WORD = struct.Struct("=ci")
_IGNORED = tuple(
    getattr(signal, f"SIG{name}")
    for name in ("HUP", "INT", "TERM", "QUIT", "PIPE", "TSTP", "TTIN", "TTOU", "USR1", "USR2")
)


def serve(requests: socket.socket, attempts: str) -> None:
    """Keeps supervisors ready for attempts below `attempts` until the agent closes its end."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o077)
    gc.disable()
    gc.freeze()
    Nursery(requests, attempts).serve()


class Nursery:
    """The supervisors that are ready. They tell over a pipe when they take a job and when they are
    ready again; how many there are stands in a shared byte, by which one knows that it is too many.
    """

    def __init__(self, requests: socket.socket, attempts: str) -> None:
        self._requests = requests
        self._attempts = attempts
        self._hearing, self._telling = os.pipe2(os.O_CLOEXEC)
        self._ended, ending = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._board = mmap.mmap(-1, 1)
        self._ready: set[int] = set()
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ending, warn_on_full_buffer=False)

    def serve(self) -> None:
        poll = select.poll()
        for descriptor in (self._hearing, self._ended):
            poll.register(descriptor, select.POLLIN)
        while True:
            while len(self._ready) < READY and self._fork():
                pass
            self._board[0] = min(255, len(self._ready))
            events = [descriptor for descriptor, _ in poll.poll(1000)]
            if self._hearing in events and not self._hear():
                return
            if self._ended in events:
                os.read(self._ended, 4096)
                self._reap()

    def _hear(self) -> bool:
        """False when the agent is gone."""
        told = os.read(self._hearing, _WORD.size * 512)
        for word, pid in _WORD.iter_unpack(told):
            if word == b"x":
                return False
            if word == b"+":
                self._ready.add(pid)
            else:
                self._ready.discard(pid)
        return True

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                self._ready.discard(pid)

    def _fork(self) -> bool:
        try:
            pid = os.fork()
        except OSError as error:
            note("no supervisor could be forked", error=str(error))
            return False
        if pid != 0:
            self._ready.add(pid)
            return True
        code = 1
        try:
            os.close(self._hearing)
            os.setsid()
            kernel.become_subreaper()
            shutdown.watch()
            code = self._work()
        except BaseException as error:  # noqa: BLE001 - the forked copy never returns to serve()
            note("supervisor failed", error=repr(error))
        finally:
            os._exit(code)

    def _work(self) -> int:
        """One supervisor's life: a job, and another one."""
        children, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for count in range(1, MOST_JOBS + 1):
            kernel.set_name("roost-ready")
            try:
                data, descriptors, _, _ = socket.recv_fds(self._requests, MAX_NAME_BYTES, 1)
            except OSError:
                data, descriptors = b"", []
            if not data:
                self._tell(b"x")
                return 0
            self._tell(b"-")
            name = data.decode("ascii", "replace")
            link = socket.socket(fileno=descriptors[0]) if descriptors else None
            if record.parse_name(name) is not None:
                try:
                    supervise.supervise(f"{self._attempts}/{name}", link, children)
                except OSError as error:
                    note("attempt not supervised", folder=name, error=str(error))
            if link is not None:
                link.close()
            if self._board[0] >= MOST_READY:
                return 0
            if count % COLLECT_EVERY == 0:
                gc.collect()
            self._tell(b"+")
        return 0

    def _tell(self, word: bytes) -> None:
        with suppress(BrokenPipeError):
            os.write(self._telling, _WORD.pack(word, os.getpid()))


def main(arguments: list[str]) -> int:
    """`python -m roost.agent.launcher FD ATTEMPTS`: the agent starts it so."""
    os.chdir("/")
    requests = socket.socket(fileno=int(arguments[0]))
    os.set_inheritable(requests.fileno(), False)
    requests.setblocking(True)
    kernel.set_name("roost-launcher")
    serve(requests, arguments[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
