"""Jobs suspended where they are: all of them stand still, go on, end, and outlive whoever dies.

On all three means: the freezer of cgroup v2, that of v1, and SIGSTOP where there is no cgroup.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from roost.core.attribution import Known, Memory, attribute
from roost.core.model import EndReason
from roost.core.observation import Observation
from roost.wire.messages import (
    AgentMessage,
    Attempts,
    AttemptState,
    Done,
    ListAttempts,
    Observed,
    Refused,
    ResumeJob,
    SignalJob,
    StopJob,
    SuspendJob,
)
from tests.real.agent_rig import Agent, agent, as_user
from tests.real.rig import Account, accounts, wait_for
from tests.real.test_agent_terminal import Attached

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]

# Counts on in a file for as long as it runs. What stands still does not.
COUNT = """
import os, signal, sys, time
def count(name):
    file = os.open(name, os.O_WRONLY | os.O_CREAT, 0o600)
    number = 0
    while True:
        number += 1
        os.pwrite(file, b"%d" % number, 0)
        time.sleep(0.01)
"""
FAMILY = (
    COUNT
    + """
if os.fork() == 0:
    if os.fork() == 0:
        count("grandchild")
    count("child")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        count("daemon")
    os._exit(0)
if os.fork() == 0:  # forks without end: somebody new is there at any moment
    number = 0
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        number += 1
        if os.fork() == 0:
            file = os.open("forker", os.O_WRONLY | os.O_CREAT, 0o600)
            os.pwrite(file, b"%d" % number, 0)
            os._exit(0)
        time.sleep(0.001)
count("main")
"""
)
FAMILY_FILES = ("main", "child", "grandchild", "daemon", "forker")
# Says what it hears, and takes a moment to end.
HANDLER = (
    COUNT
    + """
def told(number, frame):
    with open("heard", "a") as file:
        file.write("%d\\n" % number)
    if number == signal.SIGTERM:
        time.sleep(0.3)
        open("saved", "w").close()
        os._exit(7)
for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(number, told)
count("main")
"""
)


@pytest.fixture(scope="module")
def ann() -> Iterator[Account]:
    with accounts("ann", prefix="ras-") as (made,):
        yield made


V1 = {"ROOST_DEVICE_FILTER": "v1", "ROOST_CGROUP_KINDS": "v1"}


@pytest.fixture(scope="module", params=["v2", "v1", "no cgroup"])
def running(request: pytest.FixtureRequest, ann: Account) -> Iterator[Agent]:
    if request.param == "no cgroup":
        with as_user(ann) as own:
            yield own
        return
    with agent(V1 if request.param == "v1" else {}) as made:
        yield made
        wait_for(lambda: not made.cgroups(), "job cgroups are removed")


def ask(running: Agent, message: SuspendJob | ResumeJob | StopJob | SignalJob) -> AgentMessage:
    assert running.wire is not None
    return running.wire.ask(message)


def start(running: Agent, ann: Account, script: str, name: str, **more: object) -> tuple[int, Path]:
    """Number and folder of a job that has begun to count."""
    folder = ann.home / name
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    folder.mkdir(mode=0o700)
    os.chown(folder, ann.uid, ann.gid)
    job = running.launch(
        ann.name, "/usr/bin/python3", "-c", script, directory=os.fsencode(folder), **more
    )
    running.running(job)
    wait_for(lambda: (folder / "main").exists(), "it counts")
    return job, folder


def suspend(running: Agent, job: int) -> AttemptState:
    assert isinstance(ask(running, SuspendJob(job, 1)), Done)
    assert running.wire is not None
    return running.wire.wait(job, "suspended")


def resume(running: Agent, job: int) -> AttemptState:
    assert isinstance(ask(running, ResumeJob(job, 1)), Done)
    return running.running(job)


def stop(running: Agent, job: int, grace_s: float, reason: EndReason = EndReason.PREEMPTED) -> None:
    assert isinstance(ask(running, StopJob(job, 1, reason, grace_s)), Done)


def counts(folder: Path, names: tuple[str, ...] = ("main",)) -> dict[str, int]:
    return {name: int((folder / name).read_text() or 0) for name in names}


def assert_still(folder: Path, names: tuple[str, ...] = ("main",)) -> None:
    before = counts(folder, names)
    time.sleep(0.4)
    assert counts(folder, names) == before


def assert_running(folder: Path, names: tuple[str, ...] = ("main",)) -> None:
    before = counts(folder, names)
    wait_for(
        lambda: all(value > before[name] for name, value in counts(folder, names).items()),
        "all of it counts on",
    )


def is_listed(running: Agent, job: int) -> AttemptState:
    assert running.wire is not None
    answer = running.wire.ask(ListAttempts(0))
    assert isinstance(answer, Attempts)
    return next(state for state in answer.attempts if state.job == job)


def in_folder(folder: Path) -> list[int]:
    """The processes of the job that was started there."""
    found = []
    for entry in os.listdir("/proc"):
        with suppress(OSError):
            if entry.isdigit() and os.readlink(f"/proc/{entry}/cwd") == str(folder):
                found.append(int(entry))
    return found


def supervisor_of(running: Agent, job: int) -> int:
    name = f"roost:{job}.1"[:15]
    for entry in os.listdir("/proc"):
        with suppress(OSError):
            if entry.isdigit() and Path(f"/proc/{entry}/comm").read_text().strip() == name:
                return int(entry)
    raise AssertionError(f"no supervisor of job {job}")


def test_children_daemons_and_forkers_stand_still_and_go_on(running: Agent, ann: Account) -> None:
    job, folder = start(running, ann, FAMILY, "family")
    wait_for(lambda: all((folder / name).exists() for name in FAMILY_FILES), "all of it counts")
    for _ in range(3):
        state = suspend(running, job)
        assert state.suspended_at is not None
        assert_still(folder, FAMILY_FILES)
        members = in_folder(folder)
        assert len(members) >= 5
        time.sleep(0.2)
        assert in_folder(folder) == members, "somebody came or went"
        state = resume(running, job)
        assert (state.suspended_at, state.refusal) == (None, "")
        assert_running(folder, FAMILY_FILES)
    assert state.suspended_s >= 3 * 0.6
    stop(running, job, 0.0)
    assert running.end(job).reason is EndReason.PREEMPTED
    assert in_folder(folder) == []


def test_orders_given_twice_change_nothing(running: Agent, ann: Account) -> None:
    job, folder = start(running, ann, HANDLER, "twice")
    first = suspend(running, job)
    assert suspend(running, job).suspended_at == first.suspended_at
    assert_still(folder)
    went_on = resume(running, job)
    assert resume(running, job).suspended_s == went_on.suspended_s
    assert_running(folder)
    stop(running, job, 0.0)
    running.end(job)


def test_every_order_is_answered_by_a_state(running: Agent, ann: Account) -> None:
    """Also one that changes nothing: whoever asked must not wait for ever."""
    assert running.wire is not None
    job, _ = start(running, ann, HANDLER, "answered")
    for message in (ResumeJob(job, 1), SuspendJob(job, 1), SuspendJob(job, 1), ResumeJob(job, 1)):
        running.wire.states.pop((job, 1))
        ask(running, message)
        running.wire.wait(job, "running" if isinstance(message, ResumeJob) else "suspended")
    stop(running, job, 0.0)
    running.end(job)


def test_the_walltime_and_its_warning_stand_still(running: Agent, ann: Account) -> None:
    job, folder = start(
        running, ann, HANDLER, "walltime",
        walltime_s=1.5, warn_signal=int(signal.SIGUSR1), warn_before_s=0.7, kill_wait_s=5.0,
    )  # fmt: skip
    suspend(running, job)
    time.sleep(2.0)
    assert is_listed(running, job).state == "suspended"
    assert not (folder / "heard").exists()
    began = time.monotonic()
    resume(running, job)
    end = running.end(job)
    assert (end.reason, end.exit_code) == (EndReason.TIMEOUT, 7)
    assert time.monotonic() - began > 0.5, "nothing was left of its walltime"
    assert (folder / "heard").read_text().split() == ["10", "15"]


def test_a_signal_is_heard_when_the_job_goes_on(running: Agent, ann: Account) -> None:
    job, folder = start(running, ann, HANDLER, "signal")
    suspend(running, job)
    for number in (signal.SIGUSR2, signal.SIGUSR2):
        assert isinstance(ask(running, SignalJob(job, 1, int(number))), Done)
    assert_still(folder)
    assert not (folder / "heard").exists()
    resume(running, job)
    wait_for(lambda: (folder / "heard").exists(), "it was heard")
    assert set((folder / "heard").read_text().split()) == {"12"}
    assert_running(folder)
    stop(running, job, 0.0)
    running.end(job)


@pytest.mark.parametrize("reason", [EndReason.PREEMPTED, EndReason.CANCELLED, EndReason.TIMEOUT])
def test_a_stop_gives_a_suspended_job_its_grace(
    running: Agent, ann: Account, reason: EndReason
) -> None:
    job, folder = start(running, ann, HANDLER, "grace")
    suspend(running, job)
    stop(running, job, 10.0, reason)
    end = running.end(job)
    assert (end.reason, end.exit_code) == (reason, 7)
    assert (folder / "saved").exists()


def test_a_suspended_job_that_will_not_go_is_killed(running: Agent, ann: Account) -> None:
    deaf = "import signal\nsignal.signal(15, signal.SIG_IGN)\n" + FAMILY
    job, folder = start(running, ann, deaf, "deaf")
    suspend(running, job)
    stop(running, job, 0.3)
    end = running.end(job)
    assert (end.reason, end.signal) == (EndReason.PREEMPTED, 9)
    assert in_folder(folder) == []


def test_it_is_said_to_stand_still_on_purpose(running: Agent, ann: Account) -> None:
    """Its memory on the GPU stays its own, and nothing is wrong with it."""
    (uuid, *_) = running.uuids()
    job, _ = start(running, ann, HANDLER, "seen", uuids=(uuid,))
    pid = running.running(job).pid or 0

    def seen(suspended: bool) -> Observation:
        def wanted(message: object) -> bool:
            return isinstance(message, Observed) and any(
                facts.pid == pid and facts.suspended == suspended
                for facts in message.observation.processes
            )

        assert running.wire is not None
        answer = running.wire.until(wanted, f"suspended: {suspended}")
        assert isinstance(answer, Observed)
        return answer.observation

    seen(False)
    suspend(running, job)
    attribution, _ = attribute(seen(True), Known(), Memory())
    (gpu,) = [gpu for gpu in attribution.gpus if gpu.uuid == uuid]
    (holder,) = [holder for holder in gpu.holders if holder.pid == pid]
    assert (holder.user, holder.finding) == (ann.name, None)
    assert holder.memory_bytes
    resume(running, job)
    seen(False)
    stop(running, job, 0.0)
    running.end(job)


def test_a_kill_from_outside_is_noticed(running: Agent, ann: Account) -> None:
    job, folder = start(running, ann, FAMILY, "killed")
    state = suspend(running, job)
    os.kill(state.pid or 0, signal.SIGKILL)
    end = running.end(job)
    assert (end.reason, end.signal) == (EndReason.SIGNALLED, 9)
    assert in_folder(folder) == []


def test_an_agent_that_was_killed_hears_of_the_suspension(running: Agent, ann: Account) -> None:
    if running.process is None or os.stat(f"/proc/{running.process.pid}").st_uid != 0:
        return  # this rig's agent of a user is started once
    job, folder = start(running, ann, HANDLER, "agent")
    state = suspend(running, job)
    running.kill()
    assert_still(folder)
    running.start()
    listed = is_listed(running, job)
    assert (listed.state, listed.suspended_at) == ("suspended", state.suspended_at)
    assert running.wire is not None
    assert resume(running, job).suspended_s >= 0.4
    assert_running(folder)
    stop(running, job, 10.0)
    assert running.end(job).exit_code == 7


def test_a_lost_supervisor_leaves_nothing_frozen(running: Agent, ann: Account) -> None:
    job, folder = start(running, ann, FAMILY, "lost")
    suspend(running, job)
    os.kill(supervisor_of(running, job), signal.SIGKILL)
    assert running.end(job).reason is EndReason.LOST
    assert in_folder(folder) == []


def test_supervisor_and_agent_lost_together_leave_nothing_frozen(
    running: Agent, ann: Account
) -> None:
    if running.process is None or os.stat(f"/proc/{running.process.pid}").st_uid != 0:
        return
    job, folder = start(running, ann, FAMILY, "both")
    suspend(running, job)
    supervisor = supervisor_of(running, job)
    running.kill()
    os.kill(supervisor, signal.SIGKILL)
    running.start()
    assert running.end(job).reason is EndReason.LOST
    assert in_folder(folder) == []


def test_a_resume_right_behind_a_suspension_wins(running: Agent, ann: Account) -> None:
    job, folder = start(running, ann, FAMILY, "race")
    assert running.wire is not None
    for _ in range(10):
        running.wire.send(SuspendJob(job, 1))
        running.wire.send(ResumeJob(job, 1))
    time.sleep(2.0)  # until all of them are carried out
    assert_running(folder)
    assert is_listed(running, job).state == "running"
    stop(running, job, 0.0)
    running.end(job)


def test_what_cannot_be_suspended_says_why(running: Agent, ann: Account) -> None:
    assert running.wire is not None
    odd = ask(running, SuspendJob(1, 1, how="politely"))
    assert isinstance(odd, Refused)
    assert odd.code == "bad_spec"
    unknown = ask(running, SuspendJob(1, 1))
    assert isinstance(unknown, Refused)
    assert unknown.code == "unknown_attempt"
    job, folder = start(running, ann, HANDLER, "ending")
    stop(running, job, 10.0)
    running.wire.send(SuspendJob(job, 1))
    end = running.end(job)
    assert end.exit_code == 7
    assert any(state.refusal.startswith("The job is being") for state in running.wire.all_states)
    running.wire.states.pop((job, 1))
    ask(running, SuspendJob(job, 1))
    assert running.wire.wait(job, "ended").end == end
    job, folder = start(running, ann, HANDLER, "no tool")
    ask(running, SuspendJob(job, 1, how="checkpoint"))
    wait_for(lambda: is_listed(running, job).refusal, "it is refused")
    assert "host memory" in is_listed(running, job).refusal
    assert_running(folder)
    assert suspend(running, job).refusal == ""
    stop(running, job, 0.0)
    running.end(job)


def test_a_job_that_has_not_begun_is_not_suspended(running: Agent, ann: Account) -> None:
    """Its command waits for an output file that nobody reads."""
    fifo = ann.home / "nobody-reads"
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo, 0o600)
    os.chown(fifo, ann.uid, ann.gid)
    job = running.launch(ann.name, "/bin/true", output=os.fsencode(fifo), walltime_s=20.0)
    ask(running, SuspendJob(job, 1))
    assert running.wire is not None
    wait_for(
        lambda: is_listed(running, job).refusal or is_listed(running, job).state == "ended",
        "it is refused",
    )
    if is_listed(running, job).state != "ended":
        assert "not started" in is_listed(running, job).refusal
        stop(running, job, 0.0)
    running.end(job)


def test_a_terminal_of_a_suspended_job_keeps_nobody_waiting(running: Agent, ann: Account) -> None:
    job = running.launch(ann.name, "/bin/bash", "--norc", "-i", pty=True, directory=b"/")
    running.running(job)
    client = Attached(running, job)
    client.type("echo fi''rst\n")
    client.until("first")
    suspend(running, job)
    second = Attached(running, job)
    second.type("echo sec''ond\n")
    time.sleep(0.3)
    resume(running, job)
    client.until("second")
    suspend(running, job)
    client.close()
    second.close()
    assert running.end(job).reason is EndReason.CANCELLED
