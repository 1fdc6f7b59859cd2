"""Spans and sizes: as people and Slurm write them, exact both ways, refused clearly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.rules.units import (
    LARGEST_BYTES,
    LONGEST_S,
    UnitError,
    format_duration,
    format_size,
    parse_duration,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("4h", 14400),
        ("30m", 1800),
        ("7d", 604800),
        ("2w", 1209600),
        ("90s", 90),
        ("1h30m", 5400),
        ("1d 12h", 129600),
        ("1.5h", 5400),
        ("90 min", 5400),
        ("2 days", 172800),
        ("0.5s", 0.5),
        ("0", 0),
        ("2-12:00:00", 216000),
        ("2-12:30", 217800),
        ("2-12", 216000),
        ("12:00:00", 43200),
        ("30:15", 1815),
        ("100:00", 6000),
        (" 4H ", 14400),
    ],
)
def test_spans_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "duration"),
        ("h", "duration"),
        ("4", "duration_without_unit"),
        ("1.5", "duration_without_unit"),
        ("-4h", "duration"),
        ("4x", "duration"),
        ("4h 4h", "duration"),
        ("30m1h", "duration"),
        ("1h,", "duration"),
        ("1:60:00", "duration"),
        ("0:00:60", "duration"),
        ("10:99", "duration"),
        ("1-", "duration"),
        ("inf", "duration"),
        ("1e3s", "duration"),
        ("101000d", "duration_too_long"),
        ("٤h", "duration"),
        ("1\n2h", "duration"),
    ],
)
def test_what_is_no_span_is_refused(text: str, code: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse_duration(text)
    assert (caught.value.code, caught.value.given) == (code, text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("10G", 10 << 30),
        ("10GiB", 10 << 30),
        ("10 gib", 10 << 30),
        ("512M", 512 << 20),
        ("1.5T", 3 << 39),
        ("80GB", 80 * 10**9),
        ("1.5kB", 1500),
        ("4096B", 4096),
        ("0", 0),
    ],
)
def test_sizes_are_read(text: str, count: int) -> None:
    assert parse_size(text) == count


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "size"),
        ("10", "size_without_unit"),
        ("-1G", "size"),
        ("10X", "size"),
        ("1e9B", "size"),
        ("5iB", "size"),
        ("9999999P", "size_too_large"),
        ("G", "size"),
    ],
)
def test_what_is_no_size_is_refused(text: str, code: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse_size(text)
    assert caught.value.code == code


@given(st.integers(0, int(LONGEST_S)))
def test_whole_seconds_survive_writing_and_reading(seconds: int) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.integers(0, 10**9).map(lambda n: n / 1000))
def test_thousandths_of_a_second_survive_writing_and_reading(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == pytest.approx(seconds, abs=1e-6)


@given(st.integers(0, LARGEST_BYTES // 1024))
def test_bytes_survive_writing_and_reading(count: int) -> None:
    assert parse_size(format_size(count)) == count


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_duration, parse_size):
        try:
            found = parse(text)
        except UnitError:
            continue
        assert found >= 0
