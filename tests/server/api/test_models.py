"""What comes in: arrays, signals, names, bytes, languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.server.api.models import (
    array_of,
    bytes_of,
    name_is_fit,
    signal_number,
    warning_of,
)
from roost.server.api.problems import accepted_language


@pytest.mark.parametrize(
    ("text", "indices", "at_once"),
    [
        ("0-3", (0, 1, 2, 3), None),
        ("0-9:4", (0, 4, 8), None),
        ("7,1-2,2", (1, 2, 7), None),
        ("0-1%2", (0, 1), 2),
        ("5", (5,), None),
    ],
)
def test_arrays(text: str, indices: tuple[int, ...], at_once: int | None) -> None:
    assert array_of(text, 100) == (indices, at_once, len(indices))


@pytest.mark.parametrize("text", ["", "-", "3-1", "1-2:0", "1%0", "1%", "a", "1,,2", "١", "1-2-3"])
def test_what_is_no_array(text: str) -> None:
    with pytest.raises(ValueError, match=r"^"):
        array_of(text, 100)


def test_a_huge_array_is_counted_and_not_made() -> None:
    assert array_of("0-999999999,0-999999999", 100) == ((), None, 2_000_000_000)


@given(st.text())
def test_nothing_else_than_a_value_error_comes_of_text(text: str) -> None:
    for read in (lambda t: array_of(t, 100), signal_number, warning_of):
        try:
            read(text)
        except ValueError:
            continue


def test_signals() -> None:
    assert signal_number("USR1") == signal_number("sigusr1") == signal_number("10") == 10
    assert warning_of("TERM@90") == (15, 90.0)
    assert warning_of("TERM") == (15, 60.0)
    for wrong in ("SIG_IGN", "0", "99", "", "TERM@", "TERM@-1"):
        with pytest.raises(ValueError, match=r"^"):
            warning_of(wrong)


@given(st.binary())
def test_bytes_come_through(raw: bytes) -> None:
    import base64

    assert bytes_of({"base64": base64.b64encode(raw).decode()}) == raw


def test_names() -> None:
    assert name_is_fit('训练 🚀 "quoted" 👩‍💻')
    assert name_is_fit("a\u202eb")  # shown as an escape, see cli.terminal
    for wrong in (
        "a\nb",
        "\x1b[31m",
        "\ud800",
        "x" * 201,
        "line\u2028separator",
        "\x7f",
    ):
        assert not name_is_fit(wrong)


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en;q=0.3, zh;q=0.8", "zh"),
        ("fr, de", "en"),
        ("en, zh", "en"),
        ("zh;q=0", "en"),
        ("zh;q=nonsense", "en"),
    ],
)
def test_languages(header: str, language: str) -> None:
    assert accepted_language(header) == language
