"""Quiet hours by the zone's clock."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from roost.core.notices.quiet import allowed_at, read_quiet

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("2026-07-01 21:59", "2026-07-01 21:59"),
        ("2026-07-01 22:00", "2026-07-02 07:00"),
        ("2026-07-02 06:59", "2026-07-02 07:00"),
        ("2026-07-02 07:00", "2026-07-02 07:00"),
        ("2026-03-28 23:00", "2026-03-29 07:00"),  # the night of 23 hours
        ("2026-10-24 23:00", "2026-10-25 07:00"),  # and of 25
    ],
)
def test_nobody_is_disturbed_across_midnight(now: str, then: str) -> None:
    assert allowed_at(at(now), read_quiet("22:00-07:00"), BERLIN) == at(then)


def test_hours_within_a_day() -> None:
    quiet = read_quiet("12:00-13:30")
    assert allowed_at(at("2026-07-01 12:10"), quiet, BERLIN) == at("2026-07-01 13:30")
    assert allowed_at(at("2026-07-01 23:00"), quiet, BERLIN) == at("2026-07-01 23:00")


@pytest.mark.parametrize("wrong", ["22", "22:00", "25:00-07:00", "a-b", "22:00-07:00-09:00"])
def test_what_is_no_hours_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_quiet(wrong)
    assert read_quiet("") is None
