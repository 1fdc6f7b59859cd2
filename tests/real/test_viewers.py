"""Many people at the page at once, from one address: all are let in, nobody holds up the others."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from roost.client import Client
from tests.real import rig
from tests.real.test_web import certificate
from tests.real.web_rig import free_port

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts")
PEOPLE, EACH = 20, 10
MOST_STREAMS, MOST_OF_ONE, MOST_OF_ACCOUNT = 16, 512, 256


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts(*(f"p{n}" for n in range(PEOPLE)), prefix="rlv-") as made:
        yield made


def secret_of(running: rig.Daemon, account: rig.Account) -> str:
    """A token of that account's, made by itself."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(account.gid, account.gid, account.gid)
        os.setresuid(account.uid, account.uid, account.uid)
        try:
            with Client(str(running.socket)) as client:
                made = client.make_token("viewer", ["read", "jobs"])
                os.write(writer, made["secret"].encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        secret = pipe.read()
    os.waitpid(child, 0)
    assert secret
    return secret


def own_address() -> str:
    """An address of this machine that is no loopback one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            subprocess.run(["ip", "address", "add", "192.0.2.77/32", "dev", "lo"], check=True)
            return "192.0.2.77"
        return str(probe.getsockname()[0])


class Place:
    """Where people connect from, all of them from one address."""

    def __init__(self, address: str, port: int, tls: ssl.SSLContext | None) -> None:
        self.address, self.port, self.tls = address, port, tls
        self.open: list[socket.socket] = []

    def connect(self) -> socket.socket:
        made = socket.create_connection((self.address, self.port), timeout=20)
        if self.tls is not None:
            made = self.tls.wrap_socket(made)
        self.open.append(made)
        return made

    def asked(self, path: str, secret: str) -> tuple[socket.socket, bytes]:
        """A connection with that asked on it, and how the answer begins."""
        made = self.connect()
        made.sendall(request(path, secret))
        return made, made.recv(64)

    def close(self) -> None:
        for one in self.open:
            one.close()


def request(path: str, secret: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n\r\n"
    ).encode()


def test_200_viewers_behind_one_address_are_let_in_and_one_account_cannot_take_all(
    people: list[rig.Account],
) -> None:
    """Also: a viewer's browser has more connections than its stream."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    address, port = own_address(), free_port()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="roost-viewers-")))
        folder.chmod(0o755)  # the server's account reads the certificate
        cert, key = certificate(folder, "localhost")
        running = stack.enter_context(
            rig.daemon("--simulate", "4xA100", "--http", f"{address}:{port}",
                       "--tls-cert", str(cert), "--tls-key", str(key))
        )  # fmt: skip
        here = Place(address, port, tls)
        stack.callback(here.close)
        secrets = [secret_of(running, account) for account in people]
        for secret in secrets:
            for _ in range(EACH):
                assert here.asked("/v1/events", secret)[1].startswith(b"HTTP/1.1 200"), len(
                    here.open
                )
                for _ in range(2):
                    begun = here.asked("/v1/ping", secret)[1]
                    assert begun.startswith(b"HTTP/1.1 200"), len(here.open)
        assert len(here.open) == 3 * PEOPLE * EACH > MOST_OF_ONE

        greedy, other = secrets[0], secrets[1]
        streams = [here.asked("/v1/events", greedy)[1][:12] for _ in range(MOST_STREAMS - EACH + 3)]
        assert streams.count(b"HTTP/1.1 200") == MOST_STREAMS - EACH
        assert streams[-3:] == [b"HTTP/1.1 429"] * 3
        kept = EACH * 3 + len(streams)
        more = [here.asked("/v1/ping", greedy)[1][:12] for _ in range(MOST_OF_ACCOUNT - kept + 10)]
        assert more.count(b"HTTP/1.1 429") == 10
        assert here.asked("/v1/status", other)[1].startswith(b"HTTP/1.1 200")
        assert here.asked("/v1/events", other)[1].startswith(b"HTTP/1.1 200")


def memory_mb(pid: int) -> float:
    """What the process has for itself, without mapped files."""
    (line,) = [
        line
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("RssAnon:")
    ]
    return int(line.split()[1]) / 1024


def read_for(stream: socket.socket, seconds: float) -> bytes:
    end, found = time.monotonic() + seconds, b""
    stream.settimeout(0.2)
    while time.monotonic() < end:
        try:
            found += stream.recv(1 << 20)
        except TimeoutError:
            continue
    return found


def test_who_never_reads_costs_neither_memory_nor_anybody_a_second(
    people: list[rig.Account],
) -> None:
    """A queue of a megabyte, told anew each time it changes, to twelve who never read."""
    port = free_port()
    with ExitStack() as stack:
        running = stack.enter_context(
            rig.daemon("--simulate", "8xA100", "--http", f"127.0.0.1:{port}")
        )
        here = Place("127.0.0.1", port, None)
        stack.callback(here.close)
        slow, quick = secret_of(running, people[2]), secret_of(running, people[3])
        job = {"command": ["true"], "held": True, "directory": "/", "output": "/dev/null"}
        with Client(str(running.socket)) as root:
            root.call("POST", "/v1/jobs", {**job, "array": "0-799"})
        for _ in range(12):
            here.connect().sendall(request("/v1/events", slow))
        reader = here.connect()
        reader.sendall(request("/v1/events", quick))
        assert b'"array_index":799' in read_for(reader, 3.0)
        server = running.pid_of("server")
        assert server is not None
        course, delays = [], []
        with Client(str(running.socket)) as root:
            for turn in range(6):
                began = time.monotonic()
                root.call("POST", "/v1/jobs", {**job, "name": f"turn-{turn}"})
                found, mark = b"", f'"name":"turn-{turn}"'.encode()
                while mark not in found:
                    found += read_for(reader, 0.1)
                    assert time.monotonic() < began + 10, "a reader waits for those who never read"
                delays.append(time.monotonic() - began)
                course.append(memory_mb(server))
        assert sorted(delays)[3] < 2.5, delays
        assert course[-1] - course[1] < 12, course
