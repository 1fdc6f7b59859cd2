"""Caps live where their user cannot reach them."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from roost.core.model import EndReason
from tests.real.agent_rig import Agent, agent
from tests.real.rig import Account, accounts

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(scope="module")
def ann() -> Iterator[Account]:
    with accounts("ann", prefix="rac-") as (made,):
        yield made


@pytest.fixture(scope="module")
def running(ann: Account) -> Iterator[Agent]:
    with agent() as made:
        yield made


def test_a_job_can_neither_leave_its_cgroup_nor_raise_its_limits(
    running: Agent, ann: Account
) -> None:
    out = ann.home / "caps"
    script = r"""
        exec 2>/dev/null
        while IFS=: read -r number kind path; do
            case $kind in name=*) continue;; "") mount=/sys/fs/cgroup/unified;;
                *) mount=/sys/fs/cgroup/$kind;; esac
            [ -d "$mount$path" ] || continue
            echo 0 > "$mount/cgroup.procs" && echo "left $kind"
            mkdir "$mount$path/sub" && echo "made $kind"
            for file in memory.limit_in_bytes memory.memsw.limit_in_bytes pids.max cpu.shares \
                        cpu.cfs_quota_us devices.allow memory.max cpu.max cgroup.kill; do
                [ -e "$mount$path/$file" ] || continue
                echo max > "$mount$path/$file" && echo "raised $file"
                echo -1 > "$mount$path/$file" && echo "raised $file"
            done
        done < /proc/self/cgroup
        ulimit -n 1000000 && echo "raised files"
        echo over
    """
    running.shell(ann.name, script, out, memory_bytes=256 << 20, max_processes=50)
    assert out.read_text().split("\n") == ["over", ""]


def test_unsetting_the_environment_raises_no_cap(running: Agent, ann: Account) -> None:
    eat = "exec env -i /usr/bin/python3 -c 'x = bytearray(300 << 20)'"
    end = running.shell(ann.name, eat, memory_bytes=64 << 20)
    assert end.reason is EndReason.OUT_OF_MEMORY


def test_memory_cannot_flee_into_swap_or_shared_memory(running: Agent, ann: Account) -> None:
    fill = "exec head -c 300000000 /dev/zero > /dev/shm/rac-fill; sleep 1"
    end = running.shell(ann.name, fill, memory_bytes=64 << 20)
    os.unlink("/dev/shm/rac-fill")
    assert end.reason is EndReason.OUT_OF_MEMORY
