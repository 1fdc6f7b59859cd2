"""A small HTTP/1.1 client over a Unix socket: keep-alive, chunks, time limits, event streams.

`http.client` costs 27 ms to import; a command has 60. It knows the protocol, not Roost's API.
"""

from __future__ import annotations

import _socket
import os
import time
from itertools import chain

from roost.client.errors import AnswerLostError, NoDaemonError, NotAllowedError, RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 1 << 30
MAX_PATH_BYTES = 107
PAUSE_S = 0.05
LOST_PATIENCE_S = 60.0
_PEEK = _socket.MSG_PEEK | _socket.MSG_DONTWAIT


class Response:
    """`headers` have lower-case names; `body` is whole."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class Connection:
    """One connection, made on first use and again when the daemon closed it while it was idle.

    Not for several threads at once. `timeout_s` limits each wait for the daemon, None for none.
    `patience_s`: how long a socket that nobody answers is tried again, since the daemon may be
    starting again; one that is not there at all is an error at once.
    """

    def __init__(self, path: str, timeout_s: float | None = 60.0, patience_s: float = 0.0) -> None:
        self.path = path
        self.patience_s = patience_s
        self.timeout_s = timeout_s
        self._socket: _socket.socket | None = None
        self._buffer = b""

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._buffer = b""

    def request(
        self,
        method: str,
        target: str,
        headers: str = "",
        body: bytes | None = None,
        *,
        tries: int = 0,
    ) -> Response:
        """One request and its answer, sent up to `tries` times while it gets none.

        0 is 2 for a GET, which changes nothing, and 1 for all else. More than one is right only
        where the daemon does a thing once however often it is asked.

        Raises NoDaemonError, NotAllowedError (no right to open the socket), AnswerLostError, and
        RoostError for a time limit or what is no HTTP.
        """
        message = _head(method, target, headers, body)
        tries = tries or (2 if method == "GET" else 1)
        for attempt in range(1, tries + 1):
            asked = attempt > 1 and tries > 2
            try:
                connection = self._connected(asked)
            except NoDaemonError:
                if not asked:
                    raise
                raise AnswerLostError(method, target) from None
            try:
                return self._exchange(connection, (message,))
            except AnswerLostError:
                if attempt == tries:
                    raise AnswerLostError(method, target) from None
        raise AssertionError("unreachable")

    def upload(self, target: str, headers: str, pieces: Iterable[bytes], size: int) -> Response:
        """POSTs bytes as they come, `size` in all. Raises as `request` does."""
        connection = self._connected()
        kind = f"Content-Type: application/octet-stream\r\nContent-Length: {size}\r\n"
        head = _head("POST", target, headers + kind, b"", of_body="")
        try:
            return self._exchange(connection, chain((head,), pieces))
        except AnswerLostError:
            raise AnswerLostError("POST", target) from None

    def _exchange(self, connection: _socket.socket, pieces: Iterable[bytes]) -> Response:
        """Sends them one after another, and reads the answer. Without one the connection is closed.

        Raises AnswerLostError, and RoostError as `request` does.
        """
        try:
            for piece in pieces:
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # an answer may already be there (refused before the body was read)
        except TimeoutError:
            self.close()
            raise _too_slow(self.timeout_s) from None
        try:
            return self._response(connection)
        except AnswerLostError:
            self.close()
            raise

    def lines(self, target: str, headers: str = "") -> Iterator[bytes]:
        """The lines of an answer that goes on (an event stream), without their ends.

        Raises as `request` does, AnswerLostError too when the stream breaks.
        """
        connection = self._connected()
        try:
            connection.sendall(_head("GET", target, headers, None))
            status, fields = self._answer_head(connection)
            if status != 200:
                body = b"".join(self._pieces(connection, status, fields))
                raise RefusalError(Response(status, fields, body))
            rest = b""
            for piece in self._pieces(connection, status, fields):
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    yield line.removesuffix(b"\r")
        except (BrokenPipeError, ConnectionResetError):
            raise AnswerLostError("GET", target) from None
        finally:
            self.close()

    def _connected(self, asked: bool = False) -> _socket.socket:
        if self._socket is not None:
            if not self._buffer and not _went_away(self._socket):
                self._socket.settimeout(self.timeout_s)
                return self._socket
            self.close()
        self._socket = self._connect(asked)
        return self._socket

    def _connect(self, asked: bool) -> _socket.socket:
        """`asked`: a question went out whose answer matters, so a daemon is waited for."""
        left = LOST_PATIENCE_S if asked else self.patience_s
        refused = asked
        while True:
            try:
                return connect(self.path, self.timeout_s)
            except NoDaemonError as error:
                refused = refused or not error.missing
                if left <= 0 or not refused:
                    raise
            time.sleep(PAUSE_S)
            left -= PAUSE_S

    def _response(self, connection: _socket.socket) -> Response:
        status, fields = self._answer_head(connection)
        body = b"".join(self._pieces(connection, status, fields))
        if fields.get("connection", "").lower() == "close":
            self.close()
        return Response(status, fields, body)

    def _answer_head(self, connection: _socket.socket) -> tuple[int, dict[str, str]]:
        while True:
            lines = self._until(connection, b"\r\n\r\n").decode("latin-1").split("\r\n")
            words = lines[0].split(" ", 2)
            if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
                raise RoostError("not_http", f"what listens at {self.path} does not speak HTTP")
            fields: dict[str, str] = {}
            for line in lines[1:]:
                name, _, value = line.partition(":")
                fields[name.strip().lower()] = value.strip()
            if not words[1].startswith("1"):  # 100 Continue and its kind come before the answer
                return int(words[1]), fields

    def _pieces(
        self, connection: _socket.socket, status: int, fields: dict[str, str]
    ) -> Iterator[bytes]:
        if status in (204, 304):
            return
        if "chunked" in fields.get("transfer-encoding", "").lower():
            while size := _chunk_size(self._until(connection, b"\r\n")):
                yield from self._exactly(connection, size)
                self._until(connection, b"\r\n")
            while self._until(connection, b"\r\n"):
                pass  # trailers
        elif (length := fields.get("content-length")) is not None:
            if not length.isdigit() or int(length) > MAX_BODY_BYTES:
                raise RoostError("not_http", f"the answer's Content-Length is {length!r}")
            yield from self._exactly(connection, int(length))
        else:
            piece, self._buffer = self._buffer, b""
            piece = piece or self._receive(connection, end_is_fine=True)
            while piece:
                yield piece
                piece = self._receive(connection, end_is_fine=True)
            self.close()

    def _until(self, connection: _socket.socket, end: bytes) -> bytes:
        while (at := self._buffer.find(end)) < 0:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise RoostError("not_http", f"the answer's head has no end ({self.path})")
            self._buffer += self._receive(connection)
        found, self._buffer = self._buffer[:at], self._buffer[at + len(end) :]
        return found

    def _exactly(self, connection: _socket.socket, size: int) -> Iterator[bytes]:
        while size:
            piece = self._buffer or self._receive(connection)
            piece, self._buffer = piece[:size], piece[size:]
            size -= len(piece)
            yield piece

    def _receive(self, connection: _socket.socket, end_is_fine: bool = False) -> bytes:
        try:
            data = connection.recv(262144)
        except TimeoutError:
            self.close()
            raise _too_slow(self.timeout_s) from None
        except ConnectionResetError:
            data = b""
        if not data and not end_is_fine:
            raise AnswerLostError("", "")
        return data


class RefusalError(Exception):
    """A stream that was answered with something else than 200."""

    def __init__(self, response: Response) -> None:
        super().__init__(str(response.status))
        self.response = response


def connect(path: str, timeout_s: float | None) -> _socket.socket:
    """A connected Unix socket. A path longer than the kernel's 107 bytes is reached through its
    folder. Raises NoDaemonError and NotAllowedError."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(timeout_s)
    folder = -1
    try:
        address = path
        if len(os.fsencode(path)) > MAX_PATH_BYTES:
            folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            address = f"/proc/self/fd/{folder}/{os.path.basename(path)}"
        connection.connect(address)
    except (FileNotFoundError, NotADirectoryError):
        connection.close()
        raise NoDaemonError(path, missing=True) from None
    except ConnectionRefusedError:
        connection.close()
        raise NoDaemonError(path, missing=False) from None
    except PermissionError:
        connection.close()
        raise NotAllowedError("socket_permission", f"no right to open {path}") from None
    except (BlockingIOError, TimeoutError):
        connection.close()
        raise _too_slow(timeout_s) from None
    except OSError as error:
        connection.close()
        raise RoostError("socket_error", f"{path}: {error.strerror or error}") from None
    finally:
        if folder >= 0:
            os.close(folder)
    return connection


def quote(text: str) -> str:
    """Text as one part of a path or query: all but letters, digits and -._~ percent-encoded."""
    if text.isalnum() and text.isascii():
        return text
    return "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b"-._~" else f"%{byte:02X}"
        for byte in os.fsencode(text)
    )


def _head(
    method: str, target: str, headers: str, body: bytes | None, of_body: str | None = None
) -> bytes:
    if of_body is None:
        of_body = ""
        if body is not None:
            of_body = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        elif method != "GET":
            of_body = "Content-Length: 0\r\n"
    head = f"{method} {target} HTTP/1.1\r\nHost: roost\r\n{headers}{of_body}\r\n"
    return head.encode("ascii") + (body or b"")


def _chunk_size(line: bytes) -> int:
    try:
        size = int(line.split(b";", 1)[0], 16)
    except ValueError:
        size = -1
    if not 0 <= size <= MAX_BODY_BYTES:
        raise RoostError("not_http", "the answer has a chunk without a size")
    return size


def _went_away(connection: _socket.socket) -> bool:
    # A socket with a time limit waits before it receives, whatever the flags say.
    connection.setblocking(False)
    try:
        return connection.recv(1, _PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _too_slow(timeout_s: float | None) -> RoostError:
    return RoostError("timeout", f"the daemon did not answer within {timeout_s or 0:g} s")
