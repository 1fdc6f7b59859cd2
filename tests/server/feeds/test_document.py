"""Calendars as other programs read them: they are valid, and open in icalendar and
recurring-ical-events with the times that were booked, in every zone and on every odd day."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import recurring_ical_events
from hypothesis import given, settings
from hypothesis import strategies as st
from icalendar import Calendar

from roost.server.feeds.document import Entry, document
from roost.server.feeds.zone import changes, vtimezone

ZONES = ("Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC")
MADE = datetime(2026, 12, 2, 10, tzinfo=UTC).timestamp()


def at(zone: str, *when: int, fold: int = 0) -> float:
    return datetime(*when, tzinfo=ZoneInfo(zone), fold=fold).timestamp()  # type: ignore[misc,arg-type]


def entry(zone: str, start: tuple[int, ...], end: tuple[int, ...], **more: Any) -> Entry:
    more = {
        "uid": "b1@roost",
        "summary": "alice: GPU 0",
        "created_at": MADE,
        "changed_at": MADE,
    } | more
    return Entry(starts_at=at(zone, *start), ends_at=at(zone, *end), **more)


def expanded(data: bytes, first: date, last: date) -> list[tuple[Any, Any]]:
    """Start and end of every occurrence, as a second implementation finds them."""
    events = recurring_ical_events.of(Calendar.from_ical(data)).between(first, last)
    return sorted((e.start, e.end) for e in events)


def local(zone: str, text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


@pytest.mark.parametrize("zone", ZONES)
def test_a_series_keeps_its_local_time_over_a_whole_year(zone: str) -> None:
    weekly = entry(zone, (2026, 1, 5, 9), (2026, 1, 5, 18), rule="FREQ=WEEKLY;BYDAY=MO;COUNT=60")
    found = expanded(document([weekly], zone, "x"), date(2026, 1, 1), date(2027, 3, 1))
    mondays = [date(2026, 1, 5) + timedelta(weeks=n) for n in range(60)]
    assert [(s.isoformat(), e.isoformat()) for s, e in found] == [
        tuple(local(zone, f"{day}T{hour:02d}:00").isoformat() for hour in (9, 18))
        for day in mondays
    ]


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", (2026, 3, 29)),
        ("Europe/Berlin", (2026, 10, 25)),
        ("America/New_York", (2026, 3, 8)),
        ("America/New_York", (2026, 11, 1)),
        ("Australia/Lord_Howe", (2026, 4, 5)),
        ("Australia/Lord_Howe", (2026, 10, 4)),
        ("Asia/Shanghai", (2026, 12, 7)),
    ],
)
def test_a_day_on_which_the_clocks_change_has_its_true_length(
    zone: str, day: tuple[int, int, int]
) -> None:
    following = date(*day) + timedelta(days=1)
    over = entry(zone, (*day, 0, 30), (following.year, following.month, following.day, 12))
    ((start, end),) = expanded(document([over], zone, "x"), date(*day), following)
    assert start.timestamp() == over.starts_at
    assert end.timestamp() == over.ends_at
    assert end.astimezone(UTC) - start.astimezone(UTC) == timedelta(
        seconds=over.ends_at - over.starts_at
    )


@pytest.mark.parametrize("zone", ZONES)
def test_whole_days_are_all_day_events_also_where_the_clocks_change(zone: str) -> None:
    days = entry(zone, (2026, 3, 28), (2026, 4, 6), rule="FREQ=YEARLY;COUNT=2")
    data = document([days], zone, "x")
    assert b"DTSTART;VALUE=DATE:20260328\r\nDTEND;VALUE=DATE:20260406" in data
    assert expanded(data, date(2026, 1, 1), date(2027, 12, 31)) == [
        (date(2026, 3, 28), date(2026, 4, 6)),
        (date(2027, 3, 28), date(2027, 4, 6)),
    ]


def test_leap_days_and_the_last_of_each_month() -> None:
    zone = "Asia/Shanghai"
    leap = entry(zone, (2028, 2, 29), (2028, 3, 1), rule="FREQ=YEARLY;COUNT=2", uid="leap")
    last = entry(zone, (2026, 1, 31, 9), (2026, 1, 31, 10), rule="FREQ=MONTHLY;COUNT=4", uid="31")
    data = document([leap, last], zone, "x")
    starts = [s for s, _ in expanded(data, date(2026, 1, 1), date(2026, 12, 31))]
    assert [s.date() for s in starts] == [
        date(2026, 1, 31), date(2026, 3, 31), date(2026, 5, 31), date(2026, 7, 31),
    ]  # fmt: skip
    years = [s for s, _ in expanded(data, date(2028, 1, 1), date(2033, 1, 1))]
    assert years == [date(2028, 2, 29), date(2032, 2, 29)]


@pytest.mark.parametrize("zone", ZONES)
def test_exceptions_ends_and_changed_occurrences_of_a_series(zone: str) -> None:
    series = entry(
        zone,
        (2026, 10, 5, 9),
        (2026, 10, 5, 12),
        rule="FREQ=WEEKLY;UNTIL=20261116T235959",
        left_out=(at(zone, 2026, 10, 12, 9), at(zone, 2026, 11, 2, 9)),
    )
    moved = entry(
        zone,
        (2026, 10, 20, 14),
        (2026, 10, 20, 17),
        replaces=at(zone, 2026, 10, 19, 9),
        sequence=1,
    )
    data = document([series, moved], zone, "x")
    found = [s.isoformat()[:16] for s, _ in expanded(data, date(2026, 10, 1), date(2026, 12, 31))]
    assert found == [
        "2026-10-05T09:00", "2026-10-20T14:00", "2026-10-26T09:00", "2026-11-09T09:00",
        "2026-11-16T09:00",
    ]  # fmt: skip


@pytest.mark.parametrize("zone", ZONES)
def test_the_end_of_a_series_of_whole_days_is_a_date(zone: str) -> None:
    days = entry(zone, (2026, 12, 7), (2026, 12, 8), rule="FREQ=DAILY;UNTIL=20261210T120000Z")
    data = document([days], zone, "x")
    assert b"UNTIL=20261210\r\n" in data
    assert len(expanded(data, date(2026, 12, 1), date(2026, 12, 31))) == 4


def test_a_cancelled_booking_keeps_its_uid_and_says_so() -> None:
    gone = entry("UTC", (2026, 12, 7, 9), (2026, 12, 7, 10), cancelled=True, sequence=3)
    (event,) = Calendar.from_ical(document([gone], "UTC", "x")).walk("VEVENT")
    assert (event["UID"], event["STATUS"], event["SEQUENCE"]) == ("b1@roost", "CANCELLED", 3)
    assert event["TRANSP"] == "TRANSPARENT"


def test_a_maintenance_is_marked() -> None:
    data = document(
        [entry("UTC", (2026, 12, 7, 9), (2026, 12, 7, 10), maintenance=True)], "UTC", "x"
    )
    assert b"CATEGORIES:MAINTENANCE\r\n" in data


HARD = '训练：检测；a, b\\c; "q"\nDESCRIPTION:x\r\nBEGIN:VALARM' + "模型🦉" * 60


def test_text_is_escaped_and_lines_are_folded_between_characters() -> None:
    data = document(
        [entry("UTC", (2026, 12, 7, 9), (2026, 12, 7, 10), summary=HARD, location="a;b,c\\d")],
        "UTC", "组 A; B",
    )  # fmt: skip
    for line in data.split(b"\r\n"):
        assert len(line) <= 75
        line.decode("utf-8")
        assert b"\n" not in line
    (event,) = Calendar.from_ical(data).walk("VEVENT")
    assert str(event["SUMMARY"]) == HARD.replace("\r\n", "\n")
    assert str(event["LOCATION"]) == "a;b,c\\d"
    assert not list(Calendar.from_ical(data).walk("VALARM"))


@settings(max_examples=60)
@given(st.text(max_size=300), st.text(max_size=100))
def test_any_text_comes_back_and_adds_nothing(summary: str, name: str) -> None:
    data = document(
        [entry("UTC", (2026, 12, 7, 9), (2026, 12, 7, 10), summary=summary)], "UTC", name
    )
    calendar = Calendar.from_ical(data)
    (event,) = calendar.walk("VEVENT")
    lines = summary.replace("\r\n", "\n").replace("\r", "\n")
    assert str(event["SUMMARY"]) == "".join(c for c in lines if c == "\n" or c.isprintable())
    assert all(len(line) <= 75 for line in data.split(b"\r\n"))
    assert [c.name for c in calendar.subcomponents] == ["VTIMEZONE", "VEVENT"]


def test_the_same_bookings_give_the_same_bytes() -> None:
    one = entry("Europe/Berlin", (2026, 12, 7, 9), (2026, 12, 7, 10))
    assert document([one], "Europe/Berlin", "x") == document([one], "Europe/Berlin", "x")
    assert document([], "Europe/Berlin", "x").count(b"BEGIN:") == 1


@pytest.mark.parametrize("zone", ZONES)
def test_the_zone_alone_tells_every_instant(zone: str) -> None:
    """A reader that knows no zones by name, only the document's VTIMEZONE, finds the same offset
    around every change and in between."""
    rules = vtimezone(ZoneInfo(zone), 2026, 2030)
    assert rules["TZID"] == zone
    onsets = []
    for part in rules.subcomponents:
        starts = [
            part["DTSTART"].dt,
            *(d.dt for d in (part["RDATE"].dts if "RDATE" in part else [])),
        ]
        before, after = part["TZOFFSETFROM"].td, part["TZOFFSETTO"].td
        onsets += [(start - before, after) for start in starts]
    onsets.sort()

    def offset(instant: datetime) -> timedelta:
        return [after for start, after in onsets if start <= instant.replace(tzinfo=None)][-1]

    first, last = datetime(2026, 1, 1, tzinfo=UTC), datetime(2030, 12, 31, tzinfo=UTC)
    probes = [first + timedelta(days=13 * n) for n in range(140)]
    for change in changes(ZoneInfo(zone), first, last):
        probes += [change - timedelta(seconds=1), change, change + timedelta(seconds=1)]
    for probe in probes:
        assert offset(probe) == probe.astimezone(ZoneInfo(zone)).utcoffset(), probe


def test_berlin_changes_when_its_law_says() -> None:
    text = vtimezone(ZoneInfo("Europe/Berlin"), 2026, 2026).to_ical()
    assert b"DTSTART:20260329T020000\r\n" in text
    assert b"DTSTART:20261025T030000\r\n" in text
