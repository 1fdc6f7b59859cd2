"""Bookings moved on the page: by the pointer, the keyboard, a finger; never without being asked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.real import rig
from tests.real.test_page import CHROMIUM, LOOKS, PASSWORD, Look, built, chromium
from tests.real.test_page_calendar import ELSEWHERE, RULES, coming, opened, shot
from tests.real.web_rig import free_port, set_password

__all__ = ["built", "chromium"]  # fixtures

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts("ann", "ben", "eve", prefix="rcm-") as made:
        for account in made:
            set_password(account.name, PASSWORD)
        yield made


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def running(people: list[rig.Account], built: None, port: int) -> Iterator[rig.Daemon]:
    words = ("--simulate", "4xA100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost")
    with rig.daemon(*words, rules=RULES + 'operators = ["rcm-eve"]\n') as made:
        yield made


@pytest.fixture
def look(chromium: Any, running: rig.Daemon, port: int) -> Iterator[Look]:
    made = Look(chromium, port, timezone_id=ELSEWHERE, **LOOKS["light"])
    yield made
    made.context.close()
    assert made.wrong == []


def book(running: rig.Daemon, user: str, day: str, gpu: int, start: str, end: str) -> int:
    times = ("--from", f"{day} {start}", "--until", f"{day} {end}", "--purpose", "the paper")
    made = running.json(user, "book", "--gpu", str(gpu), *times, "--json")
    return int(made["bookings"][0]["booking"])


def where(running: rig.Daemon, number: int, day: str) -> tuple[list[int], float, float]:
    """Its GPUs, and its hours counted from that day's midnight."""
    (one,) = running.json("rcm-ann", "bookings", str(number))["bookings"]
    midnight = datetime.fromisoformat(f"{day}T00:00+08:00")
    hours = [
        (datetime.fromisoformat(one[key]) - midnight) / timedelta(hours=1)
        for key in ("start", "end")
    ]
    return one["gpu_indices"], hours[0], hours[1]


def pull(
    page: Any, number: int, hours: float, *, at: float = 0.5, to_gpu: int | None = None
) -> None:
    """Its bar taken at a part of its length, and let go so many hours later."""
    box = page.locator(f"[data-bar=b{number}]").first.bounding_box()
    track = page.locator("[data-track]").first.bounding_box()
    hour = track["width"] / 24
    x, y = box["x"] + box["width"] * at, box["y"] + box["height"] / 2
    row = page.locator(f"[data-row='{to_gpu}']").bounding_box() if to_gpu is not None else None
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 6, y)
    page.mouse.move(x + hours * hour, row["y"] + 20 if row else y, steps=4)
    page.mouse.up()


def test_a_booking_is_dragged_to_another_hour_and_gpu_made_longer_and_put_back(
    look: Look, running: rig.Daemon
) -> None:
    page, day = look.page, coming(2)
    number = book(running, "rcm-ann", day, 1, "09:00", "12:00")
    opened(look, "rcm-ann", "day", day)
    bar = page.locator(f"[data-bar=b{number}]")
    bar.wait_for()
    pull(page, number, 3, to_gpu=2)
    panel = page.locator(f"[data-move='{number}']")
    panel.get_by_text("It was: GPU 1,").wait_for()
    assert "becomes: GPU 2," in panel.inner_text()
    assert "12:00 – 15:00" in panel.inner_text()
    assert where(running, number, day) == ([1], 9.0, 12.0), "nothing is done before it is confirmed"
    assert look.violations() == []
    shot(look, "move-light")
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    assert where(running, number, day) == ([1], 9.0, 12.0)
    pull(page, number, 3, to_gpu=2)
    panel.get_by_role("button", name="Change it").click()
    page.locator(f"[data-row='2'] [data-bar=b{number}]").wait_for()
    assert where(running, number, day) == ([2], 12.0, 15.0)
    pull(page, number, 2.5, at=0.99)
    panel.get_by_role("button", name="Change it").click()
    page.get_by_text(f"Booking {number} is now").wait_for()
    assert where(running, number, day) == ([2], 12.0, 17.5)
    pull(page, number, -1, at=0.01)
    panel.get_by_role("button", name="Change it").click()
    page.get_by_text(re.compile(f"Booking {number} is now: GPU 2, .* 11:00")).wait_for()
    assert where(running, number, day) == ([2], 11.0, 17.5)
    page.get_by_role("button", name="Undo").click()
    page.get_by_text(f"Booking {number} is now").wait_for(state="detached")
    assert where(running, number, day) == ([2], 12.0, 17.5)
    bar.click()
    page.wait_for_url(f"**/roost/bookings/{number}")


def test_a_conflict_says_whose_it_is_and_what_is_free_is_one_click(
    look: Look, running: rig.Daemon
) -> None:
    page, day = look.page, coming(3)
    mine = book(running, "rcm-ann", day, 1, "09:00", "12:00")
    theirs = book(running, "rcm-ben", day, 1, "14:00", "18:00")
    opened(look, "rcm-ann", "day", day)
    page.locator(f"[data-bar=b{theirs}]").wait_for()
    pull(page, mine, 4)
    panel = page.locator(f"[data-move='{mine}']")
    panel.get_by_role("alert").wait_for()
    assert "rcm-ben" in panel.get_by_role("alert").inner_text()
    assert panel.get_by_role("button", name="Change it").count() == 0
    assert look.violations() == []
    shot(look, "move-conflict-light")
    panel.locator("[data-offer=other]").click()
    page.get_by_text(f"Booking {mine} is now").wait_for()
    gpus, start, end = where(running, mine, day)
    assert gpus != [1]
    assert (start, end) == (13.0, 16.0)
    # Another person's stays, and says why.
    pull(page, theirs, 2)
    page.get_by_text(re.compile(f"Booking {theirs} is rcm-ben’s: only rcm-ben")).wait_for()
    assert where(running, theirs, day)[1:] == (14.0, 18.0)


def test_the_arrow_keys_move_a_booking_and_its_end(look: Look, running: rig.Daemon) -> None:
    page, day = look.page, coming(4)
    number = book(running, "rcm-ann", day, 0, "09:00", "12:00")
    opened(look, "rcm-ann", "day", day)
    bar = page.locator(f"[data-bar=b{number}]")
    bar.focus()
    for key in (
        "ArrowRight",
        "ArrowRight",
        "Escape",
        "ArrowRight",
        "Shift+ArrowRight",
        "ArrowDown",
    ):
        page.keyboard.press(key)
    page.get_by_role("status").get_by_text("GPU 1, ").wait_for()
    page.keyboard.press("Enter")
    panel = page.locator(f"[data-move='{number}']")
    panel.get_by_role("button", name="Change it").wait_for()
    assert where(running, number, day) == ([0], 9.0, 12.0)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text(f"Booking {number} is now").wait_for()
    assert where(running, number, day) == ([1], 9.25, 12.5)
    page.wait_for_function(f"document.activeElement?.dataset.bar === 'b{number}'")


def test_a_finger_holds_a_booking_before_it_moves_it(
    chromium: Any, running: rig.Daemon, port: int
) -> None:
    day = coming(5)
    number = book(running, "rcm-ann", day, 1, "02:00", "06:00")
    look = Look(chromium, port, timezone_id=ELSEWHERE, has_touch=True, **LOOKS["phone"])
    opened(look, "rcm-ann", "day", day)
    page = look.page
    page.get_by_text("图", exact=True).click()
    bar = page.locator(f"[data-bar=b{number}]")
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    hour = page.locator("[data-track]").first.bounding_box()["width"] / 24
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = look.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        shown = [{"x": at[0], "y": at[1]} for at in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": shown})

    panel = page.locator(f"[data-move='{number}']")
    for wait_ms in (0, 700):
        touch("touchStart", (x, y))
        page.wait_for_timeout(wait_ms)
        for step in (0.5, 1, 1.5, 2):
            touch("touchMove", (x + step * hour, y))
        touch("touchEnd")
        if not wait_ms:
            page.wait_for_timeout(300)
            assert panel.count() == 0, "a swipe moves the picture only"
            page.locator("[role=region]").evaluate("each => each.scrollTo(0, 0)")
    panel.get_by_role("button", name="确认改动").wait_for()
    shot(look, "move-phone")
    assert look.violations() == []
    widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]
    panel.get_by_role("button", name="确认改动").click()
    page.get_by_text(f"预约 {number} 已改为").wait_for()
    assert where(running, number, day) == ([1], 4.0, 8.0)
    look.context.close()
    assert look.wrong == []


def drawer(look: Look, number: int) -> Any:
    look.page.goto(f"bookings/{number}")
    return look.page.get_by_role("dialog")


def test_the_drawer_changes_a_booking_makes_it_longer_and_gives_it_away(
    look: Look, running: rig.Daemon
) -> None:
    day = coming(8)
    number = book(running, "rcm-ann", day, 1, "09:00", "12:00")
    book(running, "rcm-ben", day, 1, "15:00", "18:00")
    opened(look, "rcm-ann", "week", day)
    box = drawer(look, number)
    box.get_by_role("button", name="Change …").click()
    assert box.get_by_role("button", name="Change it").is_disabled(), "nothing is changed yet"
    box.get_by_label("Until, time").fill("14:00")
    box.get_by_label("Purpose").first.fill("the other paper")
    box.get_by_text(re.compile("It becomes: GPU 1, .* 09:00 – 14:00. It was: GPU 1")).wait_for()
    assert look.violations() == []
    shot(look, "change-light")
    assert where(running, number, day)[2] == 12.0
    box.get_by_role("button", name="Change it").click()
    box.get_by_text(f"Booking {number} is now").wait_for()
    assert where(running, number, day) == ([1], 9.0, 14.0)
    box.get_by_role("button", name="Make longer …").click()
    box.get_by_text("2 h", exact=True).click()
    box.get_by_role("alert").get_by_text("rcm-ben").wait_for()
    assert look.violations() == []
    shot(look, "longer-light")
    box.locator("[data-offer=shorter]").click()
    box.get_by_text(f"Booking {number} is now").wait_for()
    assert where(running, number, day) == ([1], 9.0, 15.0)
    box.get_by_role("button", name="Give to somebody …").click()
    box.get_by_label("Account").fill("rcm-ben")
    box.get_by_text("becomes rcm-ben’s, who is told").wait_for()
    assert look.violations() == []
    box.get_by_role("button", name="Give it", exact=True).click()
    box.get_by_text(f"Booking {number} is rcm-ben’s now").wait_for()
    box.get_by_text("only rcm-ben").wait_for()
    assert box.get_by_role("button", name="Change …").count() == 0
    (one,) = running.json("rcm-ben", "bookings", str(number))["bookings"]
    assert (one["user"], one["purpose"]) == ("rcm-ben", "the other paper")


def test_a_swap_is_asked_for_and_agreed_to_and_a_series_given_up(
    look: Look, chromium: Any, running: rig.Daemon, port: int
) -> None:
    day = coming(9)
    mine = book(running, "rcm-ann", day, 1, "09:00", "12:00")
    theirs = book(running, "rcm-ben", day, 2, "14:00", "18:00")
    opened(look, "rcm-ann", "day", day)
    box = drawer(look, mine)
    box.get_by_role("button", name="Swap …").click()
    box.get_by_label("For which booking").select_option(str(theirs))
    box.get_by_text(re.compile("rcm-ben is asked. If rcm-ben agrees")).wait_for()
    assert look.violations() == []
    shot(look, "swap-light")
    box.get_by_role("button", name="Ask for the swap").click()
    box.get_by_text(f"rcm-ben is asked whether booking {theirs}").wait_for()
    other = Look(chromium, port, timezone_id=ELSEWHERE, **LOOKS["light"])
    opened(other, "rcm-ben", "day", day)
    box = drawer(other, theirs)
    box.get_by_text(f"rcm-ann would like to swap booking {mine}").wait_for()
    box.get_by_role("button", name="See what it would do").click()
    box.get_by_text("change their owners at once").wait_for()
    shot(other, "swap-agree-light")
    box.get_by_role("button", name="Swap", exact=True).click()
    box.get_by_text("have changed owners").wait_for()
    other.context.close()
    assert other.wrong == []
    rows = running.json("rcm-ann", "bookings", str(mine), str(theirs))["bookings"]
    assert {one["booking"]: one["user"] for one in rows} == {mine: "rcm-ben", theirs: "rcm-ann"}
    first = running.json(
        "rcm-ann", "book", "--gpu", "3", "--from", f"{day} 09:00", "--for", "1h",
        "--repeat", "FREQ=DAILY;COUNT=3",
    )["bookings"][0]["booking"]  # fmt: skip
    box = drawer(look, first)
    box.get_by_text("every day until").wait_for()
    box.get_by_role("button", name="Cancel this booking").click()
    box.get_by_label("And the 2 that follow it").check()
    box.get_by_text("So are 2 after it:").wait_for()
    assert look.violations() == []
    shot(look, "series-light")
    box.get_by_role("button", name="Cancel all of them").click()
    box.get_by_text("3 bookings are cancelled").wait_for()
    left = running.json("rcm-ann", "bookings", "--user", "rcm-ann")["bookings"]
    assert not [one for one in left if one["series"] == first and one["state"] == "booked"]


def test_a_series_shows_its_dates_leaves_out_those_without_room_and_is_for_somebody_else(
    look: Look, running: rig.Daemon
) -> None:
    page = look.page
    day, taken, left_out, last = (coming(days) for days in (12, 13, 14, 15))
    book(running, "rcm-ben", taken, 3, "09:00", "10:00")
    opened(look, "rcm-eve", "day", day)
    free = page.locator("[data-free='3']")
    free.focus()
    page.keyboard.press("Enter")
    box = page.get_by_role("dialog")
    box.get_by_label("From, time").fill("09:00")
    box.get_by_label("Until, time").fill("10:00")
    box.get_by_label("Repeat").select_option("daily")
    box.locator("[data-date]").nth(3).wait_for()
    assert box.locator("[data-room=false]").count() == 1
    assert box.locator(f"[data-date='{taken}'][data-room=false]").count() == 1
    box.get_by_role("alert").get_by_text("rcm-ben").wait_for()
    assert look.violations() == []
    box.get_by_label("Leave out those that have no room").check()
    box.locator(f"[data-date='{left_out}'] input").uncheck()
    box.get_by_label("For whom").fill("rcm-ann")
    box.get_by_text("Books 2 times for rcm-ann").wait_for()
    said = f"--repeat 'FREQ=DAILY;COUNT=4' --except {left_out} --skip --user rcm-ann"
    assert said in box.inner_text()
    assert look.violations() == []
    shot(look, "series-new-light")
    box.get_by_role("button", name="Book", exact=True).click()
    page.get_by_text("2 bookings are made").wait_for()

    def days() -> list[str]:
        rows = running.json("rcm-ann", "bookings", "--user", "rcm-ann")["bookings"]
        return [one["start"][:10] for one in rows if one["made_by"] == "rcm-eve"]

    assert days() == [day, last]
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("2 bookings are made").wait_for(state="detached")
    rows = running.json("rcm-ann", "bookings", "--user", "rcm-ann")["bookings"]
    assert {one["state"] for one in rows if one["made_by"] == "rcm-eve"} == {"cancelled"}
