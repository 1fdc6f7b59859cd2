"""The page as people meet it: Debian's Chromium over the real daemon, signed in through PAM."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real import rig
from tests.real.web_rig import free_port, set_password

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "frontend/node_modules/axe-core/axe.min.js"
CHROMIUM = shutil.which("chromium")
PASSWORD = "paper-Boat 7"
VIEWS = ("", "queue", "gpus/0")
RULES_OF_AXE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1366, "height": 768}, "locale": "en-GB"},
    "dark": {
        "viewport": {"width": 1366, "height": 768}, "locale": "zh-CN", "color_scheme": "dark",
    },
    "phone": {"viewport": {"width": 390, "height": 844}, "locale": "zh-CN", "is_mobile": True},
}  # fmt: skip

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def built() -> None:
    done = subprocess.run([sys.executable, ROOT / "hatch_build.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def people() -> Iterator[list[rig.Account]]:
    with rig.accounts("ann", "ben", prefix="rpg-") as made:
        for account in made:
            set_password(account.name, PASSWORD)
        yield made


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def running(people: list[rig.Account], built: None, port: int) -> Iterator[rig.Daemon]:
    words = ("--simulate", "4xA100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost")
    with rig.daemon(*words) as made:
        made.run("rpg-ben", "-g", "2", "--time", "4h", "--name", "sweep", "--", "sleep", "900")
        yield made


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Look:
    """One browser window of one person, and what went wrong in it."""

    def __init__(self, chromium: Any, port: int, **options: Any) -> None:
        self.context = chromium.new_context(base_url=f"http://127.0.0.1:{port}/roost/", **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", self._said)

    def _said(self, message: Any) -> None:
        # 401 before signing in, and no answer while there is no daemon, are what those tests want.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.wrong.append(message.text)

    def sign_in(self, user: str, password: str = PASSWORD) -> None:
        self.page.goto("")
        self.page.fill("input[name=user]", user)
        self.page.fill("input[name=password]", password)
        self.page.click("button[type=submit]")

    def violations(self) -> list[str]:
        self.page.evaluate(AXE.read_text())
        found = self.page.evaluate(
            "tags => axe.run(document, {runOnly: tags})", RULES_OF_AXE
        )["violations"]  # fmt: skip
        return [f"{each['id']}: {[node['target'] for node in each['nodes']]}" for each in found]


@pytest.fixture
def look(chromium: Any, running: rig.Daemon, port: int) -> Iterator[Look]:
    made = Look(chromium, port, **LOOKS["light"])
    yield made
    made.context.close()
    assert made.wrong == []


def test_a_wrong_password_is_said_and_the_right_one_shows_the_gpus(look: Look) -> None:
    look.sign_in("rpg-ann", "wrong")
    look.page.wait_for_selector("[role=alert]")
    assert look.violations() == []
    look.sign_in("rpg-ann")
    look.page.wait_for_selector("[data-gpu]")
    assert look.page.locator("[data-gpu]").count() == 4
    look.page.get_by_role("heading", name="2 of 4 GPUs are free").wait_for()
    assert look.page.locator("[data-state=free]").count() == 2
    assert "rpg-ben" in look.page.locator("[data-state=held]").first.inner_text()


def test_a_job_is_submitted_seen_on_its_gpu_and_cancelled(
    look: Look, running: rig.Daemon, people: list[rig.Account]
) -> None:
    page = look.page
    look.sign_in("rpg-ann")
    page.get_by_role("link", name="Queue").click()
    page.get_by_role("button", name="Submit a job").click()
    page.get_by_label("Command").fill("echo seed=$SEED user=$USER; sleep 600")
    page.get_by_label("Time limit").fill("2h")
    page.get_by_label("Name").fill("from-the-page")
    page.get_by_text("Variables, a share of a GPU, group").click()
    page.get_by_label("Variables").fill("SEED=1\nno variable")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_text("Not NAME=VALUE: no variable").wait_for()
    page.get_by_label("Variables").fill("SEED=7 or so")
    assert look.violations() == []
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/roost/jobs/*")
    number = int(page.url.rsplit("/", 1)[1])
    job = running.wait_state(number, "RUNNING")
    assert job["user"] == "rpg-ann"
    assert job["request"]["walltime_s"] == 7200
    page.get_by_text("seed=7 or so user=rpg-ann").wait_for()
    page.get_by_role("button", name="Cancel this job").click()
    text = page.get_by_role("dialog").last.inner_text()
    assert f"Job {number} of rpg-ann runs on GPU" in text
    assert running.job(number)["state"] == "RUNNING", "nothing is done before it is confirmed"
    page.get_by_role("button", name="Cancel the job").click()
    running.wait_state(number, "CANCELLED")


def test_another_persons_job_offers_nothing_that_would_be_refused(look: Look) -> None:
    look.sign_in("rpg-ann")
    look.page.wait_for_selector("[data-gpu]")
    look.page.goto("jobs/1")
    look.page.get_by_text("sweep").last.wait_for()
    assert look.page.get_by_role("button", name="Cancel this job").count() == 0


@pytest.mark.parametrize("name", LOOKS)
def test_every_view_is_accessible_and_fits(
    chromium: Any, running: rig.Daemon, port: int, name: str
) -> None:
    look = Look(chromium, port, **LOOKS[name])
    look.sign_in("rpg-ann")
    look.page.wait_for_selector("[data-gpu]")
    for view in VIEWS:
        look.page.goto(view)
        look.page.wait_for_selector("main h1")
        look.page.wait_for_timeout(600)
        assert look.violations() == [], view
        widths = look.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], view
    expected = "en" if name == "light" else "zh-CN"
    assert look.page.evaluate("document.documentElement.lang") == expected
    look.context.close()
    assert look.wrong == []


def test_the_page_says_that_the_daemon_is_away_and_goes_on_when_it_is_back(
    look: Look, running: rig.Daemon
) -> None:
    look.sign_in("rpg-ann")
    look.page.wait_for_selector("[data-gpu]")
    running.stop()
    look.page.get_by_text("No connection to Roost").wait_for()
    assert look.page.locator("[data-gpu]").count() == 4, "what was seen last stays in sight"
    running.start()
    look.page.get_by_text("No connection to Roost").wait_for(state="detached", timeout=40_000)
