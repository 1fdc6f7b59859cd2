"""The whole daemon on NVML's interface: `roost who` names all, `roost free` ends one GPU's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real import rig
from tests.real.fakenvml.state import FakeProcess, FakeState, environment
from tests.real.who_rig import FORK_AND_WAIT, GIB, HOLD, PYTHON, Processes, stand_in_nodes

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts and device nodes"),
]


class Server:
    """A daemon on 8 fake A100 with stand-in device files, and processes of people beside it."""

    def __init__(self, running: rig.Daemon, state: FakeState, path: Path, devices: Path) -> None:
        self.running, self.state, self.path, self.devices = running, state, path, devices
        self.processes = Processes()

    def node(self, index: int) -> str:
        return str(self.devices / f"nvidia{index}")

    def put(self, index: int, pid: int, memory: int) -> None:
        self.state.gpus[index].processes.append(FakeProcess(pid, memory))
        self.state.write(self.path)

    def take(self, index: int) -> None:
        self.state.gpus[index].processes = []
        self.state.write(self.path)

    def who(self) -> dict[tuple[int, int | None], dict[str, Any]]:
        """Rows of `roost who --scan --json` by GPU and pid."""
        rows = self.running.json("root", "who", "--scan")["holders"]
        return {(row["gpu_index"], row["pid"]): row for row in rows}


@pytest.fixture(scope="module")
def people() -> Iterator[dict[str, rig.Account]]:
    with rig.accounts("alice", "bob", "carol", prefix="rsee-") as made:
        yield {account.name.removeprefix("rsee-"): account for account in made}


@pytest.fixture
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="roost-see-") as folder, stand_in_nodes() as devices:
        base = Path(folder)
        base.chmod(0o755)
        state = FakeState.of("A100-80", 8)
        state.write(base / "state")
        (base / "rules.toml").write_text("")
        variables = environment(base / "state") | {
            "ROOST_DEVICE_DIR": str(devices),
            "ROOST_DEVICE_MAJORS": "1",
        }
        with rig.daemon("--rules", str(base / "rules.toml"), environment=variables) as running:
            made = Server(running, state, base / "state", devices)
            rig.wait_for(lambda: len(running.json("root", "status")["gpus"]) == 8, "8 GPUs")
            try:
                yield made
            finally:
                made.processes.close()


def test_who_and_free_over_the_whole_daemon(people: dict[str, rig.Account], server: Server) -> None:
    alice, bob, carol = people["alice"], people["bob"], people["carol"]
    # alice through the queue
    script = HOLD.replace("sys.argv[1:]", "[sys.argv[1]]")
    number = server.running.run(alice.name, "-g", "1", "--", PYTHON, "-c", script, server.node(0))
    job = server.running.wait_state(number, "RUNNING")
    index = [gpu.uuid for gpu in server.state.gpus].index(job["gpus"][0])
    assert index == 0
    in_job = rig.wait_for(lambda: _holder_of(server.node(0)), "the job opens its GPU")
    server.put(0, in_job, 3 * GIB)
    # bob by hand, and an orphan of his on GPU 2 whose number the driver goes on to say
    hand, _ = server.processes.run(HOLD, server.node(1), uid=bob.uid)
    server.put(1, hand.pid, 2 * GIB)
    parent, words = server.processes.run(FORK_AND_WAIT, server.node(2), uid=bob.uid)
    worker = server.processes.also(int(words[2]))
    beside, _ = server.processes.run(HOLD, server.node(2), uid=carol.uid)
    server.put(2, parent.pid, 5 * GIB)
    server.put(2, beside.pid, GIB)
    rig.wait_for(lambda: (2, parent.pid) in server.who(), "the parent is seen", 30)
    parent.kill()
    parent.wait()

    def settled() -> dict[tuple[int, int | None], dict[str, Any]] | None:
        rows = server.who()  # on a busy machine a look may find the driver late
        return rows if {(0, in_job), (1, hand.pid), (2, worker)} <= rows.keys() else None

    rows = rig.wait_for(settled, "everybody is named", 30)

    mine = rows[0, in_job]
    assert (mine["user"], mine["kind"], mine["job"]) == (alice.name, "job", number)
    assert (mine["right"], mine["reason"]) == (f"job {number}", None)
    assert (rows[1, hand.pid]["user"], rows[1, hand.pid]["kind"]) == (bob.name, "session")
    assert rows[1, hand.pid]["right"] == "no right: hand-started"
    orphan = rows[2, worker]
    assert (orphan["user"], orphan["memory_bytes"]) == (bob.name, 5 * GIB)
    assert orphan["reason"] == "worker_of_dead_parent"
    assert (2, parent.pid) not in rows
    for gpu in server.running.json("root", "status")["gpus"]:
        parts = [row["memory_bytes"] for key, row in rows.items() if key[0] == gpu["index"]]
        assert sum(parts) == gpu["memory_used_bytes"]

    # bob may not end carol's, but his own orphan; the job is not ended by freeing GPU 1
    freed = server.running.json(bob.name, "free", "2", "--yes", "--grace", "2s", check=False)
    assert [each["pid"] for each in freed["processes"]] == [worker]
    assert not _alive(worker)
    assert _alive(beside.pid)
    freed = server.running.json("root", "free", "1", "--yes", "--grace", "2s", check=False)
    assert [(each["pid"], each["outcome"]) for each in freed["processes"]] == [(hand.pid, "ended")]
    assert _alive(in_job)
    records = server.running.cli("root", "audit", "log", "--json").stdout
    assert "free" in records
    assert bob.name in records
    server.running.cli(alice.name, "cancel", str(number))


def test_a_job_on_another_gpu_than_its_own_is_told(
    people: dict[str, rig.Account], server: Server
) -> None:
    """The script sets its own device. Nothing stops it here: stand-in nodes pass the filter."""
    script = HOLD.replace("sys.argv[1:]", "[sys.argv[1]]")
    number = server.running.run(
        people["alice"].name, "-g", "1", "--", PYTHON, "-c", script, server.node(3)
    )
    server.running.wait_state(number, "RUNNING")
    pid = rig.wait_for(lambda: _holder_of(server.node(3)), "the job opens GPU 3")
    server.put(3, pid, GIB)

    row = rig.wait_for(lambda: server.who().get((3, pid)), "it is listed")

    assert row["right"] == f"no right: job {number} was not given GPU 3"
    assert (row["lawful"], row["job"]) == (False, number)
    server.running.cli(people["alice"].name, "cancel", str(number))


def _holder_of(node: str) -> int | None:
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                names = os.listdir(f"/proc/{entry}/fd")
                if any(os.readlink(f"/proc/{entry}/fd/{name}") == node for name in names):
                    return int(entry)
            except OSError:
                continue
    return None


def _alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"
