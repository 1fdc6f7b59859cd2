"""A person's one colour and initials, from the account's name alone: the same on the page, in the
terminal, in charts and on bills. Must not know who else there is, nor what is being drawn.
"""

from __future__ import annotations

import re
import unicodedata

PALETTE: tuple[tuple[str, int], ...] = (
    ("#ffaf5f", 215),
    ("#af87ff", 141),
    ("#5f5fff", 63),
    ("#d700af", 163),
    ("#00ffd7", 50),
    ("#af875f", 137),
    ("#00afaf", 37),
    ("#0087d7", 32),
    ("#afd7ff", 153),
    ("#afafff", 147),
    ("#ffd700", 220),
    ("#ff8700", 208),
)
"""Twelve colours of the xterm 256 palette (hex, number), so that both ways of drawing agree.

Chosen for the largest least distance in CIELAB under normal sight and simulated protanopia,
deuteranopia and tritanopia (Machado, Oliveira, Fernandes 2009, severity 1), without reds (what
needs a hand), greens (what is free) and greys (nobody). Black text on each has contrast AA (4.5).
"""

NOBODY: tuple[str, int] = ("#8a8a8a", 245)
"""The grey of what belongs to nobody; unattributed use is this grey, hatched."""


def colour_of(name: str) -> tuple[str, int]:
    """The colour of an account as ("#rrggbb", xterm number); grey for an empty name.

    FNV-1a, 32 bits, over the name's UTF-8 (draft-eastlake-fnv), folded: short enough to be the same
    in the page's own language.
    """
    if not name:
        return NOBODY
    value = 0x811C9DC5
    for byte in name.encode("utf-8", "surrogateescape"):
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return PALETTE[(value ^ value >> 16) % len(PALETTE)]


def initials(name: str) -> str:
    """Two cells of text that stand for an account where its name has no room.

    "alice" AL, "li.wei" LW, "student17" 17, "bob2" B2, "王伟" 王; "--" for an empty name.
    """
    words: list[str] = re.findall(r"[^\W_]+", name)
    if not words:
        return "--"
    first = words[0]
    digits = re.search(r"\d+$", words[-1])
    if unicodedata.east_asian_width(first[0]) in "WF":
        return first[0]
    if len(words) > 1 and not words[-1][0].isdigit():
        pair = first[0] + words[-1][0]
    elif digits:
        number: str = digits[0]
        pair = number[-2:] if len(number) > 1 else first[0] + number
    else:
        pair = first[:2]
    pair = pair.upper()
    return pair if len(pair) == 2 and pair.isascii() else (pair[:1] + "  ")[:2]
