"""A booking from the drag to its end, over everything that shows it: the page in Chromium, the
terminal, a calendar feed, a mail server, the queue. Real daemon, PAM, accounts."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from icalendar import Calendar

from tests.real import rig
from tests.real.test_notify import Box, mail_server, write_settings
from tests.real.test_page import CHROMIUM, LOOKS, PASSWORD, Look, built, chromium
from tests.real.test_page_calendar import drag
from tests.real.web_rig import free_port, set_password
from tests.server.rig import raw

__all__ = ["built", "chromium"]  # fixtures

ZONE = ZoneInfo("Asia/Shanghai")
RULES = 'time_zone = "Asia/Shanghai"\n[bookings]\nreminder = "6s"\nno_show = "4s"\n'
ANN, BEN = "rjo-ann", "rjo-ben"

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts("ann", "ben", prefix="rjo-") as made:
        for account in made:
            set_password(account.name, PASSWORD)
        yield made


def feed_address(look: Look) -> str:
    """Made on the page, as a person does who subscribes to it."""
    page = look.page
    page.goto("me")
    page.get_by_role("button", name="New feed").click()
    page.get_by_role("button", name="Make the address").click()
    address: str = page.locator("[data-secret] code").inner_text()
    return address


def events(address: str) -> list[Any]:
    with urllib.request.urlopen(address, timeout=20) as answer:
        calendar = Calendar.from_ical(answer.read())
    return [each for each in calendar.walk("VEVENT") if each.get("STATUS") != "CANCELLED"]


def dragged(look: Look, day: str) -> None:
    page = look.page
    page.goto(f"calendar/day/{day}")
    page.wait_for_selector("[data-row='1']")
    drag(page, 0, 9, 17, to_gpu=1)
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Takes GPU 0, 1 for you").wait_for()
    dialog.get_by_label("Purpose").first.fill("camera ready")
    dialog.get_by_role("button", name="Book", exact=True).click()
    page.locator("[data-bar^=b]").first.wait_for()
    assert page.locator("[data-bar^=b]").count() == 2


def state_of(roost: rig.Daemon, number: int) -> str:
    status, _, answer = raw(roost.socket, "GET", f"/v1/bookings/{number}")
    assert status == 200, answer
    return str(answer["state"])


def test_a_booking_from_the_drag_to_its_end(
    people: list[rig.Account], built: None, chromium: Any
) -> None:
    box, mail_port, port = Box(), free_port(), free_port()
    words = ("--simulate", "2xA100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost")
    with rig.daemon(*words, rules=RULES) as roost, mail_server(box, mail_port):
        write_settings(roost, mail_port)
        look = Look(chromium, port, **LOOKS["light"])
        look.sign_in(ANN)
        look.page.wait_for_selector("[data-gpu]")
        address = feed_address(look)
        assert events(address) == []

        # The drag, in the calendar, in the terminal, in the feed.
        day = (datetime.now(ZONE) + timedelta(days=2)).date().isoformat()
        dragged(look, day)
        (made,) = roost.json(ANN, "bookings", "--user", ANN)["bookings"]
        start, end = (datetime.fromisoformat(f"{day}T{hour}:00+08:00") for hour in ("09", "17"))
        assert (made["state"], made["gpu_indices"]) == ("booked", [0, 1])
        assert datetime.fromisoformat(made["start"]) == start
        assert "camera ready" in roost.cli(ANN, "bookings").stdout
        assert "camera ready" not in roost.cli(BEN, "bookings").stdout
        (event,) = events(address)
        assert (event.decoded("DTSTART"), event.decoded("DTEND")) == (start, end)

        # The queue gives way: what would still run then waits, and says for what.
        long = roost.run(BEN, "-g", "1", "--time", "3d", "--", "sleep", "600")
        short = roost.run(BEN, "-g", "1", "--time", "1h", "--", "true")
        roost.wait_state(short, "COMPLETED")
        why = roost.cli(BEN, "why", str(long)).stdout
        assert roost.job(long)["state"] == "PENDING", why
        assert ANN in why
        assert str(made["booking"]) in why

        # It is moved to soon. The reminder comes, once, also over a restart.
        roost.cli(ANN, "book", "move", str(made["booking"]), "--from", "+10s")
        rig.wait_for(box.reminders, f"the reminder; {roost.log()}", 30)
        assert box.reminders()[0][0] == [f"{ANN}@lab.test"]
        roost.stop()
        roost.start()
        roost.wait_ready()
        look.page.get_by_text("No connection to Roost").wait_for(state="detached", timeout=40_000)

        # Nobody comes: what was booked goes to who waits, and the calendar shows it.
        roost.wait_state(long, "RUNNING")
        assert state_of(roost, made["booking"]) == "no_show"
        assert len(box.reminders()) == 1
        (event,) = events(address)
        assert event.decoded("DTEND") <= datetime.now(ZONE), "it ended when it was given up"
        look.page.goto(f"bookings/{made['booking']}")
        look.page.get_by_text("given up, for nobody used it").first.wait_for()
        assert look.violations() == []
        look.context.close()
        assert look.wrong == []


def test_a_share_of_a_gpu_is_booked_by_its_memory(
    people: list[rig.Account], built: None, chromium: Any
) -> None:
    port = free_port()
    words = ("--simulate", "2xA100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost")
    with rig.daemon(*words, rules="shared_gpus = [1]\n" + RULES) as roost:
        look = Look(chromium, port, **LOOKS["light"])
        look.sign_in(ANN)
        page = look.page
        page.wait_for_selector("[data-gpu]")
        page.goto(f"calendar/day/{(datetime.now(ZONE) + timedelta(days=1)).date().isoformat()}")
        page.get_by_role("button", name="Book GPUs").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("A share", exact=True).click()
        dialog.get_by_text("Say how much memory of a shared GPU").wait_for()
        dialog.get_by_label("GPU memory in GiB").fill("20")
        dialog.get_by_text(f"Takes 20 GiB of GPU 1 for {ANN}").wait_for()
        assert look.violations() == []
        dialog.get_by_role("button", name="Book", exact=True).click()
        dialog.wait_for(state="detached")
        (made,) = roost.json(ANN, "bookings", "--user", ANN)["bookings"]
        assert (made["gpu_memory_bytes"], made["gpu_indices"]) == (20 * 2**30, [1])
        look.context.close()
        assert look.wrong == []
