"""Nothing stalls the look: dead file systems, slow reads, thousands of processes, looks refused."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from roost.core.attribution import attribute
from roost.core.attribution.model import Known, Memory
from roost.core.observation import GpuProcess
from roost.machine.guard import Guard
from roost.machine.proc.devices import DeviceMatcher
from roost.machine.proc.facts import Reader, read_process
from tests.real import rig
from tests.real.hung_mount import hung_mount
from tests.real.who_rig import (
    GIB,
    HOLD,
    PYTHON,
    Processes,
    ScriptedGpus,
    Seen,
    holders,
    nodes_of,
    observer,
    stand_in_nodes,
)

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts and device nodes"),
]


@pytest.fixture(scope="module")
def alice() -> Iterator[rig.Account]:
    with rig.accounts("alice", prefix="rhard-") as made:
        yield made[0]


@pytest.fixture
def devices() -> Iterator[Path]:
    with stand_in_nodes() as directory:
        yield directory


@pytest.fixture
def processes() -> Iterator[Processes]:
    started = Processes()
    yield started
    started.close()


def test_files_on_a_dead_mount_stall_nothing(
    alice: rig.Account, devices: Path, processes: Processes
) -> None:
    gpus = ScriptedGpus()
    watcher = observer(gpus, devices)
    with hung_mount() as (mount, quiet):
        script = HOLD.replace("print(", "os.chdir(os.path.dirname(sys.argv[1]))\nprint(")
        process, _ = processes.run(
            script, str(mount / "nvidia0"), str(devices / "nvidia0"), uid=alice.uid
        )
        quiet.touch()
        stat = subprocess.Popen([PYTHON, "-c", f"import os; os.stat({str(mount / 'nvidia0')!r})"])
        time.sleep(0.5)
        assert stat.poll() is None, "the mount is not dead: the test shows nothing"

        began = time.monotonic()
        gpus.say(0, GIB, GpuProcess(process.pid, GIB))
        gpus.say(1, 2 * GIB, GpuProcess(process.pid, 2 * GIB))  # not so: looked for, deeply
        answer = Seen(watcher).look(scan=True)
        took = time.monotonic() - began

        stat.kill()
    stat.wait()
    watcher.close()
    assert took < 4.0
    holder = holders(answer, 0)[process.pid]
    assert holder.user == alice.name
    assert not answer.gpus[1].holders


def test_a_command_line_that_cannot_be_read_costs_half_a_second_and_no_more(
    tmp_path: Path, devices: Path
) -> None:
    """A /proc of plain files whose cmdline is a FIFO that nobody writes: opening it hangs."""
    home = tmp_path / "4711"
    (home / "fd").mkdir(parents=True)
    (home / "task").mkdir()
    (home / "ns").mkdir()
    own = Path("/proc/self/stat").read_text()
    (home / "stat").write_text("4711" + own[own.index(" ") :])
    (home / "status").write_text("Name:\tx\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t4711\n")
    (home / "cgroup").write_text("0::/docker/" + "ab" * 32 + "\n")
    os.mkfifo(home / "cmdline")
    (home / "fd" / "3").symlink_to(devices / "nvidia2")
    guard = Guard("test")
    reader = Reader(
        DeviceMatcher(nodes_of(devices)), lambda uid: None, guard, proc=os.fsencode(tmp_path)
    )

    began = time.monotonic()
    facts = read_process(reader, 4711, 0.0)

    assert time.monotonic() - began < 1.5
    assert guard.hanging == 1
    assert facts.cmdline == ()
    assert facts.uid == 1000
    assert facts.place.container_id == "ab" * 32
    assert [use.minor for use in facts.devices] == [2]
    began = time.monotonic()
    assert read_process(reader, 4711, 0.0).start_ticks == facts.start_ticks
    assert time.monotonic() - began < 0.2, "who hung once is not asked again"
    assert guard.hanging == 1
    os.close(os.open(home / "cmdline", os.O_WRONLY | os.O_NONBLOCK))  # lets the thread go


@pytest.mark.slow
def test_five_thousand_processes(alice: rig.Account, devices: Path, processes: Processes) -> None:
    crowd = subprocess.Popen(
        [
            PYTHON,
            "-c",
            "import os, signal, time\n"
            "pids = [os.posix_spawn('/bin/sleep', ['sleep', '3600'], {}) for _ in range(5000)]\n"
            "print('ready', flush=True)\n"
            "try: input()\n"
            "finally:\n"
            " for pid in pids: os.kill(pid, 9)\n",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert crowd.stdout is not None
        assert crowd.stdout.readline() == b"ready\n"
        process, _ = processes.run(HOLD, str(devices / "nvidia5"), uid=alice.uid)
        silent, _ = processes.run(HOLD, str(devices / "nvidia6"), uid=alice.uid)
        gpus = ScriptedGpus()
        gpus.say(5, GIB, GpuProcess(process.pid, GIB))
        watcher = observer(gpus, devices)
        seen = Seen(watcher)
        seen.look()
        cpu = time.process_time()
        for _ in range(20):
            answer = seen.look()
        each = (time.process_time() - cpu) / 20
        assert each < 0.05, f"a sample costs {each * 1000:.0f} ms"
        assert holders(answer, 5)[process.pid].user == alice.name
        began = time.monotonic()
        answer = seen.look(scan=True)
        assert time.monotonic() - began < 10
        assert silent.pid in holders(answer, 6)
        watcher.close()
    finally:
        crowd.communicate(b"\n", timeout=60)


def test_the_sweep_passes_every_process_within_its_time(
    alice: rig.Account, devices: Path, processes: Processes
) -> None:
    gpus = ScriptedGpus()
    process, _ = processes.run(HOLD, str(devices / "nvidia6"), uid=alice.uid)
    watcher = observer(gpus, devices, sweep_s=10.0)
    watcher._watch.close()  # no events: the sweep alone is to find it
    seen = Seen(watcher)
    found = [process.pid in holders(seen.look(), 6) for _ in range(13)]
    watcher.close()
    assert any(found)


def test_an_agent_without_rights_says_that_it_cannot_see(
    alice: rig.Account, devices: Path, processes: Processes
) -> None:
    """As an ordinary account: another person's process is attributed by the driver's word."""
    process, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=0)

    def look() -> object:
        gpus = ScriptedGpus()
        gpus.say(0, GIB, GpuProcess(process.pid, GIB))
        seen = Seen(observer(gpus, devices))
        answer = seen.look(scan=True)
        assert seen.observation is not None
        return [(h.pid, h.user) for h in answer.gpus[0].holders], seen.observation.can_see_all

    assert _as(alice, look) == f"([({process.pid}, 'root')], False)"


def test_behind_hidepid_a_process_is_there_and_its_owner_unknown(
    alice: rig.Account, devices: Path, processes: Processes
) -> None:
    process, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=0)

    def hide() -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.unshare(0x20000) == 0  # CLONE_NEWNS
        assert libc.mount(b"none", b"/", None, 0x44000, None) == 0  # MS_REC | MS_PRIVATE
        assert libc.mount(b"proc", b"/proc", b"proc", 0, b"hidepid=2") == 0

    def look() -> object:
        assert not os.path.exists(f"/proc/{process.pid}"), "it is not hidden"
        gpus = ScriptedGpus()
        gpus.say(0, GIB, GpuProcess(process.pid, GIB))
        seen = Seen(observer(gpus, devices))
        seen.look()
        answer = seen.look()
        assert seen.observation is not None
        found = [(h.pid, h.user, h.memory_bytes) for h in answer.gpus[0].holders]
        return found, seen.observation.can_see_all

    assert _as(alice, look, hide) == f"([({process.pid}, None, {GIB})], False)"


def test_an_agent_in_a_namespace_of_its_own_says_so(devices: Path, processes: Processes) -> None:
    """Outside, a process holds the GPU; the driver does not list it for callers inside."""
    processes.run(HOLD, str(devices / "nvidia0"))
    script = (
        "import sys\n"
        "from tests.real.who_rig import *\n"
        "gpus = ScriptedGpus()\n"
        "gpus.say(0, 4 * GIB)\n"
        "seen = Seen(observer(gpus, Path(sys.argv[1])))\n"
        "answer = seen.look(scan=True)\n"
        "print(seen.observation.init_pid_namespace, answer.gpus[0].rest.finding.reason.value)\n"
    )
    inside = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", script]
    result = subprocess.run(
        [*inside, str(devices)],
        env=os.environ | {"PYTHONPATH": f"{rig.SOURCE}:{rig.SOURCE.parent}"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.stdout.split() == ["False", "other_pid_namespace"], result.stderr


def test_root_s_process_is_whose_login_it_is(
    alice: rig.Account, devices: Path, processes: Processes
) -> None:
    """What sudo leaves: uid 0, and the audit login of the person."""
    login = f"open('/proc/self/loginuid', 'w').write('{alice.uid}')\nprint("
    process, _ = processes.run(HOLD.replace("print(", login), str(devices / "nvidia0"))
    gpus = ScriptedGpus()
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))
    watcher = observer(gpus, devices)
    holder = holders(Seen(watcher).look(), 0)[process.pid]
    watcher.close()
    assert (holder.user, holder.uid, holder.owner_sure.value) == (alice.name, 0, "likely")


def test_a_machine_of_another_boot_starts_anew(devices: Path, processes: Processes) -> None:
    process, _ = processes.run(HOLD, str(devices / "nvidia0"))
    gpus = ScriptedGpus()
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))
    watcher = observer(gpus, devices)
    observation = watcher.sample(time.time())
    watcher.close()
    assert observation.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    _, memory = attribute(observation, Known(), Memory(boot_id="before", server="test"))
    assert memory.boot_id == observation.boot_id


def test_thousands_of_descriptors_neither_stall_the_look_nor_hide_a_holder(
    alice: rig.Account, devices: Path, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost.machine.proc.holding.MOST_DESCRIPTORS", 500)
    hiding = HOLD.replace("fds =", "many = [os.open('/dev/null', 0) for _ in range(900)]\nfds =")
    process, _ = processes.run(hiding, str(devices / "nvidia0"), uid=alice.uid)
    gpus = ScriptedGpus()
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))
    watcher = observer(gpus, devices)
    answer = Seen(watcher).look(scan=True)
    watcher.close()
    assert holders(answer, 0)[process.pid].user == alice.name


def test_processes_that_come_and_go_all_the_time_do_no_harm(
    alice: rig.Account, devices: Path
) -> None:
    storm = subprocess.Popen(
        [
            "/bin/sh",
            "-c",
            f"while :; do for n in 0 1 2 3; do (exec 3<{devices}/nvidia$n; exec /bin/true) & done;"
            " wait; done",
        ],
        user=alice.uid,
        group=alice.gid,
        extra_groups=[],
        start_new_session=True,
    )
    gpus = ScriptedGpus()
    watcher = observer(gpus, devices)
    seen = Seen(watcher)
    try:
        until = time.monotonic() + 3.0
        number = 0
        while time.monotonic() < until:
            newest = max(int(name) for name in os.listdir("/proc") if name.isdigit())
            claims = [GpuProcess(pid, GIB) for pid in range(max(2, newest - 6), newest + 3)]
            gpus.say(number % 4, 9 * GIB, *claims)
            seen.look(scan=number % 5 == 0)
            number += 1
        assert number > 10
    finally:
        os.killpg(storm.pid, signal.SIGKILL)
        storm.wait()
        watcher.close()


def _as(
    account: rig.Account, call: Callable[[], object], before: Callable[[], None] | None = None
) -> str:
    """repr of what `call` returns in a forked child that has become `account`; `before` is
    called while it still is root."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if before is not None:
                before()
            os.setgroups([])
            os.setgid(account.gid)
            os.setuid(account.uid)
            os.write(writing, repr(call()).encode())
        except BaseException as error:  # noqa: BLE001 - told to the parent, as its result
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        text = file.read().decode()
    os.waitpid(child, 0)
    return text
