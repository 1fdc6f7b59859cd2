"""Points in time as people write them, in zones whose clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.cli.begin import point
from roost.cli.values import UsageError

BERLIN, SHANGHAI, LORD_HOWE = map(
    ZoneInfo, ("Europe/Berlin", "Asia/Shanghai", "Australia/Lord_Howe")
)
NOW = datetime(2026, 12, 2, 16, 2, tzinfo=UTC)  # a Wednesday, 17:02 in Berlin, 00:02 in Shanghai


def at(text: str, zone: ZoneInfo = BERLIN, now: datetime = NOW) -> str:
    return point("--begin", text, now, zone).isoformat()


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("18:00", "2026-12-02T18:00:00+01:00"),
        ("9:00", "2026-12-03T09:00:00+01:00"),
        ("tomorrow 9:00", "2026-12-03T09:00:00+01:00"),
        ("明天 9:00", "2026-12-03T09:00:00+01:00"),
        ("today 23:59:30", "2026-12-02T23:59:30+01:00"),
        ("tomorrow", "2026-12-03T00:00:00+01:00"),
        ("fri 20:00", "2026-12-04T20:00:00+01:00"),
        ("wed 20:00", "2026-12-02T20:00:00+01:00"),
        ("wed 8:00", "2026-12-09T08:00:00+01:00"),
        ("周六 8:00", "2026-12-05T08:00:00+01:00"),
        ("+2h", "2026-12-02T19:02:00+01:00"),
        ("now", "2026-12-02T17:02:00+01:00"),
        ("2026-12-03T09:00", "2026-12-03T09:00:00+01:00"),
        ("2026-12-03 09:00", "2026-12-03T09:00:00+01:00"),
        ("2026-12-03T09:00+08:00", "2026-12-03T02:00:00+01:00"),
        ("2026-12-24", "2026-12-24T00:00:00+01:00"),
    ],
)
def test_times(text: str, when: str):
    assert at(text) == when


def test_today_is_the_rules_day_not_utcs():
    assert at("today 8:00", SHANGHAI) == "2026-12-03T08:00:00+08:00"


@pytest.mark.parametrize(
    "text",
    ["", "24:00", "9", "9:60", "tomorrow at nine", "yesterday 9:00", "+", "+2", "2026-13-01"],
)
def test_no_times(text: str):
    with pytest.raises(UsageError):
        at(text)


def test_the_hour_that_is_skipped_is_later_and_the_one_that_comes_twice_is_the_first():
    spring = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert at("tomorrow 2:30", now=spring) == "2026-03-29T03:30:00+02:00"
    autumn = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert at("tomorrow 2:30", now=autumn) == "2026-10-25T02:30:00+02:00"


def test_plus_is_elapsed_time_across_the_change():
    before = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)
    assert at("+2h", now=before) == "2026-03-29T03:30:00+02:00"


@given(
    st.integers(631152000, 1900000000),
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from([BERLIN, SHANGHAI, LORD_HOWE]),
)
def test_a_clock_time_is_within_the_next_day(seconds: int, hour: int, minute: int, zone: ZoneInfo):
    now = datetime.fromtimestamp(seconds, UTC)
    found = point("--begin", f"{hour}:{minute:02d}", now, zone)
    assert timedelta(0) < found - now <= timedelta(hours=26)
    assert found.utcoffset() is not None


@given(st.text(max_size=30))
def test_any_text_is_a_time_or_refused(text: str):
    try:
        found = point("--begin", text, NOW, BERLIN)
    except UsageError:
        return
    assert found.tzinfo is not None
