"""What people type, against the whole daemon with real accounts on simulated GPUs."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from tests.real.rig import Account, Daemon, accounts, daemon, readable_python, wait_for

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Daemon, Account, Account]]:
    with accounts("ann", "ben", prefix="rcli-") as (ann, ben), daemon() as running:
        yield running, ann, ben


def test_the_number_is_printed_and_the_output_is_the_callers_own(
    served: tuple[Daemon, Account, Account],
):
    roost, ann, _ = served
    done = roost.cli(ann.name, "run", "--", "sh", "-c", "echo hello; id -un; umask")
    number = int(done.stdout)
    assert done.stdout == f"{number}\n"
    assert roost.cli(ann.name, "wait", str(number)).returncode == 0
    path = ann.home / f"roost-{number}.out"
    assert path.read_text() == f"hello\n{ann.name}\n0022\n"
    assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (ann.uid, 0o644)
    assert roost.cli(ann.name, "logs", str(number)).stdout == path.read_text()
    assert roost.cli(ann.name, "logs", "-n", "1", str(number)).stdout == "0022\n"


@pytest.mark.parametrize(
    ("words", "command", "code"),
    [
        ([], "exit 3", 3),
        ([], "kill -9 $$", 137),
        ([], "kill -SEGV $$", 139),
        (["--time", "1s"], "sleep 30", 124),
        ([], "exit 0", 0),
    ],
)
def test_wait_exits_as_the_job_did(
    served: tuple[Daemon, Account, Account], words: list[str], command: str, code: int
):
    roost, ann, _ = served
    done = roost.cli(ann.name, "run", "--wait", *words, "--", "sh", "-c", command, check=False)
    assert done.returncode == code, done.stderr


def test_follow_shows_the_output_as_it_comes(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    command = "for i in 1 2 3; do echo $i; sleep 0.3; done; exit 5"
    done = roost.cli(ann.name, "run", "--follow", "--", "sh", "-c", command, check=False)
    assert (done.stdout, done.returncode) == ("1\n2\n3\n", 5)


def test_output_patterns_and_arrays(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    done = roost.cli(
        ann.name, "run", "--json", "-n", "sweep", "--array", "3-5%2", "-o", "%x-%A_%a-%u.txt",
        "--", "sh", "-c", "echo $ROOST_ARRAY_INDEX",
    )  # fmt: skip
    answer = json.loads(done.stdout)
    first, last = answer["jobs"][0], answer["jobs"][-1]
    assert roost.cli(ann.name, "wait", f"{first}-{last}").returncode == 0
    for index in (3, 4, 5):
        path = ann.home / f"sweep-{answer['job']}_{index}-{ann.name}.txt"
        assert path.read_text() == f"{index}\n"


def test_a_script_with_directives_runs_as_it_was_when_submitted(
    served: tuple[Daemon, Account, Account],
):
    roost, ann, _ = served
    script = ann.home / "job.sh"
    script.write_text(
        "#!/bin/sh\n#ROOST -g 2 --name from-directive\n#SBATCH --partition=x\n"
        'echo "$ROOST_GPU_COUNT $ROOST_JOB_NAME $1"\n'
    )
    os.chown(script, ann.uid, ann.gid)
    done = roost.cli(ann.name, "run", "--follow", "job.sh", "argument")
    assert done.stdout == "2 from-directive argument\n"
    assert "#SBATCH --partition=x has no meaning here and is ignored" in done.stderr


def test_code_edited_between_submission_and_start_is_said(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    code = ann.home / "train.py"
    code.write_text("print('first')\n")
    os.chown(code, ann.uid, ann.gid)
    number = roost.run(ann.name, "--hold", "--", "/usr/bin/python3", "train.py")
    code.write_text("print('second')\n")
    roost.cli(ann.name, "release", str(number))
    roost.cli(ann.name, "wait", str(number))
    assert roost.job(number)["source"]["changed"] is True
    assert "CHANGED between submission and start" in roost.cli(ann.name, "show", str(number)).stdout


def test_other_peoples_jobs_cannot_be_touched(served: tuple[Daemon, Account, Account]):
    roost, ann, ben = served
    number = roost.run(ann.name, "--", "sleep", "60")
    for command in ("cancel", "hold", "requeue"):
        done = roost.cli(ben.name, command, str(number), check=False)
        assert done.returncode == 4, (command, done.stderr)
    assert roost.job(number)["state"] in ("STARTING", "RUNNING")
    roost.cli(ann.name, "cancel", str(number))
    assert roost.wait_state(number, "CANCELLED")


def test_only_operators_drain(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    assert roost.cli(ann.name, "drain", "7", check=False).returncode == 4
    roost.cli("root", "drain", "7", "--reason", "new fan")
    assert "drained: new fan" in roost.cli(ann.name, "status").stdout
    roost.cli("root", "undrain", "7")
    assert "drained" not in roost.cli(ann.name, "status").stdout


@pytest.mark.parametrize("gpus", ["9", "0", "-1", "99999999999"])
def test_impossible_requests_are_refused_with_what_there_is(
    served: tuple[Daemon, Account, Account], gpus: str
):
    roost, ann, _ = served
    done = roost.cli(ann.name, "run", "-g", gpus, "--", "true", check=False)
    if gpus == "0" and done.returncode == 0:
        return  # a job on CPUs alone
    assert done.returncode == 1, done.stdout
    assert done.stdout == ""
    assert "GPU" in done.stderr or "gpus" in done.stderr


def test_names_of_any_kind(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    for name in ("with 'quote\"", "🦉 训练", "x" * 200):
        number = roost.run(ann.name, "-n", name, "--", "true")
        assert roost.job(number)["name"] == name
        assert roost.cli(ann.name, "jobs", "-a").returncode == 0
    for name in ("two\nlines", "x" * 300):
        done = roost.cli(ann.name, "run", "-n", name, "--", "true", check=False)
        assert done.returncode == 1
        assert "200" in done.stderr


def test_two_megabytes_of_arguments(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    words = ["x" * 100_000] * 15
    number = int(roost.cli(ann.name, "run", "--", "sh", "-c", "echo $#", "sh", *words).stdout)
    roost.cli(ann.name, "wait", str(number))
    assert roost.cli(ann.name, "logs", str(number)).stdout == "15\n"


def test_arguments_of_any_bytes(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    raw = bytes(range(1, 256))
    number = int(roost.cli(ann.name, "run", "--", "printf", "%s", raw).stdout)
    roost.cli(ann.name, "wait", str(number))
    assert (ann.home / f"roost-{number}.out").read_bytes() == raw


def test_hold_release_and_why(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    number = roost.run(ann.name, "--hold", "--", "true")
    why = roost.json(ann.name, "why", str(number))
    assert why["state"] == "PENDING"
    assert why["reasons"]
    assert "held" in roost.cli(ann.name, "jobs").stdout
    roost.cli(ann.name, "release", str(number))
    assert roost.cli(ann.name, "wait", str(number)).returncode == 0


def test_wait_outlives_the_server(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    number = roost.run(ann.name, "--", "sh", "-c", "sleep 4; exit 6")
    env = {**os.environ, "ROOST_SOCKET": str(roost.socket), "LC_ALL": "C.UTF-8"}
    waiting = subprocess.Popen(
        [readable_python(), "-m", "roost", "wait", str(number)], env=env, stderr=subprocess.PIPE
    )
    time.sleep(1.0)
    assert roost.kill("server")
    _, said = waiting.communicate(timeout=40)
    assert waiting.returncode == 6, said


class Terminal:
    """A person at a terminal of their own."""

    def __init__(self, roost: Daemon, account: Account, *words: str) -> None:
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.initgroups(account.name, account.gid)
            os.setgid(account.gid)
            os.setuid(account.uid)
            os.chdir(account.home)
            os.environ.update(
                HOME=str(account.home), USER=account.name, TERM="xterm", PS1="> ",
                ROOST_SOCKET=str(roost.socket), LC_ALL="C.UTF-8",
            )  # fmt: skip
            os.execv(readable_python(), [readable_python(), "-m", "roost", *words])
        self.shown = b""
        self.size(33, 101)

    def size(self, rows: int, columns: int) -> None:
        ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: bytes) -> None:
        os.write(self.master, text)

    def until(self, text: bytes, timeout_s: float = 15.0) -> bytes:
        end = time.monotonic() + timeout_s
        while text not in self.shown:
            left = end - time.monotonic()
            assert left > 0, (text, self.shown)
            if select.select([self.master], [], [], left)[0]:
                try:
                    self.shown += os.read(self.master, 4096)
                except OSError:
                    break
        found, _, self.shown = self.shown.partition(text)
        return found

    def exit_code(self) -> int:
        _, status = os.waitpid(self.pid, 0)
        os.close(self.master)
        return os.waitstatus_to_exitcode(status)


def test_pty_has_the_window_its_changes_the_signals_and_the_exit_code(
    served: tuple[Daemon, Account, Account],
):
    roost, ann, _ = served
    terminal = Terminal(roost, ann, "run", "--pty", "--", "sh")
    terminal.until(b"> ")
    terminal.type(b"tty >/dev/null && stty size\n")
    terminal.until(b"33 101\r\n")
    terminal.type(b"sleep 1000\n")
    time.sleep(0.5)
    terminal.type(b"\x03")
    terminal.until(b"> ")
    terminal.size(40, 120)
    terminal.type(b'until [ "$(stty size)" = "40 120" ]; do sleep 0.1; done; stty size; exit 7\n')
    terminal.until(b"40 120\r\n")
    assert terminal.exit_code() == 7


def test_a_terminal_that_is_closed_ends_its_job(served: tuple[Daemon, Account, Account]):
    roost, ann, _ = served
    terminal = Terminal(roost, ann, "run", "--pty", "--", "sh", "-c", "echo ready; sleep 1000")
    terminal.until(b"ready")
    number = next(job["job"] for job in roost.json(ann.name, "jobs")["jobs"] if job["pty"])
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.exit_code()
    job = roost.wait_state(number, "FAILED", "CANCELLED", "COMPLETED")
    assert job["signal"] in (signal.SIGHUP, signal.SIGKILL, signal.SIGTERM) or job["exit_code"]


def test_free_says_that_a_jobs_processes_are_ended_by_cancelling_it(
    served: tuple[Daemon, Account, Account],
):
    roost, ann, _ = served
    number = roost.run(ann.name, "--", "sleep", "60")
    gpu = str(roost.wait_state(number, "RUNNING")["gpu_indices"][0])
    wait_for(
        lambda: [
            h
            for h in roost.json("root", "who", "--gpu", gpu)["holders"]
            if h["pid"] and h["job"] == number
        ],
        "the job uses the simulated GPU",
    )
    done = roost.cli("root", "free", gpu, "--yes", check=False)
    assert f"roost cancel {number}" in done.stdout
    assert roost.job(number)["state"] == "RUNNING"
    roost.cli(ann.name, "cancel", str(number))


def test_the_terminal_file_is_shown_with_escapes_and_a_c_locale_never_fails(
    served: tuple[Daemon, Account, Account],
):
    roost, ann, _ = served
    folder = Path(os.fsdecode(os.fsencode(ann.home) + b"/\xff\xe6"))
    folder.mkdir()
    os.chown(folder, ann.uid, ann.gid)
    number = int(roost.cli(ann.name, "run", "--", "echo", "here", cwd=folder).stdout)
    roost.cli(ann.name, "wait", str(number))
    plain = {"LC_ALL": "C"}
    for words in (["status"], ["who"], ["jobs", "-a"], ["show", str(number)], ["usage"]):
        done = roost.cli(ann.name, *words, environment=plain)
        assert done.stdout.isascii(), done.stdout
    assert "\\xff\\xe6" in roost.cli(ann.name, "show", str(number)).stdout
    assert roost.cli(ann.name, "logs", str(number)).stdout == "here\n"
