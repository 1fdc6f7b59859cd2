"""What the rules say of budgets, idle GPUs and held ones that do nothing, done by a real daemon."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]


def test_a_budget_is_kept_over_a_restart_and_by_everybody_for_themselves() -> None:
    rules = '[classes.urgent]\nbudget = "20s"\n'
    with (
        rig.accounts("lin", "mei", prefix="acted-") as (lin, mei),
        rig.daemon("--simulate", "2xA100", rules=rules) as roost,
    ):
        urgent = ("--class", "urgent", "--time")
        refused = roost.cli(lin.name, "run", *urgent, "1m", "--", "true", check=False)
        assert refused.returncode == 1
        assert "(rules: classes.urgent.budget)" in refused.stderr
        open_ended = roost.cli(
            lin.name, "run", "--class", "urgent", "--", "true", check=False, environment=ZH
        )
        assert "请写明本作业最长运行多久" in open_ended.stderr
        first = roost.run(lin.name, *urgent, "15s", "--", "sleep", "8")
        roost.wait_state(first, "COMPLETED")

        roost.stop()
        roost.start()
        second = roost.run(lin.name, *urgent, "15s", "--", "true")
        other = roost.run(mei.name, *urgent, "15s", "--", "true")
        roost.wait_state(other, "COMPLETED")
        assert roost.job(second)["state"] == "PENDING"
        reason = roost.json(lin.name, "why", str(second))["reasons"][0]
        assert reason["code"] == "budget"
        assert reason["rule"] == "classes.urgent.budget"
        third = roost.run(lin.name, *urgent, "8s", "--", "true")
        roost.wait_state(third, "COMPLETED")
        assert roost.job(second)["state"] == "PENDING", "a shorter one fits beside what was used"


def test_background_waits_for_a_gpu_to_be_idle_for_a_while() -> None:
    rules = '[classes.background]\nidle_for = "4s"\n'
    with (
        rig.accounts("lin", prefix="acted-") as (lin,),
        rig.daemon("--simulate", "1xA100", rules=rules) as roost,
    ):
        first = roost.run(lin.name, "--", "true")
        ended = roost.wait_state(first, "COMPLETED")
        background = roost.run(lin.name, "--class", "background", "--", "true")
        codes = [r["code"] for r in roost.json(lin.name, "why", str(background))["reasons"]]
        assert "idle_for" in codes
        started = roost.wait_state(background, "COMPLETED")
        waited = rig.instant(started["start_time"]) - rig.instant(ended["end_time"])
        assert waited >= 4.0


def test_a_job_on_a_gpu_that_does_nothing_is_told_and_then_stopped(tmp_path: Path) -> None:
    """GPU 0 computes and GPU 1 does not: only its job goes."""
    faults = tmp_path / "faults.toml"
    faults.write_text("[gpu.1]\nutilisation_percent = 0\n")
    tmp_path.chmod(0o755)
    rules = '[idle_reclaim]\nenabled = true\nafter = "60s"\nwarn = "8s"\n'
    with (
        rig.accounts("lin", prefix="acted-") as (lin,),
        rig.daemon(
            "--simulate", "2xA100", rules=rules, environment={"ROOST_SIMULATE_FAULTS": str(faults)}
        ) as roost,
    ):
        busy = roost.run(lin.name, "--", "sleep", "600")
        idle = roost.run(lin.name, "--", "sleep", "600")
        began = time.monotonic()
        rig.wait_for(
            lambda: "its GPUs have done nothing for" in roost.job(idle)["text"], "it is told", 90.0
        )
        assert time.monotonic() - began >= 59.0
        assert roost.job(idle)["state"] == "RUNNING"
        said = roost.json("root", "show", str(idle), environment=ZH)["jobs"][0]["text"]
        assert "空转" in said
        assert "idle_reclaim.after" in said
        stopped = roost.wait_state(idle, "CANCELLED")
        assert stopped["text"] == (
            "stopped because its GPUs did nothing for too long (rules: idle_reclaim.after)"
        )
        assert roost.job(busy)["state"] == "RUNNING"
        audit = [
            row for row in roost.json("root", "audit", "log")["audit"] if row["user"] == "roost"
        ]
        assert [(row["action"], row["subject"]) for row in audit[:2]] == [
            ("stop", f"job {idle}"), ("warn", f"job {idle}"),
        ]  # fmt: skip


def test_a_job_that_can_use_some_to_many_gpus_takes_what_is_free() -> None:
    """Kept over a restart, seen by the job, told by `roost show`."""
    with (
        rig.accounts("lin", prefix="acted-") as (lin,),
        rig.daemon("--simulate", "4xA100") as roost,
    ):
        holder = roost.run(lin.name, "--", "sleep", "600")
        count = 'echo "$CUDA_VISIBLE_DEVICES" | tr , "\\n" | wc -l'
        first = roost.run(lin.name, "-g", "2..8", "--", "sh", "-c", count)
        ended = roost.wait_state(first, "COMPLETED")
        assert len(ended["gpus"]) == 3
        home = Path(f"/home/{lin.name}")
        assert (home / f"roost-{first}.out").read_text().strip() == "3"
        assert "2 to 8 GPUs" in roost.cli(lin.name, "show", str(first)).stdout

        others = roost.run(lin.name, "-g", "3", "--", "sleep", "600")
        waiting = roost.run(lin.name, "-g", "2..8", "--", "sleep", "600")
        roost.stop()
        roost.start()
        roost.cli(lin.name, "cancel", str(others))
        assert len(roost.wait_state(waiting, "RUNNING")["gpus"]) == 3
        roost.cli(lin.name, "cancel", str(holder), str(waiting))

        wrong = roost.cli(lin.name, "run", "-g", "8..2", "--", "true", check=False)
        assert wrong.returncode == 1
        assert "write the fewer first, as 2..8" in wrong.stderr
