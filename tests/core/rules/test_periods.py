"""Spans and dates as people write them, and what is refused."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.rules.periods import (
    Dates,
    PeriodError,
    Span,
    minutes_of,
    parse_dates,
    parse_span,
    reserved,
)

CHRISTMAS = date(2026, 12, 25).toordinal()


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("mon-fri 20:00-08:00", Span(frozenset(range(5)), start=1200, end=1920)),
        ("fri-mon", Span(frozenset({4, 5, 6, 0}))),
        ("Sat,Sun 00:00-24:00", Span(frozenset({5, 6}))),
        ("9:30-12:00", Span(kind="daily", start=570, end=720)),
        ("daily 12:00-12:00", Span(kind="daily", start=720, end=2160)),
        ("workdays 08:00-20:00", Span(kind="workdays", start=480, end=1200)),
        ("holidays", Span(kind="holidays")),
        ("2026-12-25..2026-12-26", Span(first=CHRISTMAS, last=CHRISTMAS + 1)),
        ("2026-12-25 10:00-11:00", Span(first=CHRISTMAS, last=CHRISTMAS, start=600, end=660)),
    ],
)
def test_spans_are_read(text: str, span: Span) -> None:
    assert parse_span(text) == span


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "span"),
        ("monday", "span"),
        ("mon - fri", "span"),
        ("mon-fri-sun", "span"),
        ("mon 20:00", "span"),
        ("mon tue 20:00-21:00", "span"),
        ("mon 25:00-26:00", "span_time"),
        ("mon 24:00-08:00", "span_time"),
        ("mon 08:60-09:00", "span_time"),
        ("mon 08:00-24:01", "span_time"),
        ("2026-02-29", "dates"),
        ("2026-10-07..2026-10-01", "dates"),
        ("2026-10-01..2027-10-07", "dates"),
        ("2026-10-01..", "dates"),
        ("20261001", "dates"),
        ("٢٠٢٦-10-01", "dates"),
    ],
)
def test_what_is_no_span_is_refused(text: str, code: str) -> None:
    with pytest.raises(PeriodError) as caught:
        parse_span(text)
    assert caught.value.code == code


def test_a_leap_day_is_a_date() -> None:
    first, last = parse_dates("2028-02-28..2028-03-01")
    assert last - first == 2


def test_names_of_days_cannot_name_a_period() -> None:
    names = ("workdays", "mon", "sat-sun", "not", "daily")
    assert [reserved(name) for name in names] == [True] * 5
    assert not reserved("night")


spans = st.builds(
    Span,
    weekdays=st.frozensets(st.integers(0, 6)),
    start=st.integers(0, 1439),
    end=st.just(0),
).flatmap(
    lambda s: st.integers(s.start + 1, s.start + 1440).map(
        lambda end: Span(s.weekdays, start=s.start, end=end)
    )
)


@given(st.lists(spans, max_size=4), st.integers(700000, 700014))
def test_minutes_of_a_day_are_sorted_apart_and_those_of_any_span(
    given_spans: list[Span], day: int
) -> None:
    found = minutes_of(given_spans, day, Dates())
    edges = [edge for part in found for edge in part]
    assert edges == sorted(set(edges))
    assert all(0 <= edge <= 1440 for edge in edges)
    weekday = date.fromordinal(day).weekday()
    for minute in range(0, 1440, 7):
        covered = any(
            (weekday in s.weekdays and s.start <= minute < s.end)
            or ((weekday - 1) % 7 in s.weekdays and minute < s.end - 1440)
            for s in given_spans
        )
        assert any(start <= minute < end for start, end in found) is covered
