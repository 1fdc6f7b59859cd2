"""Real processes of real accounts, as they really come: who holds each GPU is named rightly."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.core.attribution import Known, Reason, Sure
from roost.core.observation import GpuProcess
from tests.real import rig
from tests.real.who_rig import (
    FORK_AND_WAIT,
    GIB,
    HOLD,
    IN_D_STATE,
    IN_FLIGHT,
    MAP_ONLY,
    ZOMBIE_LEADER,
    Processes,
    ScriptedGpus,
    Seen,
    holders,
    observer,
    stand_in_nodes,
)

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts and device nodes"),
]


@pytest.fixture(scope="module")
def people() -> Iterator[dict[str, rig.Account]]:
    with rig.accounts("alice", "bob", "carol", prefix="rwho-") as made:
        yield {account.name.removeprefix("rwho-"): account for account in made}


@pytest.fixture
def devices() -> Iterator[Path]:
    with stand_in_nodes() as directory:
        yield directory


@pytest.fixture
def processes() -> Iterator[Processes]:
    started = Processes()
    yield started
    started.close()


@pytest.fixture
def gpus() -> ScriptedGpus:
    return ScriptedGpus()


@pytest.fixture
def seen(gpus: ScriptedGpus, devices: Path) -> Iterator[Seen]:
    watcher = observer(gpus, devices)
    yield Seen(watcher, Known(groups={"rwho-alice": "vision"}, default_group="lab"))
    watcher.close()


def test_a_process_from_a_shell_is_its_account_s(people, devices, processes, gpus, seen) -> None:
    alice = people["alice"]
    process, _ = processes.run(HOLD, str(devices / "nvidia2"), uid=alice.uid)
    gpus.say(2, 3 * GIB, GpuProcess(process.pid, 3 * GIB, sm_percent=7))

    holder = holders(seen.look(), 2)[process.pid]

    assert (holder.user, holder.uid, holder.group) == (alice.name, alice.uid, "vision")
    assert holder.memory_bytes == 3 * GIB
    assert holder.finding is None
    assert not holder.right.lawful
    assert holder.command.startswith("/usr/bin/python3 -c ")


def test_the_minor_number_counts_and_not_the_index(people, devices, processes) -> None:
    gpus = ScriptedGpus(count=3, minors=(2, 0, 1))
    watcher = observer(gpus, devices)
    seen = Seen(watcher)
    process, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=people["bob"].uid)
    gpus.say(1, GIB)

    answer = seen.look(scan=True)
    watcher.close()

    assert process.pid in holders(answer, 1)
    assert not answer.gpus[0].holders


def test_in_another_pid_namespace_the_machine_s_own_number_counts(
    people, devices, processes, gpus, seen
) -> None:
    process, words = processes.run(
        HOLD, str(devices / "nvidia1"), prefix=_own_namespace(people["bob"].uid)
    )
    assert words[1] == "1", "it is the first process of its namespace"
    inside = _child_of(process.pid)
    processes.also(inside)
    gpus.say(1, GIB, GpuProcess(inside, GIB))

    holder = holders(seen.look(), 1)[inside]

    assert holder.user == people["bob"].name
    assert seen.observation is not None
    facts = next(f for f in seen.observation.processes if f.pid == inside)
    assert facts.ns_pids == (inside, 1)


def test_a_pid_of_inside_a_namespace_is_traced_to_the_process(
    people, devices, processes, gpus, seen
) -> None:
    """Old drivers give the number that the process has in its container."""
    process, _ = processes.run(
        HOLD, str(devices / "nvidia1"), prefix=_own_namespace(people["bob"].uid)
    )
    inside = processes.also(_child_of(process.pid))
    gpus.say(1, GIB, GpuProcess(1, GIB))

    holder = holders(seen.look(scan=True), 1)[inside]

    assert holder.user == people["bob"].name
    assert holder.memory_bytes == GIB
    assert holder.finding is not None
    assert holder.finding.reason is Reason.OTHER_PID_NAMESPACE
    assert holder.finding.sure is Sure.LIKELY


def test_the_worker_of_a_dead_parent_is_named_with_its_parent(
    people, devices, processes, gpus, seen
) -> None:
    carol = people["carol"]
    parent, words = processes.run(FORK_AND_WAIT, str(devices / "nvidia3"), uid=carol.uid)
    child = processes.also(int(words[2]))
    gpus.say(3, 5 * GIB, GpuProcess(parent.pid, 5 * GIB))
    before = holders(seen.look(), 3)
    assert list(before) == [parent.pid]

    parent.kill()
    parent.wait()
    answer = seen.look()  # the driver goes on to say the dead parent's number
    assert parent.pid not in holders(answer, 3)
    holder = holders(answer, 3)[child]

    assert holder.user == carol.name
    assert holder.memory_bytes == 5 * GIB
    assert holder.finding is not None
    assert holder.finding.reason is Reason.WORKER_OF_DEAD_PARENT
    assert holder.finding.sure is Sure.CERTAIN
    assert ("pid", parent.pid) in holder.finding.sign.values


def test_a_worker_whose_parent_died_before_roost_started(
    people, devices, processes, gpus, seen
) -> None:
    parent, words = processes.run(FORK_AND_WAIT, str(devices / "nvidia3"), uid=people["carol"].uid)
    child = processes.also(int(words[2]))
    parent.kill()
    parent.wait()
    gpus.say(3, 5 * GIB, GpuProcess(parent.pid, 5 * GIB))

    holder = holders(seen.look(scan=True), 3)[child]

    assert holder.user == people["carol"].name
    assert holder.finding is not None
    assert holder.finding.reason is Reason.WORKER_OF_DEAD_PARENT


def test_an_unreaped_parent_owns_nothing_any_more(people, devices, processes, gpus, seen) -> None:
    parent, words = processes.run(FORK_AND_WAIT, str(devices / "nvidia3"), uid=people["carol"].uid)
    child = processes.also(int(words[2]))
    gpus.say(3, 5 * GIB, GpuProcess(parent.pid, 5 * GIB))
    seen.look()
    os.kill(parent.pid, signal.SIGKILL)
    _wait_for_state(parent.pid, "Z")

    answer = seen.look()

    assert list(holders(answer, 3)) == [child]
    assert holders(answer, 3)[child].memory_bytes == 5 * GIB


def test_an_innocent_process_with_a_dead_one_s_number_gets_nothing(
    people, devices, processes, gpus, seen
) -> None:
    # The number of a session's or group's first process stays taken while that has members.
    parent, words = processes.run(
        FORK_AND_WAIT, str(devices / "nvidia3"), uid=people["carol"].uid, new_session=False
    )
    child = processes.also(int(words[2]))
    gpus.say(3, 5 * GIB, GpuProcess(parent.pid, 5 * GIB))
    seen.look()
    parent.kill()
    parent.wait()
    innocent = _process_with_number(processes, parent.pid, people["bob"].uid)

    answer = seen.look()
    found = holders(answer, 3)

    assert innocent not in found
    assert found[child].user == people["carol"].name
    assert found[child].memory_bytes == 5 * GIB
    assert found[child].finding is not None
    assert found[child].finding.sign.code == "sign_reused_pid"
    assert ("other", people["bob"].name) in found[child].finding.sign.values


def test_a_dead_main_thread_with_a_live_one_still_holds(
    people, devices, processes, gpus, seen
) -> None:
    process, _ = processes.run(ZOMBIE_LEADER, str(devices / "nvidia4"), uid=people["alice"].uid)
    _wait_for_state(process.pid, "Z")
    assert os.listdir(f"/proc/{process.pid}/fd") == []
    gpus.say(4, 2 * GIB, GpuProcess(process.pid, 2 * GIB))

    holder = holders(seen.look(), 4)[process.pid]

    assert holder.user == people["alice"].name
    assert holder.finding is not None
    assert holder.finding.reason is Reason.ZOMBIE_LEADER
    assert holder.finding.sure is Sure.CERTAIN


def test_names_of_any_bytes_are_shown_escaped(people, devices, processes, gpus, seen) -> None:
    script = HOLD.replace(
        "print(", 'open("/proc/self/comm", "wb").write(b"\\xff\\x1b[31m)\\n 9 (")\nprint('
    )
    process, _ = processes.run(
        script,
        str(devices / "nvidia5"),
        os.fsdecode(b"/dev/null"),
        uid=people["alice"].uid,
    )
    gpus.say(5, GIB, GpuProcess(process.pid, GIB))

    holder = holders(seen.look(), 5)[process.pid]

    assert holder.user == people["alice"].name
    assert seen.observation is not None
    facts = next(f for f in seen.observation.processes if f.pid == process.pid)
    assert facts.comm == "\\xff\\x1b[31m)\\n 9 ("
    assert holder.command.isprintable()


def test_a_process_gone_between_two_reads_is_no_error(
    people, devices, processes, gpus, seen
) -> None:
    process, _ = processes.run(HOLD, str(devices / "nvidia6"), uid=people["alice"].uid)
    gpus.say(6, GIB, GpuProcess(process.pid, GIB))
    seen.look()
    process.kill()
    process.wait()

    answer = seen.look()  # the driver still lists it

    assert not answer.gpus[6].holders
    rest = answer.gpus[6].rest
    assert rest is not None
    assert rest.finding.reason is Reason.JUST_EXITING
    gpus.say(6, 0)
    assert seen.look().gpus[6].rest is None


def test_a_descriptor_under_way_in_a_socket_is_found(
    people, devices, processes, gpus, seen
) -> None:
    process, _ = processes.run(IN_FLIGHT, str(devices / "nvidia7"), uid=people["bob"].uid)
    gpus.say(7, 4 * GIB)

    answer = seen.look(scan=True)
    rest = answer.gpus[7].rest

    assert not answer.gpus[7].holders
    assert rest is not None
    assert rest.finding.reason is Reason.FD_IN_FLIGHT
    assert [candidate.pid for candidate in rest.candidates] == [process.pid]


def test_a_mapping_without_a_descriptor_holds(people, devices, processes, gpus, seen) -> None:
    script = MAP_ONLY.replace("area = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE)", _RAW_MMAP)
    process, _ = processes.run(script, str(devices / "nvidia0"), uid=people["bob"].uid)
    gpus.say(0, 4 * GIB)

    holder = holders(seen.look(scan=True), 0)[process.pid]

    assert holder.user == people["bob"].name
    assert holder.memory_bytes == 4 * GIB


def test_a_stopped_process_is_said_to_be_stopped(people, devices, processes, gpus, seen) -> None:
    process, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=people["bob"].uid)
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))
    seen.look()
    os.kill(process.pid, signal.SIGSTOP)
    _wait_for_state(process.pid, "T")

    finding = holders(seen.look(), 0)[process.pid].finding

    assert finding is not None
    assert finding.reason is Reason.STOPPED


def test_a_process_that_hangs_in_the_kernel_is_named_with_the_place(
    people, devices, processes, gpus, seen
) -> None:
    process, _ = processes.run(IN_D_STATE, str(devices / "nvidia0"), uid=people["bob"].uid)
    processes.also(_child_of(process.pid))  # before, it may be in D for a moment for other causes
    _wait_for_state(process.pid, "D")
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))

    finding = holders(seen.look(), 0)[process.pid].finding

    assert finding is not None
    assert finding.reason is Reason.UNINTERRUPTIBLE
    place = dict(finding.sign.values)["wchan"]
    assert place != "?"


def test_forks_of_a_living_holder_are_told_under_it(people, devices, processes, gpus, seen) -> None:
    parent, words = processes.run(FORK_AND_WAIT, str(devices / "nvidia3"), uid=people["carol"].uid)
    child = processes.also(int(words[2]))
    gpus.say(3, GIB, GpuProcess(parent.pid, GIB))

    found = holders(seen.look(scan=True), 3)

    assert list(found) == [parent.pid]
    assert [worker.pid for worker in found[parent.pid].workers] == [child]


def test_memory_of_nobody_is_unexplained_with_every_check(gpus, seen) -> None:
    gpus.say(0, 4 * GIB)

    rest = seen.look(scan=True).gpus[0].rest

    assert rest is not None
    assert rest.finding.reason is Reason.UNEXPLAINED
    assert [check.reason for check in rest.checks] == list(Reason)[:-1]
    assert not any(check.found for check in rest.checks)


def test_a_device_opened_in_silence_is_known_by_the_next_sample(
    people, devices, processes, gpus, seen
) -> None:
    """inotify on the device files: no list of the driver, no memory, and still seen at once."""
    seen.look()
    process, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=people["bob"].uid)

    found = holders(seen.look(after_s=3.0), 0)

    assert process.pid in found
    finding = found[process.pid].finding
    assert finding is not None
    assert finding.reason is Reason.NO_CONTEXT_CLIENT


def test_memory_without_an_owner_is_searched_for_after_three_seconds(
    people, devices, processes, gpus
) -> None:
    seen = Seen(observer(gpus, devices, sweep_s=1e9))  # the sweep will not find it
    process, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=people["bob"].uid)
    gpus.say(0, 4 * GIB)
    seen.watcher._watch.close()  # no events: the memory alone is the evidence
    assert not holders(seen.look(), 0)

    for _ in range(8):
        found = holders(seen.look(), 0)
        if process.pid in found:
            break
    else:
        raise AssertionError("never searched for")

    seen.watcher.close()
    assert found[process.pid].memory_bytes == 4 * GIB


def test_tmux_and_kernel_and_directory_are_read(people, devices, processes, gpus, seen) -> None:
    process, _ = processes.run(
        HOLD.replace("sys.argv[1:]", "sys.argv[1:2]"),
        str(devices / "nvidia0"),
        "ipykernel_launcher",
        "/home/x/kernel-1f2e3d4c.json",
        uid=people["bob"].uid,
        env={"TMUX": "/tmp/tmux-1001/default,77,3"},
        cwd="/usr",
    )
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))
    seen.look()

    assert seen.observation is not None
    facts = next(f for f in seen.observation.processes if f.pid == process.pid)
    assert facts.place.tmux == "default:3"
    assert facts.place.jupyter_kernel == "1f2e3d4c"
    assert facts.cwd == "/usr"


_RAW_MMAP = """import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                      ctypes.c_int, ctypes.c_long]
assert libc.mmap(None, 4096, 3, 2, fd, 0) not in (None, 2**64 - 1)"""


def _own_namespace(uid: int) -> tuple[str, ...]:
    unshare = ("unshare", "--pid", "--fork", "--kill-child")
    return (*unshare, "setpriv", "--reuid", str(uid), "--clear-groups")


def _child_of(pid: int) -> int:
    for _ in range(200):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if children:
            return int(children[0])
        time.sleep(0.01)
    raise AssertionError(f"{pid} has no child")


def _wait_for_state(pid: int, state: str) -> None:
    for _ in range(300):
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        if text.rpartition(")")[2].split()[0] == state:
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} did not come to state {state}")


def _process_with_number(processes: Processes, number: int, uid: int) -> int:
    """A new process with that very pid: the kernel gives out the one after ns_last_pid."""
    for _ in range(200):
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(number - 1))
        process = subprocess.Popen(["/bin/sleep", "3600"], user=uid, group=uid)
        processes._started.append(process)
        if process.pid == number:
            return number
        process.kill()
    raise AssertionError(f"pid {number} could not be had")
