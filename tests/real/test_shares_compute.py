"""Shares of one GPU's compute on the whole daemon: real jobs of real accounts, a simulated GPU."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH
from tests.real.cases_rig import served as served_cards
from tests.real.fakenvml.state import FakeMig

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
RULES = """operators = []
shared_gpus = [0]
"""
VARIABLE = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"
SHOWS = f"echo mps=${VARIABLE} own=$ROOST_GPU_COMPUTE_PERCENT; exec sleep 300"
PART = "MIG-11111111-1111-5111-8111-111111111111"
OTHER = "MIG-22222222-2222-5222-8222-222222222222"
Served = tuple[rig.Daemon, rig.Account, rig.Account, rig.Account]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with (
        rig.accounts("ann", "ben", "cat", prefix="sh-cmp-") as (ann, ben, cat),
        rig.daemon("--simulate", "1xA100", rules=RULES) as roost,
    ):
        yield roost, ann, ben, cat


def share(roost: rig.Daemon, whose: rig.Account, percent: int, *words: str, **more: str) -> int:
    """A job with 10 GiB and so much compute that writes its variables and waits."""
    return roost.run(
        whose.name, "--gpu-mem", "10G", "--gpu-compute", str(percent), "--output", "%j.out", *words,
        "--", "sh", "-c", SHOWS, environment=more,
    )  # fmt: skip


def told(whose: rig.Account, job: int) -> str:
    path = whose.home / f"{job}.out"
    return str(rig.wait_for(lambda: path.exists() and path.read_text(), "its first line"))


def test_three_shares_of_compute_of_which_two_fit(served: Served) -> None:
    roost, ann, ben, cat = served
    first = share(roost, ann, 50)
    second = share(roost, ben, 40)
    for number in (first, second):
        roost.wait_state(number, "RUNNING")
    third = share(roost, cat, 30)
    time.sleep(1)
    assert roost.job(third)["state"] == "PENDING"
    why = roost.json(cat.name, "why", str(third))
    assert [each["code"] for each in why["reasons"]] == [
        "share_compute", "compute_used", "compute_used",
    ]  # fmt: skip
    assert why["reasons"][0]["blocking_jobs"] == [first, second]
    said = " ".join(roost.cli(cat.name, "why", str(third)).stdout.split())
    assert "waits for 30 % of a shared GPU's compute" in said
    assert "the most that is free is 10 % (GPU 0)" in said
    assert f"job {first} of {ann.name} has 50 % of it" in said
    assert f"job {second} of {ben.name} has 40 % of it" in said
    chinese = roost.cli(cat.name, "why", str(third), environment=ZH).stdout
    assert "算力" in chinese
    assert f"{ben.name} 的作业 {second} 占用 40%" in "".join(chinese.split("\n"))

    # Whoever states none fits beside them, and takes nothing from those who wait.
    beside = roost.run(cat.name, "--gpu-mem", "10G", "--", "true")
    roost.wait_state(beside, "COMPLETED")
    assert roost.job(third)["state"] == "PENDING"

    # A restart of the daemon knows what was promised.
    roost.stop()
    roost.start()
    time.sleep(1)
    assert roost.job(third)["state"] == "PENDING"
    assert [roost.job(n)["state"] for n in (first, second)] == ["RUNNING", "RUNNING"]

    roost.cli(ann.name, "cancel", str(first))
    roost.wait_state(third, "RUNNING")
    assert told(cat, third) == "mps=30 own=30\n"
    assert told(ben, second) == "mps=40 own=40\n"
    for whose, number in ((ben, second), (cat, third)):
        roost.cli(whose.name, "cancel", str(number))
        roost.wait_state(number, "CANCELLED")


def test_a_percentage_of_ones_own_does_not_win(served: Served) -> None:
    roost, ann, ben, _ = served
    number = share(roost, ann, 20, **{VARIABLE: "100", "ROOST_GPU_COMPUTE_PERCENT": "100"})
    roost.wait_state(number, "RUNNING")
    assert told(ann, number) == "mps=20 own=20\n"
    roost.cli(ann.name, "cancel", str(number))
    roost.wait_state(number, "CANCELLED")
    # Nor does what a job with a share submits for a whole GPU inherit its percentage.
    whole = roost.run(
        ben.name, "-g", "1", "--output", "%j.out", "--", "sh", "-c", SHOWS,
        environment={VARIABLE: "30"},
    )  # fmt: skip
    roost.wait_state(whole, "RUNNING")
    assert told(ben, whole) == "mps= own=\n"
    roost.cli(ben.name, "cancel", str(whole))
    roost.wait_state(whole, "CANCELLED")


def test_what_is_asked_for_and_what_holds_it_is_shown(served: Served) -> None:
    roost, ann, *_ = served
    number = share(roost, ann, 30, "--hold")
    shown = " ".join(roost.cli(ann.name, "show", str(number)).stdout.split())
    assert "10.0 GiB of a shared GPU, 30 % of its compute" in shown
    assert "30 % is promised, not enforced: no MPS daemon runs on this server" in shown
    assert roost.job(number)["request"]["gpu_compute_percent"] == 30
    assert "10.0 GiB 30%" in roost.cli(ann.name, "jobs").stdout
    assert roost.json("root", "status")["mps"] is False
    roost.cli(ann.name, "cancel", str(number))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gpu-compute", "30"), "add --gpu-mem"),
        (("--gpu-mem", "10G", "--gpu-compute", "0"), "from 1 to 100"),
        (("--gpu-mem", "10G", "--gpu-compute", "101"), "from 1 to 100"),
    ],
)
def test_what_can_never_be_is_refused_with_what_can(
    served: Served, words: tuple[str, ...], said: str
) -> None:
    roost, ann, *_ = served
    done = roost.cli(ann.name, "run", *words, "--", "true", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert not roost.json("root", "jobs")["jobs"]


def test_a_script_says_it_in_roosts_words_or_in_slurms(served: Served) -> None:
    roost, ann, *_ = served
    lines = ("#!/bin/sh", "#ROOST --gpu-mem 10G --hold", "#SBATCH --gres=mps:30", "true", "")
    (ann.home / "job.sh").write_text("\n".join(lines))
    number = json.loads(roost.cli(ann.name, "run", "--json", "job.sh").stdout)["job"]
    request = roost.job(number)["request"]
    assert (request["gpu_memory_bytes"], request["gpu_compute_percent"]) == (10 << 30, 30)
    roost.cli(ann.name, "cancel", str(number))


def test_a_share_of_compute_is_held_on_record_as_the_larger_of_its_parts(served: Served) -> None:
    """10 GiB of 80 are an eighth; half of the compute is half of the GPU."""
    roost, _, ben, _ = served
    number = share(roost, ben, 50)
    roost.wait_state(number, "RUNNING")
    time.sleep(2)
    roost.cli(ben.name, "cancel", str(number))
    job = roost.wait_state(number, "CANCELLED")
    ran_s = rig.instant(job["end_time"]) - rig.instant(job["start_time"])
    assert job["gpu_s"] == pytest.approx(0.5 * ran_s, abs=0.6)
    assert job["gpu_s"] > 0.3 * ran_s


def test_an_instance_that_is_marked_shared_shares_its_own_compute() -> None:
    """Of a GPU that is divided in two, one instance is marked by its UUID: 60 and 40 per cent of
    that one, and a whole job beside them gets the other."""
    rules = f'operators = []\nshared_gpus = ["{PART}"]\n'
    with (
        rig.accounts("dan", "eva", prefix="sh-mig-") as (dan, eva),
        served_cards(1, rules) as server,
    ):
        roost, card = server.roost, server.state.gpus[0]
        card.values["mig_mode"] = 1
        card.migs = [
            FakeMig(0, 1, name="3g.40gb", total_bytes=40 << 30, uuid=PART),
            FakeMig(1, 2, name="3g.40gb", total_bytes=40 << 30, uuid=OTHER),
        ]
        server.write()
        rig.wait_for(
            lambda: roost.json("root", "status")["gpus"][0]["mig_mode"], "the GPU is divided"
        )
        first = share(roost, dan, 60)
        second = share(roost, eva, 40)
        third = share(roost, eva, 10)
        whole = roost.run(dan.name, "-g", "1", "--", "sleep", "300")
        for number in (first, second):
            assert roost.wait_state(number, "RUNNING")["gpus"] == [PART]
        assert roost.wait_state(whole, "RUNNING")["gpus"] == [OTHER]
        assert told(eva, second) == "mps=40 own=40\n"
        assert roost.job(third)["state"] == "PENDING"
        said = roost.cli(eva.name, "why", str(third)).stdout
        assert "the most that is free is 0 % (GPU 100)" in " ".join(said.split())
        roost.cli(dan.name, "cancel", str(first))
        assert roost.wait_state(third, "RUNNING")["gpus"] == [PART]
