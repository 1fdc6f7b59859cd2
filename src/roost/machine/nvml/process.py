"""The helper process as its parent sees it: started, asked without waiting for ever, ended.

Knows sockets, signals and /proc/PID/stat; it must not know what a reading means.
"""

from __future__ import annotations

import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import time

import msgspec

from roost.machine.nvml.protocol import (
    IN_NO_CARD,
    PROGRESS_BYTES,
    Ask,
    ReaderOptions,
    Said,
    Setup,
    progress_into,
    progress_of,
    send,
)

_DECODER: msgspec.msgpack.Decoder[Said] = msgspec.msgpack.Decoder(Said)
_STDERR_TAIL = 2000


class HelperProcess:
    """One started helper. `asked_at` is when the question that is open was asked (monotonic);
    `ended`: it has closed its end, so that its exit is near."""

    def __init__(self, options: ReaderOptions) -> None:
        """Raises OSError when no process can be started."""
        self.asked_at: float | None = None
        self.answers = 0
        self.killed = False
        self.ended = False
        self._buffer = bytearray()
        self._stderr = os.memfd_create("roost-nvml-helper")
        progress = os.memfd_create("roost-nvml-progress")
        ours, theirs = socket.socketpair()
        try:
            os.truncate(progress, PROGRESS_BYTES)
            self._progress = mmap.mmap(progress, PROGRESS_BYTES)
            progress_into(self._progress)(IN_NO_CARD)
            setup = msgspec.json.encode(Setup(theirs.fileno(), progress, options)).decode()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "roost.machine.nvml.helper", setup],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                pass_fds=(theirs.fileno(), progress),
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            os.close(self._stderr)
            raise
        finally:
            theirs.close()
            os.close(progress)
        ours.setblocking(False)
        self._socket = ours

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, ask: Ask) -> bool:
        """Sends the question. False when the helper is gone."""
        self.asked_at = time.monotonic()
        try:
            send(self._socket, msgspec.msgpack.encode(ask))
        except OSError:
            return False
        return True

    def hear(self, until: float) -> Said | None:
        """The next thing it says by `until` (monotonic), None for nothing (or its end)."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        while not self.ended:
            if (said := self._take()) is not None:
                return said
            left = until - time.monotonic()
            if not poll.poll(max(0, int(left * 1000))):
                if left <= 0:
                    return None
                continue
            try:
                data = self._socket.recv(1 << 20)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                self.ended = True
                return None
            self._buffer += data
        return None

    def _take(self) -> Said | None:
        if len(self._buffer) < 4:
            return None
        end = 4 + int.from_bytes(self._buffer[:4], "big")
        if len(self._buffer) < end:
            return None
        said = _DECODER.decode(self._buffer[4:end])
        del self._buffer[:end]
        return said

    def in_card(self) -> int:
        """Index of the card that it is asking now, IN_NO_CARD for none."""
        return progress_of(self._progress)[0]

    def silent_for(self) -> float:
        """Seconds since it was asked, or since it went on to another card."""
        since = max(self.asked_at or 0.0, progress_of(self._progress)[1])
        return time.monotonic() - since

    def kill(self) -> None:
        """SIGKILL. Whether that ends it, `gone` says: a call in the kernel may not return."""
        self.killed = True
        self._process.send_signal(signal.SIGKILL)

    def gone(self, within_s: float = 0.0) -> bool:
        """Whether it has ended (and is reaped)."""
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def status(self) -> int | None:
        """Exit status, negative for a signal; None while it lives."""
        return self._process.poll()

    def kernel_state(self) -> str:
        """The state letter of /proc/PID/stat ("D" for uninterruptible), "?" when unknown."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                return file.read().rpartition(b")")[2].split()[0].decode("ascii", "replace")
        except (OSError, IndexError):
            return "?"

    def last_words(self) -> str:
        """The last line that it wrote to stderr, "" for none."""
        size = os.fstat(self._stderr).st_size
        tail = os.pread(self._stderr, _STDERR_TAIL, max(0, size - _STDERR_TAIL))
        lines = tail.decode("utf-8", "backslashreplace").strip().splitlines()
        return lines[-1] if lines else ""

    def stop(self, within_s: float) -> bool:
        """Lets it let go of NVML and end; kills it where it does not. False when it lives on."""
        if not self.gone():
            try:
                self._socket.shutdown(socket.SHUT_WR)
            except OSError:
                self.kill()
            if not self.gone(within_s):
                self.kill()
        return self.gone(1.0)

    def forget(self) -> None:
        """Closes what this side holds; after `gone`."""
        self._socket.close()
        self._progress.close()
        os.close(self._stderr)
