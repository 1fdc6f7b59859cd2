"""The terminal of a `--pty` job: made by its supervisor, lent to its owner, hung up when they go.

How a client attaches, over attach.sock (a stream socket that everyone may connect to):

1. the client sends one line of JSON, `{"job": 42}`, ended by a newline, within 5 s;
2. the agent compares the kernel's word on who is calling (SO_PEERCRED) with the job's user; root
   may attach to any. Refused: one line `{"error": "...", "code": "not_your_job"}` and the end;
3. otherwise the connection goes to the job's supervisor, which answers one line
   `{"job": 42, "attempt": 1}` that carries the terminal's master side as a descriptor (SCM_RIGHTS);
4. the client copies bytes to and from that descriptor, and sets the window size on it (TIOCSWINSZ;
   the job gets SIGWINCH). Closing the connection hangs up: SIGHUP, and after `kill_wait_s` the end;
5. when the job ends the client gets one more line,
   `{"ended": {"reason": "exited", "exit_code": 0, "signal": null, "text": ""}}`, and the end of the
   connection. The descriptor then gives what is left in it, and EIO.
"""

from __future__ import annotations

import fcntl
import grp
import json
import os
import signal
import socket
import struct
import termios
from collections.abc import Callable
from contextlib import suppress

from roost.wire.messages import AttemptEnd

ATTACH_LINE_BYTES = 4096
ATTACH_TIMEOUT_S = 5.0
MOST_CLIENTS = 8


def tty_group() -> int | None:
    """gid of the group `tty`, that terminals belong to; None where there is none."""
    try:
        return grp.getgrnam("tty").gr_gid
    except KeyError:
        return None


def open_pair(rows: int, columns: int, uid: int | None, gid: int | None) -> tuple[int, int]:
    """(master, slave), the slave owned by `uid` as a log-in's would be. Raises OSError."""
    master, slave = os.openpty()
    try:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if uid is not None:
            os.fchown(slave, uid, -1 if gid is None else gid)
            os.fchmod(slave, 0o620 if gid is not None else 0o600)
    except OSError:
        os.close(master)
        os.close(slave)
        raise
    return master, slave


class Terminal:
    """The master side and who is attached to it."""

    def __init__(self, master: int, job: int, attempt: int) -> None:
        self.master = master
        self._hello = {"job": job, "attempt": attempt}
        self._clients: list[socket.socket] = []
        self.attached_once = False

    def attach(self, descriptor: int) -> socket.socket | None:
        """Lends the master to the client behind `descriptor`; its connection, to be watched."""
        client = socket.socket(fileno=descriptor)
        client.setblocking(False)
        line = json.dumps(self._hello).encode() + b"\n"
        try:
            if len(self._clients) >= MOST_CLIENTS:
                raise OSError("too many clients on one terminal")
            socket.send_fds(client, [line], [self.master])
        except OSError:
            client.close()
            return None
        self._clients.append(client)
        self.attached_once = True
        return client

    def gone(self, client: socket.socket) -> bool:
        """To be called when the connection is readable: True when that client has left."""
        try:
            if client.recv(4096):
                return False
        except BlockingIOError:
            return False
        except OSError:
            pass  # reset: it has left as well
        if client in self._clients:
            self._clients.remove(client)
        client.close()
        return True

    @property
    def abandoned(self) -> bool:
        """Somebody was attached, and nobody is now."""
        return self.attached_once and not self._clients

    def hang_up(self, leader: int, send: Callable[[int, int], None]) -> None:
        """SIGHUP to the foreground group and to the session's leader; `send` is os.killpg."""
        groups = {leader}
        with suppress(OSError):
            raw = fcntl.ioctl(self.master, termios.TIOCGPGRP, b"\0" * 4)
            groups.add(struct.unpack("i", raw)[0])
        for group in groups:
            if group > 1:
                with suppress(ProcessLookupError, PermissionError):
                    send(group, signal.SIGHUP)
                with suppress(ProcessLookupError, PermissionError):
                    send(group, signal.SIGCONT)

    def ended(self, end: AttemptEnd) -> None:
        """Tells the clients how it ended, and lets go of them and of the master."""
        told = {
            "reason": str(end.reason),
            "exit_code": end.exit_code,
            "signal": end.signal,
            "text": end.text,
        }
        for client in self._clients:
            with suppress(OSError):
                client.send(json.dumps({"ended": told}).encode() + b"\n")
            client.close()
        self._clients.clear()
        os.close(self.master)
