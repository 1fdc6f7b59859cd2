"""Ordinary accounts against the agent: its folders, the door of terminals, hanging starts."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.core.model import EndReason
from tests.real.agent_rig import Agent, agent
from tests.real.hung_mount import hung_mount
from tests.real.rig import Account, accounts, readable_python

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(scope="module")
def people() -> Iterator[list[Account]]:
    with accounts("ann", "ben", prefix="hx-") as made:
        yield made


@pytest.fixture(scope="module")
def running(people: list[Account]) -> Iterator[Agent]:
    with agent() as made:
        yield made


def test_a_folder_that_does_not_answer_is_bound_by_the_walltime(
    running: Agent, people: list[Account]
) -> None:
    with hung_mount() as (mount, quiet):
        quiet.touch()
        started = time.monotonic()
        job = running.launch(
            people[0].name, "/bin/true", directory=os.fsencode(mount), walltime_s=1.0
        )
        time.sleep(2.0)  # nobody can end a process that waits for that folder; its time passes
    end = running.end(job)
    assert end.reason is EndReason.TIMEOUT
    assert time.monotonic() - started < 20


def test_one_account_cannot_occupy_the_door_of_terminals(
    running: Agent, people: list[Account]
) -> None:
    path = os.fspath(running.state / "attach.sock")
    ann = pwd.getpwnam(people[0].name)
    child = os.fork()
    if child == 0:
        os.setgid(ann.pw_gid)
        os.setuid(ann.pw_uid)
        held = []
        for _ in range(1000):
            one = socket.socket(socket.AF_UNIX)
            one.connect(path)
            held.append(one)
        time.sleep(30)
        os._exit(0)
    try:
        time.sleep(1)
        with socket.socket(socket.AF_UNIX) as other:
            other.settimeout(5)
            other.connect(path)
            other.sendall(b'{"job": 1}\n')
            assert json.loads(other.recv(4096))["code"] == "no_terminal"
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


@pytest.mark.parametrize("kind", ["theirs", "shared", "link"])
def test_root_keeps_no_state_where_others_can_exchange_it(people: list[Account], kind: str) -> None:
    base = Path(f"/tmp/hx-state-{os.getpid()}-{kind}")
    base.mkdir(mode=0o755)
    try:
        state = base / "state"
        if kind == "theirs":
            os.chown(base, people[0].uid, people[0].gid)
        elif kind == "shared":
            base.chmod(0o777)
        else:
            (base / "real").mkdir()
            state.symlink_to(base / "real")
            os.lchown(state, people[0].uid, people[0].gid)
        done = subprocess.run(
            [readable_python(), "-m", "roost", "agent", "--state", str(state), "--simulate",
             "1xA100"],
            capture_output=True, text=True, timeout=30, cwd="/",
        )  # fmt: skip
        assert done.returncode == 1
        assert str(state if kind == "link" else base) in done.stderr
    finally:
        shutil.rmtree(base)
