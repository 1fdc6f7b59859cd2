"""Sizes, spans, arrays and signals: laws, and the examples of the help."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roost.cli import values
from roost.cli.slurm import slurm_time
from roost.cli.values import UsageError


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("16G", 16 << 30),
        ("1.5 GiB", 3 << 29),
        ("16gb", 16 << 30),
        ("512M", 512 << 20),
        ("100k", 100 << 10),
        ("7b", 7),
        ("2T", 2 << 40),
    ],
)
def test_sizes(text: str, bytes_: int):
    assert values.size("--mem", text) == bytes_


@pytest.mark.parametrize(
    "text", ["", "G", "0G", "-1G", "1.2.3G", "1e9G", "٣G", "9" * 40 + "G", "1."]
)
def test_no_sizes(text: str):
    with pytest.raises(UsageError):
        values.size("--mem", text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("4h", 14400),
        ("1h30m", 5400),
        ("1d12h", 129600),
        ("90m", 5400),
        ("1.5h", 5400),
        ("2:30:00", 9000),
        ("1-12:00:00", 129600),
        ("2w", 1209600),
        ("45 s", 45),
    ],
)
def test_spans(text: str, seconds: int):
    assert values.duration("--time", text) == seconds


@pytest.mark.parametrize(
    "text", ["", "90", "h", "4x", "1:2", "1:60:00", "0s", "99999d", "4h-", "-1-0:0:1"]
)
def test_no_spans(text: str):
    with pytest.raises(UsageError):
        values.duration("--time", text)


@given(st.integers(0, 500), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_every_way_to_write_a_span_says_the_same(days: int, hours: int, minutes: int, seconds: int):
    total = days * 86400 + hours * 3600 + minutes * 60 + seconds
    if total == 0:
        return
    assert values.duration("--time", f"{days}d{hours}h{minutes}m{seconds}s") == total
    assert values.duration("--time", f"{days}-{hours}:{minutes}:{seconds}") == total
    assert slurm_time("--time", f"{days}-{hours}:{minutes}:{seconds}") == total


@given(st.text(max_size=20))
@example("none")
def test_any_text_is_read_or_refused(text: str):
    for name, reader in values.READERS.items():
        with suppress(UsageError):
            never = name == "checkpoint" and text.strip() == "none"
            assert never or reader("--x", text) is not None, name


@pytest.mark.parametrize(
    ("text", "read"),
    [("usr1@60", "USR1@60"), ("SIGUSR1", "USR1"), ("10@5", "USR1@5"), ("TERM", "TERM")],
)
def test_signals(text: str, read: str):
    assert values.signal_name("--signal", text) == read


@pytest.mark.parametrize("text", ["0-9", "1,3,7", "0-99:10", "0-9%2", "5"])
def test_arrays(text: str):
    assert values.array("--array", text) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 1800), ("30:15", 1815), ("1:00:00", 3600), ("1-0", 86400), ("1-2:30", 95400)],
)
def test_slurms_times_are_minutes(text: str, seconds: int):
    assert slurm_time("--time", text) == seconds
