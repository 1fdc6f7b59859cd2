"""Agent, launcher and supervisors killed at any moment: nothing runs twice, nothing is lost."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from roost.agent import record
from roost.core.model import EndReason
from roost.wire.messages import (
    Attempts,
    AttemptState,
    Done,
    ForgetJob,
    Launch,
    ListAttempts,
    Refused,
)
from tests.real.agent_rig import Agent, agent
from tests.real.rig import Account, accounts, processes_of, wait_for

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]

KILLS = int(os.environ.get("ROOST_TEST_AGENT_KILLS", "40"))


@pytest.fixture(scope="module")
def ann() -> Iterator[Account]:
    with accounts("ann", prefix="rar-") as (made,):
        yield made


@pytest.fixture
def running() -> Iterator[Agent]:
    with agent() as made:
        yield made


def listed(running: Agent) -> dict[tuple[int, int], AttemptState]:
    assert running.wire is not None
    answer = running.wire.ask(ListAttempts(0))
    assert isinstance(answer, Attempts)
    return {(state.job, state.attempt): state for state in answer.attempts}


def processes_called(name: str) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):
                comm = Path(f"/proc/{entry}/comm").read_text(errors="replace").strip()
                state = (
                    Path(f"/proc/{entry}/stat")
                    .read_text(errors="replace")
                    .rsplit(")", 1)[1]
                    .split()[0]
                )
                if comm == name[:15] and state != "Z":
                    found.append(int(entry))
    return found


def supervisor_of(running: Agent, job: int) -> int:
    """The job's own process bears the same name until it executes."""
    main = running.running(job).pid
    (found,) = (pid for pid in processes_called(f"roost:{job}.1") if pid != main)
    return found


def launchers_of(running: Agent) -> list[int]:
    """The launcher is the agent's child."""
    assert running.process is not None
    found = []
    for pid in processes_called("roost-launcher"):
        with suppress(OSError):
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
            if int(stat[1]) == running.process.pid:
                found.append(pid)
    return found


def test_a_job_lives_through_the_agents_death(running: Agent, ann: Account) -> None:
    """Nothing is ended because Roost failed."""
    out = ann.home / "through"
    job = running.launch(
        ann.name, "/bin/sh", "-c", "sleep 1.5; echo whole; exit 7", output=os.fsencode(out)
    )
    before = running.running(job)
    running.kill()
    time.sleep(0.3)
    running.start()
    state = listed(running)[job, 1]
    assert (state.state, state.pid, state.started_at) == ("running", before.pid, before.started_at)
    end = running.end(job)
    assert (end.reason, end.exit_code) == (EndReason.EXITED, 7)
    assert out.read_text() == "whole\n"


def test_an_end_while_the_agent_was_away_is_told_later(running: Agent, ann: Account) -> None:
    job = running.launch(ann.name, "/bin/sh", "-c", "sleep 0.4; exit 9")
    running.running(job)
    running.kill()
    wait_for(lambda: not processes_called(f"roost:{job}.1"), "the supervisor ends with its job")
    running.start()
    state = listed(running)[job, 1]
    assert state.end is not None
    assert state.end.exit_code == 9


def test_stopping_the_agent_ends_no_job(running: Agent, ann: Account) -> None:
    job = running.launch(ann.name, "/bin/sleep", "30")
    pid = running.running(job).pid
    assert running.stop() == 0
    assert pid in processes_of(ann.uid)
    running.start()
    assert listed(running)[job, 1].state == "running"
    os.kill(pid or 0, signal.SIGKILL)
    assert running.end(job).signal == 9


def test_orders_work_after_a_restart(running: Agent, ann: Account) -> None:
    from roost.wire.messages import StopJob

    job = running.launch(ann.name, "/bin/sleep", "300")
    running.running(job)
    running.kill()
    running.start()
    assert running.wire is not None
    running.wire.ask(StopJob(job=job, attempt=1, reason=EndReason.PREEMPTED, grace_s=5.0))
    assert running.end(job).reason is EndReason.PREEMPTED


def test_a_lost_supervisor_is_told_and_its_job_ended(running: Agent, ann: Account) -> None:
    job = running.launch(ann.name, "/bin/sh", "-c", "(setsid sleep 300 &); sleep 300")
    running.running(job)
    supervisor = supervisor_of(running, job)
    os.kill(supervisor, signal.SIGKILL)
    end = running.end(job)
    assert (end.reason, end.message) == (EndReason.LOST, "agent.lost_supervisor")
    assert processes_of(ann.uid) == []
    assert running.cgroups() == []


def test_a_supervisor_lost_while_the_agent_is_away(running: Agent, ann: Account) -> None:
    job = running.launch(ann.name, "/bin/sleep", "300")
    running.running(job)
    supervisor = supervisor_of(running, job)
    running.kill()
    os.kill(supervisor, signal.SIGKILL)
    running.start()
    assert running.end(job).reason is EndReason.LOST
    assert processes_of(ann.uid) == []


def test_after_a_reboot_what_has_no_end_is_lost(running: Agent, ann: Account) -> None:
    """The record of another boot: nothing of it can run, and no process is touched for it."""
    job = running.launch(ann.name, "/bin/sleep", "300")
    state = running.running(job)
    supervisor = supervisor_of(running, job)
    running.kill()
    os.kill(supervisor, signal.SIGKILL)
    os.kill(state.pid or 0, signal.SIGKILL)
    wait_for(lambda: not processes_of(ann.uid), "the job is gone, as after a reboot")
    folder = record.open_folder(str(running.attempts / f"{job}.1"))
    prepared = msgspec.structs.replace(record.read_prepared(folder), boot_id="another-boot")
    os.close(folder)
    (running.attempts / f"{job}.1" / "spec").write_bytes(msgspec.msgpack.encode(prepared))
    running.start()
    end = running.end(job)
    assert (end.reason, end.message) == (EndReason.LOST, "agent.lost_reboot")


def test_a_shutdown_of_the_machine_is_no_end_of_the_jobs_own(running: Agent, ann: Account) -> None:
    """Init sends SIGTERM to everything: supervisor and job alike."""
    job = running.launch(ann.name, "/bin/sh", "-c", "trap 'exit 0' TERM; sleep 300 & wait")
    state = running.running(job)
    time.sleep(0.2)
    supervisor = supervisor_of(running, job)
    os.kill(supervisor, signal.SIGTERM)
    os.kill(state.pid or 0, signal.SIGTERM)
    end = running.end(job)
    assert (end.reason, end.message) == (EndReason.LOST, "agent.lost_shutdown")


def test_the_launcher_is_started_again(running: Agent, ann: Account) -> None:
    job = running.launch(ann.name, "/bin/sh", "-c", "sleep 1; exit 8")
    running.running(job)
    for _ in range(2):
        (launcher,) = wait_for(lambda: launchers_of(running), "there is a launcher")
        os.kill(launcher, signal.SIGKILL)
        for code in (1, 2, 3):
            assert running.shell(ann.name, f"exit {code}").exit_code == code
    assert running.end(job).exit_code == 8


def test_a_job_is_launched_once_however_often_it_is_asked(running: Agent, ann: Account) -> None:
    out = ann.home / "once"
    spec = running.spec(ann.name, "/bin/sh", "-c", "echo ran; sleep 0.5", output=os.fsencode(out))
    assert running.wire is not None
    for _ in range(20):
        running.wire.send(Launch(spec))
    running.end(spec.job)
    for _ in range(3):
        assert isinstance(running.try_launch(spec), Done)
    running.kill()
    running.start()
    assert isinstance(running.try_launch(spec), Done)
    time.sleep(0.3)
    assert out.read_text() == "ran\n"


def test_an_attempt_follows_only_on_the_end_of_the_one_before(running: Agent, ann: Account) -> None:
    job = running.launch(ann.name, "/bin/sleep", "300")
    state = running.running(job)
    spec = running.spec(ann.name, "/bin/true", job=job, attempt=2)
    refused = running.try_launch(spec)
    assert isinstance(refused, Refused)
    assert refused.code == "still_running"
    os.kill(state.pid or 0, signal.SIGKILL)
    running.end(job)
    assert isinstance(running.try_launch(spec), Done)
    assert running.end(job, attempt=2).exit_code == 0


def test_a_new_connection_takes_the_place_of_the_old(running: Agent, ann: Account) -> None:
    old = running.wire
    assert old is not None
    new = running.connect()
    with pytest.raises(EOFError):
        old.until(lambda _: False, "the end of the connection")
    job = running.launch(ann.name, "/bin/true")
    assert new.end(job).exit_code == 0


def test_a_second_agent_on_the_same_state_is_refused(running: Agent) -> None:
    second = Agent(running.folder, running.environment)
    second.start(wait=False)
    assert second.process is not None
    assert second.process.wait(10) == 1
    assert "Another Roost agent" in running.log()


def test_a_full_disk_loses_no_end_and_starts_nothing_half(ann: Account) -> None:
    folder = Path(tempfile.mkdtemp(prefix="rar-full-"))
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs", str(folder)], check=True
    )
    try:
        with agent() as running:
            running.kill()
            running.arguments = ("--simulate", "4xA100", "--socket", f"{running.state}/roost.sock")
            running.state.rename(running.folder / "unused")
            running.state.symlink_to(folder)
            running.start()
            job = running.launch(ann.name, "/bin/sh", "-c", "sleep 0.6; exit 5")
            running.running(job)
            with suppress(OSError), (folder / "fill").open("wb", buffering=0) as fill:
                while True:
                    fill.write(b"x" * 4096)
            end = running.end(job)
            assert end.exit_code == 5
            refused = running.try_launch(running.spec(ann.name, "/bin/true"))
            assert isinstance(refused, Refused)
            assert refused.code == "no_space"
            assert "No space left" in refused.text
            running.kill()
            running.start()
            state = listed(running)[job, 1]
            assert state.end is not None
            assert state.end.exit_code == 5
            (folder / "fill").unlink()
            assert running.shell(ann.name, "exit 3").exit_code == 3
            running.state.unlink()
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()


def test_the_end_is_told_while_it_cannot_be_written(running: Agent, ann: Account) -> None:
    job = running.launch(ann.name, "/bin/sh", "-c", "sleep 0.5; exit 6")
    running.running(job)
    folder = running.attempts / f"{job}.1"
    (folder / "end.tmp").unlink()
    (folder / "end.tmp").mkdir()  # it cannot be opened for writing
    assert running.end(job).exit_code == 6
    assert processes_called(f"roost:{job}.1")
    assert running.wire is not None
    assert isinstance(running.wire.ask(ForgetJob(job, 1)), Done)
    wait_for(lambda: not processes_called(f"roost:{job}.1"), "the supervisor goes")


def test_a_supervisor_whose_records_were_removed_ends_all_the_same(
    running: Agent, ann: Account
) -> None:
    job = running.launch(ann.name, "/bin/sleep", "300")
    state = running.running(job)
    running.kill()
    shutil.rmtree(running.attempts)
    os.kill(state.pid or 0, signal.SIGKILL)
    wait_for(lambda: not processes_called(f"roost:{job}.1"), "the supervisor goes")


def test_a_clean_stop_without_jobs_leaves_no_cgroup(running: Agent, ann: Account) -> None:
    assert running.shell(ann.name, "exit 0").exit_code == 0
    bases = list(Path("/sys/fs/cgroup").glob(f"*{running.base()}"))
    assert bases
    assert running.stop() == 0
    assert [path for path in bases if path.exists()] == []


@pytest.mark.slow
def test_kills_at_random_moments_under_a_stream_of_launches(running: Agent, ann: Account) -> None:
    """SIGKILL to the agent again and again: each job runs once, each exit code arrives."""
    seed = int(os.environ.get("ROOST_TEST_SEED", str(time.time_ns() % 10**6)))
    rng = random.Random(seed)
    log = ann.home / "stream"
    expected: dict[int, int] = {}
    specs = {}
    ends: dict[int, int | None] = {}
    reasons = Counter[str]()
    kills = 0
    first = 700_000_000 + seed * 1000

    def collect() -> None:
        assert running.wire is not None
        for (job, _), state in running.wire.states.items():
            if state.end is not None and job not in ends:
                ends[job] = state.end.exit_code
                reasons[str(state.end.reason)] += 1

    while kills < KILLS or len(ends) < len(expected):
        assert running.wire is not None
        try:
            if kills < KILLS:
                for _ in range(rng.randrange(1, 5)):
                    job, code = first + len(expected), rng.randrange(256)
                    script = f"echo {job} >> {log}; sleep {rng.choice((0, 0.01, 0.1))}; exit {code}"
                    expected[job] = code
                    specs[job] = running.spec(
                        ann.name, "/bin/sh", "-c", script, job=job, output=b"/dev/null"
                    )
                    running.wire.send(Launch(specs[job]))
            running.wire.hear(rng.choice((0.0005, 0.005, 0.05)))
            collect()
            for job in list(ends):
                if rng.random() < 0.3 and (job, 1) in running.wire.states:
                    running.wire.send(ForgetJob(job, 1))
                    del running.wire.states[job, 1]
        except (EOFError, BrokenPipeError, ConnectionResetError):
            pass
        if kills < KILLS and rng.random() < 0.5:
            time.sleep(rng.random() * 0.04)
            running.kill()
            kills += 1
            running.start()
            # What the server does on connecting: take in, and launch what is unknown.
            for (job, _), state in listed(running).items():
                assert running.wire is not None
                running.wire.states[job, 1] = state
            collect()
            for job, spec in specs.items():
                if job not in ends and (job, 1) not in running.wire.states:
                    running.wire.send(Launch(spec))
    ran = Counter(log.read_text().split())
    assert set(ran.values()) == {1}, f"run twice (seed {seed}): {ran.most_common(3)}"
    assert ends == expected, f"seed {seed}"
    assert reasons == {"exited": len(expected)}
    assert processes_of(ann.uid) == []
    wait_for(lambda: not running.cgroups(), "job cgroups are removed")
