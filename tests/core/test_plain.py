"""Pieces of output as text: nothing that could move a cursor, and nothing lost between pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.plain import plain, start_of_text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[1;31mloss\x1b[0m 0.5\n", "loss 0.5\n"),
        (b"\x1b]0;title\x07a\x1b]52;c;aGk=\x1b\\b", "ab"),
        (b"\x1bPq#0\x1b\\c\x1b(Bd\x1bce", "cde"),
        (b" 10%|#\r 20%|##\r\n", " 10%|#\r 20%|##\r\n"),
        (b"a\0b\x07c\x7f\x9b31m", "a\ufffdb\ufffdc\ufffd\ufffd31m"),
        ("\u202egnp.exe".encode(), "\ufffdgnp.exe"),
        ("中文 损失 0.3\n".encode(), "中文 损失 0.3\n"),
        (b"\xff\xfe\xc3(", "\ufffd\ufffd\ufffd("),
    ],
)
def test_what_is_printed_is_fit_to_show(raw: bytes, shown: str) -> None:
    assert plain(raw, False) == (shown, len(raw))


@pytest.mark.parametrize("tail", [b"\x1b", b"\x1b[3", b"\x1b]0;ti", "训".encode()[:2], b"\xf0\x9f"])
def test_what_is_broken_off_waits_for_its_rest(tail: bytes) -> None:
    assert plain(b"abc" + tail, True) == ("abc", 3)
    assert plain(b"abc" + tail, False)[1] == 3 + len(tail)


def test_a_sequence_without_an_end_does_not_hold_the_rest_for_ever() -> None:
    raw = b"\x1b]0;" + b"x" * 1000
    assert plain(raw, True)[1] == len(raw)


def test_a_piece_cut_out_begins_with_a_whole_line_or_character() -> None:
    assert start_of_text(b"half\nwhole\n") == 5
    assert start_of_text("训练".encode()[1:]) == 2
    assert start_of_text(b"abc\n") == 0


@given(st.binary(max_size=300), st.integers(1, 40))
def test_pieces_give_the_same_bytes_as_the_whole(raw: bytes, size: int) -> None:
    at, shown = 0, ""
    for end in range(size, len(raw) + size, size):
        text, used = plain(raw[at:end], end < len(raw))
        at, shown = at + used, shown + text
    assert at == len(raw)
    assert not any(c < " " and c not in "\n\t\r" for c in shown)


@given(st.text(max_size=200), st.integers(1, 9))
def test_text_cut_anywhere_comes_out_whole(text: str, size: int) -> None:
    raw = text.encode("utf-8", "replace")
    at, shown = 0, ""
    for end in range(size, len(raw) + size, size):
        piece, used = plain(raw[at:end], end < len(raw))
        at, shown = at + used, shown + piece
    if "\x1b" not in text:
        assert shown == plain(raw, False)[0]
