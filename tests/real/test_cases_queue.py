"""What hurt jobs elsewhere, on the whole daemon: saving, hang-ups, parts that stand still."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH
from tests.real.test_cli_jobs import Terminal

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
RULES = """operators = []
[classes.background]
min_run = "0s"
grace = "1s"
"""
Served = tuple[rig.Daemon, rig.Account, rig.Account]
SAVES = (
    "test -e saved.txt && exit 0;"
    " trap 'echo saving >> $ROOST_STATUS_FILE; sleep 4; echo whole > saved.txt;"
    " echo saved >> $ROOST_STATUS_FILE; exit 0' TERM; echo ready; sleep 300 & wait"
)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with (
        rig.accounts("ann", "ben", prefix="cs-que-") as (ann, ben),
        rig.daemon("--simulate", "2xA100", rules=RULES) as roost,
    ):
        yield roost, ann, ben


def test_a_checkpoint_that_is_being_written_is_waited_for(served: Served) -> None:
    """The grace is one second; the job says that it saves, takes four, and loses nothing."""
    roost, ann, ben = served
    victim = roost.run(
        ann.name, "--class", "background", "-g", "2", "--output", "saves.out",
        "--", "sh", "-c", SAVES,
    )  # fmt: skip
    roost.wait_state(victim, "RUNNING")
    rig.wait_for(lambda: "ready" in text_of(ann.home / "saves.out"), "its trap is set")
    asked = time.monotonic()
    urgent = roost.run(ben.name, "--class", "urgent", "-g", "1", "--", "true")
    roost.wait_state(urgent, "COMPLETED")
    assert time.monotonic() - asked > 3.5, "it waited for the checkpoint"
    assert text_of(ann.home / "saved.txt") == "whole\n", "no kill in the middle of it"
    assert roost.wait_state(victim, "COMPLETED")["restarts"] == 1


def test_closing_the_terminal_ends_the_shell_and_all_its_children(served: Served) -> None:
    roost, ann, _ = served
    # What ignores the hang-up is ended after its time: tests/real/test_agent_terminal.py.
    script = "(sleep 1236; true) & sleep 1237 | cat & echo ready; sleep 1235"
    terminal = Terminal(roost, ann, "run", "--pty", "--", "sh", "-c", script)
    terminal.until(b"ready")
    number = next(job["job"] for job in roost.json(ann.name, "jobs")["jobs"] if job["pty"])
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.exit_code()
    job = roost.wait_state(number, "FAILED", "CANCELLED")
    assert job["text"] == "Its terminal was closed."
    rig.wait_for(lambda: not rig.processes_of(ann.uid), "no child outlives it")


@pytest.mark.parametrize("part", ["agent", "server"])
def test_a_part_that_stands_still_ends_no_job_and_frees_no_gpu(served: Served, part: str) -> None:
    roost, ann, ben = served
    number = roost.run(ann.name, "-g", "2", "--", "sleep", "300")
    roost.wait_state(number, "RUNNING")
    (sleeper,) = [
        pid for pid in rig.processes_of(ann.uid)
        if Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x00300\x00"
    ]  # fmt: skip
    pid = roost.pid_of(part)
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(6)
        assert Path(f"/proc/{sleeper}").exists()
        if part == "agent":
            waiting = roost.run(ben.name, "-g", "1", "--", "true")
            time.sleep(1)
            assert roost.job(waiting)["state"] == "PENDING"
            assert roost.job(number)["state"] == "RUNNING"
            roost.cli(ben.name, "cancel", str(waiting))
    finally:
        os.kill(pid, signal.SIGCONT)
    assert roost.wait_state(number, "RUNNING")["attempt"] == 1
    assert Path(f"/proc/{sleeper}").exists()
    roost.stop()
    assert Path(f"/proc/{sleeper}").exists(), "a stop of the daemon ends no job"
    roost.start()
    assert roost.wait_state(number, "RUNNING")["attempt"] == 1
    roost.cli(ann.name, "cancel", str(number))
    assert roost.wait_state(number, "CANCELLED")["end_reason"]


def test_an_array_of_ten_thousand_and_not_one_more(served: Served) -> None:
    roost, ann, _ = served
    done = roost.cli(ann.name, "run", "--array", "0-10000", "--", "true", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "10001 jobs" in done.stderr
    assert "10000 (rules: max_array)" in done.stderr
    assert "max_array" in roost.cli(
        ann.name, "run", "--array", "0-10000", "--", "true", check=False, environment=ZH
    ).stderr  # fmt: skip
    began = time.monotonic()
    done = roost.cli(ann.name, "run", "--hold", "--json", "--array", "0-9999", "--", "true")
    numbers = json.loads(done.stdout)["jobs"]
    assert (len(numbers), time.monotonic() - began < 20) == (10_000, True)
    began = time.monotonic()
    assert roost.cli(ann.name, "status").returncode == 0
    assert time.monotonic() - began < 5
    roost.stop()
    shutil.rmtree(roost.state / "agent", ignore_errors=True)
    for left in roost.state.glob("roost.db*"):
        left.unlink()
    roost.start()


def test_homes_that_are_open_to_all_or_gone_need_nothing_of_root(served: Served) -> None:
    roost, _, ben = served
    ben.home.chmod(0o777)
    number = roost.run(ben.name, "--output", "o.txt", "--", "sh", "-c", "echo $HOME")
    roost.wait_state(number, "COMPLETED")
    assert text_of(ben.home / "o.txt") == f"{ben.home}\n"
    assert (ben.home / "o.txt").stat().st_uid == ben.uid
    shutil.rmtree(ben.home)
    number = roost.run(ben.name, "--output", "/dev/null", "--", "true", cwd="/tmp")
    assert roost.wait_state(number, "COMPLETED")["exit_code"] == 0
    assert not ben.home.exists(), "Roost makes no home"


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""
