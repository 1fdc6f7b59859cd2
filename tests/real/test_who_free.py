"""`free` ends exactly the processes of one GPU: planned, checked again, ended, and nobody else."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from roost.core.attribution import FreePlan, Known, free_plan
from roost.core.observation import GpuProcess
from roost.machine.free import Freeing, free
from roost.machine.observer import Observer
from roost.machine.proc.read import read_stat
from roost.wire.messages import FreeItem, FreeResult
from tests.real import rig
from tests.real.who_rig import (
    FORK_AND_WAIT,
    GIB,
    HOLD,
    ZOMBIE_LEADER,
    Processes,
    ScriptedGpus,
    Seen,
    observer,
    stand_in_nodes,
)

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts and device nodes"),
]

DEAF = HOLD.replace("print(", "import signal; signal.signal(15, signal.SIG_IGN)\nprint(")


@pytest.fixture(scope="module")
def people() -> Iterator[dict[str, rig.Account]]:
    with rig.accounts("alice", "bob", prefix="rfree-") as made:
        yield {account.name.removeprefix("rfree-"): account for account in made}


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
def watcher(gpus: ScriptedGpus, devices: Path) -> Iterator[Observer]:
    made = observer(gpus, devices)
    yield made
    made.close()


def plan_of(
    watcher: Observer, index: int, caller: str = "root", operator: bool = True, **more: object
) -> FreePlan:
    seen = Seen(watcher, Known())
    answer = seen.look(scan=True)
    assert seen.observation is not None
    uuid = seen.observation.gpus[index].uuid
    return free_plan(seen.observation, answer, uuid, caller, operator, **more)  # type: ignore[arg-type]


def items_of(plan: FreePlan) -> list[FreeItem]:
    return [
        FreeItem(p.pid, p.start_ticks, plan.gpu_uuid, p.evidence[0].code) for p in plan.processes
    ]


def carry_out(
    watcher: Observer,
    gpus: ScriptedGpus,
    items: list[FreeItem],
    grace_s: float = 2.0,
    only_uid: int | None = None,
) -> FreeResult:
    def read() -> tuple:  # type: ignore[type-arg]
        # The driver's lists follow the processes, as the real one's do.
        for index, gpu in enumerate(gpus.gpus):
            alive = tuple(p for p in gpu.processes if _runs(p.pid))
            used = sum(p.memory_bytes or 0 for p in alive)
            gpus.gpus[index] = replace(gpu, processes=alive, memory_used_bytes=used)
        return tuple(gpus.gpus)

    means = Freeing(reader=watcher._reader, read_gpus=read, memory_wait_s=3.0)
    return free(means, items, grace_s, only_uid)


def test_exactly_one_gpu_is_freed(people, devices, processes, gpus, watcher) -> None:
    alice, bob = people["alice"], people["bob"]
    first, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=alice.uid)
    second, _ = processes.run(HOLD, str(devices / "nvidia1"), uid=alice.uid)
    both, _ = processes.run(HOLD, str(devices / "nvidia0"), str(devices / "nvidia2"), uid=bob.uid)
    gpus.say(0, 3 * GIB, GpuProcess(first.pid, GIB), GpuProcess(both.pid, 2 * GIB))
    gpus.say(1, GIB, GpuProcess(second.pid, GIB))
    gpus.say(2, GIB, GpuProcess(both.pid, GIB))

    plan = plan_of(watcher, 0)
    assert {p.pid for p in plan.processes} == {first.pid, both.pid}
    assert {p.pid: p.also_gpus for p in plan.processes}[both.pid] == (2,)
    assert {p.pid: p.evidence[0].code for p in plan.processes}[first.pid] == "free_fd"
    result = carry_out(watcher, gpus, items_of(plan))

    assert {p.pid: p.outcome for p in result.processes} == {first.pid: "ended", both.pid: "ended"}
    assert first.wait(1) == -signal.SIGTERM
    assert second.poll() is None
    assert result.memory_before_bytes == {plan.gpu_uuid: 3 * GIB}
    assert result.memory_after_bytes == {plan.gpu_uuid: 0}


def test_a_member_s_plan_holds_only_their_own(people, devices, processes, gpus, watcher) -> None:
    alice, bob = people["alice"], people["bob"]
    hers, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=alice.uid)
    his, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=bob.uid)
    gpus.say(0, 2 * GIB, GpuProcess(hers.pid, GIB), GpuProcess(his.pid, GIB))

    plan = plan_of(watcher, 0, caller=bob.name, operator=False)

    assert [p.pid for p in plan.processes] == [his.pid]
    assert [(left.pid, left.why.code) for left in plan.left] == [(hers.pid, "free_not_yours")]
    everyone = plan_of(watcher, 0)
    result = carry_out(watcher, gpus, items_of(everyone), only_uid=bob.uid)
    assert {p.pid: p.outcome for p in result.processes} == {hers.pid: "refused", his.pid: "ended"}
    assert hers.poll() is None


def test_one_person_s_can_be_chosen(people, devices, processes, gpus, watcher) -> None:
    alice, bob = people["alice"], people["bob"]
    hers, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=alice.uid)
    his, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=bob.uid)
    gpus.say(0, 2 * GIB, GpuProcess(hers.pid, GIB), GpuProcess(his.pid, GIB))

    plan = plan_of(watcher, 0, user=alice.name)

    assert [p.pid for p in plan.processes] == [hers.pid]
    assert not plan.left


def test_what_does_not_hear_sigterm_is_killed_after_the_grace(
    people, devices, processes, gpus, watcher
) -> None:
    process, _ = processes.run(DEAF, str(devices / "nvidia0"), uid=people["alice"].uid)
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))
    began = time.monotonic()

    result = carry_out(watcher, gpus, items_of(plan_of(watcher, 0)), grace_s=0.5)

    assert result.processes[0].outcome == "ended"
    assert process.wait(1) == -signal.SIGKILL
    assert time.monotonic() - began >= 0.5


def test_orphaned_workers_and_dead_main_threads_end(
    people, devices, processes, gpus, watcher
) -> None:
    parent, words = processes.run(FORK_AND_WAIT, str(devices / "nvidia3"), uid=people["bob"].uid)
    child = processes.also(int(words[2]))
    headless, _ = processes.run(ZOMBIE_LEADER, str(devices / "nvidia3"), uid=people["bob"].uid)
    rig.wait_for(lambda: read_stat(b"/proc", headless.pid).state == "Z", "its first thread ends")
    gpus.say(3, 3 * GIB, GpuProcess(parent.pid, 2 * GIB), GpuProcess(headless.pid, GIB))
    seen = Seen(watcher)
    seen.look()
    parent.kill()
    parent.wait()

    plan = plan_of(watcher, 3)
    assert {p.pid for p in plan.processes} == {child, headless.pid}
    evidence = {p.pid: p.evidence[0].code for p in plan.processes}
    assert evidence[headless.pid] == "free_task_fd"
    result = carry_out(watcher, gpus, items_of(plan), grace_s=0.5)

    assert {p.outcome for p in result.processes} == {"ended"}
    assert not _runs(child)


def test_the_forks_of_a_living_holder_end_with_it(
    people, devices, processes, gpus, watcher
) -> None:
    parent, words = processes.run(FORK_AND_WAIT, str(devices / "nvidia3"), uid=people["bob"].uid)
    child = processes.also(int(words[2]))
    gpus.say(3, GIB, GpuProcess(parent.pid, GIB))

    plan = plan_of(watcher, 3)

    assert {p.pid for p in plan.processes} == {parent.pid, child}
    carry_out(watcher, gpus, items_of(plan))
    assert not _runs(child)


def test_a_stopped_process_can_still_say_goodbye(people, devices, processes, gpus, watcher) -> None:
    process, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=people["alice"].uid)
    os.kill(process.pid, signal.SIGSTOP)
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))

    result = carry_out(watcher, gpus, items_of(plan_of(watcher, 0)), grace_s=5.0)

    assert result.processes[0].outcome == "ended"
    assert process.wait(1) == -signal.SIGTERM


def test_a_process_that_took_the_number_is_left_alone(
    people, devices, processes, gpus, watcher
) -> None:
    process, _ = processes.run(HOLD, str(devices / "nvidia0"), uid=people["alice"].uid)
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))
    items = items_of(plan_of(watcher, 0))
    wrong = [FreeItem(i.pid, i.start_ticks - 1, i.gpu_uuid, i.evidence) for i in items]

    result = carry_out(watcher, gpus, wrong)

    assert result.processes[0].outcome == "gone"
    assert process.poll() is None


def test_who_let_go_meanwhile_is_left_alone(people, devices, processes, gpus, watcher) -> None:
    says = 'lambda *a: (os.close(fds[0]), print("gone", flush=True))'
    letting_go = HOLD.replace("print(", f"import signal; signal.signal(10, {says})\nprint(")
    process, _ = processes.run(letting_go, str(devices / "nvidia0"), uid=people["alice"].uid)
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))
    items = items_of(plan_of(watcher, 0))
    os.kill(process.pid, signal.SIGUSR1)
    assert process.stdout is not None
    assert process.stdout.readline() == b"gone\n"

    result = carry_out(watcher, gpus, items)

    assert result.processes[0].outcome == "refused"
    assert process.poll() is None


def test_who_lets_go_in_the_grace_is_spared_the_kill(
    people, devices, processes, gpus, watcher
) -> None:
    saving = HOLD.replace(
        "print(", "import signal; signal.signal(15, lambda *a: os.close(fds[0]))\nprint("
    )
    process, _ = processes.run(saving, str(devices / "nvidia0"), uid=people["alice"].uid)
    gpus.say(0, GIB, GpuProcess(process.pid, GIB))

    result = carry_out(watcher, gpus, items_of(plan_of(watcher, 0)), grace_s=0.5)

    assert result.processes[0].outcome == "ended"
    assert process.poll() is None


def test_the_daemon_and_init_are_never_ended(devices, gpus, watcher) -> None:
    uuid = gpus.gpus[0].uuid
    items = [FreeItem(1, 0, uuid, ""), FreeItem(os.getpid(), 0, uuid, "")]

    result = carry_out(watcher, gpus, items)

    assert {p.outcome for p in result.processes} == {"refused"}


def test_a_frozen_cgroup_is_said(people, devices, processes, gpus, watcher) -> None:
    root = Path("/sys/fs/cgroup/freezer")
    if not root.is_dir():
        root = Path("/sys/fs/cgroup/unified")
        root = root if root.is_dir() else Path("/sys/fs/cgroup")
    group = root / f"roost-free-test-{os.getpid()}"
    process, _ = processes.run(DEAF, str(devices / "nvidia0"), uid=people["alice"].uid)
    group.mkdir()
    try:
        (group / "cgroup.procs").write_text(str(process.pid))
        v1 = (group / "freezer.state").exists()
        state = group / ("freezer.state" if v1 else "cgroup.freeze")
        state.write_text("FROZEN" if v1 else "1")
        time.sleep(0.1)
        gpus.say(0, GIB, GpuProcess(process.pid, GIB))
        plan = plan_of(watcher, 0)
        thaw = threading.Timer(1.0, state.write_text, ("THAWED" if v1 else "0",))
        thaw.start()

        result = carry_out(watcher, gpus, items_of(plan), grace_s=0.2)

        thaw.join()
        assert result.processes[0].outcome == "ended"
    finally:
        process.kill()
        process.wait()
        for _ in range(100):
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return False
    return text[0] != "Z" or int(text[17]) > 1
