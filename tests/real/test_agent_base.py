"""The base of all jobs' cgroups: made ready whatever is in it, and never shared by two agents."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from roost.core.model import EndReason
from roost.machine import cgroup_base
from tests.real.agent_rig import agent
from tests.real.rig import accounts, wait_for

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


def test_a_keeper_that_has_not_moved_is_moved() -> None:
    """Else no controller could be given on, and limits would silently not hold."""
    top, _ = cgroup_base.mounts()
    if top is None:
        pytest.fail("there is no cgroup v2 here")
    folder = Path(f"{top}/rab-keeper")
    folder.mkdir()
    keeper = subprocess.Popen(["/bin/sleep", "60"])
    try:
        (folder / "cgroup.procs").write_text(str(keeper.pid))
        layout = cgroup_base.prepare("/rab-keeper")
        assert layout.unified == str(folder)
        assert (folder / "cgroup.procs").read_text() == ""
        assert (folder / "keeper" / "cgroup.procs").read_text().split() == [str(keeper.pid)]
    finally:
        keeper.kill()
        keeper.wait()
        wait_for(lambda: cgroup_base.tidy(layout), "the base is removed")


def test_orphaned_job_cgroups_are_ended_at_the_start() -> None:
    with agent({"ROOST_CGROUP": "/rab-orphan"}) as running:
        running.kill()
        top, _ = cgroup_base.mounts()
        group = Path(f"{top}/rab-orphan/job_5.1")
        group.mkdir()
        left = subprocess.Popen(["/bin/sleep", "60"])
        (group / "cgroup.procs").write_text(str(left.pid))
        running.start()
        assert left.wait(10) == -9
        wait_for(lambda: not group.exists(), "its cgroup is removed")


def test_two_agents_on_one_machine_leave_each_others_jobs_alone() -> None:
    with accounts("ann", prefix="rab-") as (ann,), agent() as first:
        job = first.launch(ann.name, "/bin/sleep", "60")
        pid = first.running(job).pid or 0
        with agent() as second:
            second.kill()
            second.start()
            time.sleep(0.3)
            assert second.shell(ann.name, "exit 2").exit_code == 2
            os.kill(pid, 0)
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
        assert first.end(job).reason is EndReason.SIGNALLED
