"""Real processes stopped without a cgroup: none runs, and each goes on as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.machine.cgroup import Layout
from roost.machine.freezer import Stopper, freezer_for, possible
from roost.machine.proc.read import read_stat
from roost.machine.signals import descendants

TREE = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
if os.fork() == 0:
    while True:
        if os.fork() == 0:
            os._exit(0)
        time.sleep(0.002)
open(FILE, "w").close()
while True:
    time.sleep(0.01)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[int]:
    ready = tmp_path / "ready"
    script = TREE.replace("FILE", repr(str(ready)))
    process = subprocess.Popen([sys.executable, "-c", script])
    try:
        end = time.monotonic() + 10
        while not ready.exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert ready.exists()
        time.sleep(0.05)
        yield process.pid
    finally:
        for pid in [*descendants(process.pid), process.pid]:
            os.kill(pid, signal.SIGKILL)
        process.wait()


def members(root: int) -> list[int]:
    return [root, *descendants(root)]


def states(root: int) -> dict[int, str]:
    return {pid: read_stat(b"/proc", pid).state for pid in members(root)}


def test_without_a_cgroup_there_is_no_freezer_but_signals_do() -> None:
    assert not possible(Layout())
    assert isinstance(freezer_for(Layout(), "job_1.1", list), Stopper)


def test_a_tree_that_forks_stands_still_and_goes_on_but_for_who_had_stopped_itself(
    tree: int,
) -> None:
    stopper = Stopper(lambda: members(tree))
    (itself,) = [pid for pid, state in states(tree).items() if state == "T"]
    end = time.monotonic() + 10
    while not stopper.still():
        assert time.monotonic() < end
        stopper.press()
    before = states(tree)
    assert set(before.values()) == {"T"}
    time.sleep(0.1)
    assert states(tree) == before
    assert itself not in {pid for pid, _ in stopper.stopped()}
    assert tree in {pid for pid, _ in stopper.stopped()}
    os.kill(tree, signal.SIGCONT)  # somebody wakes one of them
    stopper.tend(tree)
    time.sleep(0.05)
    assert stopper.still()
    stopper.release()
    time.sleep(0.1)
    after = states(tree)
    assert after[tree] == "S"
    assert after[itself] == "T"
    assert stopper.stopped() == ()
