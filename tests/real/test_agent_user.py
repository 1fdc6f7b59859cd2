"""An agent of an ordinary user: that person alone, without walls, and it says so."""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from roost.core.model import EndReason
from roost.core.text.agent import say_limit
from roost.wire.messages import Welcome
from tests.real.agent_rig import Agent, Wire, as_user
from tests.real.rig import Account, accounts, processes_of, wait_for

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(scope="module")
def people() -> Iterator[list[Account]]:
    with accounts("ann", "ben", prefix="rau-") as made:
        yield made


def names_of(account: Account) -> list[str]:
    found = []
    for pid in processes_of(account.uid):
        with suppress(OSError):
            found.append(Path(f"/proc/{pid}/comm").read_text(errors="replace").strip())
    return found


@pytest.fixture(scope="module")
def own(people: list[Account]) -> Iterator[Agent]:
    with as_user(people[0]) as made:
        yield made


def test_it_says_what_it_cannot_hold_to(own: Agent, people: list[Account]) -> None:
    wire = Wire(own.socket)
    welcome = wire.hello()
    assert isinstance(welcome, Welcome)
    host = welcome.host
    assert host.uid == people[0].uid
    assert (host.device_filter, host.private_dev, host.cgroup) == (False, False, "none")
    assert {limit.split()[0] for limit in host.limits} == {"limit_not_root", "limit_no_cgroup"}
    for language in ("en", "zh"):
        assert all(len(say_limit(language, limit)) > 10 for limit in host.limits)
    own.connect()


def test_it_runs_its_own_users_jobs_and_nobody_elses(own: Agent, people: list[Account]) -> None:
    ann, ben = people
    out = ann.home / "out"
    end = own.shell(ann.name, "id -un; echo $ROOST_JOB_ID; exit 4", out)
    assert (end.reason, end.exit_code) == (EndReason.EXITED, 4)
    assert out.read_text().splitlines()[0] == ann.name
    assert own.refusal(ben.name, "/bin/true").code == "other_user"
    assert own.refusal("root", "/bin/true").code == "other_user"


def test_nothing_outlives_a_job_without_a_cgroup_either(own: Agent, people: list[Account]) -> None:
    ann = people[0]
    end = own.shell(ann.name, "(setsid sleep 300 &); nohup sleep 300 & sleep 0.2; exit 3")
    assert end.exit_code == 3
    assert "sleep" not in names_of(ann)


def test_a_lost_supervisor_takes_its_session_along(own: Agent, people: list[Account]) -> None:
    ann = people[0]
    job = own.launch(ann.name, "/bin/sh", "-c", "sleep 300 & sleep 300")
    own.running(job)
    for pid in processes_of(ann.uid):
        if Path(f"/proc/{pid}/comm").read_text(errors="replace").strip() == f"roost:{job}.1"[:15]:
            os.kill(pid, 9)
    assert own.end(job).reason is EndReason.LOST
    wait_for(lambda: "sleep" not in names_of(ann), "its processes are gone")


def test_a_script_and_its_status_work_without_root(own: Agent, people: list[Account]) -> None:
    ann = people[0]
    assert pwd.getpwuid(ann.uid).pw_name == ann.name
    script = (
        b"#!/bin/bash\necho saved >> $ROOST_STATUS_FILE; sleep 0.2\necho done > $ROOST_STATUS_FILE"
    )
    job = own.launch(ann.name, argv=(), script=script)
    end = own.end(job)
    assert end.done
    assert own.wire is not None
    assert (own.wire.states[job, 1].checkpointed_at or 0) > time.time() - 30
