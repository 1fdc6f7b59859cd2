"""The Team view in Debian's Chromium over the real daemon: its numbers are the ledger's."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from roost.store import jobs as job_rows
from roost.store import ledger
from roost.store.database import open_sqlite
from roost.store.records import AttemptRecord, Reading, UsageAmount, UsageKey
from tests.real import rig
from tests.real.test_page import CHROMIUM, LOOKS, PASSWORD, Look, built, chromium
from tests.real.web_rig import free_port, set_password
from tests.store.test_history import job

__all__ = ["built", "chromium"]
ZONE = "Europe/Berlin"
PEOPLE = {"alice": "vision", "bob": "vision", "chen": "nlp", "dora": "nlp", "emil": "robotics"}
RULES = f'operators = ["rpt-olga"]\ntime_zone = "{ZONE}"\n' + "".join(
    f"[groups.{name}]\nshare = {share}\n"
    for name, share in (("vision", 2), ("nlp", 2), ("robotics", 1))
)
PICTURES = os.environ.get("ROOST_PICTURES")

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
    with rig.accounts("ann", "olga", prefix="rpt-"):
        for name in ("rpt-ann", "rpt-olga"):
            set_password(name, PASSWORD)
        words = ("--simulate", "8xA100", "--http", f"127.0.0.1:{port}", "--http-prefix", "/roost")
        with rig.daemon(*words, rules=RULES) as made:
            gpus = [gpu["uuid"] for gpu in made.json("root", "status")["gpus"]]
            made.stop()
            (path,) = made.state.rglob("roost.db")
            seed(path, gpus, time.time())
            made.start()
            yield made


def seed(path: Path, gpus: list[str], now: float, people: dict[str, str] = PEOPLE) -> None:
    """Three weeks of a lab: busy days, quiet nights and Sundays, a gap of a night, a process that
    nobody is known for."""
    owner = path.stat()
    store = open_sqlite(path)
    usage: dict[UsageKey, UsageAmount] = {}
    readings: dict[tuple[int, str], Reading] = {}
    last = int(now // 3600) * 3600
    for hour in range(last - 21 * 86400, last - 3600, 3600):
        when = datetime.fromtimestamp(hour, ZoneInfo(ZONE))
        day = math.exp(-(((when.hour - 15) / 5.5) ** 2))
        busy = (0.25 + 0.7 * day) * (0.45 if when.weekday() > 4 else 1.0)
        for place, gpu in enumerate(gpus):
            name, group = list(people.items())[(place + hour // 7200) % len(people)]
            if place < round(busy * len(gpus)):
                key = UsageKey(hour, gpu, name, group, 9, "regular")
                usage[key] = UsageAmount(held_s=3600.0, observed_s=3600.0, busy_s=2900.0 * busy)
            if place == 0 and when.hour == 3:
                usage[UsageKey(hour, gpu, "", "", 0, "")] = UsageAmount(busy_s=600.0)
            if not (hour > last - 5 * 86400 and when.hour < 4 and hour < last - 4 * 86400):
                readings[hour, gpu] = Reading(observed_s=3600.0, busy_s=2900.0 * busy)
    with store.write() as connection:
        ledger.add_usage(connection, usage)
        ledger.add_readings(connection, {}, readings)
        names = list(people)
        made = [
            job(900 + n, now - 9e4, now - 8e4, started_at=now - 9e4 + n * 60,
                user=names[n % 5], group=people[names[n % 5]], name=f"sweep-{n}")
            for n in range(9)
        ]  # fmt: skip
        job_rows.add_jobs(connection, made)
        job_rows.add_attempts(
            connection,
            [AttemptRecord(job=one.id, attempt=1, decided_at=0.0, started_at=one.started_at)
             for one in made],
        )  # fmt: skip
    store.close()
    for each in path.parent.glob("roost.db*"):
        os.chown(each, owner.st_uid, owner.st_gid)


def picture(look: Look, name: str) -> None:
    if PICTURES:
        look.page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


def test_the_week_is_the_ledgers_in_the_rules_zone_and_people_add_up(
    chromium: Any, running: rig.Daemon, port: int, tmp_path: Path
) -> None:
    look = Look(chromium, port, **LOOKS["light"])
    look.sign_in("rpt-ann")
    look.page.get_by_role("link", name="Team").click()
    look.page.wait_for_selector("[data-cell='0-10']")
    start = look.page.evaluate("performance.timeOrigin / 1000") - 29 * 86400
    first = f"{datetime.fromtimestamp(start, ZoneInfo(ZONE)):%Y-%m-%d}"
    rows = running.json("rpt-ann", "usage", "--from", first)["usage"]
    for cell in ("0-10", "2-15", "6-3"):
        day, hour = map(int, cell.split("-"))
        times = [(datetime.fromisoformat(row["hour"]), row["held_s"]) for row in rows]
        local = [(at.astimezone(ZoneInfo(ZONE)), held) for at, held in times]
        held = sum(held for at, held in local if (at.weekday(), at.hour) == (day, hour))
        shown = look.page.get_attribute(f"[data-cell='{cell}']", "data-held")
        assert float(shown or "") == pytest.approx(held), cell
    held = sum(row["held_s"] for row in rows if row["user"] == "alice") / 3600
    assert f"{held:.0f}" in look.page.locator("[data-user=alice]").inner_text()
    assert "unattributed" in look.page.locator("[data-user='']").inner_text()
    with look.page.expect_download() as given:
        look.page.get_by_role("button", name="Export CSV").click()
    given.value.save_as(tmp_path / "team.csv")
    text = (tmp_path / "team.csv").read_text(encoding="utf-8-sig")
    assert "person,alice,vision," in text
    with look.page.expect_response("**/v1/team?*"):
        look.page.get_by_text("7 days").click()
    look.page.locator("[data-user=alice]").wait_for()
    look.context.close()
    assert look.wrong == []


@pytest.mark.parametrize("name", [*LOOKS, "narrow"])
def test_the_view_is_accessible_and_fits(
    chromium: Any, running: rig.Daemon, port: int, name: str
) -> None:
    options = LOOKS.get(name) or {**LOOKS["phone"], "locale": "en-GB", "color_scheme": "dark"}
    look = Look(chromium, port, **options)
    look.sign_in("rpt-ann")
    look.page.wait_for_selector("[data-gpu]")
    look.page.goto("team")
    look.page.wait_for_selector("[data-cell]")
    look.page.wait_for_timeout(800)
    picture(look, f"team-{name}")
    look.page.locator("details summary").click()
    assert look.violations() == []
    widths = look.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]
    look.context.close()
    assert look.wrong == []
