"""Text measured in terminal cells: escaped, cut, padded, put together into lines.

Everything here is literal text in styled segments, so nothing a process calls itself can be taken
for markup. Must not know what is being shown.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

Line = list[Segment]

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@lru_cache(maxsize=8192)
def plain(text: str, ascii_only: bool = False) -> str:
    """The text with everything that could move the cursor or hide as an escape: `\\x1b`, `\\u202e`.

    Control and format characters (also the ones that turn writing direction), surrogates and
    unassigned code points are escaped; with `ascii_only` also all that is not ASCII.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if unicodedata.category(character) not in _INVISIBLE
        and (character.isascii() or not ascii_only)
        else character.encode("ascii", "backslashreplace").decode("ascii")
        if ord(character) > 0x7F
        else f"\\x{ord(character):02x}"
        for character in text
    )


@lru_cache(maxsize=8192)
def fit(text: str, width: int, align: str = "<", mark: str = "…") -> str:
    """The text in exactly `width` cells: padded, or cut with `mark` as its last cell."""
    if width <= 0:
        return ""
    size = cell_len(text)
    if size > width:
        text = set_cell_size(text, width - cell_len(mark)).rstrip() + mark
        size = cell_len(text)
    blank = " " * (width - size)
    if align == ">":
        return blank + text
    if align == "^":
        return blank[: len(blank) // 2] + text + blank[len(blank) // 2 :]
    return text + blank


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` cells, broken at blanks, else anywhere (Chinese)."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if line and cell_len(word) <= width:
            lines.append(line)
            line = word
            continue
        parts = chop_cells(joined, width)
        lines += parts[:-1]
        line = parts[-1]
    return [*lines, line]


@dataclass(slots=True)
class Row:
    """A line being written from left to right; `width` counts its cells so far."""

    mark: str = "…"
    parts: Line = field(default_factory=list)
    width: int = 0

    def put(self, text: str, width: int, style: Style, align: str = "<") -> Row:
        """Add the text in exactly `width` cells. Nothing for a width below 1."""
        if width > 0:
            self.parts.append(Segment(fit(text, width, align, self.mark), style))
            self.width += width
        return self

    def add(self, text: str, style: Style) -> Row:
        """Add the text as wide as it is."""
        return self.put(text, cell_len(text), style)

    def extend(self, line: Line) -> Row:
        self.parts.extend(line)
        self.width += sum(cell_len(part.text) for part in line)
        return self

    def pad(self, width: int, style: Style) -> Row:
        """Blanks up to `width` cells in all."""
        return self.put("", width - self.width, style)


def strip_of(line: Line, width: int, style: Style) -> Strip:
    """The line as Textual shows it, exactly `width` cells, blanks in `style`."""
    return Strip(line).adjust_cell_length(width, style).simplify()


def with_base(line: Line, base: Style) -> Line:
    """The line on another ground: `base` shows wherever a part sets nothing itself."""
    return [Segment(part.text, base + part.style if part.style else base) for part in line]
