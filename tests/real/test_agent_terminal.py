"""--pty jobs: a real terminal, lent to its owner alone, with a defined end when they hang up."""

from __future__ import annotations

import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.core.model import EndReason
from roost.wire.messages import StopJob
from tests.real.agent_rig import Agent, agent
from tests.real.rig import Account, accounts, processes_of

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(scope="module")
def people() -> Iterator[list[Account]]:
    with accounts("ann", "ben", prefix="rat-") as made:
        yield made


@pytest.fixture(scope="module")
def running(people: list[Account]) -> Iterator[Agent]:
    with agent({"ROOST_TERMINAL_WAIT_S": "1.5"}) as made:
        yield made


class Attached:
    """A client of attach.sock: the terminal's master side and the connection behind it."""

    def __init__(self, running: Agent, job: int) -> None:
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(10)
        self.connection.connect(os.fspath(running.state / "attach.sock"))
        self.connection.sendall(json.dumps({"job": job}).encode() + b"\n")
        data, descriptors, _, _ = socket.recv_fds(self.connection, 4096, 1)
        self.answer = json.loads(data)
        self.master = descriptors[0] if descriptors else -1

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def until(self, wanted: str, timeout_s: float = 10.0) -> str:
        said = ""
        end = time.monotonic() + timeout_s
        while wanted not in said and time.monotonic() < end:
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    said += os.read(self.master, 4096).decode(errors="replace")
                except OSError:  # EIO: the last process of the terminal is gone
                    break
        assert wanted in said, said
        return said

    def last_word(self) -> dict[str, object]:
        """What is said at the end of the job, before the connection's end."""
        data = b""
        while block := self.connection.recv(4096):
            data += block
        return dict(json.loads(data)["ended"])

    def close(self) -> None:
        self.connection.close()
        if self.master >= 0:
            os.close(self.master)


def shell(running: Agent, user: Account, *argv: str, **more: object) -> int:
    words = argv or ("/bin/bash", "--norc", "-i")
    job = running.launch(
        user.name, *words, pty=True, rows=33, columns=111, directory=os.fsencode(user.home),
        environment={b"PS1": b"> "}, **more,
    )  # fmt: skip
    running.running(job)
    return job


def test_a_shell_has_a_terminal_of_its_own(running: Agent, people: list[Account]) -> None:
    ann = people[0]
    job = shell(running, ann)
    terminal = Attached(running, job)
    assert terminal.answer == {"job": job, "attempt": 1}
    terminal.type("tty; stty size; echo user=$(id -un) term=$TERM\n")
    said = terminal.until("user=rat-ann term=xterm-256color")
    assert "33 111" in said
    path = next(word for word in said.split() if word.startswith("/dev/pts/"))
    status = os.stat(path)
    assert (status.st_uid, status.st_mode & 0o777) == (ann.uid, 0o620)
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 70, 0, 0))
    terminal.type("trap 'echo resized' WINCH; stty size\n")
    terminal.until("20 70")
    terminal.type("exit 7\n")
    terminal.until("exit")
    assert terminal.last_word() == {
        "reason": "exited",
        "exit_code": 7,
        "signal": None,
        "text": "",
    }
    assert running.end(job).exit_code == 7
    terminal.close()


def test_ctrl_c_goes_to_what_runs_in_front(running: Agent, people: list[Account]) -> None:
    job = shell(running, people[0])
    terminal = Attached(running, job)
    terminal.type("sleep 300; echo code=$?\n")
    time.sleep(0.5)
    terminal.type("\x03")
    time.sleep(0.3)
    terminal.type("echo interrupted=$?\n")
    terminal.until("interrupted=130")
    terminal.type("exit\n")
    assert running.end(job).reason is EndReason.EXITED
    terminal.close()


def test_closing_the_terminal_ends_the_job(running: Agent, people: list[Account]) -> None:
    """The supervisor is immune to the hang-up, the job's end is defined; what left the terminal is
    killed after the wait."""
    ann = people[0]
    job = shell(running, ann, kill_wait_s=0.5)
    terminal = Attached(running, job)
    terminal.type("(setsid sleep 300 &); sleep 300 & echo star''ted\n")  # its echo is no output
    terminal.until("started\r\n")
    terminal.close()
    end = running.end(job)
    assert (end.reason, end.message) == (EndReason.CANCELLED, "agent.terminal_closed")
    assert end.text
    assert processes_of(ann.uid) == []


def test_what_ignores_the_hang_up_is_killed_after_the_wait(
    running: Agent, people: list[Account]
) -> None:
    ann = people[0]
    job = shell(
        running, ann, "/bin/bash", "-c", "trap '' HUP TERM; echo up; while :; do sleep 1; done",
        kill_wait_s=0.5,
    )  # fmt: skip
    terminal = Attached(running, job)
    terminal.until("up")
    began = time.monotonic()
    terminal.close()
    end = running.end(job)
    assert (end.reason, end.signal) == (EndReason.CANCELLED, 9)
    assert 0.4 < time.monotonic() - began < 3.0
    assert processes_of(ann.uid) == []


def test_a_terminal_that_nobody_wants_ends_its_job(running: Agent, people: list[Account]) -> None:
    job = shell(running, people[0])
    end = running.end(job)
    assert (end.reason, end.message) == (EndReason.CANCELLED, "agent.terminal_unused")


def test_nobody_else_gets_the_terminal(
    running: Agent, people: list[Account], tmp_path: Path
) -> None:
    ann, ben = people
    job = shell(running, ann)
    mine = Attached(running, job)
    program = (
        "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "s.sendall(sys.argv[2].encode()+b'\\n'); d,f,_,_=socket.recv_fds(s,4096,4);"
        "print(len(f), d.decode(), end='')"
    )

    def ask(line: str) -> tuple[int, dict[str, str]]:
        done = subprocess.run(
            ["/usr/bin/python3", "-c", program, str(running.state / "attach.sock"), line],
            user=ben.uid, group=ben.gid, capture_output=True, text=True, timeout=10,
        )  # fmt: skip
        count, _, answer = done.stdout.partition(" ")
        return int(count), json.loads(answer)

    for line, code in (
        (json.dumps({"job": job}), "not_your_job"),
        (json.dumps({"job": 999_999_999}), "no_terminal"),
        ('{"job": true}', "bad_spec"),
        ("[" * 2000, "bad_spec"),
        ("garbage", "bad_spec"),
    ):
        count, answer = ask(line)
        assert (count, answer["code"]) == (0, code)
        assert answer["error"]
    mine.type("echo still=mine\n")
    mine.until("still=mine")
    mine.close()
    running.end(job)


def test_a_terminal_survives_the_agent(running: Agent, people: list[Account]) -> None:
    job = shell(running, people[0])
    terminal = Attached(running, job)
    running.kill()
    terminal.type("echo alive=$((6*7))\n")
    terminal.until("alive=42")
    running.start()
    second = Attached(running, job)
    assert second.answer == {"job": job, "attempt": 1}
    second.close()
    terminal.type("exit 3\n")
    terminal.until("exit")
    assert terminal.last_word()["exit_code"] == 3
    assert running.end(job).exit_code == 3
    terminal.close()


def test_cancelling_a_shell_needs_no_kill(running: Agent, people: list[Account]) -> None:
    """An interactive shell ignores SIGTERM; its terminal is hung up as well."""
    job = shell(running, people[0])
    terminal = Attached(running, job)
    terminal.type("echo here=$((1+1))\n")
    terminal.until("here=2")
    assert running.wire is not None
    running.wire.ask(StopJob(job=job, attempt=1, reason=EndReason.CANCELLED, grace_s=20.0))
    end = running.end(job, timeout_s=15.0)
    assert end.reason is EndReason.CANCELLED
    assert terminal.last_word()["reason"] == "cancelled"
    terminal.close()
