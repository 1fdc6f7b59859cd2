"""What programs print, as text that is fit to show: no escape sequences, no control characters.

Works on pieces of a file: what a piece breaks off in the middle is left for the next one. Pure.
"""

from __future__ import annotations

import re

MOST_LEFT = 256
_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, moves of the cursor (ECMA-48, 5.4)
    rb"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links, the clipboard
    rb"|[PX^_][^\x1b]*\x1b\\"
    rb"|[ -/]*[0-~])"
)
_BROKEN_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[ -/]*)\Z")
_BROKEN_CHARACTER = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]"
)


def start_of_text(raw: bytes) -> int:
    """Where the first whole line of a piece begins that was cut out of a file; else its first whole
    character."""
    line = raw.find(b"\n") + 1
    if 0 < line < len(raw):
        return line
    return len(raw[:3]) - len(raw[:3].lstrip(bytes(range(0x80, 0xC0))))


def plain(raw: bytes, more: bool) -> tuple[str, int]:
    """The text, and how many bytes it stands for: with `more` to come, what is broken off at the
    end is left. Line feeds, tabs and carriage returns stay; bytes that are no UTF-8, and control
    characters, stand as U+FFFD; direction marks too, as they would show a line as another one.

    >>> plain(b"\\x1b[31mred\\x1b[0m \\xe4", True)
    ('red ', 13)
    """
    used = len(raw)
    if more:
        broken = _BROKEN_SEQUENCE.search(raw, max(0, used - MOST_LEFT))
        broken = broken or _BROKEN_CHARACTER.search(raw, max(0, used - 3))
        used = broken.start() if broken else used
    text = _SEQUENCE.sub(b"", raw[:used]).decode("utf-8", "replace")
    return _CONTROL.sub("\ufffd", text), used
