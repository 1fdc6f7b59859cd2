"""The view of operating, in Chromium over the real daemon and PAM: operators see and do, others are
told whose it is, by the page and by the routes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real import rig
from tests.real.test_page import CHROMIUM, LOOKS, PASSWORD, Look, built, chromium
from tests.real.web_rig import Browser, free_port, set_password

__all__ = ["built", "chromium"]  # fixtures

RULES = """operators = ["rpo-olga"]
time_zone = "Asia/Shanghai"
[groups.lab]
members = ["rpo-ann", "rpo-ben"]
leads = ["rpo-ann"]
[limits.per_user]
max_gpus = 4
"""
SECOND = RULES.replace("max_gpus = 4", "max_gpus = 3")
PARTS = ("rules", "users", "drains", "audit", "health")
SHOTS = os.environ.get("ROOST_TEST_SHOTS")

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def running(built: None, port: int) -> Iterator[rig.Daemon]:
    with rig.accounts("ann", "ben", "olga", prefix="rpo-") as people:
        for account in people:
            set_password(account.name, PASSWORD)
        words = ("--simulate", "4xA100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost")
        with rig.daemon(*words, rules=RULES) as made:
            made.run("rpo-ann", "-g", "1", "--time", "4h", "--name", "sweep", "--", "sleep", "900")
            made.run("rpo-ben", "-g", "1", "--name", "train", "--", "sleep", "900")
            write_rules(made, SECOND)
            rig.wait_for(lambda: made.json("root", "rules", "show")["version"] == 2, "version 2")
            for _ in range(30):
                made.cli("root", "drain", "3", "--reason", "fan")
                made.cli("root", "undrain", "3")
            yield made


def write_rules(running: rig.Daemon, text: str) -> None:
    fresh = running.state / "rules.new"
    fresh.write_text(text)
    fresh.chmod(0o644)
    fresh.replace(running.state / "rules.toml")


def opened(
    chromium: Any, port: int, part: str, user: str = "rpo-olga", look: str = "light"
) -> Look:
    options = LOOKS.get(look) or {**LOOKS["phone"], "locale": "en-GB", "color_scheme": "dark"}
    made = Look(chromium, port, **options)
    made.sign_in(user)
    made.page.wait_for_selector("[data-gpu]")
    made.page.goto(f"operate/{part}")
    return made


def closed(look: Look) -> None:
    look.context.close()
    assert look.wrong == []


def test_a_member_is_told_whose_it_is_and_gets_nothing(
    chromium: Any, running: rig.Daemon, port: int
) -> None:
    look = opened(chromium, port, "audit", "rpo-ann")
    look.page.get_by_text("This part is for operators").wait_for()
    assert "rpo-ann" in look.page.inner_text("main")
    assert look.page.get_by_role("link", name="Operate").count() == 0
    assert look.violations() == []
    closed(look)
    browser = Browser(port, prefix="/roost")
    assert browser.sign_in("rpo-ann", PASSWORD).status == 200
    for path in ("users", "drains", "health"):
        assert browser.ask("GET", f"/v1/{path}").status == 403
    assert browser.ask("POST", "/v1/rules/check", {"text": ""}).status == 403
    assert browser.ask("POST", "/v1/gpus/0/drain", {"reason": ""}).status == 403
    assert "fan" not in json.dumps(browser.ask("GET", "/v1/audit?user=root").json)


def test_rules_are_shown_with_their_versions_and_a_text_is_tried(
    chromium: Any, running: rig.Daemon, port: int
) -> None:
    look = opened(chromium, port, "rules")
    page = look.page
    page.wait_for_selector("[data-version='2']")
    assert "max_gpus = 3" in page.locator("pre").inner_text()
    page.locator("[data-row='2'] summary").click()
    page.locator("[data-row='2'] [data-change='limits.per_user.max_gpus']").wait_for()
    page.locator("[data-row='2'] [data-line=added]").wait_for()
    assert "max_gpus = 4" in page.locator("[data-row='2'] [data-line=removed]").inner_text()
    page.get_by_role("button", name="Begin with those in force").click()
    box = page.get_by_label("Proposed rules")
    assert box.input_value() == SECOND
    box.fill(SECOND.replace("max_gpus = 3", "max_gpus = -3") + "max_gpu = 2\n")
    page.get_by_role("button", name="Check", exact=True).click()
    row = page.locator("[data-mistake='limits.per_user.max_gpus']")
    row.wait_for()
    assert "-3" in row.inner_text()
    unknown = page.locator("[data-mistake='limits.per_user.max_gpu']").inner_text()
    assert "did you mean max_gpus" in unknown
    row.get_by_role("button").click()
    chosen = "e => e.value.slice(e.selectionStart, e.selectionEnd)"
    assert box.evaluate(chosen) == "max_gpus = -3"
    assert look.violations() == []
    box.fill(SECOND.replace("max_gpus = 3", "max_gpus = 2"))
    page.get_by_role("button", name="Check", exact=True).click()
    good = page.locator("[data-result=good]")
    good.locator("[data-change='limits.per_user.max_gpus']").wait_for()
    assert "install -m 644" in good.inner_text()
    assert str(running.state / "rules.toml") in good.inner_text()
    assert look.violations() == []
    closed(look)
    shown = running.json("root", "rules", "show")
    assert (shown["version"], shown["text"]) == (2, SECOND), "the page wrote nothing"


def test_the_audit_log_is_read_by_pages_and_narrowed(
    chromium: Any, running: rig.Daemon, port: int
) -> None:
    look = opened(chromium, port, "audit")
    page = look.page
    page.locator("[data-entry]").first.wait_for()
    assert page.locator("[data-entry]").count() == 50
    page.get_by_role("button", name="Older entries").click()
    page.get_by_text("That is all there is.").wait_for()
    assert page.locator("[data-entry=drain]").count() == 30
    assert page.locator("[data-entry]").count() > 60
    page.get_by_label("Action").select_option("drain")
    page.wait_for_function("document.querySelectorAll('[data-entry]').length === 30")
    first = page.locator("[data-entry]").first.inner_text()
    assert "drained" in first
    assert "GPU 3" in first
    assert "fan" in first
    assert "root" in first
    page.get_by_label("Person").fill("rpo-ann")
    page.get_by_label("Person").press("Enter")
    page.get_by_text("Nothing like that is on record").wait_for()
    assert look.violations() == []
    page.get_by_role("button", name="Show all").click()
    page.locator("[data-entry='sign-in']").first.wait_for()
    page.get_by_label("From").fill("2099-01-01")
    page.get_by_text("Nothing like that is on record").wait_for()
    closed(look)


def test_a_gpu_is_drained_after_it_says_what_that_does_and_taken_up_again(
    chromium: Any, running: rig.Daemon, port: int
) -> None:
    look = opened(chromium, port, "drains")
    page = look.page
    page.locator("[data-gpu-row='0']").wait_for()
    status = running.json("root", "status")["gpus"]
    held = next(g["index"] for g in status if any(h["user"] == "rpo-ann" for h in g["holders"]))
    page.get_by_role("button", name=f"Drain GPU {held} …").click()
    form = page.locator(f"[data-drain-form='{held}']")
    form.get_by_text("sweep of rpo-ann").wait_for()
    assert "until" in form.inner_text()
    assert "Nobody has booked it." in form.inner_text()
    form.get_by_label("Reason").fill("fan is loud")
    assert look.violations() == []
    form.get_by_role("button", name="Drain", exact=True).click()
    row = page.locator(f"[data-gpu-row='{held}'][data-drained=true]")
    row.wait_for()
    assert "fan is loud" in row.inner_text()
    assert "by rpo-olga" in row.inner_text()
    found = running.json("root", "status")["gpus"][held]
    assert (found["drained"], found["drain_reason"]) == (True, "fan is loud")
    assert found["holders"], "what runs goes on"
    newest = running.json("root", "audit", "log")["audit"][0]
    assert (newest["user"], newest["action"]) == ("rpo-olga", "drain")
    assert newest["origin"] == "127.0.0.1", "who, what, and from where"
    # The drawer of the card has the same form.
    page.goto(f"gpus/{held}")
    page.get_by_role("button", name="Use it again …").click()
    page.get_by_role("button", name="Use again", exact=True).click()
    page.get_by_role("button", name="Drain: nothing new starts here …").click()
    form.get_by_text("sweep of rpo-ann").wait_for()
    assert look.violations() == []
    assert not running.json("root", "status")["gpus"][held]["drained"]
    closed(look)


def test_the_whole_server_is_drained_and_used_again(
    chromium: Any, running: rig.Daemon, port: int
) -> None:
    look = opened(chromium, port, "drains")
    page = look.page
    page.get_by_role("button", name="Drain the whole server …").click()
    form = page.locator("[data-drain-form=all]")
    form.get_by_text("2 jobs go on until they end:").wait_for()
    assert "train of rpo-ben" in form.inner_text()
    assert "without a known end" in form.inner_text()
    form.get_by_label("Reason").fill("move to rack 2")
    form.get_by_role("button", name="Drain", exact=True).click()
    page.get_by_text("4 of 4 GPUs are drained").wait_for()
    assert all(gpu["drained"] for gpu in running.json("root", "status")["gpus"])
    page.get_by_role("button", name="Use all of them again …").click()
    form.get_by_role("button", name="Use again", exact=True).click()
    page.get_by_text("No GPU is drained").wait_for()
    assert not any(gpu["drained"] for gpu in running.json("root", "status")["gpus"])
    closed(look)


def test_people_are_shown_and_their_sessions_ended(
    chromium: Any, running: rig.Daemon, port: int
) -> None:
    ben = Browser(port, prefix="/roost")
    assert ben.sign_in("rpo-ben", PASSWORD).status == 200
    look = opened(chromium, port, "users")
    page = look.page
    page.get_by_label("Find").fill("rpo-")
    ann = page.locator("[data-user='rpo-ann']").inner_text()
    assert "group lead" in ann
    assert "leads lab" in ann
    assert "operator" in page.locator("[data-user='rpo-olga']").inner_text()
    page.get_by_role("button", name="session: rpo-ben").click()
    page.locator("[data-session]").wait_for()
    assert look.violations() == []
    page.get_by_role("button", name="End it: the session of rpo-ben").click()
    page.locator("[data-session]").wait_for(state="detached")
    assert ben.ask("GET", "/v1/status").status == 401
    closed(look)


def test_from_where_is_on_record_and_told_to_operators_and_to_who_did_it(
    running: rig.Daemon, port: int
) -> None:
    olga = Browser(port, prefix="/roost")
    assert olga.sign_in("rpo-olga", PASSWORD).status == 200
    secret = running.cli("rpo-ben", "token", "create", "--scope", "jobs", "--scope", "read").stdout
    by_token = Browser(port, prefix="/roost", headers={"Authorization": f"Bearer {secret.strip()}"})
    for who in (by_token, olga):
        job = running.run("rpo-ben", "--", "sleep", "600")
        assert who.ask("POST", f"/v1/jobs/{job}/cancel").status == 200
    job = running.run("rpo-ben", "--", "sleep", "600")
    running.cli("rpo-ben", "cancel", str(job))

    def origins(answer: Any) -> list[tuple[str, str]]:
        return [(row["user"], row["origin"]) for row in answer["audit"][:3]]

    token = running.json("rpo-ben", "token", "list")["tokens"][0]["token"]
    path = "/v1/audit?action=cancel&user=rpo-ben"
    assert origins(olga.ask("GET", path).json) == [
        ("rpo-ben", ""), ("rpo-olga", "127.0.0.1"), ("rpo-ben", f"127.0.0.1, token {token}"),
    ]  # fmt: skip
    assert origins(by_token.ask("GET", path).json) == [
        ("rpo-ben", ""), ("rpo-olga", ""), ("rpo-ben", f"127.0.0.1, token {token}"),
    ]  # fmt: skip


def test_health_says_what_is_wrong_and_what_to_do(
    chromium: Any, running: rig.Daemon, port: int
) -> None:
    look = opened(chromium, port, "health")
    page = look.page
    page.wait_for_selector("[data-check=store][data-state=ok]")
    page.wait_for_selector("[data-check=driver][data-state=note]")
    write_rules(running, SECOND + "max_gpu = 1\n")
    try:
        page.wait_for_selector("[data-check=rules][data-state=bad]")
        first = page.locator("[data-check]").first.inner_text()
        assert "max_gpu" in first
        assert "roost rules check" in first
        page.get_by_role("heading", name="Something needs a hand now").wait_for()
        assert look.violations() == []
        page.goto("operate/rules")
        page.get_by_role("alert").get_by_text("did you mean max_gpus").wait_for()
        assert look.violations() == []
    finally:
        write_rules(running, SECOND)
    closed(look)


@pytest.mark.parametrize("name", [*LOOKS, "narrow"])
def test_every_part_is_accessible_and_fits(
    chromium: Any, running: rig.Daemon, port: int, name: str
) -> None:
    look = opened(chromium, port, "rules", look=name)
    for part in PARTS:
        look.page.goto(f"operate/{part}")
        look.page.wait_for_selector(f"[data-part={part}]")
        look.page.wait_for_timeout(400)
        if part == "rules":
            look.page.locator("[data-row='2'] summary").click()
            look.page.wait_for_selector("[data-row='2'] [data-line=added]")
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            look.page.screenshot(path=f"{SHOTS}/operate-{part}-{name}.png", full_page=True)
        assert look.violations() == [], part
        widths = look.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1], part
    closed(look)
