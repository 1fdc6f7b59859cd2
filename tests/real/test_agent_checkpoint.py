"""Jobs suspended with their GPU memory moved into host memory, by a stand-in for cuda-checkpoint.

No real GPU and no real cuda-checkpoint has seen this: the stand-in keeps the documented command
line, states and failures. Everything else is real.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from roost.core.model import EndReason
from roost.core.text.catalogue import say
from roost.wire.messages import (
    AttemptEnd,
    AttemptState,
    Done,
    Observed,
    ResumeJob,
    SuspendJob,
)
from tests.real.agent_rig import Agent, agent
from tests.real.fakenvml.state import FakeProcess, FakeState, environment
from tests.real.rig import Account, accounts, wait_for
from tests.real.test_agent_suspend import (
    COUNT,
    V1,
    assert_running,
    assert_still,
    in_folder,
    is_listed,
    resume,
    start,
    stop,
    supervisor_of,
)
from tests.real.who_rig import GIB, stand_in_nodes

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]

STAND_IN = Path(__file__).with_name("cuda_checkpoint_stand_in.py")
# Two processes that use CUDA, and a worker that has only inherited an open GPU.
CUDA = (
    COUNT
    + """
import glob
def heard(number, frame):
    open("saved", "w").close()
    os._exit(7)
signal.signal(signal.SIGTERM, heard)
def cuda():
    for name in glob.glob("/dev/nvidia[0-9]*"):
        os.open(name, os.O_RDONLY)
    return os.open("/dev/nvidia-uvm", os.O_RDONLY)
uvm = cuda()
if os.fork() == 0:
    count("other")
if os.fork() == 0:
    os.close(uvm)
    count("worker")
count("main")
"""
)
# Lets go of what it inherited, as a program that is executed does, and comes to CUDA later.
NEWCOMER = """
if os.fork() == 0:
    os.closerange(3, 20)
    while not os.path.exists("go"):
        time.sleep(0.01)
    cuda()
    count("late")
count("main")
"""
NAMES = ("main", "other", "worker")


@dataclass
class Rig:
    """An agent on fake GPUs, and the stand-in that it uses. `how` is what goes wrong with it."""

    agent: Agent
    folder: Path
    gpus: FakeState
    uuid: str

    def how(self, **behaviour: str) -> None:
        (self.folder / "behaviour.json").write_text(json.dumps(behaviour))

    def how_of(self, behaviour: dict[str, str]) -> None:
        (self.folder / "behaviour.json").write_text(json.dumps(behaviour))

    def states(self) -> dict[int, str]:
        found = {int(path.name): path.read_text() for path in (self.folder / "states").iterdir()}
        return {pid: state for pid, state in found.items() if state != "running"}

    def calls(self) -> list[dict[str, Any]]:
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def actions(self) -> list[str]:
        return [call["action"] for call in self.calls() if call["action"] != "get-state"]

    def forget(self) -> None:
        (self.folder / "calls").unlink(missing_ok=True)
        for path in (self.folder / "states").iterdir():
            path.unlink()
        self.how()
        self.say()

    def say(self, *processes: FakeProcess) -> None:
        self.gpus.gpus[0].processes = list(processes)
        self.gpus.write(self.folder / "nvml")


@pytest.fixture(scope="module")
def ann() -> Iterator[Account]:
    with accounts("ann", prefix="rac-") as (made,):
        yield made


@pytest.fixture(scope="module", params=["v2", "v1"])
def module_rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    with tempfile.TemporaryDirectory(prefix="roost-rac-") as name, stand_in_nodes(2) as devices:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "states").mkdir()
        shutil.copy(STAND_IN, folder / "cuda-checkpoint")
        (folder / "cuda-checkpoint").chmod(0o755)
        gpus = FakeState.of("A100-80", 2)
        gpus.version = "570.86.10"
        gpus.write(folder / "nvml")
        variables = environment(folder / "nvml") | {
            "ROOST_DEVICE_DIR": str(devices),
            "ROOST_DEVICE_MAJORS": "1",
            "ROOST_CUDA_CHECKPOINT": str(folder / "cuda-checkpoint"),
            "ROOST_CUDA_CHECKPOINT_S": "2",
            **(V1 if request.param == "v1" else {}),
        }
        with agent(variables, arguments=()) as running:
            uuid = wait_for(running.uuids, "GPUs are seen")[0]
            yield Rig(running, folder, gpus, uuid)


@pytest.fixture
def rig(module_rig: Rig) -> Iterator[Rig]:
    module_rig.forget()
    yield module_rig
    module_rig.forget()


def launch(
    rig: Rig, ann: Account, name: str, script: str = CUDA, **more: object
) -> tuple[int, Path]:
    job, folder = start(rig.agent, ann, script, name, uuids=(rig.uuid,), **more)
    wait_for(lambda: all((folder / n).exists() for n in NAMES), "all of it counts")
    return job, folder


def checkpoint(rig: Rig, job: int) -> AttemptState:
    """The state that answers."""
    wire = rig.agent.wire
    assert wire is not None
    wire.states.pop((job, 1), None)
    assert isinstance(wire.ask(SuspendJob(job, 1, how="checkpoint")), Done)
    wait_for(lambda: wire.hear(0.05) or wire.states.get((job, 1)), "an answer")
    return wire.states[job, 1]


def uses_cuda(pid: int) -> bool:
    names = os.listdir(f"/proc/{pid}/fd")
    return any(os.readlink(f"/proc/{pid}/fd/{n}").endswith("nvidia-uvm") for n in names)


def tools_running(rig: Rig) -> list[int]:
    """Processes of the stand-in that are still at work."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if str(rig.folder).encode() in Path(f"/proc/{entry}/cmdline").read_bytes():
                found.append(int(entry))
    return found


def ask_to_move(rig: Rig, job: int, until: str) -> None:
    """Asks, and returns once the stand-in is called for `until`."""
    assert rig.agent.wire is not None
    rig.agent.wire.send(SuspendJob(job, 1, how="checkpoint"))
    wait_for(lambda: until in rig.actions(), f"{until} is called")


def end_now(rig: Rig, job: int) -> AttemptEnd:
    stop(rig.agent, job, 0.0)
    return rig.agent.end(job)


def refused(rig: Rig, job: int, folder: Path, *words: str) -> str:
    """Asks, and is refused: everything is as it was, and the job runs on."""
    state = checkpoint(rig, job)
    assert state.state == "running"
    for word in words:
        assert word in state.refusal, state.refusal
    assert rig.states() == {}
    assert_running(folder, NAMES)
    return state.refusal


def test_a_host_that_can_says_so(rig: Rig) -> None:
    wire = rig.agent.connect()
    welcome = wire.hello()
    assert (welcome.host.cuda_checkpoint, welcome.host.freezer) == (True, True)


def test_gpu_memory_goes_out_before_the_freeze_and_comes_back_after_it(
    rig: Rig, ann: Account
) -> None:
    job, folder = launch(rig, ann, "out and back")
    pids = {call["pid"] for call in rig.calls()}
    assert pids == set(), "nobody was touched before"
    state = checkpoint(rig, job)
    assert (state.state, state.refusal) == ("suspended", "")
    assert sorted(rig.states().values()) == ["checkpointed", "checkpointed"]
    assert rig.actions() == ["lock", "lock", "checkpoint", "checkpoint"]
    assert_still(folder, NAMES)
    assert rig.states().keys() < set(in_folder(folder))
    resume(rig.agent, job)
    assert rig.states() == {}
    assert rig.actions()[4:] == ["restore", "restore", "unlock", "unlock"]
    assert_running(folder, NAMES)
    for call in rig.calls():
        assert (call["uid"], call["cwd"], call["stands"]) == (0, "/", False)
        assert set(call["env"]) <= {"PATH", "LC_ALL", "LC_CTYPE"}
        assert "ROOST_CUDA_CHECKPOINT" not in call["env"]
    locks = [call["argv"] for call in rig.calls() if call["action"] == "lock"]
    assert all(argv[:4] == ["--action", "lock", "--timeout", "2000"] for argv in locks)
    end_now(rig, job)


def test_a_job_that_uses_no_cuda_yet_is_only_frozen(rig: Rig, ann: Account) -> None:
    script = CUDA.replace("uvm = cuda()", "uvm = os.open('/dev/null', os.O_RDONLY)")
    job, folder = launch(rig, ann, "no cuda", script)
    assert checkpoint(rig, job).state == "suspended"
    assert rig.calls() == []
    assert_still(folder, NAMES)
    resume(rig.agent, job)
    assert_running(folder, NAMES)
    end_now(rig, job)


@pytest.mark.parametrize("action", ["lock", "checkpoint"])
@pytest.mark.parametrize("how", ["fail", "hang", "late"])
def test_what_fails_is_undone(rig: Rig, ann: Account, action: str, how: str) -> None:
    """At the second of two processes: the first is locked or checkpointed by then."""
    job, folder = launch(rig, ann, "undone")
    second = max(pid for pid in in_folder(folder) if uses_cuda(pid))
    rig.how_of({f"{action} {second}": how})
    refused(rig, job, folder, f"could not {action} process {second}")
    assert rig.actions()[-1] == "unlock"
    rig.how()
    assert checkpoint(rig, job).state == "suspended"
    resume(rig.agent, job)
    end_now(rig, job)


def test_work_that_does_not_end_in_time_is_waited_for_no_longer(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "busy")
    rig.how(lock="busy")
    refused(rig, job, folder, "device not ready", "code 88")
    end_now(rig, job)


def test_processes_that_wait_for_each_other_are_all_let_go(rig: Rig, ann: Account) -> None:
    """As with NCCL: with one locked, not even the state of the other is to be had."""
    job, folder = launch(rig, ann, "nccl")
    rig.how(nccl="")
    refused(rig, job, folder, "could not lock", "no answer within")
    assert rig.actions() == ["lock", "lock", "unlock"]
    end_now(rig, job)


def test_a_program_that_does_not_answer_at_all_touches_nothing(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "mute")
    rig.how_of({"get-state": "hang"})
    refused(rig, job, folder, "could not get the state of")
    assert rig.actions() == []
    wait_for(lambda: not tools_running(rig), "it is not left behind")
    end_now(rig, job)


def test_what_somebody_else_locked_stays_locked(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "locked")
    one = min(pid for pid in in_folder(folder) if uses_cuda(pid))
    (rig.folder / "states" / str(one)).write_text("locked")
    state = checkpoint(rig, job)
    assert f"process {one} is locked already" in state.refusal
    assert rig.states() == {one: "locked"}
    assert_running(folder, NAMES)
    end_now(rig, job)


def test_memory_that_the_program_cannot_move_keeps_the_job_running(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "worker holds")
    worker = next(pid for pid in in_folder(folder) if not uses_cuda(pid))
    rig.say(FakeProcess(worker, GIB))
    assert rig.agent.wire is not None
    rig.agent.wire.until(lambda m: claims(m, worker), "the driver says so")
    refused(rig, job, folder, f"process {worker} holds GPU memory")
    assert rig.actions() == []
    end_now(rig, job)


def claims(message: object, pid: int) -> bool:
    return isinstance(message, Observed) and any(
        process.pid == pid for gpu in message.observation.gpus for process in gpu.processes
    )


def test_without_room_on_the_host_nothing_is_moved(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "no room", memory_bytes=GIB)
    holder = next(pid for pid in in_folder(folder) if uses_cuda(pid))
    rig.say(FakeProcess(holder, 2 * GIB))
    assert rig.agent.wire is not None
    rig.agent.wire.until(lambda m: claims(m, holder), "the driver says so")
    refused(rig, job, folder, "2048 MiB", "its memory limit has room")
    assert rig.calls() == []
    end_now(rig, job)


def test_a_process_that_takes_a_gpu_meanwhile_undoes_it(rig: Rig, ann: Account) -> None:
    late = CUDA.replace('count("main")', NEWCOMER)
    job, folder = launch(rig, ann, "newcomer", late)
    rig.how(checkpoint="slow")
    ask_to_move(rig, job, "checkpoint")
    (folder / "go").touch()
    wait_for(lambda: is_listed(rig.agent, job).refusal, "it is refused", 30)
    assert "took a GPU meanwhile" in is_listed(rig.agent, job).refusal
    wait_for(lambda: not rig.states(), "it is undone")
    assert_running(folder, (*NAMES, "late"))
    end_now(rig, job)


@pytest.mark.parametrize("how", ["spoil", "fail"])
def test_what_cannot_be_undone_ends_the_job_and_says_so(rig: Rig, ann: Account, how: str) -> None:
    job, folder = launch(rig, ann, "spoilt")
    rig.how(checkpoint=how, unlock="fail")
    assert rig.agent.wire is not None
    rig.agent.wire.send(SuspendJob(job, 1, how="checkpoint"))
    broken(rig, job, folder, "checkpoint")


@pytest.mark.parametrize("how", ["fail", "hang"])
def test_a_restoration_that_fails_ends_the_job_and_says_so(
    rig: Rig, ann: Account, how: str
) -> None:
    job, folder = launch(rig, ann, "gone")
    assert checkpoint(rig, job).state == "suspended"
    rig.how(restore=how)
    assert rig.agent.wire is not None
    rig.agent.wire.send(ResumeJob(job, 1))
    broken(rig, job, folder, "could not restore process")


def broken(rig: Rig, job: int, folder: Path, words: str) -> None:
    end = rig.agent.end(job)
    assert (end.reason, end.signal, end.message) == (
        EndReason.SIGNALLED, 9, "agent.gpu_state_lost",
    )  # fmt: skip
    assert words in end.text
    assert say("zh", end.message, **end.numbers).startswith("作业的 GPU 状态无法恢复")
    assert in_folder(folder) == []
    wait_for(lambda: not tools_running(rig), "nothing is left behind")


def test_a_resume_undoes_what_is_under_way(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "given up")
    rig.how(lock="slow")
    ask_to_move(rig, job, "lock")
    resumed = ask_resume(rig, job)
    assert (resumed.state, resumed.refusal) == ("running", "")
    assert rig.states() == {}
    assert rig.actions() == ["lock", "unlock"]
    assert_running(folder, NAMES)
    end_now(rig, job)


def ask_resume(rig: Rig, job: int) -> AttemptState:
    wire = rig.agent.wire
    assert wire is not None
    wire.states.pop((job, 1), None)
    assert isinstance(wire.ask(ResumeJob(job, 1)), Done)
    wait_for(lambda: wire.hear(0.05) or wire.states.get((job, 1)), "an answer")
    return wire.states[job, 1]


def test_a_stop_meanwhile_has_its_grace_and_undoes_it(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "stopped")
    rig.how(lock="slow")
    ask_to_move(rig, job, "lock")
    stop(rig.agent, job, 10.0)
    end = rig.agent.end(job)
    assert (end.reason, end.exit_code) == (EndReason.PREEMPTED, 7)
    assert (folder / "saved").exists()
    wait_for(lambda: not tools_running(rig), "nothing is left behind")


def test_a_kill_waits_for_no_program(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "killed")
    rig.how(checkpoint="hang")
    ask_to_move(rig, job, "checkpoint")
    began = time.monotonic()
    assert end_now(rig, job).signal == 9
    assert time.monotonic() - began < 1.5
    assert in_folder(folder) == []
    wait_for(lambda: not tools_running(rig), "nothing is left behind")


def test_a_stopped_checkpoint_is_not_brought_back(rig: Rig, ann: Account) -> None:
    """Its GPUs may be somebody else's by now: it has its grace without them."""
    job, folder = launch(rig, ann, "without")
    assert checkpoint(rig, job).state == "suspended"
    stop(rig.agent, job, 10.0)
    assert rig.agent.end(job).exit_code == 7
    assert (folder / "saved").exists()
    assert "restore" not in rig.actions()


def test_it_outlives_the_agent(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "agent")
    assert checkpoint(rig, job).state == "suspended"
    rig.agent.kill()
    rig.agent.start()
    assert is_listed(rig.agent, job).state == "suspended"
    assert_still(folder, NAMES)
    resume(rig.agent, job)
    assert rig.states() == {}
    assert_running(folder, NAMES)
    end_now(rig, job)


@pytest.mark.parametrize("at", ["moving", "suspended"])
def test_a_lost_supervisor_leaves_nothing(rig: Rig, ann: Account, at: str) -> None:
    job, folder = launch(rig, ann, "lost")
    if at == "moving":
        rig.how(checkpoint="hang")
        ask_to_move(rig, job, "checkpoint")
    else:
        assert checkpoint(rig, job).state == "suspended"
    os.kill(supervisor_of(rig.agent, job), signal.SIGKILL)
    assert rig.agent.end(job).reason is EndReason.LOST
    assert in_folder(folder) == []
    wait_for(lambda: not tools_running(rig), "nothing is left behind")


def test_a_program_that_others_can_change_is_never_run(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "untrusted")
    tool = rig.folder / "cuda-checkpoint"
    tool.chmod(0o757)
    try:
        refused(rig, job, folder, "others than root may change")
        assert rig.agent.wire is not None
        assert not rig.agent.wire.hello().host.cuda_checkpoint
    finally:
        tool.chmod(0o755)
    assert rig.calls() == []
    end_now(rig, job)


def test_an_old_driver_is_left_alone(rig: Rig, ann: Account) -> None:
    job, folder = launch(rig, ann, "old")
    wire = rig.agent.wire
    assert wire is not None

    def say_version(version: str) -> None:
        rig.gpus.version = version
        rig.gpus.epoch += 1
        rig.say()
        wire.until(
            lambda m: isinstance(m, Observed) and m.observation.driver.driver_version == version,
            f"the driver is {version}",
            30,
        )

    say_version("550.54.15")
    try:
        refused(rig, job, folder, "550.54.15", "570 is needed")
        assert not wire.hello().host.cuda_checkpoint
    finally:
        say_version("570.86.10")
    end_now(rig, job)
