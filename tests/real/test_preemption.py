"""Urgent work takes a GPU from background work: the right victim, in time, and nothing is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.rig import Account, Daemon, accounts, daemon, wait_for

pytestmark = [pytest.mark.root, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]

GRACE_S = 8.0
RULES = f"""
[classes.urgent]
preempts = ["background"]

[classes.background]
min_run = "0s"
grace = "{GRACE_S:g}s"
"""

# Counts four times a second, saves its counter when asked to go, resumes from what it saved.
TRAINING = r"""
import os, pathlib, signal, sys, time
name = sys.argv[1]
saved = pathlib.Path(name + ".checkpoint")
log = open(name + ".log", "a", buffering=1)
count = int(saved.read_text()) if saved.exists() else 0
print("start", os.environ["ROOST_RESTART_COUNT"], count, time.time(), file=log)
def leave(*_):
    time.sleep(0.5)
    saved.write_text(str(count))
    print("saved", count, time.time(), file=log)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
if len(sys.argv) > 2:
    with open(os.environ["ROOST_STATUS_FILE"], "a") as status:
        time.sleep(float(sys.argv[2]))
        saved.write_text(str(count))
        status.write("saved\n")
while True:
    time.sleep(0.25)
    count += 1
"""


@pytest.fixture(scope="module")
def people() -> Iterator[list[Account]]:
    with accounts("alice", "bob", prefix="rp-") as made:
        yield made


@pytest.fixture
def roost() -> Iterator[Daemon]:
    with daemon("--simulate", "8xA100", rules=RULES) as running:
        yield running


def _lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def _training(roost: Daemon, who: Account, name: str, *words: str) -> int:
    script = who.home / "training.py"
    if not script.exists():  # An earlier job may be reading it this moment.
        script.write_text(TRAINING)
        os.chown(script, who.uid, who.gid)
    return roost.run(
        who.name, "--class", "background", "-g", "1", "--", "/usr/bin/python3", str(script),
        name, *words,
    )  # fmt: skip


def test_the_victim_is_who_loses_least_and_resumes_from_its_checkpoint_in_its_place(
    people: list[Account], roost: Daemon
) -> None:
    alice, bob = people
    jobs = []
    for number in range(8):
        saves_after = ["4"] if number == 2 else []
        jobs.append(_training(roost, alice, f"t{number}", *saves_after))
        roost.wait_state(jobs[-1], "RUNNING")
    victim, name = jobs[2], "t2"
    wait_for(lambda: (alice.home / f"{name}.checkpoint").exists(), "the victim's checkpoint")
    time.sleep(1.0)
    late = _training(roost, alice, "late")
    assert roost.job(late)["state"] == "PENDING"

    asked_at = time.time()
    urgent = roost.run(bob.name, "--class", "urgent", "-g", "1", "--", "sleep", "3")
    started = roost.wait_state(urgent, "RUNNING", "COMPLETED", timeout_s=GRACE_S + 5)
    assert time.time() - asked_at < GRACE_S, "bob's job starts within the grace period"
    states = {job: roost.job(job)["state"] for job in jobs}
    assert states.pop(victim) == "PENDING"
    assert set(states.values()) == {"RUNNING"}, "nobody else is touched"
    assert started["gpus"], "the urgent job holds the GPU"

    roost.wait_state(urgent, "COMPLETED")
    resumed = roost.wait_state(victim, "RUNNING")
    assert resumed["restarts"] == 1
    assert roost.job(late)["state"] == "PENDING", "the victim kept its place before later jobs"

    def restarted() -> list[list[str]] | None:
        lines = _lines(alice.home / f"{name}.log")
        return lines if [line[0] for line in lines] == ["start", "saved", "start"] else None

    first, saved, again = wait_for(restarted, "the victim's second start in its log")
    assert (first[1], again[1]) == ("0", "1")
    assert int(again[2]) == int(saved[1]) > 0, "it resumed from its own checkpoint"


def test_nobody_is_preempted_when_the_urgent_job_could_not_start_all_the_same(
    people: list[Account], roost: Daemon
) -> None:
    alice, bob = people
    regular = roost.run(alice.name, "-g", "1", "--", "sleep", "600")
    roost.wait_state(regular, "RUNNING")
    background = [_training(roost, alice, f"n{number}") for number in range(7)]
    for job in background:
        roost.wait_state(job, "RUNNING")
    urgent = roost.run(bob.name, "--class", "urgent", "-g", "8", "--", "true")
    time.sleep(4)
    assert roost.job(urgent)["state"] == "PENDING"
    assert {roost.job(job)["state"] for job in [regular, *background]} == {"RUNNING"}
    assert all(roost.job(job)["restarts"] == 0 for job in background)
    reasons = roost.json(bob.name, "why", str(urgent))["reasons"]
    assert regular in {job for reason in reasons for job in reason["blocking_jobs"]}
