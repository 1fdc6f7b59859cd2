"""Real processes stopped without a cgroup: none runs, and each goes on as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from roost.machine.cgroup import Layout
from roost.machine.freezer import Stopper, freezer_for, possible
from roost.machine.proc.read import GoneError, read_stat
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
        wait_for(ready.exists, "it has forked")
        wait_for(lambda: "T" in states(process.pid).values(), "one has stopped itself")
        yield process.pid
    finally:
        for pid in [*descendants(process.pid), process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def wait_for(reached: Callable[[], object], what: str) -> None:
    end = time.monotonic() + 10
    while not reached():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def members(root: int) -> list[int]:
    return [root, *descendants(root)]


def states(root: int) -> dict[int, str]:
    found = {}
    for pid in members(root):
        with suppress(GoneError):  # it lived for a moment only
            found[pid] = read_stat(b"/proc", pid).state
    return found


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
    wait_for(lambda: set(states(tree).values()) == {"T"}, "all stand")
    before = states(tree)
    time.sleep(0.1)
    assert states(tree) == before
    assert itself not in {pid for pid, _ in stopper.stopped()}
    assert tree in {pid for pid, _ in stopper.stopped()}
    os.kill(tree, signal.SIGCONT)  # somebody wakes one of them
    stopper.tend(tree)
    wait_for(stopper.still, "all stand again")
    stopper.release()
    wait_for(lambda: states(tree)[tree] == "S", "it sleeps between its turns, as before")
    assert states(tree)[itself] == "T"
    assert stopper.stopped() == ()
