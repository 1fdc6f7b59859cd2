"""A booking that nobody uses is given up, also over a restart. A job is use, and so is a process
that its owner started by hand.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.real import rig
from tests.real.booking_rig import Cards, at_a_prompt, states, told

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
NO_SHOW = '[bookings]\nno_show = "4s"\n'


@pytest.mark.parametrize("between", ["nothing", "the server is killed"])
def test_what_nobody_uses_is_released_to_who_waits_and_what_somebody_uses_is_not(
    between: str, tmp_path: Path
) -> None:
    cards = Cards(tmp_path)
    with (
        rig.accounts("lin", "mei", "wu", prefix="use-") as (lin, mei, wu),
        at_a_prompt(mei) as process,
        rig.daemon("--simulate", "3xA100", rules=NO_SHOW, environment=cards.environment) as roost,
    ):
        cards.put(gpu1=process.pid)
        roost.cli(lin.name, "book", "--gpu", "0", "--for", "1h")
        roost.cli(mei.name, "book", "--gpu", "1", "--for", "1h")
        roost.cli(wu.name, "book", "--gpu", "2", "--for", "1h")
        soon_over = roost.run(wu.name, "--", "true")
        roost.wait_state(soon_over, "COMPLETED")
        theirs = roost.run(wu.name, "-g", "2", "--", "sleep", "600")
        if between != "nothing":
            assert roost.kill("server")
            roost.wait_ready()
        assert states(roost, 1, 2, 3) == ["booked"] * 3, "the time to come is not over"
        roost.wait_state(theirs, "RUNNING", timeout_s=30)
        assert states(roost, 1, 2, 3) == ["no_show", "booked", "booked"]
        assert told(roost, "booking_no_show") == [lin.name]


def test_who_books_what_their_own_process_uses_may_and_the_process_is_there_by_the_booking(
    tmp_path: Path,
) -> None:
    cards = Cards(tmp_path)
    with (
        rig.accounts("lin", "mei", prefix="use-") as (lin, mei),
        at_a_prompt(mei) as process,
        rig.daemon("--simulate", "2xA100", environment=cards.environment) as roost,
    ):

        def row() -> dict[str, object] | None:
            rows = roost.json("root", "who")["holders"]
            return next((one for one in rows if one["pid"] == process.pid), None)

        cards.put(gpu0=process.pid)
        before = rig.wait_for(row, "mei's process is seen")
        assert (before["kind"], before["booking"], before["lawful"]) == ("session", None, False)
        (other,) = roost.json(lin.name, "book", "--from", "+1m", "--for", "1h")["bookings"]
        assert other["gpu_indices"] == [1], "somebody is on the other one"
        (own,) = roost.json(mei.name, "book", "--for", "30m", "--gpu", "0")["bookings"]
        number = own["booking"]
        rig.wait_for(lambda: (row() or {})["booking"] == number, "it is there by the booking")
        after = row()
        assert after is not None
        assert (after["kind"], after["lawful"]) == ("booking", True)
        assert f"booking {number}" in roost.cli(lin.name, "status").stdout
        rig.wait_for(
            lambda: roost.json(mei.name, "bookings", str(number))["bookings"][0]["used_time"],
            "that is use",
        )
        roost.cli(mei.name, "book", "end", str(number))
        rig.wait_for(lambda: (row() or {})["kind"] == "session", "its right is over")
        assert rig.processes_of(mei.uid) == [process.pid], "and nobody touches it"
