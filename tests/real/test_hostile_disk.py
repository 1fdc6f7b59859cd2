"""A disk that is full at bad moments, on the real daemon: nothing is lost, nobody has to help."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.real import rig

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts("disk", prefix="hx-") as made:
        yield made


@pytest.fixture
def running() -> Iterator[rig.Daemon]:
    """State, sockets, job folders and the log are all on a disk of six mebibytes."""
    state = Path(tempfile.mkdtemp(prefix="roost-test-hx-"))
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m,mode=0755", "tmpfs", str(state)], check=True
    )
    made = rig.Daemon(state, ["--simulate", "8xA100"])
    try:
        made.start()
        yield made
    finally:
        (state / "filler").unlink(missing_ok=True)
        made.stop()
        subprocess.run(["umount", "-l", str(state)], check=True)
        state.rmdir()


def fill(running: rig.Daemon, leave: int = 0) -> None:
    with (running.state / "filler").open("ab", buffering=0) as file:
        for size in (65536, 4096, 512, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * size)
        os.ftruncate(file.fileno(), max(0, file.tell() - leave))


def submit(running: rig.Daemon, user: str) -> int | None:
    done = running.cli(user, "run", "--json", "-g", "1", "--", "true", check=False)
    if done.returncode == 0:
        return int(json.loads(done.stdout)["job"])
    assert "space" in done.stderr, done.stderr
    return None


def test_killed_on_a_full_disk_it_comes_back_by_itself(
    running: rig.Daemon, people: list[rig.Account]
) -> None:
    user = people[0].name
    ends_meanwhile = running.run(user, "-g", "1", "--", "sh", "-c", "sleep 3; exit 7")
    running.wait_state(ends_meanwhile, "RUNNING")
    accepted = [ends_meanwhile]
    for leave in (0, 20_000):
        fill(running, leave)
        for _ in range(4):
            made = submit(running, user)
            if made is not None:
                accepted.append(made)
        assert running.kill("server")
        assert running.kill("agent")
        time.sleep(3)
        assert running.process is not None
        assert running.process.poll() is None, "the daemon gave up"
        (running.state / "filler").unlink()
        running.wait_ready()
    accepted.append(running.run(user, "-g", "1", "--", "true"))

    def all_ended() -> bool:
        return not running.json("root", "jobs")["jobs"]

    rig.wait_for(all_ended, "all that was accepted has ended", 30)
    states = {number: running.job(number)["state"] for number in accepted}
    assert states.pop(ends_meanwhile) == "FAILED"
    assert running.job(ends_meanwhile)["exit_code"] == 7
    assert set(states.values()) <= {"COMPLETED"}, states
    rig.wait_for(
        lambda: not os.listdir(running.state / "agent" / "attempts"), "records are tidied away"
    )
