"""Terminal text with its colours as a small SVG: for the pictures in docs/pictures.

Block characters are drawn as rectangles, so that bars and lines join whatever the font is.
Must not know what is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

CELL_W, CELL_H, SIZE, PAD = 8.4, 19, 14, 10
GROUND, INK = "#121212", "#dadada"
FONTS = (
    "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','WenQuanYi Micro Hei Mono',"
    "'Noto Sans Mono CJK SC','Microsoft YaHei',monospace"
)
_BLOCKS = "▁▂▃▄▅▆▇█"


def rows_of_ansi(text: str) -> list[list[Segment]]:
    """Lines of text with SGR sequences as segments."""
    lines = []
    for line in text.rstrip("\n").split("\n"):
        rich = Text.from_ansi(line)
        spans = sorted({0, len(rich.plain), *(p for s in rich.spans for p in (s.start, s.end))})
        row = []
        for start, end in pairwise(spans):
            styles = [
                s.style if isinstance(s.style, Style) else Style.parse(s.style)
                for s in rich.spans
                if s.start <= start and s.end >= end
            ]
            style = Style.combine([Style(), *styles])
            row.append(Segment(rich.plain[start:end], style))
        lines.append(row)
    return lines


def svg(rows: Sequence[Sequence[Segment]], title: str, columns: int | None = None) -> str:
    """The lines as an SVG document of `columns` cells (None: as wide as the widest line)."""
    width = columns or max(sum(cell_len(part.text) for part in row) for row in rows)
    w, h = round(width * CELL_W + 2 * PAD), len(rows) * CELL_H + 2 * PAD
    grounds: list[str] = []
    inks: list[str] = []
    for y, row in enumerate(rows):
        x = 0
        for part in row:
            cells = cell_len(part.text)
            _part(part.text, part.style or Style(), x, y, cells, grounds, inks)
            x += cells
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}"'
            f' height="{h}" role="img" font-family="{FONTS}" font-size="{SIZE}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{w}" height="{h}" rx="8" fill="{GROUND}"/>',
            *grounds,
            *inks,
            "</svg>\n",
        ]
    )


def _colours(style: Style) -> tuple[str, str]:
    ink = _hex(style.color, INK)
    ground = _hex(style.bgcolor, GROUND)
    return (ground, ink) if style.reverse else (ink, ground)


def _hex(colour: object, default: str) -> str:
    triplet = getattr(colour, "get_truecolor", None)
    if triplet is None or getattr(colour, "is_default", False):
        return default
    return str(triplet().hex)


def _part(
    text: str, style: Style, x: int, y: int, cells: int, grounds: list[str], inks: list[str]
) -> None:
    ink, ground = _colours(style)
    left, top = PAD + x * CELL_W, PAD + y * CELL_H
    if ground != GROUND:
        grounds.append(_rect(left, top, cells * CELL_W, CELL_H, ground))
    at = 0
    for run, kind in _runs(text):
        wide = cell_len(run)
        run_left = left + at * CELL_W
        at += wide
        if kind == "block":
            inks += _blocks(run, run_left, top, ink)
            continue
        if kind == "line":
            inks.append(_rect(run_left + CELL_W / 2 - 0.6, top, 1.2, CELL_H, ink))
            continue
        if not run.strip():
            continue
        blank = len(run) - len(run.lstrip())
        shown = run.strip()
        bold = ' font-weight="700"' if style.bold else ""
        faint = ' opacity=".6"' if style.dim else ""
        under = ' text-decoration="underline"' if style.underline else ""
        inks.append(
            f'<text x="{run_left + blank * CELL_W:.1f}" y="{top + 14:.0f}" fill="{ink}"'
            f'{bold}{faint}{under} textLength="{cell_len(shown) * CELL_W:.1f}"'
            f' xml:space="preserve">{escape(shown)}</text>'
        )


def _runs(text: str) -> Iterable[tuple[str, str]]:
    """Neighbours of a kind: "block", "line" (one character each), "wide", or "text"."""
    run, kind = "", ""
    for character in text:
        now = (
            "block" if character in _BLOCKS else "line" if character == "│"
            else "wide" if cell_len(character) == 2 else "text"
        )  # fmt: skip
        if run and (now != kind or now == "line"):
            yield run, kind
            run = ""
        run += character
        kind = now
    if run:
        yield run, kind


def _blocks(run: str, left: float, top: float, ink: str) -> list[str]:
    """A path of one closed outline over all blocks of a run: small and without seams."""
    points = [f"M{left:.1f} {top + CELL_H:.1f}"]
    for at, character in enumerate(run):
        level = (_BLOCKS.index(character) + 1) * CELL_H / 8
        points.append(f"V{top + CELL_H - level:.1f}H{left + (at + 1) * CELL_W:.1f}")
    return [f'<path d="{"".join(points)}V{top + CELL_H:.1f}Z" fill="{ink}"/>']


def _rect(x: float, y: float, w: float, h: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{w + 0.1:.1f}" height="{h}" fill="{fill}"/>'
