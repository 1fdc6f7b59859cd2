"""The wall: a job opens the GPUs that it was given and no other, whatever path leads to them.

Real device nodes with the driver's major number and no driver behind: ENXIO is "allowed", EPERM is
"refused by the device filter".
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.real.agent_rig import Agent, agent
from tests.real.fakenvml.state import FakeState
from tests.real.fakenvml.state import environment as fake_nvml
from tests.real.rig import Account, accounts, wait_for

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]

ENXIO, EPERM, ENOENT = errno.ENXIO, errno.EPERM, errno.ENOENT
TRY = """
import os, sys
for path in sys.argv[1:]:
    try:
        os.close(os.open(path, os.O_RDWR))
        print(path, 0)
    except OSError as error:
        print(path, error.errno)
"""


@dataclass(frozen=True)
class Walled:
    agent: Agent
    nodes: Path
    uuids: list[str]
    ann: Account

    def tried(self, uuids: list[str], paths: list[str], **more: object) -> dict[str, int]:
        """errno of opening each path from a job with these GPUs."""
        out = self.ann.home / "tried"
        out.unlink(missing_ok=True)
        end = self.agent.run(
            self.ann.name, "/usr/bin/python3", "-c", TRY, *paths, output=os.fsencode(out),
            uuids=uuids, **more,
        )  # fmt: skip
        assert end.exit_code == 0, out.read_text()
        pairs = (line.rsplit(" ", 1) for line in out.read_text().splitlines())
        return {path: int(number) for path, number in pairs}


@pytest.fixture(scope="module", params=["auto", "v1"])
def walled(request: pytest.FixtureRequest) -> Iterator[Walled]:
    nodes = Path(tempfile.mkdtemp(prefix="rad-dev-"))
    nodes.chmod(0o755)
    for name, minor in [(f"nvidia{n}", n) for n in range(4)] + [("nvidiactl", 255)]:
        os.mknod(nodes / name, stat.S_IFCHR | 0o666, os.makedev(195, minor))
        (nodes / name).chmod(0o666)
    cards = nodes.with_suffix(".state")
    FakeState.of("A100-80", 4).write(cards)
    environment = {
        "ROOST_DEVICE_DIR": str(nodes),
        "ROOST_DEVICE_FILTER": request.param,
        **fake_nvml(cards),
    }
    with (
        accounts("ann", prefix="rad-") as (ann,),
        agent(environment, arguments=()) as running,
    ):
        yield Walled(running, nodes, running.uuids(), ann)
    for path in nodes.iterdir():
        path.unlink()
    nodes.rmdir()
    cards.unlink()


def test_only_granted_gpus_open_through_any_path(walled: Walled) -> None:
    outside = [str(walled.nodes / f"nvidia{n}") for n in range(4)]
    inside = [f"/dev/nvidia{n}" for n in range(4)]
    found = walled.tried([walled.uuids[1], walled.uuids[3]], outside + inside)
    assert [found[path] for path in outside] == [EPERM, ENXIO, EPERM, ENXIO]
    assert [found[path] for path in inside] == [ENOENT, ENXIO, ENOENT, ENXIO]


def test_unsetting_cuda_visible_devices_opens_nothing(walled: Walled) -> None:
    out = walled.ann.home / "unset"
    script = f"unset CUDA_VISIBLE_DEVICES; : < {walled.nodes}/nvidia0"
    walled.agent.shell(walled.ann.name, script, out, uuids=[walled.uuids[2]])
    assert "Operation not permitted" in out.read_text()


def test_a_job_without_gpus_opens_none_nor_the_drivers_own_node(walled: Walled) -> None:
    paths = [str(walled.nodes / name) for name in ("nvidia0", "nvidiactl")]
    assert set(walled.tried([], [*paths, "/dev/nvidiactl"]).values()) == {EPERM, ENOENT}


def test_the_way_over_another_processs_root_is_walled_too(walled: Walled) -> None:
    """A process of the same user outside the job shows the host's /dev by /proc/PID/root."""
    ann = walled.ann
    outside = subprocess.Popen(["/bin/sleep", "60"], user=ann.uid, group=ann.gid)
    try:
        path = f"/proc/{outside.pid}/root{walled.nodes}/nvidia0"
        assert walled.tried([walled.uuids[1]], [path]) == {path: EPERM}
    finally:
        outside.kill()
        outside.wait()


def test_a_node_made_inside_is_refused_even_to_root(walled: Walled) -> None:
    """Nobody in a job is root; were somebody, the cgroup would still refuse mknod and open."""
    agent, ann = walled.agent, walled.ann
    job = agent.launch(ann.name, "/bin/sleep", "60", uuids=[walled.uuids[1]])
    pid = agent.running(job).pid
    groups = agent.cgroups()
    assert groups
    folder = tempfile.mkdtemp(prefix="rad-mknod-")
    script = "".join(f"echo $$ > {group}/cgroup.procs; " for group in groups)
    script += f"mknod {folder}/n c 195 0; echo mknod $?; : < {walled.nodes}/nvidia0; echo open $?;"
    script += f"mknod {folder}/m c 195 1; echo mknod $?"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["mknod", "1", "open", "1", "mknod", "0"], done.stderr
    assert done.stderr.count("Operation not permitted") == 2
    subprocess.run(["rm", "-rf", folder], check=True)
    os.kill(pid or 0, 9)
    agent.end(job)


def test_a_user_namespace_is_no_way_around(walled: Walled) -> None:
    out = walled.ann.home / "ns"
    script = (
        f"unshare -Ur sh -c 'mknod /tmp/rad-n c 195 0; : < {walled.nodes}/nvidia0;"
        " mount -t devtmpfs none /mnt && : < /mnt/nvidia0'; echo over"
    )
    walled.agent.shell(walled.ann.name, script, out, uuids=[walled.uuids[1]])
    text = out.read_text()
    assert "No such device or address" not in text  # ENXIO would be an opened GPU
    assert text.endswith("over\n")


def test_the_private_dev_has_the_standard_nodes_and_only_its_gpus(walled: Walled) -> None:
    out = walled.ann.home / "dev"
    script = (
        "ls /dev; tty -s; echo x > /dev/null; head -c1 /dev/urandom | wc -c; touch /dev/shm/rad"
    )
    walled.agent.shell(walled.ann.name, script, out, uuids=[walled.uuids[3]])
    names = set(out.read_text().split())
    assert {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm"} <= names
    assert {"nvidia3", "nvidiactl"} <= names
    assert not {"nvidia0", "nvidia1", "nvidia2", "kmsg", "vda", "kvm"} & names
    assert Path("/dev/shm/rad").exists()  # shm is the host's
    Path("/dev/shm/rad").unlink()


def test_nothing_of_it_is_left_on_the_host(walled: Walled) -> None:
    before = Path("/proc/self/mountinfo").read_text().count("\n")
    for _ in range(3):
        walled.tried([walled.uuids[0]], ["/dev/nvidia0"])
    assert Path("/proc/self/mountinfo").read_text().count("\n") == before
    assert not Path("/dev/nvidia0").exists()
    wait_for(lambda: not walled.agent.cgroups(), "job cgroups are removed")
