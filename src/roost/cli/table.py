"""Rows of cells as lines, by display width. Knows nothing of what is in them."""

from __future__ import annotations

from roost.cli.terminal import Terminal, cut, pad, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Cell:
    """Text with its colour; `person` gives the colour of that account instead."""

    __slots__ = ("code", "person", "text")

    def __init__(self, text: str, code: str = "", person: str = "") -> None:
        self.text = text
        self.code = code
        self.person = person

    def shown(self, terminal: Terminal, fit: Callable[[str], str]) -> str:
        text = fit(terminal.plain(self.text))
        if self.person:
            return terminal.person(text, self.person)
        return terminal.paint(text, self.code)


def lines(
    terminal: Terminal,
    head: Sequence[str],
    rows: Sequence[Sequence[str | Cell]],
    right: Sequence[int] = (),
    most: Sequence[int] = (),
) -> list[str]:
    """A table with one space between columns; the last column takes what is left and is cut there.

    `right` are the columns set to the right, `most` the greatest width of each (0: any).
    """
    cells = [[each if isinstance(each, Cell) else Cell(each) for each in row] for row in rows]
    titled = [[Cell(title, "1") for title in head], *cells] if head else cells
    if not titled:
        return []
    count = len(titled[0])
    widths = [max(width(terminal.plain(row[at].text)) for row in titled) for at in range(count)]
    for at, limit in enumerate(most):
        if limit:
            widths[at] = min(widths[at], limit)
    last = count - 1
    if terminal.columns is not None:
        used = sum(widths[:last]) + last
        widths[last] = min(widths[last], max(1, terminal.columns - used))
    drawn = []
    for row in titled:
        parts = []
        for at, cell in enumerate(row):
            size = widths[at]

            def fit(text: str, size: int = size, at: int = at) -> str:
                ended = cut(text, size, terminal.plain("…"))
                return ended if at == last else pad(ended, size, at in right)

            parts.append(cell.shown(terminal, fit))
        drawn.append(" ".join(parts).rstrip())
    return drawn
