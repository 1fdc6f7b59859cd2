"""The small HTTP client against a socket that says exactly what a test wants, byte by byte."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.client import AnswerLostError, Client, NoDaemonError, NotAllowedError, RoostError
from roost.client.http import Connection, quote
from roost.client.jsontext import dumps, loads

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


class Scripted:
    """Answers each request with the next script: bytes, "close" to hang up, "pause" to say
    nothing for a while."""

    def __init__(self, path: str, *scripts: list[bytes | str]) -> None:
        self.path = path
        self.scripts: list[list[bytes | str]] = list(scripts)
        self.requests: list[bytes] = []
        self.connections = 0
        self.closed = 0
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(path)
        self.listening.listen()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                self._talk(connection)
            self.closed += 1

    def _talk(self, connection: socket.socket) -> None:
        while self.scripts:
            data = b""
            while b"\r\n\r\n" not in data:
                more = connection.recv(65536)
                if not more:
                    return
                data += more
            self.requests.append(data)
            for piece in self.scripts.pop(0):
                if piece == "close":
                    return
                if piece == "pause":
                    time.sleep(0.5)
                    return
                assert isinstance(piece, bytes)
                with suppress(BrokenPipeError):
                    connection.sendall(piece)
                time.sleep(0.002)

    def close(self) -> None:
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Scripted]:
    server = Scripted(str(tmp_path / "s.sock"))
    yield server
    server.close()


def test_content_length_in_pieces_and_keep_alive(scripted: Scripted):
    scripted.scripts = [
        [OK + b"Content-", b"Length: 7\r\n\r", b'\n{"a"', b":1}"],
        [OK + b"Content-Length: 2\r\n\r\n{}"],
    ]
    client = Client(scripted.path)
    assert client.call("GET", "/a") == {"a": 1}
    assert client.call("GET", "/b") == {}
    assert scripted.connections == 1
    assert scripted.requests[0].startswith(b"GET /a HTTP/1.1\r\nHost: roost\r\nAccept-Lang")


def test_chunks_with_extensions_and_trailers(scripted: Scripted):
    scripted.scripts = [
        [
            OK + b'Transfer-Encoding: chunked\r\n\r\n3;x=y\r\n{"a\r\n4',
            b'\r\n":1}\r\n0\r\nX: y\r\n\r\n',
        ],
        [OK + b"Content-Length: 2\r\n\r\n[]"],
    ]
    client = Client(scripted.path)
    assert client.call("GET", "/") == {"a": 1}
    assert client.call("GET", "/") == []
    assert scripted.connections == 1


def test_an_answer_without_a_length_ends_with_the_connection(scripted: Scripted):
    scripted.scripts = [[OK + b"\r\n", b'{"a":', b"2}", "close"]]
    assert Client(scripted.path).call("GET", "/") == {"a": 2}


def test_continue_comes_before_the_answer(scripted: Scripted):
    scripted.scripts = [[b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\n{}"]]
    assert Client(scripted.path).call("POST", "/", {}) == {}


def test_a_connection_closed_while_idle_is_made_again(scripted: Scripted):
    scripted.scripts = [
        [OK + b"Content-Length: 2\r\n\r\n{}", "close"],
        [OK + b"Content-Length: 2\r\n\r\n[]"],
    ]
    client = Client(scripted.path)
    client.call("GET", "/")
    end = time.monotonic() + 10
    while not scripted.closed and time.monotonic() < end:
        time.sleep(0.005)
    assert client.call("POST", "/", {}) == []
    assert scripted.connections == 2


def test_a_get_without_an_answer_is_asked_once_more(scripted: Scripted):
    scripted.scripts = [["close"], [OK + b"Content-Length: 2\r\n\r\n{}"]]
    assert Client(scripted.path).call("GET", "/") == {}


def test_a_post_without_an_answer_is_never_sent_twice(scripted: Scripted):
    scripted.scripts = [["close"], [OK + b"Content-Length: 2\r\n\r\n{}"]]
    with pytest.raises(AnswerLostError):
        Client(scripted.path).call("POST", "/v1/jobs", {"command": ["x"]})
    assert len(scripted.requests) == 1


def test_a_broken_answer_is_lost_not_half_read(scripted: Scripted):
    scripted.scripts = [[OK + b"Content-Length: 10\r\n\r\n{}", "close"]] * 2
    with pytest.raises(AnswerLostError):
        Client(scripted.path).call("GET", "/")


def test_a_silent_daemon_is_said_after_the_time_limit(scripted: Scripted):
    scripted.scripts = [["pause"]]
    with pytest.raises(RoostError) as caught:
        Client(scripted.path, timeout_s=0.1).call("GET", "/")
    assert caught.value.code == "timeout"


@pytest.mark.parametrize(
    "answer",
    [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", OK + b"Content-Length: x\r\n\r\n",
     OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"x" * 100_000],
)  # fmt: skip
def test_what_is_not_http_is_said(scripted: Scripted, answer: bytes):
    scripted.scripts = [[answer]]
    with pytest.raises(RoostError) as caught:
        Client(scripted.path).call("GET", "/")
    assert caught.value.code == "not_http"


def test_a_problem_document_is_an_error_with_its_code_and_members(scripted: Scripted):
    body = b'{"type":"/problems/too_many_gpus","title":"x","status":422,"detail":"no","limit":8}'
    head = b"HTTP/1.1 422 Unprocessable\r\nContent-Type: application/problem+json\r\n"
    scripted.scripts = [[head + b"Content-Length: %d\r\n\r\n" % len(body) + body]]
    with pytest.raises(RoostError) as caught:
        Client(scripted.path).call("POST", "/v1/jobs", {})
    assert (caught.value.code, caught.value.text) == ("too_many_gpus", "no")
    assert (caught.value.status, caught.value.extra) == (422, {"limit": 8})


def test_403_is_not_allowed_and_a_bare_500_is_still_a_sentence(scripted: Scripted):
    scripted.scripts = [
        [b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"],
        [b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops"],
    ]
    client = Client(scripted.path)
    with pytest.raises(NotAllowedError):
        client.call("GET", "/")
    with pytest.raises(RoostError, match="HTTP 500"):
        client.call("GET", "/")


def test_events_are_cut_at_empty_lines(scripted: Scripted):
    scripted.scripts = [
        [
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"f\r\nevent: status\nd\r\n",
            b'd\r\nata: {"a":1}\n\r\n',
            b"1\r\n\n\r\n",
            b": ping\n\nevent: jobs\ndata: []\n\n".join([b"20\r\n", b"\r\n"]),
            "close",
        ]
    ]
    events = Client(scripted.path).events()
    assert next(events) == ("status", {"a": 1})
    assert next(events) == ("jobs", [])
    with pytest.raises(AnswerLostError):
        next(events)


def test_no_socket_and_a_dead_socket_are_no_daemon(tmp_path: Path):
    with pytest.raises(NoDaemonError) as caught:
        Client(str(tmp_path / "none.sock")).ping()
    assert caught.value.missing
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "dead.sock"))
    dead.close()
    with pytest.raises(NoDaemonError) as caught:
        Client(str(tmp_path / "dead.sock")).ping()
    assert not caught.value.missing


def test_patience_waits_for_a_daemon_that_starts_again_but_not_for_one_that_never_was(
    tmp_path: Path,
):
    path = str(tmp_path / "s.sock")
    started = time.monotonic()
    with pytest.raises(NoDaemonError):
        Client(path, patience_s=5.0).ping()
    assert time.monotonic() - started < 1
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(path)
    dead.close()

    def start_again() -> None:
        time.sleep(0.2)
        (tmp_path / "s.sock").unlink()
        time.sleep(0.1)
        Scripted(path, [OK + b"Content-Length: 2\r\n\r\n{}"])

    threading.Thread(target=start_again, daemon=True).start()
    assert Client(path, patience_s=5.0).call("GET", "/") == {}


def test_a_path_longer_than_the_kernels_limit_is_reached(tmp_path: Path):
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    short = tmp_path / "s"
    short.symlink_to(folder)
    server = Scripted(str(short / "roost.sock"))
    server.scripts = [[OK + b"Content-Length: 2\r\n\r\n{}"]]
    path = str(folder / "roost.sock")
    assert len(path) > 107
    assert Connection(path).request("GET", "/").body == b"{}"
    server.close()


@given(st.text())
def test_quoted_text_is_safe_in_a_request(text: str):
    from urllib.parse import unquote_to_bytes

    quoted = quote(text)
    assert quoted.isascii()
    assert not set(quoted) & set(" \r\n&?#/")
    assert unquote_to_bytes(quoted) == text.encode("utf-8", "surrogateescape")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text(), values) | st.lists(values))
def test_json_there_and_back(value: object):
    import json

    text = dumps(value)
    assert text.isascii()
    assert json.loads(text) == value == loads(text) == loads(" " + text + "\n")


@pytest.mark.parametrize("text", ["", "{", "{}x", "nul", "[1,]", "'a'"])
def test_what_is_no_json_is_refused(text: str):
    with pytest.raises(ValueError):  # noqa: PT011 - json's own is one
        loads(text)
