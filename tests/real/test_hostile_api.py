"""An ordinary account that wants to take the API away from everybody else, on the real daemon."""

from __future__ import annotations

import json
import os
import pwd
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.real import rig

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs real accounts: run as root")

PING = b"GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts("mallory", "bob", prefix="hx-") as made:
        yield made


@pytest.fixture(scope="module")
def running(people: list[rig.Account]) -> Iterator[rig.Daemon]:
    with rig.daemon("--simulate", "8xA100") as made:
        yield made


def as_account(account: rig.Account) -> int:
    """Forks; the child is that account. 0 in the child, its pid in the parent."""
    pid = os.fork()
    if pid == 0:
        entry = pwd.getpwnam(account.name)
        os.setgroups([entry.pw_gid])
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
    return pid


def asked(path: Path, raw: bytes, timeout_s: float = 10.0) -> bytes:
    """The first bytes of the answer; b"" when the connection is cut."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_s)
        connection.connect(str(path))
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(raw)
        with suppress(ConnectionResetError):
            return connection.recv(65536)
        return b""


def busy_s(running: rig.Daemon) -> float:
    """CPU time of the server process so far."""
    fields = Path(f"/proc/{running.pid_of('server')}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def post(body: bytes) -> bytes:
    head = f"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Content-Type: application/json\r\n\r\n" + body


def test_idle_connections_stop_nobody_else(running: rig.Daemon, people: list[rig.Account]) -> None:
    mallory, bob = people
    child = as_account(mallory)
    if child == 0:  # more than the limit, half a request each, held for as long as they let us
        held = []
        for _ in range(3000):
            with suppress(OSError):
                one = socket.socket(socket.AF_UNIX)
                one.connect(str(running.socket))
                one.send(b"GET /v1/ping HT")
                held.append(one)
        time.sleep(60)
        os._exit(0)
    try:
        time.sleep(2)
        started = time.monotonic()
        answer = running.json(bob.name, "status")
        assert answer["gpus"]
        assert time.monotonic() - started < 5
        server = running.pid_of("server")

        def few() -> bool:
            return len(os.listdir(f"/proc/{server}/fd")) < 600

        rig.wait_for(few, "connections above the limit are closed", 15)
        refused = running.cli(mallory.name, "status", check=False)
        assert refused.returncode != 0
        assert "connections open" in refused.stderr
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
    rig.wait_for(
        lambda: running.cli(mallory.name, "status", check=False).returncode == 0,
        "those that were closed count no more",
    )


def test_a_head_without_end_is_cut_off(running: rig.Daemon) -> None:
    for endless in (b"GET /" + b"a" * 3_000_000, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 500_000):
        assert b" 200 " not in asked(running.socket, endless)
    assert b" 200 " in asked(running.socket, PING)


def test_trailers_without_end_are_cut_off(running: rig.Daemon) -> None:
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n"
    assert b" 200 " not in asked(running.socket, head + b"A: " + b"b" * 30_000_000)


@pytest.mark.parametrize(
    "body",
    [
        b'{"command":[' + b",".join([b"[]"] * 2_500_000) + b"]}",
        b"{" + b",".join(b'"k%d":1' % number for number in range(500_000)) + b"}",
        b'{"environment":[' + b",".join([b'["a","b"]'] * 700_000) + b'],"command":["x"]}',
        b"[" * 4_000_000,
        b'{"command":["x"],"gpus":' + b"9" * 1_000_000 + b"}",
    ],
    ids=["lists", "members", "pairs", "depth", "digits"],
)
def test_no_body_keeps_the_server_busy(running: rig.Daemon, body: bytes) -> None:
    before = busy_s(running)
    answer = asked(running.socket, post(body), 30)
    assert answer.split(b" ", 2)[1] in (b"400", b"413", b"422")
    assert busy_s(running) - before < 1.0


def test_a_chunked_body_above_the_limit_is_told_so(running: rig.Daemon) -> None:
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    block = b"800000\r\n" + b" " * 0x800000 + b"\r\n"
    assert b" 413 " in asked(running.socket, head + block * 2 + b"0\r\n\r\n")


def test_two_lengths_are_no_request(running: rig.Daemon) -> None:
    raw = (
        b"GET /v1/ping HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked"
        b"\r\n\r\n0\r\n\r\n" + PING
    )
    assert b" 400 " in asked(running.socket, raw)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "\x1b[2J"},
        {"memory_bytes": 1},
        {"walltime_s": 2**31},
        {"array": "0-9999999"},
        {"gpus": -1},
        {"cpus": 2**31},
        {"user": "root"},
        {"signal": "USR1@1e999"},
    ],
    ids=str,
)
def test_what_cannot_run_is_refused_at_submission(
    running: rig.Daemon, people: list[rig.Account], wrong: dict[str, object]
) -> None:
    child = as_account(people[0])
    if child == 0:
        body = {"command": ["/bin/true"], "directory": "/tmp", **wrong}
        answer = asked(running.socket, post(json.dumps(body).encode()))
        os._exit(0 if b" 422 " in answer[:20] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_name_turns_no_other_line_around(running: rig.Daemon, people: list[rig.Account]) -> None:
    mallory, bob = people
    number = running.run(mallory.name, "--name", "a\u202eb\u2066", "-g", "1", "--", "true")
    running.wait_state(number, "COMPLETED")
    for words in (("jobs", "--all"), ("show", str(number))):
        shown = running.cli(bob.name, *words).stdout
        assert "a\\u202eb\\u2066" in shown
        assert not set(shown) & set("\u202e\u2066")


def test_logs_open_no_device_for_an_operator(
    running: rig.Daemon, people: list[rig.Account]
) -> None:
    mallory = people[0]
    trap = mallory.home / "out"
    os.mkfifo(trap, 0o666)
    number = running.run(mallory.name, "-g", "1", "--output", str(trap), "--", "true")
    running.wait_state(number, "FAILED")
    for target in ("/dev/zero", "/dev/null", str(trap)):
        if target != str(trap):
            trap.unlink()
            trap.symlink_to(target)
        done = running.cli("root", "logs", str(number), check=False, timeout_s=10)
        assert done.returncode != 0
        assert "regular file" in done.stderr
    done = running.cli(
        mallory.name,
        "run",
        "-g",
        "1",
        "--output",
        "/dev/null",
        "--follow",
        "--",
        "true",
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_one_account_holds_so_many_streams_and_others_theirs(
    running: rig.Daemon, people: list[rig.Account]
) -> None:
    events = b"GET /v1/events HTTP/1.1\r\nHost: x\r\n\r\n"
    for account in people:
        child = as_account(account)
        if child == 0:
            held = []
            for _ in range(16):
                one = socket.socket(socket.AF_UNIX)
                one.settimeout(5)
                one.connect(str(running.socket))
                one.send(events)
                held.append(one)
            good = all(b" 200 " in one.recv(64) for one in held)
            os._exit(0 if good and b" 429 " in asked(running.socket, events)[:20] else 1)
        assert os.waitpid(child, 0)[1] == 0
