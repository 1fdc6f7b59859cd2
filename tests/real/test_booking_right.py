"""Whose GPUs they are when a booking begins: its owner's job starts, others wait and are told why,
background leaves in time, and who is there by hand is told, and by rule ended.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.booking_rig import Cards, at_a_prompt, notices, soon, told
from tests.real.cases_rig import ZH

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
CLASSES = """
[classes.regular]
grace = "1s"
[classes.background]
grace = "1s"
min_run = "0s"
[bookings]
"""


def test_who_booked_starts_at_its_begin_others_do_not_and_background_leaves_before() -> None:
    rules = CLASSES + 'background_notice = "4s"\n'
    with (
        rig.accounts("lin", "mei", "wu", prefix="right-") as (lin, mei, wu),
        rig.daemon("--simulate", "2xA100", rules=rules) as roost,
    ):
        begins = soon(16)
        (made,) = roost.json(lin.name, "book", "-g", "2", "--from", begins, "--for", "1h")[
            "bookings"
        ]
        filler = roost.run(wu.name, "--class", "background", "--", "sleep", "600")
        crosses = roost.run(mei.name, "--time", "30m", "--", "true")
        own = roost.run(lin.name, "-g", "2", "--", "sleep", "600")
        roost.wait_state(filler, "RUNNING")
        why = roost.json(mei.name, "why", str(crosses))
        assert [1] in [reason["blocking_bookings"] for reason in why["reasons"]]
        assert f"booked by {lin.name} from" in roost.cli(mei.name, "why", str(crosses)).stdout
        running = roost.wait_state(own, "RUNNING", timeout_s=40)
        begin = rig.instant(made["start"])
        assert begin - 4.5 <= rig.instant(running["start_time"]) <= begin + 5.0
        assert roost.job(crosses)["state"] == "PENDING"
        text = roost.cli(mei.name, "why", str(crosses)).stdout
        until = made["end"][11:16]
        assert f"booked by {lin.name} until" in text and until in text, text
        assert roost.wait_state(filler, "PENDING")["restarts"] == 1
        stops = [
            row for row in roost.json("root", "audit", "log")["audit"] if row["action"] == "stop"
        ]
        assert [row["subject"] for row in stops] == [f"job {filler}"]
        assert "requeued for booking 1" in stops[0]["detail"]


@pytest.mark.parametrize("policy", ["leave", "end"])
def test_who_is_still_on_a_booked_gpu_is_told_and_by_rule_ended_and_nobody_else_is_touched(
    policy: str, tmp_path: Path
) -> None:
    cards = Cards(tmp_path)
    rules = CLASSES + f'background_notice = "8s"\noccupied = "{policy}"\n'
    with (
        rig.accounts("lin", "mei", "wu", prefix="right-") as (lin, mei, wu),
        at_a_prompt(mei) as there,
        at_a_prompt(mei) as elsewhere,
        rig.daemon("--simulate", "3xA100", rules=rules, environment=cards.environment) as roost,
    ):
        cards.put(gpu0=there.pid, gpu1=elsewhere.pid)
        rig.wait_for(lambda: len(roost.json("root", "who")["holders"]) == 2, "both are seen")
        overran = roost.run(wu.name, "--", "sh", "-c", "trap '' TERM; sleep 600")
        assert roost.wait_state(overran, "RUNNING")["gpu_indices"] == [2]
        roost.cli(lin.name, "book", "--gpu", "0", "--gpu", "2", "--for", "1h")
        own = roost.run(lin.name, "-g", "2", "--", "sleep", "600")
        rig.wait_for(lambda: told(roost, "booking_in_way"), "mei is told", 10)
        assert there.poll() is None, "never by surprise"
        rig.wait_for(lambda: told(roost, "booking_occupied"), "lin is told", 20)
        ((whom, detail),) = notices(roost, "booking_occupied")
        assert whom == lin.name
        assert {(row["user"], row.get("pid"), row.get("job")) for row in detail["held"]} == {
            (mei.name, there.pid, None), (wu.name, None, overran),
        }  # fmt: skip
        roost.wait_state(overran, "PENDING")
        if policy == "end":
            assert rig.wait_for(lambda: there.poll() is not None, "it is ended", 20)
            ends = [
                row
                for row in roost.json("root", "audit", "log")["audit"]
                if row["outcome"] == "ended"
            ]
            assert [(row["action"], row["whom"]) for row in ends] == [
                ("booking_occupied", mei.name)
            ]
        else:
            assert there.poll() is None
            assert roost.job(own)["state"] == "PENDING"
            there.kill()
        cards.put(gpu1=elsewhere.pid)
        roost.wait_state(own, "RUNNING")
        assert elsewhere.poll() is None
        assert told(roost, "booking_in_way") == [mei.name]


def test_before_a_maintenance_those_concerned_are_told_and_jobs_leave_and_they_go_on_after_it() -> (
    None
):
    rules = CLASSES + 'background_notice = "3s"\n'
    with (
        rig.accounts("lin", "mei", "wu", prefix="right-") as (lin, mei, wu),
        rig.daemon("--simulate", "2xA100", rules=rules) as roost,
    ):
        roost.cli(lin.name, "book", "--gpu", "1", "--for", "1h")
        beside = roost.run(lin.name, "--", "sleep", "600")
        runs = roost.run(wu.name, "--", "sleep", "600")
        assert roost.wait_state(runs, "RUNNING")["gpu_indices"] == [0]
        when = ("--from", soon(10), "--for", "1h")
        roost.cli("root", "book", "--maintenance", "--gpu", "0", "--purpose", "fan", *when)
        crosses = roost.run(mei.name, "--time", "30m", "--", "true")
        rig.wait_for(
            lambda: sorted(told(roost, "booking_maintenance")) == [mei.name, wu.name],
            f"who has a job there, or waits for it, is told: {told(roost, 'booking_maintenance')}",
        )
        roost.wait_state(runs, "PENDING")
        text = roost.cli(mei.name, "why", str(crosses)).stdout
        assert "GPU 0 under maintenance from" in text, text
        assert "maintenance" in roost.cli(mei.name, "status").stdout
        rig.wait_for(
            lambda: (
                "GPU 0 under maintenance until" in roost.cli(mei.name, "why", str(crosses)).stdout
            ),
            "it has begun",
        )
        assert roost.job(runs)["state"] == roost.job(crosses)["state"] == "PENDING"
        assert "maintenance until" in roost.cli(mei.name, "status").stdout
        assert "维护中" in roost.cli(mei.name, "status", environment=ZH).stdout
        zero, one = roost.json(mei.name, "status")["gpus"]
        assert [(row["booking"], row["on"]) for row in zero["bookings"]] == [(2, True)]
        assert [(row["user"], row["on"]) for row in one["bookings"]] == [(lin.name, True)]
        roost.cli("root", "book", "extend", "2", "--until", soon(2))
        roost.wait_state(runs, "RUNNING")
        assert roost.job(beside)["state"] == "RUNNING"
        assert sorted(told(roost, "booking_maintenance")) == [mei.name, wu.name]
