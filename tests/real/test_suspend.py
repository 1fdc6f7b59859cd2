"""Jobs that give way where they are: a real daemon, real accounts, processes that stand still."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
RULES = """
[classes.background]
min_run = "0s"
grace = "5s"
give_way = "suspend"
suspend_memory = "{memory}"
"""
COUNTS = 'n=0; while true; do n=$((n+1)); echo $n > "$HOME/count"; sleep 0.05; done'


@contextmanager
def lab(memory: str = "80G") -> Iterator[tuple[rig.Account, rig.Account, rig.Daemon]]:
    with (
        rig.accounts("lin", "mei", prefix="susp-") as (lin, mei),
        rig.daemon("--simulate", "1xA100", rules=RULES.format(memory=memory)) as roost,
    ):
        yield lin, mei, roost


def count(user: rig.Account) -> int:
    text = Path(f"/home/{user.name}/count").read_text().strip()
    return int(text) if text else count(user)


def counting(roost: rig.Daemon, user: rig.Account, *words: str) -> int:
    """A background job that counts, and does so already."""
    job = roost.run(user.name, "--class", "background", *words, "--", "sh", "-c", COUNTS)
    roost.wait_state(job, "RUNNING")
    rig.wait_for(lambda: Path(f"/home/{user.name}/count").exists(), "it counts")
    return job


def stands_still(user: rig.Account) -> bool:
    before = count(user)
    time.sleep(0.5)
    return count(user) == before


def test_a_background_job_stands_still_under_an_urgent_one_and_goes_on() -> None:
    with lab() as (lin, mei, roost):
        job = counting(roost, lin)
        urgent = roost.run(mei.name, "--class", "urgent", "--time", "1h", "--", "sleep", "600")
        roost.wait_state(urgent, "RUNNING")
        suspended = roost.wait_state(job, "SUSPENDED")
        assert stands_still(lin)
        assert suspended["gpus"] == roost.job(urgent)["gpus"]
        assert suspended["suspended_time"] is not None

        (reason,) = roost.json(lin.name, "why", str(job))["reasons"]
        assert reason["code"] == "suspended_until"
        assert reason["blocking_jobs"] == [urgent]
        assert f"to make room for job {urgent} of {mei.name}" in reason["text"]
        assert "从原处继续" in roost.cli(lin.name, "why", str(job), environment=ZH).stdout
        assert "to make room for" in roost.cli(lin.name, "jobs").stdout

        reached = count(lin)
        roost.cli(mei.name, "cancel", str(urgent))
        again = roost.wait_state(job, "RUNNING")
        rig.wait_for(lambda: count(lin) > reached + 3, "it counts on from there")
        assert (again["attempt"], again["restarts"]) == (suspended["attempt"], 0)
        assert again["suspended_s"] > 0.5
        done = [row["action"] for row in roost.json("root", "audit", "log")["audit"]]
        assert done.index("resume") < done.index("suspend")
        assert "preempt" not in done


def test_its_walltime_stands_still_and_nobody_is_charged_for_it() -> None:
    with lab() as (lin, mei, roost):
        steps = "for n in $(seq 40); do sleep 0.1; done"
        words = ("--class", "background", "--time", "6s")
        job = roost.run(lin.name, *words, "--", "sh", "-c", steps)
        roost.wait_state(job, "RUNNING")
        urgent = roost.run(mei.name, "--class", "urgent", "--", "sleep", "8")
        roost.wait_state(job, "SUSPENDED")
        roost.wait_state(urgent, "COMPLETED")
        ended = roost.wait_state(job, "COMPLETED", timeout_s=40.0)
        lasted = rig.instant(ended["end_time"]) - rig.instant(ended["start_time"])
        assert lasted > 10.0, "longer than its walltime, by the clock"
        assert ended["gpu_s"] == pytest.approx(lasted - ended["suspended_s"], abs=1.5)


def test_it_outlives_agent_and_server() -> None:
    with lab() as (lin, mei, roost):
        job = counting(roost, lin)
        urgent = roost.run(mei.name, "--class", "urgent", "--", "sleep", "600")
        roost.wait_state(job, "SUSPENDED")
        roost.stop()
        assert stands_still(lin)
        roost.start()
        assert roost.job(job)["state"] == "SUSPENDED"
        assert roost.job(urgent)["state"] == "RUNNING"
        for part in ("agent", "server"):
            rig.wait_for(lambda part=part: roost.kill(part), f"the {part} is killed")
            roost.wait_ready()
            assert stands_still(lin)
        reached = count(lin)
        roost.cli(mei.name, "cancel", str(urgent))
        assert roost.wait_state(job, "RUNNING")["attempt"] == 1
        rig.wait_for(lambda: count(lin) > reached + 3, "it counts on from there")


def test_one_that_has_too_much_in_gpu_memory_goes_back_to_the_queue() -> None:
    with lab("1G") as (lin, mei, roost):
        job = counting(roost, lin)
        rig.wait_for(
            lambda: (roost.json("root", "status")["gpus"][0]["memory_used_bytes"] or 0) > 2 << 30,
            "it has filled its GPU",
        )
        urgent = roost.run(mei.name, "--class", "urgent", "--", "sleep", "600")
        roost.wait_state(urgent, "RUNNING")
        assert roost.job(job)["state"] == "PENDING"
        rows = [
            r for r in roost.json("root", "audit", "log")["audit"] if r["subject"] == f"job {job}"
        ]
        assert [(row["action"], row["outcome"]) for row in rows[:3]] == [
            ("preempt", "done"), ("suspend", "not possible"), ("suspend", "done"),
        ]  # fmt: skip
        assert "and it may keep 1073741824" in rows[1]["detail"]


def test_one_that_is_cancelled_while_it_stands_still_hears_of_it_and_ends() -> None:
    with lab() as (lin, mei, roost):
        says = """trap 'echo heard > "$HOME/heard"; exit 0' TERM; echo > "$HOME/listens"
        while true; do sleep 0.1; done"""
        job = roost.run(lin.name, "--class", "background", "--", "sh", "-c", says)
        rig.wait_for(Path(f"/home/{lin.name}/listens").exists, "it listens to signals")
        urgent = roost.run(mei.name, "--class", "urgent", "--", "sleep", "600")
        roost.wait_state(job, "SUSPENDED")
        roost.cli(lin.name, "cancel", str(job))
        roost.wait_state(job, "CANCELLED")
        assert Path(f"/home/{lin.name}/heard").read_text() == "heard\n"
        assert roost.job(urgent)["state"] == "RUNNING"


def test_without_cuda_checkpoint_it_goes_back_to_the_queue_and_that_is_on_record() -> None:
    rules = '[classes.background]\nmin_run = "0s"\ngrace = "5s"\ngive_way = "checkpoint"\n'
    with (
        rig.accounts("lin", "mei", prefix="susp-") as (lin, mei),
        rig.daemon("--simulate", "1xA100", rules=rules) as roost,
    ):
        job = counting(roost, lin)
        urgent = roost.run(mei.name, "--class", "urgent", "--", "sleep", "600")
        roost.wait_state(urgent, "RUNNING")
        assert roost.job(job)["state"] == "PENDING"
        rows = [
            r for r in roost.json("root", "audit", "log")["audit"] if r["subject"] == f"job {job}"
        ]
        assert ("suspend", "not possible") in [(row["action"], row["outcome"]) for row in rows]
