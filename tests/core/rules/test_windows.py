"""Windows: who is held back by which, until when; who must be gone when; who is told when."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.core.model import PriorityClass
from roost.core.rules.calendar import Calendar
from roost.core.rules.load import load
from roost.core.rules.windows import (
    Closing,
    Refusal,
    closing,
    next_window_change,
    window_refusal,
)

URGENT, REGULAR, BACKGROUND = PriorityClass
HOUR = 3600.0
NIGHT = 'night = ["mon-fri 20:00-08:00", "freedays"]\n'


def ruled(*windows: str, zone: str = "Europe/Berlin") -> Calendar:
    text = f'time_zone = "{zone}"\n[days]\nholidays = ["2026-12-25"]\n[periods]\n{NIGHT}'
    text += "[groups.lab]\n[groups.vision]\nparent = 'lab'\n[groups.other]\n"
    return Calendar(load(text + "".join(windows)))


def long(at_close: str = "finish", more: str = "") -> str:
    return (
        f'[windows.long]\njobs_over = "4h"\nopen = ["night"]\nexempt = ["urgent"]\n'
        f'at_close = "{at_close}"\n{more}\n'
    )


def at(text: str, zone: str = "Europe/Berlin", fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


NOON = at("2026-06-01T12:00")  # a Monday
EVENING = at("2026-06-01T20:00")
MORNING = at("2026-06-02T08:00")


@pytest.mark.parametrize(
    ("walltime_s", "klass", "now", "refused"),
    [
        (4 * HOUR, REGULAR, NOON, None),  # not above four hours
        (4 * HOUR + 1, REGULAR, NOON, EVENING),
        (None, REGULAR, NOON, EVENING),  # without a walltime it is long
        (None, URGENT, NOON, None),  # exempt
        (5 * HOUR, REGULAR, EVENING - 1, EVENING),
        (5 * HOUR, REGULAR, EVENING, None),
        (99 * HOUR, REGULAR, EVENING, None),  # it may finish by day
        (5 * HOUR, REGULAR, MORNING - 1, None),
        (5 * HOUR, REGULAR, MORNING, EVENING + 24 * HOUR),
    ],
)
def test_a_long_job_starts_in_the_open_window_only(
    walltime_s: float | None, klass: PriorityClass, now: float, refused: float | None
) -> None:
    found = window_refusal(ruled(long()), klass, "lab", walltime_s, now)
    assert found == (None if refused is None else Refusal("long", refused))


@pytest.mark.parametrize(
    ("walltime_s", "now", "opens_at"),
    [
        (12 * HOUR, NOON, EVENING),
        (12 * HOUR, EVENING + 1, EVENING + 24 * HOUR),  # it would outlast this night
        (13 * HOUR, NOON, at("2026-06-05T20:00")),  # no night is so long: the weekend
        (52 * HOUR, NOON, at("2026-06-05T20:00")),
        (53 * HOUR, NOON, at("2026-10-23T20:00")),  # the weekend on which an hour comes twice
        (76 * HOUR, NOON, at("2026-12-24T20:00")),  # Christmas on a Friday
        (1000 * HOUR, NOON, None),
    ],
)
def test_where_the_window_ends_jobs_the_walltime_must_fit(
    walltime_s: float, now: float, opens_at: float | None
) -> None:
    found = window_refusal(ruled(long("end")), REGULAR, "lab", walltime_s, now)
    assert found == Refusal("long", opens_at)


def test_a_job_that_fits_to_the_second_starts() -> None:
    calendar = ruled(long("end"))
    assert window_refusal(calendar, REGULAR, "lab", 12 * HOUR, EVENING) is None
    assert window_refusal(calendar, REGULAR, "lab", None, MORNING - 60) is None


def test_the_hour_that_is_skipped_is_missing_in_the_night() -> None:
    evening = at("2027-03-26T20:00")  # Friday before the clock goes forward
    calendar = ruled(long("end"))
    assert window_refusal(calendar, REGULAR, "lab", 51 * HOUR, evening) is None
    found = window_refusal(calendar, REGULAR, "lab", 51 * HOUR + 1, evening)
    assert found is not None
    assert found.opens_at != evening


def test_a_window_holds_for_its_groups_and_those_below_them() -> None:
    calendar = ruled(long(more='groups = ["lab"]'))
    refused = {
        group: window_refusal(calendar, REGULAR, group, None, NOON) is not None
        for group in ("lab", "vision", "other", "default")
    }
    assert refused == {"lab": True, "vision": True, "other": False, "default": False}


def test_a_window_holds_for_its_classes() -> None:
    calendar = ruled(long(more='classes = ["background"]'))
    assert window_refusal(calendar, REGULAR, "lab", None, NOON) is None
    assert window_refusal(calendar, BACKGROUND, "lab", None, NOON) is not None


def test_two_windows_must_be_open_together() -> None:
    second = '[windows.calm]\nopen = ["sat 10:00-12:00"]\n'
    calendar = ruled(long(), second)
    found = window_refusal(calendar, REGULAR, "lab", None, NOON)
    assert found == Refusal("long", at("2026-06-06T10:00"))
    # A short one is held by the second alone, which is for jobs of any length.
    assert window_refusal(calendar, REGULAR, "lab", 60.0, EVENING) == Refusal(
        "calm", at("2026-06-06T10:00")
    )


def test_windows_that_are_never_open_together_say_never() -> None:
    calendar = ruled('[windows.a]\nopen = ["sat"]\n', '[windows.b]\nopen = ["mon"]\n')
    assert window_refusal(calendar, REGULAR, "lab", None, NOON) == Refusal("a", None)


@pytest.mark.parametrize(
    ("at_close", "ends", "told"), [("finish", None, None), ("warn", None, 0.5), ("end", 0, 0.5)]
)
def test_what_happens_at_the_close(at_close: str, ends: int | None, told: float | None) -> None:
    calendar = ruled(long(at_close))
    for ended in (True, False):
        close = closing(calendar, REGULAR, "lab", None, EVENING, ended)
        meant = told is not None and ended is (ends is not None)
        assert close == (
            Closing("long", MORNING, MORNING - (told or 0) * HOUR, ended) if meant else None
        )
        assert closing(calendar, URGENT, "lab", None, EVENING, ended) is None
        assert closing(calendar, REGULAR, "lab", 60.0, EVENING, ended) is None, "a short one"


def test_a_job_that_runs_when_rules_close_the_window_gets_its_notice_first() -> None:
    calendar = ruled(long("end", 'notice = "20m"'))
    close = closing(calendar, REGULAR, "lab", None, NOON, True)
    assert close == Closing("long", NOON + 1200, NOON, True)


def test_notice_is_never_before_the_job_runs() -> None:
    close = closing(ruled(long("end")), REGULAR, "lab", None, MORNING - 60, True)
    assert close == Closing("long", MORNING, MORNING - 60, True)


def test_the_next_change_is_that_of_any_window() -> None:
    calendar = ruled(long(), '[windows.calm]\nopen = ["mon 13:00-14:00"]\n')
    assert next_window_change(calendar, NOON) == NOON + HOUR
    assert next_window_change(calendar, NOON + HOUR) == NOON + 2 * HOUR
    assert next_window_change(calendar, NOON + 2 * HOUR) == EVENING
    assert next_window_change(ruled(), NOON) is None


@settings(max_examples=80)
@given(
    zone=st.sampled_from(
        ["Asia/Shanghai", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]
    ),
    start=st.integers(int(at("2026-01-01T00:00")), int(at("2028-12-31T00:00"))),
    hours=st.none() | st.integers(1, 80),
    at_close=st.sampled_from(["finish", "warn", "end"]),
)
def test_a_refused_job_may_start_when_it_is_told_and_never_outlasts_an_end(
    zone: str, start: int, hours: int | None, at_close: str
) -> None:
    calendar = ruled(long(at_close), zone=zone)
    walltime_s = None if hours is None else hours * HOUR
    now = float(start)
    found = window_refusal(calendar, REGULAR, "lab", walltime_s, now)
    if found is not None and found.opens_at is None:
        return
    begin = now if found is None or found.opens_at is None else found.opens_at
    assert window_refusal(calendar, REGULAR, "lab", walltime_s, begin) is None
    if begin > now:  # and at no time before, looked at on the way
        for part in (0.25, 0.5, 0.75, 0.999):
            between = now + part * (begin - now)
            assert window_refusal(calendar, REGULAR, "lab", walltime_s, between) == found
    close = closing(calendar, REGULAR, "lab", walltime_s, begin, True)
    end = None if close is None else close.at
    if at_close == "end" and (hours is None or hours > 4):
        assert end is not None
        assert end > begin
        assert walltime_s is None or begin + walltime_s <= end
        assert not calendar.is_open("night", end)
    else:
        assert end is None
