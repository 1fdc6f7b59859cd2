"""A person's colour: stable, readable, never the colours that mean something else."""

from __future__ import annotations

import colorsys
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.colour import NOBODY, PALETTE, colour_of, initials


def _luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _xterm(number: int) -> str:
    if number >= 232:
        return f"#{8 + (number - 232) * 10:02x}" + f"{8 + (number - 232) * 10:02x}" * 2
    levels = (0, 95, 135, 175, 215, 255)
    n = number - 16
    return f"#{levels[n // 36]:02x}{levels[n // 6 % 6]:02x}{levels[n % 6]:02x}"


def test_the_colour_of_a_name_never_changes() -> None:
    """These stand in screenshots, bills and people's heads: a change here is a breaking one."""
    assert {name: colour_of(name)[1] for name in ("alice", "bob", "carol", "li", "root")} == {
        "alice": 141,
        "bob": 220,
        "carol": 37,
        "li": 208,
        "root": 153,
    }


@pytest.mark.parametrize(("colour", "number"), [*PALETTE, NOBODY])
def test_hex_and_terminal_number_are_the_same_colour(colour: str, number: int) -> None:
    assert _xterm(number) == colour


@pytest.mark.parametrize(("colour", "number"), PALETTE)
def test_black_text_on_a_persons_colour_has_contrast_aa(colour: str, number: int) -> None:
    assert (_luminance(colour) + 0.05) / 0.05 >= 4.5


@pytest.mark.parametrize(("colour", "number"), PALETTE)
def test_no_person_is_red_green_or_grey(colour: str, number: int) -> None:
    hue, saturation, _ = colorsys.rgb_to_hsv(*(int(colour[at : at + 2], 16) for at in (1, 3, 5)))
    assert saturation >= 0.28
    assert 18 <= hue * 360 <= 80 or 165 <= hue * 360 <= 322


@given(st.text(max_size=40))
def test_initials_fill_two_cells_whatever_the_name(name: str) -> None:
    shown = initials(name)
    assert sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown) == 2
    assert shown.isprintable()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("alice", "AL"),
        ("li.wei", "LW"),
        ("li_wei", "LW"),
        ("student17", "17"),
        ("bob2", "B2"),
        ("x", "X "),
        ("王伟", "王"),
        ("", "--"),
        ("www-data", "WD"),
    ],
)
def test_initials(name: str, shown: str) -> None:
    assert initials(name) == shown


def test_a_team_of_twenty_is_spread_over_the_palette() -> None:
    assert len({colour_of(f"student{n:02}") for n in range(1, 21)}) >= 8


def test_a_name_that_is_no_utf8_has_a_colour_too() -> None:
    assert colour_of(b"b\xffd".decode("utf-8", "surrogateescape")) in PALETTE


def test_the_vectors_that_the_page_is_held_to_are_what_this_function_says() -> None:
    path = Path(__file__).resolve().parents[1] / "data/colours.json"
    vectors = json.loads(path.read_text(encoding="utf-8"))
    assert len({each["colour"] for each in vectors}) > 6
    for each in vectors:
        assert colour_of(each["name"])[0] == each["colour"], each
        assert initials(each["name"]) == each["initials"], each
