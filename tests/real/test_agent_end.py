"""How jobs end: by themselves, by time, by order, for lack of memory; and that all of it ends."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.core.model import EndReason
from roost.wire.messages import AttemptEnd, Done, ForgetJob, Refused, SignalJob, StopJob
from tests.real.agent_rig import Agent, agent
from tests.real.rig import Account, accounts, processes_of, wait_for

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]


@pytest.fixture(scope="module")
def ann() -> Iterator[Account]:
    with accounts("ann", prefix="rae-") as (made,):
        yield made


@pytest.fixture(scope="module", params=["auto", "v1"])
def running(request: pytest.FixtureRequest, ann: Account) -> Iterator[Agent]:
    """On this machine's hybrid of v1 and v2, and on v1's means alone."""
    environment = {"ROOST_DEVICE_FILTER": request.param}
    if request.param == "v1":
        environment["ROOST_CGROUP_KINDS"] = "v1"
    with agent(environment) as made:
        yield made
        wait_for(lambda: not made.cgroups(), "job cgroups are removed")
        assert not list((made.state / "jobs").iterdir())


def stop(
    running: Agent, job: int, reason: EndReason = EndReason.CANCELLED, grace_s: float = 5.0
) -> None:
    assert running.wire is not None
    answer = running.wire.ask(StopJob(job=job, attempt=1, reason=reason, grace_s=grace_s))
    assert isinstance(answer, Done), answer


def fresh(ann: Account, name: str) -> Path:
    path = ann.home / name
    path.unlink(missing_ok=True)
    return path


def ready(path: Path, word: str = "ready") -> None:
    wait_for(lambda: path.exists() and word in path.read_text(), f"{word} in {path}")


def start(running: Agent, ann: Account, script: str, name: str, **more: object) -> int:
    """A bash job whose output is `name`; returns once it has said "ready"."""
    out = fresh(ann, name)
    job = running.launch(
        ann.name, "/bin/bash", "-c", script, output=os.fsencode(out),
        directory=os.fsencode(ann.home), **more,
    )  # fmt: skip
    ready(out)
    return job


def test_exit_codes_and_signals_are_kept(running: Agent, ann: Account) -> None:
    for code in (0, 1, 77, 255):
        end = running.shell(ann.name, f"exit {code}")
        assert (end.reason, end.exit_code, end.signal) == (EndReason.EXITED, code, None)
    end = running.shell(ann.name, "kill -SEGV $$")
    assert (end.reason, end.exit_code, end.signal) == (EndReason.SIGNALLED, None, 11)


def test_memory_and_cpu_are_measured(running: Agent, ann: Account) -> None:
    busy = "x = bytearray(80 << 20)\nimport time\nwhile time.process_time() < 0.3: pass"
    end = running.run(ann.name, "/usr/bin/python3", "-c", busy)
    assert end.peak_memory_bytes is not None
    assert 80 << 20 <= end.peak_memory_bytes <= 160 << 20
    assert end.cpu_s is not None
    assert 0.3 <= end.cpu_s <= 1.0


@pytest.mark.parametrize(
    "escape",
    [
        "(setsid sleep 300 &)",
        "setsid sh -c 'trap \"\" TERM HUP INT; (sleep 300 &) ; sleep 300' & sleep 0.1",
        "nohup sh -c 'while true; do sh -c \"sleep 300\" & sleep 0.01; done' >/dev/null 2>&1 &"
        " sleep 0.1",
    ],
    ids=["double fork", "ignoring signals", "forking on"],
)
def test_nothing_outlives_a_job(running: Agent, ann: Account, escape: str) -> None:
    end = running.run(ann.name, "/bin/bash", "-c", escape + "; exit 3")
    assert end.exit_code == 3
    assert processes_of(ann.uid) == []


def test_a_walltime_ends_it_all(running: Agent, ann: Account) -> None:
    began = time.monotonic()
    end = running.run(
        ann.name, "/bin/bash", "-c", "trap '' TERM; (setsid sleep 300 &); sleep 300; sleep 300",
        walltime_s=0.5, kill_wait_s=0.5,
    )  # fmt: skip
    assert (end.reason, end.signal) == (EndReason.TIMEOUT, 9)
    assert 1.0 <= time.monotonic() - began < 4.0
    assert processes_of(ann.uid) == []


def test_a_timeout_asks_before_it_kills(running: Agent, ann: Account) -> None:
    out = fresh(ann, "asked")
    end = running.run(
        ann.name, "/bin/bash", "-c", "trap 'echo asked; exit 5' TERM; sleep 300 & wait",
        output=os.fsencode(out), walltime_s=0.3, kill_wait_s=5.0,
    )  # fmt: skip
    assert (end.reason, end.exit_code) == (EndReason.TIMEOUT, 5)
    assert out.read_text() == "asked\n"


def test_a_warning_reaches_those_that_handle_it_and_kills_nobody(
    running: Agent, ann: Account
) -> None:
    out = fresh(ann, "warned")
    inner = "import signal,time; signal.signal(10, lambda *_: print('warned', flush=True))"
    script = f'/usr/bin/python3 -c "{inner}; time.sleep(1.2)"; echo after; exit 6'
    end = running.run(
        ann.name, "/bin/bash", "-c", script, output=os.fsencode(out),
        walltime_s=30.0, warn_signal=10, warn_before_s=29.5,
    )  # fmt: skip
    assert out.read_text().splitlines() == ["warned", "after"]
    assert (end.reason, end.exit_code) == (EndReason.EXITED, 6)


def test_an_order_to_stop_gives_the_grace_and_reports_its_reason(
    running: Agent, ann: Account
) -> None:
    job = start(running, ann, "trap 'echo bye; exit 9' TERM; echo ready; sleep 300 & wait", "grace")
    stop(running, job, EndReason.PREEMPTED, 10.0)
    end = running.end(job)
    assert (end.reason, end.exit_code, end.done) == (EndReason.PREEMPTED, 9, False)
    assert "bye" in (ann.home / "grace").read_text()


def test_a_stopped_script_leaves_its_program_the_grace(running: Agent, ann: Account) -> None:
    """The shell dies of SIGTERM at once; what it ran still writes its checkpoint."""
    inner = (
        "import signal,sys,time\n"
        "def save(*_):\n time.sleep(0.5); open('checkpoint','w').write('whole'); sys.exit(0)\n"
        "signal.signal(15, save); print('ready', flush=True); time.sleep(300)"
    )
    (ann.home / "train.py").write_text(inner)
    job = start(running, ann, "/usr/bin/python3 train.py; true", "trains")
    stop(running, job, EndReason.PREEMPTED, 10.0)
    assert running.end(job).reason is EndReason.PREEMPTED
    assert (ann.home / "checkpoint").read_text() == "whole"
    assert processes_of(ann.uid) == []


def test_who_does_not_go_is_killed_after_the_grace(running: Agent, ann: Account) -> None:
    job = start(running, ann, "trap '' TERM; echo ready; while :; do sleep 1; done", "stays")
    began = time.monotonic()
    stop(running, job, grace_s=0.5)
    end = running.end(job)
    assert (end.reason, end.signal) == (EndReason.CANCELLED, 9)
    assert 0.4 < time.monotonic() - began < 3.0


def test_no_grace_is_an_end_at_once(running: Agent, ann: Account) -> None:
    job = start(running, ann, "trap '' TERM; echo ready; sleep 300", "now")
    began = time.monotonic()
    stop(running, job, grace_s=0.0)
    assert running.end(job).signal == 9
    assert time.monotonic() - began < 2.0


SAVES = (
    "trap 'echo saving >> $ROOST_STATUS_FILE; sleep {span}; echo written;"
    " echo saved >> $ROOST_STATUS_FILE; exit 0' TERM; echo ready; sleep 300 & wait"
)


def test_the_grace_is_extended_while_it_saves(running: Agent, ann: Account) -> None:
    job = start(running, ann, SAVES.format(span=1.5), "saves", saving_limit_s=20.0)
    stop(running, job, EndReason.PREEMPTED, 0.4)
    end = running.end(job)
    assert (end.reason, end.exit_code) == (EndReason.PREEMPTED, 0)
    assert "written" in (ann.home / "saves").read_text()
    assert running.wire is not None
    assert running.wire.states[job, 1].checkpointed_at is not None


def test_saving_is_bounded(running: Agent, ann: Account) -> None:
    job = start(running, ann, SAVES.format(span=60), "saves-on", saving_limit_s=0.8)
    began = time.monotonic()
    stop(running, job, EndReason.PREEMPTED, 0.3)
    assert running.end(job).signal == 9
    assert 0.9 < time.monotonic() - began < 4.0


def test_a_cancellation_takes_the_place_of_a_preemption(running: Agent, ann: Account) -> None:
    job = start(running, ann, "trap '' TERM; echo ready; while :; do sleep 1; done", "both")
    stop(running, job, EndReason.PREEMPTED, 60.0)
    stop(running, job, EndReason.CANCELLED, 0.3)
    assert running.end(job).reason is EndReason.CANCELLED


def test_done_is_said_by_the_job(running: Agent, ann: Account) -> None:
    script = "trap 'echo done > $ROOST_STATUS_FILE; exit 0' TERM; echo ready; sleep 300 & wait"
    job = start(running, ann, script, "done")
    stop(running, job, EndReason.PREEMPTED, 5.0)
    end = running.end(job)
    assert (end.done, end.exit_code) == (True, 0)


def test_a_flood_of_status_lines_stops_nobody(running: Agent, ann: Account) -> None:
    job = start(running, ann, "echo ready; exec cat /dev/zero > $ROOST_STATUS_FILE", "flood")
    time.sleep(0.5)
    stop(running, job, grace_s=0.5)
    assert running.end(job).reason is EndReason.CANCELLED
    assert running.shell(ann.name, "yes saving | head -50000 > $ROOST_STATUS_FILE").exit_code == 0


def test_a_stop_before_it_runs_is_kept(running: Agent, ann: Account) -> None:
    assert running.wire is not None
    spec = running.spec(ann.name, "/bin/sleep", "300")
    from roost.wire.messages import Launch

    running.wire.send(Launch(spec))
    running.wire.send(StopJob(job=spec.job, attempt=1, reason=EndReason.CANCELLED, grace_s=0.0))
    assert running.end(spec.job).reason is EndReason.CANCELLED


def test_a_signal_goes_to_who_handles_it(running: Agent, ann: Account) -> None:
    job = start(running, ann, "trap 'echo got; exit 8' USR2; echo ready; sleep 300 & wait", "sig")
    assert running.wire is not None
    assert isinstance(running.wire.ask(SignalJob(job=job, attempt=1, signal=12)), Done)
    assert running.end(job).exit_code == 8


def test_orders_to_what_is_unknown_or_lives_are_refused(running: Agent, ann: Account) -> None:
    wire = running.wire
    assert wire is not None
    refused = wire.ask(StopJob(job=999_999, attempt=1, reason=EndReason.CANCELLED, grace_s=1.0))
    assert isinstance(refused, Refused)
    assert refused.code == "unknown_attempt"
    job = start(running, ann, "echo ready; sleep 300", "lives")
    refused = wire.ask(ForgetJob(job, 1))
    assert isinstance(refused, Refused)
    assert refused.code == "still_running"
    stop(running, job, grace_s=0.0)
    running.end(job)


def test_lack_of_memory_is_told_as_such(running: Agent, ann: Account) -> None:
    eat = "x = bytearray(400 << 20); print('survived')"
    end = running.run(ann.name, "/usr/bin/python3", "-c", eat, memory_bytes=64 << 20)
    assert end.reason is EndReason.OUT_OF_MEMORY
    assert end.peak_memory_bytes is not None
    assert end.peak_memory_bytes <= 65 << 20


def test_a_worker_without_memory_ends_the_job_that_would_wait_for_it(
    running: Agent, ann: Account
) -> None:
    script = "/usr/bin/python3 -c 'x = bytearray(400 << 20)'; sleep 300"
    end = running.run(ann.name, "/bin/bash", "-c", script, memory_bytes=64 << 20)
    assert end.reason is EndReason.OUT_OF_MEMORY


def test_processes_are_limited(running: Agent, ann: Account) -> None:
    out = fresh(ann, "forks")
    fork = (
        "import os,time\nn=0\ntry:\n  while n<200:\n   if os.fork()==0: time.sleep(300)\n   n+=1\n"
        "except OSError as e: print(n, e.errno)"
    )
    end = running.run(
        ann.name, "/usr/bin/python3", "-c", fork, max_processes=20, output=os.fsencode(out)
    )
    assert end.exit_code == 0
    count, number = map(int, out.read_text().split())
    assert (count, number) == (19, 11)
    assert processes_of(ann.uid) == []


def test_the_cpu_quota_holds(running: Agent, ann: Account) -> None:
    """Two busy processes on one granted CPU get the time of one."""
    burn = "import os,time\nif os.fork()==0: pass\nend=time.time()+1.0\nwhile time.time()<end: pass"
    end = running.run(ann.name, "/usr/bin/python3", "-c", burn, cpus=1)
    assert end.cpu_s is not None
    assert end.cpu_s < 1.4


def test_ends_are_repeated_until_forgotten(running: Agent, ann: Account) -> None:
    from roost.wire.messages import Attempts, Launch, ListAttempts

    assert running.wire is not None
    spec = running.spec(ann.name, "/bin/sh", "-c", "exit 4")
    running.try_launch(spec)
    running.end(spec.job)
    listed = running.wire.ask(ListAttempts(0))
    assert isinstance(listed, Attempts)
    mine = [a for a in listed.attempts if a.job == spec.job]
    assert [(a.state, a.end.exit_code if a.end else None) for a in mine] == [("ended", 4)]
    before = len(running.wire.all_states)
    assert isinstance(running.wire.ask(Launch(spec)), Done)  # known: what it did is the answer
    told = running.wire.all_states[before:]
    assert [_code(state.end) for state in told] == [4]
    assert isinstance(running.wire.ask(ForgetJob(spec.job, 1)), Done)
    assert not (running.attempts / f"{spec.job}.1").exists()
    again = running.wire.ask(Launch(spec))
    assert isinstance(again, Refused)
    assert again.code == "stale_attempt"


def _code(end: AttemptEnd | None) -> int | None:
    return None if end is None else end.exit_code
