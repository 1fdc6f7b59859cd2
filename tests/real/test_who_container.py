"""`docker run` with a GPU by somebody in the docker group: a process of root.

The person is found all the same, and freeing stops the container through its engine.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.core.attribution import Known, free_plan
from roost.core.attribution.model import Kind, Sure
from roost.core.observation import GpuProcess
from roost.machine.free import Freeing, free
from roost.machine.observer import Observer, ObserverConfig
from roost.machine.owner import ContainerDirectory, stop_container
from roost.machine.proc.users import UserNames
from roost.wire.messages import FreeItem
from tests.real import rig
from tests.real.fakenvml.build import compiler
from tests.real.who_rig import GIB, ScriptedGpus, Seen, holders, nodes_of, stand_in_nodes

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: a Docker daemon"),
    pytest.mark.skipif(shutil.which("dockerd") is None, reason="needs docker.io"),
]

HOLDER = """
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
static void end(int number) { _exit(number); }
int main(int argc, char **argv) {
    signal(SIGTERM, end);
    for (int i = 1; i < argc; i++) open(argv[i], O_RDWR);
    for (;;) pause();
}
"""


def static_compiler() -> list[str]:
    """A compiler that makes programs which run in an empty image."""
    command = [*compiler(), "-static"]
    if "ziglang" in command:
        command += ["-target", f"{platform.machine()}-linux-musl"]
    return command


class Docker:
    """A Docker daemon of the test's own, without network, and an image with one program."""

    def __init__(self, base: Path) -> None:
        self.socket = str(base / "docker.sock")
        self.log = (base / "log").open("wb")
        self.daemon = subprocess.Popen(
            [
                *("dockerd", "--data-root", str(base / "data"), "--exec-root", str(base / "exec")),
                *("--pidfile", str(base / "pid"), "-H", f"unix://{self.socket}"),
                *("--storage-driver", "vfs", "--exec-opt", "native.cgroupdriver=cgroupfs"),
                *("--bridge=none", "--iptables=false"),
            ],
            stdout=self.log,
            stderr=self.log,
        )
        rig.wait_for(lambda: self("info", check=False).returncode == 0, "dockerd answers", 60)
        image = base / "image"
        image.mkdir()
        (base / "holder.c").write_text(HOLDER)
        subprocess.run(
            [*static_compiler(), "-o", str(image / "holder"), str(base / "holder.c")],
            check=True,
        )
        tar = subprocess.run(["tar", "-C", str(image), "-c", "."], check=True, capture_output=True)
        self("import", "-", "holder:1", stdin=tar.stdout)

    def __call__(
        self, *arguments: str, check: bool = True, stdin: bytes | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        command = ["docker", "-H", f"unix://{self.socket}", *arguments]
        return subprocess.run(command, check=check, input=stdin, capture_output=True)

    def close(self) -> None:
        listed = self("ps", "-aq", check=False).stdout.split()
        for container in listed:
            self("rm", "-f", container.decode(), check=False)
        self.daemon.terminate()
        self.daemon.wait(30)
        self.log.close()


@pytest.fixture(scope="module")
def docker() -> Iterator[Docker]:
    base = Path(tempfile.mkdtemp(prefix="roost-docker-"))
    engine = Docker(base)
    yield engine
    engine.close()
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(scope="module")
def alice() -> Iterator[rig.Account]:
    with rig.accounts("alice", prefix="rdock-") as made:
        yield made[0]


@pytest.fixture
def devices() -> Iterator[Path]:
    with stand_in_nodes() as directory:
        yield directory


@pytest.fixture
def gpus() -> ScriptedGpus:
    return ScriptedGpus()


@pytest.fixture
def watcher(docker: Docker, devices: Path, gpus: ScriptedGpus) -> Iterator[Observer]:
    users = UserNames()
    directory = ContainerDirectory(users.accounts, users.name, sockets=lambda: (docker.socket,))
    made = Observer(gpus, ObserverConfig(nodes=nodes_of(devices)), users, directory)
    yield made
    made.close()


def start(docker: Docker, devices: Path, *options: str) -> tuple[str, int]:
    """Runs a container on GPU 2: its id and the pid of its main process on this machine."""
    answer = docker(
        *("run", "-d", "--network", "none", "--device", f"{devices}/nvidia2:/dev/nvidia2"),
        *(*options, "holder:1", "/holder", "/dev/nvidia2"),
    )
    container = answer.stdout.decode().strip()
    shown = docker("inspect", "-f", "{{.State.Pid}}", container)
    time.sleep(0.2)
    return container, int(shown.stdout)


def look_until_known(seen: Seen, index: int, pid: int) -> object:
    for _ in range(50):
        holder = holders(seen.look(), index)[pid]
        if holder.container is not None and not holder.container_id.startswith(holder.container):  # type: ignore[union-attr]
            return holder
        time.sleep(0.1)
    raise AssertionError("the engine's answer never came")


def test_the_person_is_known_by_the_mounted_home(
    docker: Docker, devices: Path, gpus: ScriptedGpus, watcher: Observer, alice: rig.Account
) -> None:
    container, pid = start(docker, devices, "--name", "train", "-v", f"{alice.home}:/work")
    gpus.say(2, GIB, GpuProcess(pid, GIB))
    seen = Seen(watcher)

    first = holders(seen.look(), 2)[pid]
    assert (first.user, first.kind, first.container_id) == ("root", Kind.CONTAINER, container)
    holder = look_until_known(seen, 2, pid)

    assert (holder.user, holder.uid) == (alice.name, 0)  # type: ignore[attr-defined]
    assert (holder.container, holder.owner_sure) == ("train", Sure.LIKELY)  # type: ignore[attr-defined]


def test_the_person_is_known_by_a_label_and_else_it_is_root(
    docker: Docker, devices: Path, gpus: ScriptedGpus, watcher: Observer, alice: rig.Account
) -> None:
    _, labelled = start(docker, devices, "--label", f"owner={alice.name}")
    _, unknown = start(docker, devices, "--label", "owner=nobody-here")
    gpus.say(2, 2 * GIB, GpuProcess(labelled, GIB), GpuProcess(unknown, GIB))
    seen = Seen(watcher)
    look_until_known(seen, 2, labelled)
    look_until_known(seen, 2, unknown)

    found = holders(seen.look(), 2)

    assert found[labelled].user == alice.name
    assert found[unknown].user == "root"


def test_freeing_stops_the_container_and_leaves_the_other_alone(
    docker: Docker, devices: Path, gpus: ScriptedGpus, watcher: Observer, alice: rig.Account
) -> None:
    container, pid = start(docker, devices, "--restart", "unless-stopped")
    answer = docker("run", "-d", "--network", "none", "holder:1", "/holder")
    other = answer.stdout.decode().strip()
    gpus.say(2, GIB, GpuProcess(pid, GIB))
    seen = Seen(watcher, Known())
    attribution = seen.look(scan=True)
    assert seen.observation is not None

    mine = free_plan(seen.observation, attribution, "GPU-0002", alice.name, operator=False)
    assert not mine.processes, "an owner by evidence alone may not end it"
    plan = free_plan(seen.observation, attribution, "GPU-0002", "root", operator=True)
    assert pid in [p.pid for p in plan.processes]
    items = [
        FreeItem(p.pid, p.start_ticks, plan.gpu_uuid, "fd", p.container_id)
        for p in plan.processes
        if p.pid == pid
    ]
    assert items[0].container_id == container

    def read() -> tuple:  # type: ignore[type-arg]
        if not os.path.exists(f"/proc/{pid}"):
            gpus.say(2, 0)
        return tuple(gpus.gpus)

    means = Freeing(
        watcher._reader,
        read,
        stop_container=lambda name, grace_s: stop_container(name, grace_s, (docker.socket,)),
    )
    result = free(means, items, 3.0, None)

    assert [p.outcome for p in result.processes] == ["ended"]
    time.sleep(0.5)
    shown = docker("inspect", "-f", "{{.State.Running}} {{.RestartCount}}", container)
    assert shown.stdout.decode().split() == ["false", "0"], "it was stopped, and stays so"
    assert docker("inspect", "-f", "{{.State.Running}}", other).stdout.strip() == b"true"
