"""GPUs taken for a time: a real daemon and real accounts, from booking to the job on it."""

from __future__ import annotations

import os

import pytest

from tests.real import rig
from tests.real.cases_rig import ZH

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]


def test_who_booked_starts_by_right_and_others_wait_and_are_told_why() -> None:
    with (
        rig.accounts("lin", "mei", prefix="book-") as (lin, mei),
        rig.daemon("--simulate", "2xA100") as roost,
    ):
        said = roost.cli(lin.name, "book", "-g", "2", "--for", "2h", "--purpose", "paper").stdout
        assert said.startswith("booking 1: GPU 0,1, ")
        mine = roost.run(lin.name, "--", "sleep", "600")
        roost.wait_state(mine, "RUNNING")
        theirs = roost.run(mei.name, "--", "true")
        reasons = roost.json(mei.name, "why", str(theirs))["reasons"]
        assert [1] in [reason["blocking_bookings"] for reason in reasons]

        (seen,) = roost.json(mei.name, "bookings")["bookings"]
        assert (seen["booking"], seen["user"], seen["gpu_indices"]) == (1, lin.name, [0, 1])
        assert seen["purpose"] is None, "that is not everybody's to know"
        assert roost.json(lin.name, "bookings")["bookings"][0]["purpose"] == "paper"
        assert "已预约" in roost.cli(lin.name, "bookings", environment=ZH).stdout

        refused = roost.cli(mei.name, "book", "--for", "1h", check=False)
        assert refused.returncode != 0
        assert "free instead: GPU " in refused.stderr
        roost.stop()
        roost.start()
        assert len(roost.json(lin.name, "bookings")["bookings"]) == 1
        assert roost.job(theirs)["state"] == "PENDING"

        not_hers = roost.cli(mei.name, "book", "cancel", "1", check=False)
        assert f"booking 1 is {lin.name}'s" in not_hers.stderr
        assert "booking 1 is ended" in roost.cli(lin.name, "book", "cancel", "1").stdout
        roost.wait_state(theirs, "COMPLETED")
        done = [row["action"] for row in roost.json("root", "audit")["audit"]]
        assert "book" in done
