"""GPUs taken for a time: a real daemon and real accounts, from booking to the job on it."""

from __future__ import annotations

import os
import time

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
        done = [row["action"] for row in roost.json("root", "audit", "log")["audit"]]
        assert "book" in done


def test_who_booked_changes_what_lies_ahead_and_only_the_end_of_what_is_on() -> None:
    """Also: one booking of many GPUs, corrected by an operator on record."""
    with (
        rig.accounts("lin", "mei", prefix="book-") as (lin, mei),
        rig.daemon("--simulate", "4xA100") as roost,
    ):
        roost.cli(lin.name, "book", "-g", "4", "--from", "+5h", "--for", "2h")
        moved = roost.cli(lin.name, "book", "move", "1", "--from", "+8h", "-g", "2").stdout
        assert moved.startswith("booking 1: GPU 0,1, ")
        (ahead,) = roost.json(lin.name, "bookings", "1")["bookings"]
        longer = roost.json(lin.name, "book", "extend", "1", "--by", "1h")["bookings"][0]
        assert longer["start"] == ahead["start"]
        assert longer["end"] > ahead["end"]
        refused = roost.cli(mei.name, "book", "move", "1", "--from", "+9h", check=False)
        assert f"booking 1 is {lin.name}'s" in refused.stderr

        roost.cli(mei.name, "book", "-g", "3", "--from", "+1h", "--for", "1h")
        clash = roost.cli(lin.name, "book", "move", "1", "--from", "+1h", check=False)
        assert "roost book move 1 --gpu " in clash.stderr
        offered = next(
            line.split()[1:] for line in clash.stderr.splitlines() if line.startswith("  roost")
        )
        roost.cli(lin.name, *offered)

        roost.cli(lin.name, "book", "--for", "40m", "--gpu", "3")
        begun = roost.cli(lin.name, "book", "move", "3", "--from", "+1h", check=False)
        assert "only its end can still be changed" in begun.stderr
        assert "已经开始" in roost.cli(
            lin.name, "book", "move", "3", "--from", "+1h", check=False, environment=ZH
        ).stderr  # fmt: skip
        roost.cli(lin.name, "book", "extend", "3", "--until", "+30m")
        time.sleep(1.1)  # within its first second it is cancelled: nothing of it was had
        assert "booking 3 is ended" in roost.cli(lin.name, "book", "end", "3").stdout
        over = roost.cli("root", "book", "move", "3", "--purpose", "x", check=False)
        assert "booking 3 is over" in over.stderr

        assert f"{mei.name}'s now" in roost.cli(lin.name, "book", "give", "1", mei.name).stdout
        roost.cli("root", "book", "move", "1", "--purpose", "corrected")
        rows = roost.json("root", "audit", "log")["audit"]
        assert ("booking_change", "root") in {(row["action"], row["user"]) for row in rows}


def test_two_swap_once_both_have_asked_and_a_series_goes_together() -> None:
    with (
        rig.accounts("lin", "mei", prefix="book-") as (lin, mei),
        rig.daemon("--simulate", "2xA100") as roost,
    ):
        roost.cli(lin.name, "book", "--gpu", "0", "--from", "+5h", "--for", "1h")
        roost.cli(mei.name, "book", "--gpu", "1", "--from", "+9h", "--for", "1h")
        assert "is asked" in roost.cli(lin.name, "book", "swap", "1", "2").stdout
        assert roost.json(lin.name, "book", "swap", "1", "2")["swapped"] is False
        assert roost.json(mei.name, "book", "swap", "2", "1")["swapped"] is True
        users = {row["booking"]: row["user"] for row in roost.json("root", "bookings")["bookings"]}
        assert users == {1: mei.name, 2: lin.name}

        rule = ("--repeat", "FREQ=WEEKLY;COUNT=3")
        series = roost.json(lin.name, "book", "--from", "+24h", "--for", "1h", *rule)["bookings"]
        assert [one["booking"] for one in series] == [3, 4, 5]
        gone = roost.cli(lin.name, "book", "cancel", "4", "--series").stdout
        assert "4, 5" in gone
        wrong = roost.cli(lin.name, "book", "--for", "1h", "--repeat", "FREQ=SECONDLY", check=False)
        assert "not SECONDLY" in wrong.stderr


def test_a_time_partly_under_maintenance_is_offered_in_parts() -> None:
    with (
        rig.accounts("lin", prefix="book-") as (lin,),
        rig.daemon("--simulate", "1xA100") as roost,
    ):
        early, late = ("--from", "+24h", "--for", "2h"), ("--from", "+22h", "--for", "10h")
        roost.cli("root", "book", "--maintenance", "--gpu", "0", *early)
        no = roost.cli(lin.name, "book", *late, check=False)
        offers = [line for line in no.stderr.splitlines() if line.startswith("  roost book --gpu")]
        assert len(offers) >= 2
