"""The agent's end of the launcher: started, spoken to, and started again should it die."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time

import structlog

from roost.agent import launcher
from roost.machine import cgroup_base
from roost.machine.cgroup import Layout

log = structlog.get_logger()
PAUSE_S = 1.0
LIVED_S = 5.0


class Forks:
    """One launcher process. It ends when this end of its socket closes, so with the agent."""

    def __init__(self, attempts: str, layout: Layout) -> None:
        self._attempts = attempts
        self._layout = layout
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pidfd = -1
        self._started = 0.0
        self._waiting: list[tuple[str, int]] = []
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Raises OSError when no process can be started."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    launcher.__name__,
                    str(theirs.fileno()),
                    self._attempts,
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
            self._pidfd = os.pidfd_open(self._process.pid)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._socket = ours
        self._started = time.monotonic()
        self._loop.add_reader(self._pidfd, self._ended)
        try:
            cgroup_base.enter_supervisors(self._layout, self._process.pid)
        except OSError as error:
            log.warning("launcher stays in the agent's cgroup", error=str(error))

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def fork(self, name: str, connection: socket.socket) -> None:
        """Asks for a supervisor of that attempt. Raises OSError when the launcher is not there;
        a launcher with a full queue gets it later, in order."""
        if self._socket is None:
            raise ConnectionError("there is no launcher")
        if self._waiting:
            self._waiting.append((name, os.dup(connection.fileno())))
            return
        try:
            socket.send_fds(self._socket, [name.encode()], [connection.fileno()])
        except BlockingIOError:
            self._waiting.append((name, os.dup(connection.fileno())))
            self._loop.add_writer(self._socket.fileno(), self._flush)

    def _flush(self) -> None:
        while self._waiting and self._socket is not None:
            name, descriptor = self._waiting[0]
            try:
                socket.send_fds(self._socket, [name.encode()], [descriptor])
            except BlockingIOError:
                return
            except OSError as error:
                log.warning("launcher unreachable", error=str(error))
                break  # its end is seen as well, and closes what waits
            self._waiting.pop(0)
            os.close(descriptor)
        if self._socket is not None:
            self._loop.remove_writer(self._socket.fileno())

    def _ended(self) -> None:
        """The supervisors that were ready end with the socket; those that have a job go on."""
        log.error("launcher ended; starting another one")
        short = time.monotonic() - self._started < LIVED_S
        self.close()
        if short:
            self._loop.call_later(PAUSE_S, self._again)
        else:
            self._again()

    def _again(self) -> None:
        if self._socket is None:
            try:
                self.start()
            except OSError as error:
                log.error("no launcher can be started", error=str(error))
                self._loop.call_later(PAUSE_S, self._again)

    def close(self) -> None:
        """Lets the launcher end; requests that it has not taken are dropped, and noticed by the
        end of their connections."""
        if self._socket is not None:
            self._loop.remove_writer(self._socket.fileno())
            self._socket.close()
            self._socket = None
        for _, descriptor in self._waiting:
            os.close(descriptor)
        self._waiting.clear()
        if self._process is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            try:
                self._process.wait(0.5)
            except subprocess.TimeoutExpired:
                log.warning("launcher does not end", pid=self._process.pid)
            self._process = None
