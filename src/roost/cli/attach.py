"""`roost run --pty`: this terminal and the job's, joined until either ends.

The agent lends the job's terminal over attach.sock (docs/design/001-two-processes.md): bytes go
straight through, without the daemon. Closing the connection hangs the job's terminal up.
"""

from __future__ import annotations

import array
import fcntl
import json
import os
import select
import signal
import socket
import sys
import termios
import time
import tty
from contextlib import suppress

from roost.cli.commands import ENDED
from roost.cli.failure import CommandError
from roost.cli.logs import finish
from roost.cli.terminal import write
from roost.cli.wait import patiently, until_ended
from roost.client.errors import RoostError
from roost.client.paths import attach_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context

ATTACH_WITHIN_S = 15.0


def attach(context: Context, number: int) -> int:
    """Waits for the job to run, then is its terminal. Returns the job's exit code.

    Ctrl-C while it waits takes the job out of the queue.
    """
    try:
        job = until_running(context, number)
    except KeyboardInterrupt:
        with suppress(RoostError):
            context.client().cancel(number)
        context.err("")
        context.note("pty_cancelled", job=number)
        return 130
    if job["state"] in ENDED:
        return finish(context, job)
    connection, master = borrow(context, number)
    try:
        ended = join(master, connection)
    finally:
        os.close(master)
        connection.close()
    if ended is not None and ended.get("reason") == "exited":
        return int(ended.get("exit_code") or 0)
    return finish(context, until_ended(context, number))


def until_running(context: Context, number: int) -> Any:
    """The job once it runs or has ended; says on each change why it waits."""
    told = ""
    client = context.client()
    while True:
        job = patiently(context, lambda: client.job(number))
        if job["state"] not in ("PENDING", "STARTING"):
            return job
        wait = job.get("wait") or ""
        if wait and wait != told:
            context.err(f"roost run: {context.say('waits', job=number, text=wait)}")
            told = wait
        time.sleep(0.05 if not told else 0.3)


def borrow(context: Context, number: int) -> tuple[socket.socket, int]:
    """The connection that keeps the terminal, and the terminal's master side."""
    path = attach_socket(context.client().socket_path)
    deadline = time.monotonic() + ATTACH_WITHIN_S
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(ATTACH_WITHIN_S)
        text = ""
        try:
            connection.connect(path)
            connection.sendall(json.dumps({"job": number}).encode() + b"\n")
            line, descriptors = receive(connection)
            if descriptors:
                return connection, descriptors[0]
            answer = json.loads(line) if line else {}
            text = answer.get("error", "")
            final = answer.get("code") in ("not_your_job", "no_terminal")
        except (OSError, ValueError) as error:
            text, final = str(error), False
        connection.close()
        if final or time.monotonic() > deadline:
            raise CommandError("attach_failed", job=number, text=text)
        job = context.client().job(number)
        if job["state"] in ENDED:
            raise CommandError("attach_failed", job=number, text=job.get("text") or job["state"])
        time.sleep(0.2)


def receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    """One line, and the descriptors that came with it."""
    line, descriptors = b"", array.array("i")
    while not line.endswith(b"\n"):
        data, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(descriptors.itemsize))
        for level, kind, raw in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.frombytes(raw[: len(raw) - len(raw) % descriptors.itemsize])
        if not data:
            break
        line += data
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return line, list(descriptors)


def join(master: int, connection: socket.socket) -> dict[str, Any] | None:
    """Copies both ways until the job has ended, and the window's size; how it ended, if said."""
    sys.stdout.flush()
    before = termios.tcgetattr(0)

    def resize(*_: object) -> None:
        with suppress(OSError):
            size = fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(master, termios.TIOCSWINSZ, size)

    previous = signal.signal(signal.SIGWINCH, resize)
    resize()
    try:
        tty.setraw(0)
        return _copy(master, connection)
    finally:
        signal.signal(signal.SIGWINCH, previous)
        termios.tcsetattr(0, termios.TCSADRAIN, before)


def _copy(master: int, connection: socket.socket) -> dict[str, Any] | None:
    said = b""
    reading = [0, master, connection.fileno()]
    typed = b""
    while True:
        ready, writable, _ = select.select(reading, [master] if typed else [], [])
        if writable:
            with suppress(OSError):
                typed = typed[os.write(master, typed[:512]) :]
        if 0 in ready:
            data = os.read(0, 4096)
            typed += data
            if not data:
                reading.remove(0)
        if master in ready and not _show(master):
            reading.remove(master)
        if connection.fileno() in ready:
            data = connection.recv(4096)
            said += data
            if not data:
                while master in reading and select.select([master], [], [], 0.1)[0]:
                    if not _show(master):
                        break
                return _ended(said)


def _show(master: int) -> bool:
    try:
        data = os.read(master, 1 << 16)
    except OSError:  # EIO: the job's side is closed
        return False
    write(1, data)
    return bool(data)


def _ended(line: bytes) -> dict[str, Any] | None:
    try:
        ended = json.loads(line)["ended"]
    except (ValueError, KeyError, TypeError):
        return None
    return ended if isinstance(ended, dict) else None
