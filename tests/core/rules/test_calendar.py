"""Periods along time: daylight saving, months, years, holidays; against a naive evaluation."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.core.rules.calendar import Calendar
from roost.core.rules.model import Days, Rules
from roost.core.rules.periods import WEEKDAYS

ZONES = ("Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
NIGHT = ("mon-fri 20:00-08:00", "sat-sun 00:00-24:00", "holidays")


def rules_with(zone: str, *words: str, days: Days | None = None) -> Rules:
    return Rules(time_zone=zone, periods={"p": words}, days=days or Days())


def calendar(zone: str, *words: str, days: Days | None = None) -> Calendar:
    return Calendar(rules_with(zone, *words, days=days))


def at(zone: str, text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def shown(zone: str, instant: float | None) -> str | None:
    if instant is None:
        return None
    return datetime.fromtimestamp(instant, ZoneInfo(zone)).strftime("%m-%d %H:%M %z")


def test_a_night_reaches_over_midnight_and_is_half_open() -> None:
    night = calendar("Asia/Shanghai", "20:00-08:00")
    begin, end = at("Asia/Shanghai", "2026-03-03T20:00"), at("Asia/Shanghai", "2026-03-04T08:00")
    assert [night.is_open("p", t) for t in (begin - 1, begin, end - 1, end)] == [
        False,
        True,
        True,
        False,
    ]
    assert night.closes_at("p", begin) == end
    assert night.next_open("p", end) == begin + 86400
    assert night.next_open("p", begin + 5) == begin + 5
    assert night.closes_at("p", end) is None


def test_nights_and_a_weekend_are_one_stretch() -> None:
    night = calendar("Europe/Berlin", *NIGHT)
    friday = at("Europe/Berlin", "2026-06-05T20:00")
    # The night that begins on a Sunday is not named, so Monday begins closed.
    assert night.closes_at("p", friday) == at("Europe/Berlin", "2026-06-08T00:00")


def test_a_holiday_opens_a_day_between_two_nights() -> None:
    days = Days(holidays=("2026-12-25",))
    night = calendar("Europe/Berlin", *NIGHT, days=days)
    thursday = at("Europe/Berlin", "2026-12-24T20:00")
    assert night.closes_at("p", thursday) == at("Europe/Berlin", "2026-12-28T00:00")


def test_a_worked_weekend_day_is_no_day_off() -> None:
    # China in 2026: 1 to 7 October off, Saturday the 10th worked.
    days = Days(holidays=("2026-10-01..2026-10-07",), working_days=("2026-10-10",))
    off = calendar("Asia/Shanghai", "freedays", days=days)
    work = calendar("Asia/Shanghai", "workdays 09:00-18:00", days=days)
    for day, free in (("01", True), ("07", True), ("08", False), ("10", False), ("11", True)):
        noon = at("Asia/Shanghai", f"2026-10-{day}T12:00")
        assert off.is_open("p", noon) is free
        assert work.is_open("p", noon) is not free


def test_a_holiday_that_is_worked_is_a_workday() -> None:
    days = Days(holidays=("2026-05-01",), working_days=("2026-05-01",))
    noon = at("UTC", "2026-05-01T12:00")
    assert calendar("UTC", "workdays", days=days).is_open("p", noon)
    assert not calendar("UTC", "freedays", days=days).is_open("p", noon)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", "2026-03-28", 11.0),  # an hour is skipped in this night
        ("Europe/Berlin", "2026-10-24", 13.0),  # an hour comes twice
        ("America/New_York", "2026-03-07", 11.0),
        ("America/New_York", "2026-10-31", 13.0),
        ("Australia/Lord_Howe", "2026-10-03", 11.5),  # half an hour each way
        ("Australia/Lord_Howe", "2026-04-04", 12.5),
        ("Asia/Shanghai", "2026-03-28", 12.0),
        ("Europe/Berlin", "2028-02-28", 12.0),  # into a leap day
        ("Europe/Berlin", "2026-12-31", 12.0),  # into a year
    ],
)
def test_a_night_is_as_long_as_the_clock_makes_it(zone: str, day: str, hours: float) -> None:
    night = calendar(zone, "20:00-08:00")
    start = at(zone, f"{day}T20:00")
    closes = night.closes_at("p", start)
    assert closes is not None
    assert (closes - start) / 3600 == hours
    assert night.next_change("p", start - 1) == start


def test_a_time_that_is_skipped_is_the_end_of_the_gap() -> None:
    zone = "Europe/Berlin"
    gap_end = at(zone, "2026-03-29T03:00")
    assert calendar(zone, "02:30-08:00").next_open("p", gap_end - 7200) == gap_end
    assert calendar(zone, "00:00-02:30").closes_at("p", gap_end - 60) == gap_end
    # What lies wholly in the gap is not there on that day.
    inside = calendar(zone, "02:10-02:50")
    assert inside.next_open("p", gap_end - 7200) == at(zone, "2026-03-30T02:10")


def test_an_hour_that_comes_twice_is_open_twice() -> None:
    zone = "Europe/Berlin"
    first, second = at(zone, "2026-10-25T02:30"), at(zone, "2026-10-25T02:30", fold=1)
    assert second - first == 3600
    early = calendar(zone, "00:00-02:30")
    assert early.closes_at("p", first - 60) == first
    assert early.next_open("p", first) == first + 1800  # 03:00 is 02:00 again
    assert early.closes_at("p", second - 60) == second
    through = calendar(zone, "01:00-04:00")
    start = at(zone, "2026-10-25T01:00")
    assert through.closes_at("p", start) == start + 4 * 3600


def test_a_period_without_an_end_never_changes() -> None:
    always = calendar("Europe/Berlin", "daily")
    now = at("Europe/Berlin", "2026-03-01T12:00")
    assert always.is_open("p", now)
    assert always.next_change("p", now) is None
    assert always.closes_at("p", now) is None
    never = calendar("Europe/Berlin", "holidays")
    assert never.next_open("p", now) is None
    assert not never.is_open("p", now)


def test_a_date_ahead_is_found_and_is_the_last() -> None:
    once = calendar("Asia/Shanghai", "2028-02-29 12:00-18:00")
    now = at("Asia/Shanghai", "2026-01-01T00:00")
    opens = at("Asia/Shanghai", "2028-02-29T12:00")
    assert once.next_open("p", now) == opens
    assert once.closes_at("p", opens) == opens + 6 * 3600
    assert once.next_open("p", opens + 7 * 3600) is None
    assert once.next_open("p", now) == opens


def test_an_opening_that_is_long_enough_is_looked_for() -> None:
    cal = calendar("Europe/Berlin", "mon-fri 20:00-08:00", "sat-sun")
    now = at("Europe/Berlin", "2026-06-01T12:00")
    assert cal.next_open("p", now, 12 * 3600) == at("Europe/Berlin", "2026-06-01T20:00")
    friday = at("Europe/Berlin", "2026-06-05T20:00")
    for ask in (now, now + 3600, at("Europe/Berlin", "2026-06-04T23:00"), friday):
        assert cal.next_open("p", ask, 13 * 3600) == friday
    assert cal.next_open("p", friday + 3600, 51 * 3600) == friday + 3600
    assert cal.next_open("p", friday + 3601, 51 * 3600) == friday + 7 * 86400
    # Only the weekend on which an hour comes twice is 53 hours long.
    assert cal.next_open("p", now, 53 * 3600) == at("Europe/Berlin", "2026-10-23T20:00")
    assert cal.next_open("p", now, 54 * 3600) is None
    assert cal.next_open("p", now + 86400, 54 * 3600) is None


def test_not_and_tuples_of_periods() -> None:
    rules = Rules(
        time_zone="Europe/Berlin", periods={"day": ("08:00-20:00",), "lunch": ("12:00-13:00",)}
    )
    cal = Calendar(rules)
    now = at("Europe/Berlin", "2026-03-29T00:00")  # an hour is skipped in this night
    assert cal.closes_at("not day", now) == now + 7 * 3600
    assert cal.next_open(("lunch", "sun 21:00-22:00"), now) == now + 11 * 3600
    assert cal.next_open(("lunch", "sun 21:00-22:00"), now + 12 * 3600) == now + 20 * 3600
    assert cal.next_change(("day", "not day"), now) is None


def test_the_weekday_is_that_of_the_rules_zone() -> None:
    # Monday 00:30 in Shanghai is Sunday in UTC.
    monday = at("Asia/Shanghai", "2026-03-02T00:30")
    assert calendar("Asia/Shanghai", "mon").is_open("p", monday)
    assert not calendar("UTC", "mon").is_open("p", monday)


def test_another_zone_in_the_rules_moves_the_period() -> None:
    rules = rules_with("Asia/Shanghai", "20:00-08:00")
    moved = replace(rules, time_zone="America/New_York")
    now = at("Asia/Shanghai", "2026-03-02T23:00")  # 10:00 in New York
    assert Calendar(rules).is_open("p", now)
    assert not Calendar(moved).is_open("p", now)


def test_a_clock_that_is_set_back_gets_the_same_answers() -> None:
    night = calendar("Europe/Berlin", *NIGHT)
    now = at("Europe/Berlin", "2026-10-25T02:30", fold=1)
    later = [night.is_open("p", now + n * 1800) for n in range(200)]
    assert [night.is_open("p", now - 3600)] == [
        calendar("Europe/Berlin", *NIGHT).is_open("p", now - 3600)
    ]
    assert [night.is_open("p", now + n * 1800) for n in range(200)] == later


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", ["2028-02-29", "2026-12-31", "2026-11-01", "2026-03-29"])
def test_a_month_ends_where_the_next_begins(zone: str, day: str) -> None:
    cal = calendar(zone)
    now = at(zone, f"{day}T12:00")
    start, end = cal.month_of(now)
    assert shown(zone, start) is not None
    assert start <= now < end
    begin = datetime.fromtimestamp(start, ZoneInfo(zone))
    assert (begin.day, begin.hour, begin.minute) == (1, 0, 0)
    assert cal.month_of(end)[0] == end
    assert cal.month_of(start - 1)[1] == start
    assert cal.month_of(now) == (start, end)


def test_a_month_with_a_changed_clock_has_an_hour_more_or_less() -> None:
    zone = "Europe/Berlin"
    march = calendar(zone).month_of(at(zone, "2026-03-15T12:00"))
    october = calendar(zone).month_of(at(zone, "2026-10-15T12:00"))
    assert (march[1] - march[0], october[1] - october[0]) == (31 * 86400 - 3600, 31 * 86400 + 3600)


# The naive evaluation: what the clock shows lies in a span of its day or of the day before.

clock = st.integers(0, 95).map(lambda quarter: f"{quarter // 4:02}:{quarter % 4 * 15:02}")
times = st.tuples(clock, clock | st.just("24:00")).filter(lambda pair: pair[0] != pair[1])
weekdays = st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=3, unique=True).map(",".join)
heads = weekdays | st.sampled_from(["daily", "", "holidays", "freedays", "workdays"])
expressions = st.builds(lambda head, pair: f"{head} {pair[0]}-{pair[1]}".strip(), heads, times)
around = st.sampled_from(
    [
        ("Europe/Berlin", date(2026, 3, 29)),
        ("Europe/Berlin", date(2026, 10, 25)),
        ("America/New_York", date(2026, 3, 8)),
        ("America/New_York", date(2026, 11, 1)),
        ("Australia/Lord_Howe", date(2026, 10, 4)),
        ("Australia/Lord_Howe", date(2026, 4, 5)),
        ("Asia/Shanghai", date(2028, 2, 29)),
        ("Asia/Shanghai", date(2026, 12, 31)),
        ("America/Sao_Paulo", date(2018, 11, 4)),  # midnight itself is skipped
        ("America/Sao_Paulo", date(2018, 2, 18)),  # the hour before midnight comes twice
        ("Pacific/Apia", date(2011, 12, 30)),  # a day that was left out
    ]
)


def fits(head: str, day: date, days: Days) -> bool:
    holiday = day.isoformat() in days.holidays
    off = (holiday or day.weekday() > 4) and day.isoformat() not in days.working_days
    if head == "holidays":
        return holiday
    if head in ("freedays", "workdays"):
        return off == (head == "freedays")
    return head in ("daily", "") or WEEKDAYS[day.weekday()] in head.split(",")


def naive_open(words: list[str], shows: datetime, days: Days) -> bool:
    """Whether that time on the wall lies in a span that began on its day or the one before."""
    minute = shows.hour * 60 + shows.minute
    for word in words:
        head, _, pair = word.rpartition(" ")
        start, end = (int(part[:2]) * 60 + int(part[3:]) for part in pair.split("-"))
        end += 1440 * (end < start)
        for back in (0, 1):
            began = shows.date() - timedelta(days=back)
            if fits(head, began, days) and start <= minute + 1440 * back < end:
                return True
    return False


@settings(max_examples=60)
@given(around, st.lists(expressions, min_size=1, max_size=3), st.data())
def test_it_is_what_a_look_at_every_minute_says(
    where: tuple[str, date], words: list[str], data: st.DataObject
) -> None:
    zone, day = where
    marked = [(day + timedelta(days=n)).isoformat() for n in range(-2, 3)]
    some = st.lists(st.sampled_from(marked), unique=True, max_size=3).map(tuple)
    days = Days(holidays=data.draw(some), working_days=data.draw(some))
    start = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) - 36 * 3600
    info = ZoneInfo(zone)
    cal = calendar(zone, *words, days=days)
    step = 15  # every time in these rules and zones is a quarter of an hour
    expected = [
        naive_open(words, datetime.fromtimestamp(start + n * 60, info), days)
        for n in range(0, 4 * 1440, step)
    ]
    moments = [start + n * 60.0 for n in range(0, 4 * 1440, step)]
    assert [cal.is_open("p", moment) for moment in moments] == expected
    # The next change, asked anywhere, is the first moment at which the state differs.
    asked = data.draw(st.integers(0, len(moments) - 1))
    fresh = calendar(zone, *words, days=days)
    change = fresh.next_change("p", moments[asked] + 1)
    later = [n for n in range(asked, len(moments)) if expected[n] != expected[asked]]
    if later:
        assert change == moments[later[0]]
    else:
        assert change is None or change > moments[-1]
    assert fresh.is_open("p", moments[0]) == expected[0]
