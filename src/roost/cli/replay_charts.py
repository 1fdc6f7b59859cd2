"""Line charts as SVG text, without a script: axes with units, a line and a dash for each name.

Knows nothing of what the lines mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log10

# Small enough that the text stays readable where a telephone shows it 360 pixels wide.
WIDTH, HEIGHT = 420, 270
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 10, 40
CHARACTER = 7.0
DASHES = ("", "7 3", "2 3", "9 3 2 3", "1 2", "12 4", "5 2 1 2 1 2", "3 6")
Points = Sequence[tuple[float, float]]
Tick = tuple[float, str]


def log_scale(value: float, least: float = 1.0) -> float:
    """Tens of a number from `least` on; what is below lies at 0."""
    return log10(max(value, least) / least)


def chart(title: str, lines: Sequence[Points], x_ticks: Sequence[Tick], x_title: str) -> str:
    """Lines of (x, part of 1), already to scale as `x_ticks` are; the vertical axis is per cent.

    Line n has the classes `line n`, whose colours the page gives, and a dash of its own.
    """
    xs = [x for line in lines for x, _ in line] + [x for x, _ in x_ticks]
    least, most = min(xs, default=0.0), max(xs, default=1.0)
    span = (most - least) or 1.0
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(x: float, part: float) -> str:
        left = LEFT + (x - least) / span * across
        return f"{left:.1f},{TOP + (1 - min(1.0, max(0.0, part))) * down:.1f}"

    out = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
    ]
    for part in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = TOP + (1 - part) * down
        out.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        out.append(
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{100 * part:.0f}%</text>'
        )
    free = float(WIDTH)
    for x, text in reversed(x_ticks):
        left = LEFT + (x - least) / span * across
        out.append(f'<path class="grid" d="M{left:.1f} {TOP}V{TOP + down}"/>')
        wide = CHARACTER * len(text)
        at_end = left + wide / 2 > WIDTH
        begin, end = (left - wide, left) if at_end else (left - wide / 2, left + wide / 2)
        if end > free:
            continue  # its line says enough: the next one's text is in the way
        free = begin - CHARACTER
        out.append(
            f'<text x="{left:.1f}" y="{TOP + down + 16}"'
            f' text-anchor="{"end" if at_end else "middle"}">{escape(text)}</text>'
        )
    middle = LEFT + across / 2
    out.append(
        f'<text x="{middle:.0f}" y="{HEIGHT - 4}" text-anchor="middle">{escape(x_title)}</text>'
    )
    for n, line in enumerate(lines):
        if line:
            points = " ".join(place(x, part) for x, part in line)
            dash = DASHES[n % len(DASHES)]
            out.append(
                f'<polyline class="line c{n % len(DASHES)}" stroke-dasharray="{dash}"'
                f' points="{points}"/>'
            )
    out.append("</svg>")
    return "\n".join(out)


def legend(names: Sequence[str]) -> str:
    """The names with a piece of their line, for below a chart."""
    parts = []
    for n, name in enumerate(names):
        at = n % len(DASHES)
        line = f'<path class="line c{at}" stroke-dasharray="{DASHES[at]}" d="M1 4H33"/>'
        parts.append(
            '<li><svg viewBox="0 0 34 8" width="34" height="8" aria-hidden="true">'
            f"{line}</svg>{escape(name)}</li>"
        )
    return f'<ul class="legend">{"".join(parts)}</ul>'
