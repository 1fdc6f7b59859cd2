"""Three accounts and every kind of holder on 8 GPUs at once, over NVML's own interface.

All are named rightly, and one GPU is freed without touching anybody else's processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.core.attribution import (
    Allocation,
    Attribution,
    Known,
    Reason,
    RightCode,
    free_plan,
    who_rows,
)
from roost.core.attribution.model import Kind
from roost.core.observation import DriverState
from roost.machine.free import Freeing, free
from roost.machine.nvml.driver import NvmlDriver
from roost.machine.observer import Observer
from roost.wire.messages import FreeItem
from tests.real import rig
from tests.real.fakenvml.state import FakeProcess, FakeState, environment
from tests.real.who_rig import (
    FORK_AND_WAIT,
    GIB,
    HOLD,
    IN_FLIGHT,
    ZOMBIE_LEADER,
    Processes,
    Seen,
    holders,
    observer,
    stand_in_nodes,
)

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts and device nodes"),
]


class Server:
    """A fake 8-GPU server, Roost's eyes on it, and real processes of alice, bob and carol."""

    def __init__(self, folder: Path, devices: Path) -> None:
        self.devices = devices
        self.state = FakeState.of("A100-80", 8)
        self.path = folder / "state"
        self.state.write(self.path)
        self.driver = NvmlDriver()
        self.watcher: Observer = observer(self.driver, devices)
        self.processes = Processes()
        self.seen = Seen(self.watcher)

    def node(self, index: int) -> str:
        return str(self.devices / f"nvidia{index}")

    def put(self, index: int, pid: int, memory: int, sm: int | None = None) -> None:
        """The driver lists `pid` on that GPU from now on; the number need not exist."""
        self.state.gpus[index].processes.append(FakeProcess(pid, memory, sm=sm))
        self.state.write(self.path)

    def take(self, index: int, pid: int) -> None:
        gpu = self.state.gpus[index]
        gpu.processes = [process for process in gpu.processes if process.pid != pid]
        self.state.write(self.path)

    def look(self, scan: bool = False) -> Attribution:
        return self.seen.look(scan=scan)

    def close(self) -> None:
        self.watcher.close()
        self.driver.close()
        self.processes.close()


@pytest.fixture(scope="module")
def people() -> Iterator[dict[str, rig.Account]]:
    with rig.accounts("alice", "bob", "carol", prefix="rall-") as made:
        yield {account.name.removeprefix("rall-"): account for account in made}


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name, value in environment(tmp_path / "state").items():
        monkeypatch.setenv(name, value)
    with stand_in_nodes() as devices:
        made = Server(tmp_path, devices)
        rig.wait_for(
            lambda: made.driver.read(2.0)[0].state is DriverState.OK, "the fake driver answers"
        )
        yield made
        made.close()


def test_everybody_is_named_and_one_gpu_is_freed(
    people: dict[str, rig.Account], server: Server
) -> None:
    alice, bob, carol = people["alice"], people["bob"], people["carol"]
    run = server.processes.run

    # GPU 0: alice's Roost job (its first process is what the agent launched).
    job, _ = run(HOLD, server.node(0), uid=alice.uid)
    server.put(0, job.pid, 3 * GIB, sm=50)
    # GPU 1: bob from a login shell.
    _, words = run(
        "import os, subprocess, sys\n"
        "p = subprocess.Popen(['/usr/bin/python3', '-c', sys.argv[1], sys.argv[2]],"
        " stdout=subprocess.PIPE)\n"
        "print(p.stdout.readline().decode().strip(), flush=True)\np.wait()\n",
        HOLD,
        server.node(1),
        uid=bob.uid,
    )
    in_shell = server.processes.also(int(words[1]))
    server.put(1, in_shell, 2 * GIB)
    # GPU 2: carol in another pid namespace, where she is number 1.
    unshare = ("unshare", "--pid", "--fork", "--kill-child", "setpriv", "--clear-groups")
    outer, words = run(HOLD, server.node(2), prefix=(*unshare, "--reuid", str(carol.uid)))
    assert words[1] == "1"
    inside = server.processes.also(_child_of(outer.pid))
    server.put(2, inside, GIB)
    # GPU 3: bob's worker, whose parent dies; and on the same GPU carol, who must live on.
    parent, words = run(FORK_AND_WAIT, server.node(3), uid=bob.uid)
    worker = server.processes.also(int(words[2]))
    beside, _ = run(HOLD, server.node(3), server.node(5), uid=carol.uid)
    server.put(3, parent.pid, 5 * GIB)
    server.put(3, beside.pid, GIB)
    server.put(5, beside.pid, GIB)
    # GPU 4: a main thread that ended, a live one that holds.
    headless, _ = run(ZOMBIE_LEADER, server.node(4), uid=alice.uid)
    server.put(4, headless.pid, 4 * GIB)
    # GPU 5: a name of arbitrary bytes.
    odd, _ = run(
        HOLD.replace("print(", "open('/proc/self/comm', 'wb').write(b'\\xff\\n;\\x1b[2J')\nprint("),
        server.node(5),
        uid=alice.uid,
    )
    server.put(5, odd.pid, GIB)
    # GPU 6: gone between two reads. GPU 7: a descriptor under way, held by no table.
    gone, _ = run(HOLD, server.node(6), uid=bob.uid)
    server.put(6, gone.pid, 2 * GIB)
    flight, _ = run(IN_FLIGHT, server.node(7), uid=carol.uid)
    server.put(7, 999_999, 6 * GIB)

    start = _start_ticks(job.pid)
    server.watcher.set_attempts({(job.pid, start): (42, 0)})
    uuids = [gpu.uuid for gpu in server.state.gpus]
    server.seen.known = Known(
        allocations=(Allocation(alice.name, "vision", (uuids[0],), job=42, attempt=0),),
        groups={bob.name: "speech"},
    )
    server.look()
    parent.kill()
    parent.wait()
    gone.kill()
    gone.wait()
    answer = server.look(scan=True)

    own = holders(answer, 0)[job.pid]
    assert (own.user, own.kind, own.job, own.group) == (alice.name, Kind.JOB, 42, "vision")
    assert own.right.code is RightCode.JOB
    assert own.idle_s == 0.0
    hand = holders(answer, 1)[in_shell]
    assert (hand.user, hand.kind, hand.group) == (bob.name, Kind.SESSION, "speech")
    assert not hand.right.lawful
    assert holders(answer, 2)[inside].user == carol.name
    orphan = holders(answer, 3)[worker]
    assert (orphan.user, orphan.memory_bytes) == (bob.name, 5 * GIB)
    assert orphan.finding is not None
    assert orphan.finding.reason is Reason.WORKER_OF_DEAD_PARENT
    assert holders(answer, 3)[beside.pid].user == carol.name
    assert parent.pid not in holders(answer, 3)
    zombie = holders(answer, 4)[headless.pid]
    assert (zombie.user, zombie.memory_bytes) == (alice.name, 4 * GIB)
    assert zombie.finding is not None
    assert zombie.finding.reason is Reason.ZOMBIE_LEADER
    assert {h.user for h in answer.gpus[5].holders} == {alice.name, carol.name}
    assert not answer.gpus[6].holders
    assert answer.gpus[6].rest is not None
    assert answer.gpus[6].rest.finding.reason is Reason.JUST_EXITING
    assert not answer.gpus[7].holders
    assert answer.gpus[7].rest is not None
    assert answer.gpus[7].rest.finding.reason is Reason.FD_IN_FLIGHT
    assert [c.pid for c in answer.gpus[7].rest.candidates] == [flight.pid]
    rows = who_rows(answer)
    assert all(str(row["command"]).isprintable() for row in rows)

    # bob frees his part of GPU 3: his worker ends, carol beside him and everybody else live on.
    assert server.seen.observation is not None
    plan = free_plan(server.seen.observation, answer, uuids[3], bob.name, operator=False)
    assert [p.pid for p in plan.processes] == [worker]
    assert [left.pid for left in plan.left] == [beside.pid]
    items = [FreeItem(p.pid, p.start_ticks, uuids[3], "fd") for p in plan.processes]

    def read() -> tuple:  # type: ignore[type-arg]
        if not _alive(worker):
            server.take(3, parent.pid)
        return server.driver.read(2.0)[1]

    result = free(Freeing(server.watcher._reader, read), items, 2.0, only_uid=bob.uid)

    assert [p.outcome for p in result.processes] == ["ended"]
    assert result.memory_before_bytes[uuids[3]] == 6 * GIB
    assert result.memory_after_bytes[uuids[3]] == GIB
    for pid in (job.pid, in_shell, inside, beside.pid, odd.pid, flight.pid):
        assert _alive(pid), f"{pid} was ended too"
    assert os.listdir(f"/proc/{headless.pid}/task")


def test_roost_s_own_helper_is_nobody_s_use(server: Server, people: dict[str, rig.Account]) -> None:
    """A real driver makes every NVML program open the devices: Roost's own does not count."""
    helper = server.driver.helper_pid
    assert helper is not None
    process, _ = server.processes.run(HOLD, server.node(0), uid=people["bob"].uid)
    server.watcher.set_own(frozenset({process.pid}))

    answer = server.look(scan=True)

    assert server.watcher._own == {os.getpid(), helper, process.pid}
    assert not answer.gpus[0].holders


def test_a_driver_that_lists_a_pid_on_several_gpus_counts_it_on_each(
    server: Server, people: dict[str, rig.Account]
) -> None:
    process, _ = server.processes.run(HOLD, server.node(0), server.node(1), uid=people["bob"].uid)
    server.put(0, process.pid, GIB)
    server.put(1, process.pid, 2 * GIB)
    server.put(1, 0, GIB)  # pid 0, as NVML has been seen to say

    answer = server.look()

    assert holders(answer, 0)[process.pid].memory_bytes == GIB
    assert holders(answer, 1)[process.pid].memory_bytes == 2 * GIB
    assert list(holders(answer, 1)) == [process.pid]


def _child_of(pid: int) -> int:
    def child() -> int | None:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return int(text[0]) if text else None

    found = rig.wait_for(child, f"a child of {pid}", 5.0, 0.01)
    assert isinstance(found, int)
    return found


def _start_ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
