"""Memory bars stacked by holder, and sparklines. Must not know where they stand."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment

from roost.core.colour import initials
from roost.tui.cells import Line, fit, plain
from roost.tui.history import Spark
from roost.tui.look import Look


def memory_bar(
    shares: Sequence[tuple[str, str, int]], total: int | None, width: int, look: Look
) -> Line:
    """Memory by holder in `width` cells, in the person's colour, hatched for nobody.

    Where several hold it, each part begins with initials, and whoever holds anything gets a cell,
    so that nobody is too small to be seen.
    """
    if width <= 0:
        return []
    if not total:
        return [Segment(fit(look.glyphs.unknown, width, "^"), look.style("track"))]
    line: Line = []
    alone = len(shares) == 1
    for at, (user, _, cells) in enumerate(_cells(shares, total, width)):
        if not user:
            line.append(Segment(look.glyphs.hatch * cells, look.hatched()))
            continue
        if look.ascii_only:
            fill, style = look.glyphs.used, look.bar(user)
        elif look.theme == "mono":
            fill, style = "█" if at % 2 == 0 else "▒", look.ink(user)
        else:
            fill, style = "▆", look.bar(user)
        name = plain(initials(user), look.ascii_only).rstrip()
        label = "" if alone or cell_len(name) > cells else name
        if label:
            line.append(Segment(label, look.chip(user)))
        if rest := cells - cell_len(label):
            line.append(Segment(fill * rest, style))
    left = width - sum(part.cell_length for part in line)
    if left > 0:
        empty = "." if look.ascii_only else "·" if look.theme == "mono" else " "
        line.append(Segment(empty * left, look.style("track")))
    return line


def _cells(
    shares: Sequence[tuple[str, str, int]], total: int, width: int
) -> list[tuple[str, str, int]]:
    cells = [
        (user, kind, max(1, round(memory * width / total)))
        for user, kind, memory in shares
        if memory > 0
    ]
    while sum(count for _, _, count in cells) > width:
        at = max(range(len(cells)), key=lambda n: cells[n][2])
        user, kind, count = cells[at]
        if count == 1:
            return cells[:width]
        cells[at] = (user, kind, count - 1)
    return cells


def sparkline(cells: Sequence[Spark], look: Look, rows: int = 1) -> list[Line]:
    """Utilisation as `rows` lines (1 or 2), the upper one first, in the holders' colours.

    ASCII: one digit a cell, tenths (9 is all of it), on the lowest line.
    """
    marks = look.glyphs.spark
    lines: list[Line] = [[] for _ in range(rows)]
    for cell in cells:
        if cell.percent is None:
            for line in lines:
                line.append(Segment(" ", look.style("dim")))
            continue
        style = look.style("spark")
        if look.ascii_only:
            digit = marks[min(9, int(cell.percent // 10))]
            for line in lines[:-1]:
                line.append(Segment(" ", style))
            lines[-1].append(Segment(digit, style))
            continue
        level = max(1, round(cell.percent / 100 * len(marks) * rows))
        for at, line in enumerate(reversed(lines)):
            here = min(len(marks), level - at * len(marks))
            line.append(Segment(marks[here - 1] if here > 0 else " ", style))
    return [_joined(line) for line in lines]


def _joined(line: Line) -> Line:
    """Neighbours of one style as one segment: fewer bytes to the terminal."""
    out: Line = []
    for part in line:
        if out and out[-1].style == part.style:
            out[-1] = Segment(out[-1].text + part.text, part.style)
        else:
            out.append(part)
    return out
