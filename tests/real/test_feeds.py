"""Calendar feeds of a real daemon over HTTP, read by other people's programs: `icalendar` and
`recurring-ical-events`, and Debian's vdirsyncer and khal. They agree with what the API lists."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import recurring_ical_events
from icalendar import Calendar

from tests.real import rig
from tests.real.web_rig import Browser, free_port
from tests.server.rig import raw, wait_for

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Shanghai")
HOSTILE = "a, b; c\\n\\ =1+1 :END:VEVENT 🎓" + "训练大模型" * 40

SERIES = "每周例会 weekly"
FORMULA = "=HYPERLINK(\"http://localhost\",'a')"


@dataclass
class Site:
    daemon: rig.Daemon
    browser: Browser
    zone: ZoneInfo

    def book(self, start: datetime, end: datetime, gpu: int, **more: Any) -> int:
        body = {
            "start": start.replace(tzinfo=self.zone).isoformat(),
            "end": end.replace(tzinfo=self.zone).isoformat(),
            "chosen": [str(gpu)], "user": "daemon", **more,
        }  # fmt: skip
        status, _, answer = raw(self.daemon.socket, "POST", "/v1/bookings", body)
        assert status == 201, answer
        return int(answer["bookings"][0]["booking"])

    def bookings(self) -> list[dict[str, Any]]:
        """All that lie ahead; where nothing is said, those of a year."""
        last = datetime.now(self.zone).date() + timedelta(days=400)
        status, _, answer = raw(self.daemon.socket, "GET", f"/v1/bookings?to={last}")
        assert status == 200, answer
        found: list[dict[str, Any]] = answer["bookings"]
        return found

    def listed(self) -> dict[int, tuple[float, float]]:
        return {
            one["booking"]: (instant(one["start"]), instant(one["end"])) for one in self.bookings()
        }

    def feed(self, user: str, *words: str) -> dict[str, Any]:
        made: dict[str, Any] = self.daemon.json(user, "book", "feed", *words)
        return made

    def calendar(self, path: str) -> Calendar:
        answer = self.browser.ask("GET", path)
        assert answer.status == 200, answer.text
        assert max(map(len, answer.text.split(b"\r\n"))) <= 75
        assert b"\n" not in answer.text.replace(b"\r\n", b"")
        found = Calendar.from_ical(answer.text)
        assert isinstance(found, Calendar)
        assert not any(part.errors for part in found.walk())
        return found

    def seconds(self, found: date | datetime) -> float:
        if not isinstance(found, datetime):
            found = datetime.combine(found, time(), self.zone)
        return found.timestamp()


def instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def number(event: Any) -> int:
    return int(str(event["UID"]).split("@")[0].removeprefix("booking-"))


@pytest.fixture(scope="module", params=ZONES)
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    port = free_port()
    rules = f"""
time_zone = "{request.param}"
[groups.lab]
members = ["rfe-lin", "rfe-mei"]
[bookings]
horizon = "400d"
longest = "40d"
repeat_horizon = "400d"
"""
    with (
        rig.accounts("lin", "mei", prefix="rfe-"),
        rig.daemon("--simulate", "4xA100", "--http", f"127.0.0.1:{port}", rules=rules) as daemon,
    ):
        yield Site(daemon, Browser(port), ZoneInfo(request.param))


def changes(zone: ZoneInfo) -> list[date]:
    """The next two days on which the clocks change, none so near that the week before it is over;
    where they never do, two days of these seasons."""
    first, found = datetime.now(zone).date() + timedelta(days=9), []
    for day in (first + timedelta(days=n) for n in range(380)):
        noon = datetime.combine(day, time(12), zone)
        if noon.utcoffset() != (noon - timedelta(days=1)).utcoffset():
            found.append(day)
    return found[:2] or [first.replace(day=28) + timedelta(days=90), first + timedelta(days=300)]


def month_of_31(after: date) -> tuple[datetime, datetime]:
    first = (after.replace(day=1) + timedelta(days=32)).replace(day=1)
    while True:
        following = (first + timedelta(days=32)).replace(day=1)
        if (following - first).days == 31:
            return datetime.combine(first, time()), datetime.combine(following, time())
        first = following


@pytest.fixture(scope="module")
def booked(site: Site) -> Site:
    for day in changes(site.zone):
        midnight = datetime.combine(day, time())
        hour = timedelta(hours=1)
        site.book(midnight - 2 * hour, midnight + 10 * hour, 0, purpose="over the night")
        site.book(midnight + hour, midnight + 5 * hour, 1, purpose=HOSTILE)
        site.book(midnight, midnight + timedelta(days=1), 2, purpose=FORMULA)
        noon = midnight - timedelta(days=7) + 12 * hour
        site.book(
            noon, noon + hour, 1, purpose=SERIES, repeat="FREQ=WEEKLY;COUNT=4",
            **{"except": [str(day + timedelta(days=7))]},
        )  # fmt: skip
    start, end = month_of_31(datetime.now(site.zone).date())
    site.book(start, end, 3, purpose="整月")
    cancelled = site.book(end, end + timedelta(hours=2), 3)
    site.daemon.cli("root", "book", "cancel", str(cancelled))
    return site


def test_the_calendar_of_a_feed_has_what_the_api_lists_at_the_same_instants(booked: Site) -> None:
    made = booked.feed("root", "--all")
    found = booked.calendar(made["path"])
    listed = booked.listed()
    assert len(listed) == 14
    now = datetime.now(booked.zone)
    shown = recurring_ical_events.of(found).between(now, now + timedelta(days=400))
    assert {
        number(each): (booked.seconds(each["DTSTART"].dt), booked.seconds(each["DTEND"].dt))
        for each in shown
    } == listed
    texts = {str(each["SUMMARY"]).partition(" · ")[2] for each in shown}
    assert texts == {"over the night", HOSTILE, FORMULA, SERIES, "整月", ""}
    states = [str(each["STATUS"]) for each in shown]
    assert sorted(states) == ["CANCELLED", *["CONFIRMED"] * 13]
    series = [each["DTSTART"].dt for each in shown if SERIES in str(each["SUMMARY"])]
    assert {(at.hour, at.minute) for at in series} == {(12, 0)}
    days = changes(booked.zone)
    week = timedelta(days=7)
    assert sorted(at.date() for at in series) == sorted(
        day + n * week for day in days for n in (-1, 0, 2)
    )
    whole = [each for each in shown if not isinstance(each["DTSTART"].dt, datetime)]
    assert sorted((e["DTEND"].dt - e["DTSTART"].dt).days for e in whole) == [1, 1, 31]


def test_debians_calendar_programs_read_the_same(booked: Site, tmp_path: Path) -> None:
    made = booked.feed("root", "--all")
    url = f"http://127.0.0.1:{booked.browser.port}{made['path']}"
    (tmp_path / "vdirsyncer").write_text(
        f"""[general]
status_path = "{tmp_path}/status"
[pair roost]
a = "here"
b = "there"
collections = null
conflict_resolution = "b wins"
[storage here]
type = "filesystem"
path = "{tmp_path}/calendar"
fileext = ".ics"
[storage there]
type = "http"
url = "{url}"
"""
    )
    (tmp_path / "khal").write_text(
        f"""[calendars]
[[roost]]
path = {tmp_path}/calendar
type = calendar
[locale]
local_timezone = {booked.zone.key}
default_timezone = {booked.zone.key}
timeformat = %H:%M
dateformat = %Y-%m-%d
longdateformat = %Y-%m-%d
datetimeformat = %Y-%m-%d %H:%M
longdatetimeformat = %Y-%m-%d %H:%M
[sqlite]
path = {tmp_path}/khal.db
"""
    )
    (tmp_path / "calendar").mkdir()
    environment = {
        "HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        "TZ": booked.zone.key, "VDIRSYNCER_CONFIG": str(tmp_path / "vdirsyncer"),
    }  # fmt: skip

    def said(*words: str) -> str:
        done = subprocess.run(
            words, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60,
            input="y\n",
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said("/usr/bin/vdirsyncer", "discover")
    said("/usr/bin/vdirsyncer", "sync")
    listed = booked.listed()
    assert len(list((tmp_path / "calendar").glob("*.ics"))) == len(listed)
    text = said(
        "/usr/bin/khal", "-c", str(tmp_path / "khal"), "list", "--once", "--day-format", "",
        "--format", "at|{start-long-full}|{end-long-full}|{title}", "today", "400d",
    )  # fmt: skip
    # vdirsyncer gives what it has over HTTP names of its own, so that instants are compared.
    found = []
    for row in (line.split("|", 3) for line in text.splitlines() if line.startswith("at|")):
        start, end = (datetime.fromisoformat(at).replace(tzinfo=booked.zone) for at in row[1:3])
        if end.time() == time():
            end += timedelta(days=1)  # of whole days khal names the last
        found.append((start.timestamp(), end.timestamp()))
    assert sorted(found) == sorted(listed.values())
    assert "=1+1 :END:VEVENT 🎓训练大模型" in text
    assert "· 整月" in text


def test_a_booking_that_is_moved_stays_the_same_event_with_a_higher_sequence(booked: Site) -> None:
    path = booked.feed("root", "--gpu", "2")["path"]
    which = min(booked.calendar(path).walk("VEVENT"), key=number)
    start = which["DTSTART"].dt + timedelta(days=1)
    body = {"start": datetime.combine(start, time(9), booked.zone).isoformat(), "duration_s": 3600}
    changed = f"/v1/bookings/{number(which)}/change"
    status, _, answer = raw(booked.daemon.socket, "POST", changed, body)
    assert status == 200, answer
    (moved,) = [
        each for each in booked.calendar(path).walk("VEVENT") if each["UID"] == which["UID"]
    ]
    assert moved["SEQUENCE"] > which["SEQUENCE"]
    assert moved["DTSTART"].dt == datetime.combine(start, time(9), booked.zone)
    assert moved["DTEND"].dt - moved["DTSTART"].dt == timedelta(hours=1)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("locale", ["C.UTF-8", "zh_CN.UTF-8"])
def test_what_is_exported_is_read_back_as_the_same(
    booked: Site, tmp_path: Path, ending: str, locale: str
) -> None:
    file = tmp_path / f"预约.{ending}"
    words = ("book", "export", str(file), "--to", "+399d")
    said = booked.daemon.cli("root", *words, environment={"LC_ALL": locale}).stdout
    assert "13" in said
    if ending == "csv":
        text = file.read_text("utf-8-sig")
        assert text.startswith("使用人," if locale.startswith("zh") else "Name,")
        assert not any(cell.startswith(("=", '"=')) for cell in text.split(","))
    read = booked.daemon.json("root", "book", "import", str(file), "--dry-run")
    assert read["rejected"] == []
    wanted = [
        (one["user"], one["gpu_indices"], one["start"][:16], one["end"][:16], one["purpose"])
        for one in booked.bookings()
        if one["state"] != "cancelled"
    ]
    found = [
        (one["user"], one["gpus"], one["start"][:16], one["end"][:16], one["purpose"])
        for one in read["bookings"]
    ]
    assert sorted(found) == sorted(wanted)


def test_strangers_read_a_feed_by_its_whole_address_and_nothing_beside_it(booked: Site) -> None:
    made = booked.feed("rfe-mei")
    path, ask = made["path"], booked.browser.ask
    secret = path.split("/")[3]
    assert ask("GET", path).status == 200
    assert ask("GET", f"/v1/feeds/{'A' * 43}/bookings.ics").status == 404
    for tried in (
        "/v1/feeds", f"/v1/feeds/{made['feed']}", f"/v1/feeds/{secret[:-1]}/bookings.ics",
        f"/v1/feeds/{secret}/../../bookings.ics", "/v1/feeds/../bookings/bookings.ics",
        f"/v1/feeds/{secret}%252fbookings.ics", f"/v1/feeds/{secret}/bookings.ics/",
        f"/v1//feeds/{secret}/bookings.ics", "/v1/feeds/%00/bookings.ics", "/v1/bookings",
    ):  # fmt: skip
        assert ask("GET", tried).status in (400, 401), tried
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert ask(method, path).status == 401, method
    tag = ask("GET", path).headers["etag"]
    assert ask("GET", path, headers={"If-None-Match": tag}).status == 304
    assert secret not in booked.daemon.log()
    assert secret not in booked.daemon.cli("root", "audit", "log", "--json").stdout
    assert secret not in booked.daemon.cli("rfe-mei", "book", "feed", "--list", "--json").stdout
    foreign = booked.daemon.cli("rfe-lin", "book", "feed", "--revoke", made["feed"], check=False)
    assert foreign.returncode != 0
    booked.daemon.cli("rfe-mei", "book", "feed", "--revoke", made["feed"])
    assert ask("GET", path).status == 404
    assert ask("GET", path, headers={"If-None-Match": tag}).status == 404


def test_an_account_that_is_locked_loses_its_feed(booked: Site) -> None:
    if booked.zone.key != ZONES[0]:
        return  # the same everywhere, and it takes a while
    path = booked.feed("rfe-lin", "--all")["path"]
    text = booked.browser.ask("GET", path).text.replace(b"\r\n ", b"").decode()
    assert "over the night" not in text
    assert "整月" not in text
    subprocess.run(["usermod", "-L", "-e", "1", "rfe-lin"], check=True)

    def noted() -> bool:
        rows = booked.daemon.json("root", "audit", "log")["audit"]
        return any(row["action"] == "feed-revoke" and row["whom"] == "rfe-lin" for row in rows)

    wait_for(noted, "the feed is gone", 90)
    assert booked.browser.ask("GET", path).status == 404
