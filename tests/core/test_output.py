"""Patterns of output paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.output import output_path


def expand(pattern: bytes, array_id: int | None = 5, name: str = "train") -> bytes:
    index = None if array_id is None else 2
    return output_path(
        pattern, job=7, array_id=array_id, array_index=index, name=name, user="alice"
    )


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"/h/roost-%j.out", b"/h/roost-7.out"),
        (b"/h/%u/%x-%A_%a", b"/h/alice/train-5_2"),
        (b"100%%-%j", b"100%-7"),
        (b"%%j%%%j%", b"%j%7%"),
        (b"%N-%5j", b"%N-%5j"),
        (b"", b""),
    ],
)
def test_patterns(pattern: bytes, path: bytes):
    assert expand(pattern) == path


def test_outside_of_an_array():
    assert expand(b"%A_%a", array_id=None) == b"7_0"


def test_a_name_never_chooses_a_folder():
    assert expand(b"/h/%x", name="../../etc/passwd") == b"/h/.._.._etc_passwd"


@given(st.binary(max_size=50).filter(lambda raw: b"%" not in raw))
def test_paths_without_a_percent_sign_stay_as_they_are(raw: bytes):
    assert expand(raw) == raw
    assert expand(raw.replace(b"x", b"%%")) == raw.replace(b"x", b"%")
