"""The view of one's own things: in Chromium, over the real daemon and PAM."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.real import rig
from tests.real.test_notify_channels import allow
from tests.real.test_page import CHROMIUM, LOOKS, PASSWORD, Look, built, chromium
from tests.real.web_rig import free_port, set_password
from tests.server.notify.receiver import receiver

__all__ = ["built", "chromium"]  # fixtures

RULES = 'time_zone = "Asia/Shanghai"\n'
ZONE = ZoneInfo("Asia/Shanghai")
SHOTS = os.environ.get("ROOST_TEST_SHOTS")

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts("ann", "ben", prefix="rme-") as made:
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
        made.run("rme-ann", "-g", "1", "--time", "4h", "--name", "mine", "--", "sleep", "900")
        made.run("rme-ben", "-g", "1", "--time", "4h", "--name", "his", "--", "sleep", "900")
        start = (datetime.now(ZONE) + timedelta(days=2)).strftime("%Y-%m-%d 09:00")
        for user, purpose in (("rme-ann", "my paper"), ("rme-ben", "his secret")):
            words = ("book", "-g", "1", "--from", start, "--for", "3h", "--purpose", purpose)
            made.cli(user, *words)
        yield made


@pytest.fixture
def look(chromium: Any, running: rig.Daemon, port: int) -> Iterator[Look]:
    made = Look(chromium, port, **LOOKS["light"])
    yield made
    made.context.close()
    assert made.wrong == []


def opened(look: Look) -> Any:
    look.sign_in("rme-ann")
    look.page.wait_for_selector("[data-gpu]")
    look.page.goto("me")
    look.page.wait_for_selector("[data-figure=month]")
    return look.page


def shot(look: Look, name: str) -> None:
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        look.page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def asked(url: str, token: str | None = None) -> tuple[int, str]:
    request = urllib.request.Request(url)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_what_is_mine_stands_there_and_nothing_of_another(look: Look) -> None:
    page = opened(look)
    page.get_by_text("my paper").wait_for()
    page.locator("main").get_by_text("mine", exact=True).first.wait_for()
    said = page.inner_text("main")
    assert "rme-ben" not in said
    assert "secret" not in page.content()
    assert look.violations() == []


def test_a_booking_is_given_up_after_it_says_what_that_does(
    look: Look, running: rig.Daemon
) -> None:
    page = opened(look)
    (one,) = [
        each for each in running.json("rme-ann", "bookings", "--user", "rme-ann")["bookings"]
        if each["state"] == "booked"
    ]  # fmt: skip
    page.locator(f"[data-booking='{one['booking']}'] button").click()
    page.get_by_text("is cancelled. Others may take that time at once.").wait_for()
    assert look.violations() == []
    page.get_by_role("button", name="Cancel the booking").click()
    page.locator(f"[data-booking='{one['booking']}']").wait_for(state="detached")
    found = running.json("rme-ann", "bookings", "--user", "rme-ann")["bookings"]
    assert [each["state"] for each in found] == ["cancelled"]


def test_a_token_is_told_once_does_what_it_may_and_ends_when_revoked(look: Look, port: int) -> None:
    page = opened(look)
    page.get_by_role("button", name="New token").click()
    page.get_by_label("Name").fill("from the page")
    page.get_by_role("button", name="Make the token").click()
    secret = page.locator("[data-secret] code").inner_text()
    assert look.violations() == []
    page.get_by_role("button", name="I have kept it").click()
    assert secret not in page.content()
    jobs = f"http://127.0.0.1:{port}/roost/v1/jobs"
    assert asked(jobs, secret)[0] == 200
    page.locator("[data-token]").get_by_role("button").click()
    page.locator("[data-token]").wait_for(state="detached")
    assert asked(jobs, secret)[0] == 401


def test_a_feed_is_read_at_its_address_until_it_is_revoked(look: Look) -> None:
    page = opened(look)
    page.get_by_role("button", name="New feed").click()
    page.get_by_label("Bookings of").select_option(label="everybody")
    page.get_by_role("button", name="Make the address").click()
    url = page.locator("[data-secret] code").inner_text()
    assert look.violations() == []
    status, text = asked(url)
    assert status == 200
    assert text.startswith("BEGIN:VCALENDAR")
    assert "rme-ben" in text
    assert "his secret" not in text
    page.get_by_role("button", name="I have kept it").click()
    page.locator("[data-feed]").get_by_role("button").click()
    page.locator("[data-feed]").wait_for(state="detached")
    assert asked(url)[0] == 404


def test_another_browser_is_signed_out_from_here(look: Look, chromium: Any, port: int) -> None:
    other = Look(chromium, port, **LOOKS["light"])
    other.sign_in("rme-ann")
    other.page.wait_for_selector("[data-gpu]")
    page = opened(look)
    page.locator("[data-session]").nth(1).wait_for()
    others = page.locator("[data-session] button")
    while (left := others.count()) > 0:
        others.first.click()
        page.wait_for_function(
            "left => document.querySelectorAll('[data-session] button').length < left", arg=left
        )
    assert page.locator("[data-session]").count() == 1
    other.page.reload()
    other.page.wait_for_selector("input[name=password]")
    other.context.close()
    page.reload()
    page.wait_for_selector("[data-figure=month]")


def test_what_one_is_told_is_chosen_and_tried_from_here(look: Look, running: rig.Daemon) -> None:
    with receiver() as box:
        allow(running, f"http://127.0.0.1:{box.port}")
        page = opened(look)
        card = page.locator("[data-notify]")
        card.get_by_role("button", name="Add a channel").click()
        card.get_by_label("Address", exact=True).fill("file:///etc/passwd")
        card.get_by_role("button", name="Add it").click()
        card.get_by_text("addresses of file:// are not used").wait_for()
        assert look.violations() == []
        card.get_by_label("Address", exact=True).fill(f"http://127.0.0.1:{box.port}/s3cr3t")
        card.get_by_label("Name").fill("my hook")
        card.get_by_role("button", name="Add it").click()
        one = card.locator("[data-channel]")
        one.get_by_role("button", name="Test").click()
        one.get_by_text("The test was taken.").wait_for()
        assert [path for path, _, _ in box.got] == ["/s3cr3t"]
        assert "s3cr3t" not in page.content()
        one.get_by_text("8 of 9 topics").click()
        one.locator("[data-topic=job_ended]").select_option("digest")
        one.get_by_text("9 of 9 topics").wait_for()
        card.get_by_text("No quiet hours").first.click()
        card.get_by_label("From").fill("22:00")
        card.get_by_label("until").fill("07:00")
        card.get_by_role("button", name="Be quiet then").click()
        card.get_by_text("Quiet hours 22:00-07:00").wait_for()
        page.evaluate("scrollTo(0, 0)")  # what lies under the bar above cannot be judged
        assert look.violations() == []
        shot(look, "me-notify")
        shown = running.json("rme-ann", "notify", "show")
        assert shown["quiet"] == "22:00-07:00"
        assert shown["channels"][0]["wanted"]["job_ended"] == "digest"
        one.get_by_role("button", name="Remove").click()
        one.wait_for(state="detached")
    look.wrong.clear()  # the refusal that was asked for stands in the browser's console


@pytest.mark.parametrize("name", LOOKS)
def test_it_is_accessible_and_fits(
    chromium: Any, running: rig.Daemon, port: int, name: str
) -> None:
    look = Look(chromium, port, **LOOKS[name])
    page = opened(look)
    page.wait_for_selector("[data-session]")
    shot(look, f"me-{name}")
    assert look.violations() == []
    widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]
    look.context.close()
    assert look.wrong == []
