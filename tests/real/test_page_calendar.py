"""Booking on the page: a drag on the timeline in Chromium, over the real daemon and PAM."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.real import rig
from tests.real.test_page import CHROMIUM, LOOKS, PASSWORD, Look, built, chromium
from tests.real.web_rig import free_port, set_password

__all__ = ["built", "chromium"]  # fixtures

ZONE = ZoneInfo("Asia/Shanghai")
RULES = 'time_zone = "Asia/Shanghai"\n'
# Nobody's browser is where the rules are.
ELSEWHERE = "America/New_York"
SHOTS = os.environ.get("ROOST_TEST_SHOTS")

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts("ann", "ben", prefix="rcal-") as made:
        for account in made:
            set_password(account.name, PASSWORD)
        yield made


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def running(people: list[rig.Account], built: None, port: int) -> Iterator[rig.Daemon]:
    words = ("--simulate", "4xA100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost")
    with rig.daemon(*words, rules=RULES) as made:
        made.run("rcal-ben", "-g", "1", "--time", "4h", "--name", "sweep", "--", "sleep", "900")
        yield made


@pytest.fixture
def look(chromium: Any, running: rig.Daemon, port: int) -> Iterator[Look]:
    made = Look(chromium, port, timezone_id=ELSEWHERE, **LOOKS["light"])
    yield made
    made.context.close()
    assert made.wrong == []


def coming(days: int) -> str:
    """A day ahead, on the rules' wall."""
    return (datetime.now(ZONE) + timedelta(days=days)).date().isoformat()


def opened(look: Look, user: str, view: str, day: str) -> None:
    look.sign_in(user)
    look.page.wait_for_selector("[data-gpu]")
    look.page.goto(f"calendar/{view}/{day}")
    look.page.wait_for_selector("main h1")


def drag(
    page: Any, gpu: int, first_hour: float, last_hour: float, to_gpu: int | None = None
) -> None:
    """Across the day's row, from one hour to the other."""
    box = page.locator(f"[data-row='{gpu}'] [data-track]").bounding_box()
    end = page.locator(f"[data-row='{gpu if to_gpu is None else to_gpu}'] [data-track]")
    low = end.bounding_box()
    hour = box["width"] / 24
    page.mouse.move(box["x"] + first_hour * hour + 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + (first_hour + 0.3) * hour, box["y"] + 20)
    page.mouse.move(box["x"] + last_hour * hour - 2, low["y"] + 20, steps=4)
    page.mouse.up()


def bookings(running: rig.Daemon, user: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = running.json(user, "bookings", "--user", user)["bookings"]
    return [one for one in found if one["state"] == "booked"]


def shot(look: Look, name: str) -> None:
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        look.page.screenshot(path=f"{SHOTS}/{name}.png")


def test_a_drag_is_a_booking_seen_by_the_command_line_and_undone(
    look: Look, running: rig.Daemon
) -> None:
    page, day = look.page, coming(2)
    opened(look, "rcal-ann", "day", day)
    drag(page, 2, 9, 17, to_gpu=3)
    dialog = page.get_by_role("dialog")
    assert dialog.get_by_label("From, time").input_value() == "09:00"
    assert dialog.get_by_label("Until, time").input_value() == "17:00"
    dialog.get_by_text("Takes GPU 2, 3 for you").wait_for()
    assert f'roost book --gpu 2 --gpu 3 --from "{day} 09:00" --until "{day} 17:00"' in (
        dialog.inner_text()
    )
    assert look.violations() == []
    shot(look, "book-light")
    assert bookings(running, "rcal-ann") == [], "nothing is booked before it is confirmed"
    dialog.get_by_label("Purpose").first.fill("the paper")
    dialog.get_by_role("button", name="Book", exact=True).click()
    page.locator("[data-bar^=b]").first.wait_for()
    assert page.locator("[data-bar^=b]").count() == 2
    shot(look, "booked-light")
    (one,) = bookings(running, "rcal-ann")
    assert one["gpu_indices"] == [2, 3]
    assert one["purpose"] == "the paper"
    assert datetime.fromisoformat(one["start"]) == datetime.fromisoformat(f"{day}T09:00+08:00")
    assert datetime.fromisoformat(one["end"]) == datetime.fromisoformat(f"{day}T17:00+08:00")
    assert look.violations() == []
    page.get_by_role("button", name="Undo").click()
    page.locator("[data-bar^=b]").first.wait_for(state="detached")
    assert bookings(running, "rcal-ann") == []


def test_where_there_is_no_room_what_is_free_instead_is_one_click(
    look: Look, running: rig.Daemon
) -> None:
    page, day = look.page, coming(3)
    taken = ("--gpu", "1", "--from", f"{day} 10:00", "--until", f"{day} 12:00")
    running.cli("rcal-ben", "book", *taken, "--purpose", "secret")
    opened(look, "rcal-ann", "day", day)
    page.locator("[data-row='1'] [data-bar^=b]").wait_for()
    assert "secret" not in page.content(), "another person's purpose is private"
    drag(page, 1, 8, 10)
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Until, time").fill("11:00")
    dialog.get_by_role("alert").wait_for()
    assert "rcal-ben" in dialog.get_by_role("alert").inner_text()
    assert look.violations() == []
    shot(look, "instead-light")
    dialog.locator("[data-offer=other]").click()
    dialog.get_by_text("for you").wait_for()
    dialog.get_by_role("button", name="Book", exact=True).click()
    dialog.wait_for(state="detached")
    (one,) = bookings(running, "rcal-ann")
    assert one["gpu_indices"] != [1]
    running.cli("rcal-ann", "book", "cancel", str(one["booking"]))
    bar = page.locator(f"[data-bar='b{one['booking']}']")
    bar.wait_for(state="detached", timeout=10_000)  # the page hears of it by itself


def test_booking_and_cancelling_by_the_keyboard_alone(look: Look, running: rig.Daemon) -> None:
    page, day = look.page, coming(4)
    opened(look, "rcal-ann", "day", day)
    free = page.locator("[data-free='3']")
    free.focus()
    page.keyboard.press("Enter")
    page.get_by_text("for you").wait_for()
    page.get_by_label("Purpose").first.focus()
    page.keyboard.press("Enter")
    bar = page.locator("[data-row='3'] [data-bar^=b]")
    bar.wait_for()
    (one,) = bookings(running, "rcal-ann")
    assert datetime.fromisoformat(one["start"]) == datetime.fromisoformat(f"{day}T00:00+08:00")
    bar.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/roost/bookings/{one['booking']}")
    page.get_by_role("button", name="Cancel this booking").focus()
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(r"is cancelled: GPU 3 is free again")).wait_for()
    assert look.violations() == []
    shot(look, "cancel-light")
    page.get_by_role("button", name="Cancel the booking").focus()
    page.keyboard.press("Enter")
    page.get_by_text("cancelled", exact=True).wait_for()
    assert bookings(running, "rcal-ann") == []


@pytest.mark.parametrize("name", LOOKS)
def test_the_calendar_is_accessible_and_fits(
    chromium: Any, running: rig.Daemon, port: int, name: str
) -> None:
    day = coming(1)
    made = running.json("rcal-ann", "book", "-g", "2", "--from", f"{day} 16:00", "--for", "20h",
                        "--purpose", "the paper", "--json")  # fmt: skip
    number = made["bookings"][0]["booking"]
    look = Look(chromium, port, timezone_id=ELSEWHERE, **LOOKS[name])
    look.sign_in("rcal-ann")
    look.page.wait_for_selector("[data-gpu]")
    calendar = [f"calendar/{view}/{day}" for view in ("day", "week", "month")]
    for view in (*calendar, f"bookings/{number}"):
        look.page.goto(view)
        look.page.get_by_text("rcal-ann").nth(1).wait_for()
        look.page.wait_for_timeout(500)
        shot(look, f"{view.split('/')[1]}-{name}")
        assert look.violations() == [], view
        widths = look.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], view
    look.page.locator("[data-act=change]").click()
    look.page.locator("[data-change] input[maxlength]").fill("the other paper")
    look.page.locator("[data-change] button[type=submit]:enabled").wait_for()
    shot(look, f"change-{name}")
    assert look.violations() == []
    look.page.goto("calendar")  # this week, with now in it and what runs
    look.page.get_by_text("rcal-ben").first.wait_for()
    assert look.violations() == []
    look.page.locator("[data-act=book]").click()
    look.page.locator("[data-repeat]").select_option("weekly")
    look.page.locator("[data-date]").nth(3).wait_for()
    shot(look, f"repeat-{name}")
    assert look.violations() == []
    running.cli("rcal-ann", "book", "cancel", str(number))
    look.context.close()
    assert look.wrong == []
