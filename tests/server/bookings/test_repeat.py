"""Times of a series: local time is kept, hostile rules end, and what is wrong is named."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from roost.core.bookings.assign import Timetable, assign
from roost.core.bookings.model import Site, Want
from roost.core.model import Booking, Gpu
from roost.server.bookings.repeat import MOST_TIMES, times
from roost.server.refusal import RefusalError

BERLIN = ZoneInfo("Europe/Berlin")
HALF_YEAR = 182 * 86400.0


def local(start: str, end: str, rule: str, *without: str, zone: ZoneInfo = BERLIN) -> list[str]:
    first, last = (datetime.fromisoformat(t).replace(tzinfo=zone).timestamp() for t in (start, end))
    found = times(rule, first, last, without, zone, HALF_YEAR)
    shown = [datetime.fromtimestamp(a, zone).strftime("%m-%d %H:%M") for a, _ in found.spans]
    return [f"{at} {(b - a) / 3600:g}h" for at, (a, b) in zip(shown, found.spans, strict=True)]


def test_a_series_keeps_its_local_time_and_the_length_is_what_elapses() -> None:
    assert local("2027-03-27T22:00", "2027-03-28T08:00", "FREQ=DAILY;COUNT=2") == [
        "03-27 22:00 9h",
        "03-28 22:00 10h",
    ]
    assert local("2026-10-24T22:00", "2026-10-25T08:00", "FREQ=DAILY;COUNT=2") == [
        "10-24 22:00 11h",
        "10-25 22:00 10h",
    ]


def test_a_skipped_hour_is_as_much_later_and_of_a_doubled_one_the_first_is_taken() -> None:
    assert local("2027-03-27T02:30", "2027-03-27T02:45", "FREQ=DAILY;COUNT=3") == [
        "03-27 02:30 0.25h",
        "03-28 03:30 0.25h",
        "03-29 02:30 0.25h",
    ]
    found = times(
        "FREQ=DAILY;COUNT=2", datetime(2026, 10, 24, 2, 30, tzinfo=BERLIN).timestamp(),
        datetime(2026, 10, 24, 3, 30, tzinfo=BERLIN).timestamp(), (), BERLIN, HALF_YEAR,
    )  # fmt: skip
    at = datetime.fromtimestamp(found.spans[1][0], UTC)
    assert (at.day, at.hour, at.minute) == (25, 0, 30), "summer time still, UTC+2"
    assert found.spans[1][1] - found.spans[1][0] == 2 * 3600


def test_a_night_is_as_long_as_it_was_and_weekdays_are_those_of_the_zone() -> None:
    east = ZoneInfo("Asia/Shanghai")
    found = local("2026-12-07T06:00", "2026-12-07T08:00", "FREQ=WEEKLY;BYDAY=MO;COUNT=2", zone=east)
    assert found == ["12-07 06:00 2h", "12-14 06:00 2h"], "Sunday evening in UTC"
    night = local("2026-10-23T22:00", "2026-10-24T06:00", "FREQ=DAILY;COUNT=3")
    assert night == ["10-23 22:00 8h", "10-24 22:00 9h", "10-25 22:00 8h"]


def test_a_clash_that_is_there_in_winter_alone_is_found() -> None:
    """Nine o'clock in Berlin is another instant of UTC after the change than before."""
    start = datetime(2026, 10, 19, 8, tzinfo=UTC).timestamp()
    theirs = times("FREQ=DAILY;COUNT=14", start, start + 3600, (), ZoneInfo("UTC"), HALF_YEAR)
    nine = datetime(2026, 10, 19, 9, tzinfo=BERLIN).timestamp()
    mine = times("FREQ=DAILY;COUNT=14", nine, nine + 3600, (), BERLIN, HALF_YEAR)
    gpu = Gpu("G0", 0, "A100", 1 << 36)
    table = Timetable(Booking(n, "li", ("G0",), a, b) for n, (a, b) in enumerate(theirs.spans))
    clashes = [a for a, b in mine.spans if assign(Site((gpu,)), table, Want(1), a, b) is None]
    days = [datetime.fromtimestamp(at, BERLIN).day for at in clashes]
    assert days == [25, 26, 27, 28, 29, 30, 31, 1]


def test_exceptions_count_and_are_left_out() -> None:
    found = local("2026-12-07T09:00", "2026-12-07T10:00", "FREQ=WEEKLY;COUNT=3", "2026-12-14")
    assert found == ["12-07 09:00 1h", "12-21 09:00 1h"]


@pytest.mark.parametrize(
    "until", ["20261209", "20261209T090000", "20261209T080000Z"], ids=["day", "local", "utc"]
)
def test_the_end_of_a_rule_is_a_day_or_a_time_here_or_of_utc(until: str) -> None:
    rule = f"FREQ=DAILY;UNTIL={until}"
    assert len(local("2026-12-07T09:00", "2026-12-07T10:00", rule)) == 3


def test_a_rule_without_end_ends_at_the_horizon_and_says_so() -> None:
    start = datetime(2026, 12, 7, 9, tzinfo=UTC).timestamp()
    found = times("RRULE:FREQ=WEEKLY;BYDAY=MO", start, start + 3600, (), ZoneInfo("UTC"), HALF_YEAR)
    assert len(found.spans) == 27
    assert found.rule == "FREQ=WEEKLY;BYDAY=MO;UNTIL=20270607T090000Z"


def test_an_end_beyond_the_horizon_is_not_cut_off_in_silence() -> None:
    start = datetime(2026, 12, 7, 9, tzinfo=UTC).timestamp()
    found = times("FREQ=YEARLY;COUNT=9", start, start + 3600, (), ZoneInfo("UTC"), HALF_YEAR)
    assert [a > start + HALF_YEAR for a, _ in found.spans] == [False, True]


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("FREQ=SECONDLY", "repeat_step"),
        ("FREQ=HOURLY;COUNT=3", "repeat_step"),
        ("", "repeat_part"),
        ("FREQ=DAILY;FREQ=DAILY", "repeat_part"),
        ("FREQ=DAILY;BYSECOND=1", "repeat_part"),
        ("FREQ=DAILY;COUNT=0", "repeat_value"),
        ("FREQ=DAILY;COUNT=1000000000", "repeat_value"),
        ("FREQ=DAILY;INTERVAL=-1", "repeat_value"),
        ("FREQ=DAILY;UNTIL=20261399", "repeat_value"),
        ("FREQ=DAILY;UNTIL=20271224;COUNT=3", "repeat_both_ends"),
        ("FREQ=WEEKLY;BYDAY=XX", "repeat_dateutil"),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "no_times"),
        ("FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6", "no_times"),
        ("FREQ=DAILY;UNTIL=20200101", "no_times"),
        ("FREQ=DAILY;BYDAY=" + ",".join(["MO"] * 90), "repeat_value"),
        ("FREQ=DAILY\nDTSTART:20200101", "repeat_value"),
    ],
)
def test_a_wrong_or_hostile_rule_is_named_and_soon_done(rule: str, code: str) -> None:
    start = datetime(2026, 12, 7, 9, tzinfo=BERLIN).timestamp()
    before = time.process_time()
    with pytest.raises(RefusalError) as no:
        times(rule, start, start + 3600, (), BERLIN, HALF_YEAR)
    assert (no.value.code, no.value.status) == (code, 422)
    assert no.value.said("zh") != no.value.said("en")
    assert time.process_time() - before < 2


def test_more_times_than_can_be_booked_are_refused() -> None:
    start = datetime(2026, 12, 7, 9, tzinfo=BERLIN).timestamp()
    ten_years = 3660 * 86400.0
    with pytest.raises(RefusalError, match="too_many_times"):
        times("FREQ=DAILY;COUNT=99999", start, start + 3600, (), BERLIN, ten_years)
    most = times(f"FREQ=DAILY;COUNT={MOST_TIMES}", start, start + 3600, (), BERLIN, ten_years)
    assert len(most.spans) == MOST_TIMES
    with pytest.raises(RefusalError, match="no_times"):
        times("FREQ=DAILY;INTERVAL=99999999;BYDAY=SU", start, start + 60, (), BERLIN, ten_years)


def test_a_day_left_out_that_is_no_date_is_named() -> None:
    with pytest.raises(RefusalError, match="bad_day"):
        times("FREQ=DAILY;COUNT=2", 1e9, 1e9 + 60, ("tomorrow",), BERLIN, HALF_YEAR)
