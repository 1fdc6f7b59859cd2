"""All that a drawing needs in one place: picture, choices, history, look, language, time.

Must not know the terminal. Drawing functions take a Scene and return Blocks of lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo

from rich.segment import Segment
from rich.style import Style

from roost.core.text.catalogue import say
from roost.tui.cells import Line, Row, plain
from roost.tui.history import History
from roost.tui.look import Look
from roost.tui.picture import Picture
from roost.tui.view import View

_TO_ASCII = str.maketrans(
    {"–": "-", "—": "-", "→": ">", "←": "<", "↑": "^", "↓": "v", "·": "-", "…": "...", "×": "x"}
)


@dataclass(frozen=True, slots=True)
class Lost:
    """The daemon has been away since `since_at`; `text` is what it or the system last said."""

    since_at: float
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """Cells `x0` up to `x1` of line `y` that a click on means `action` of."""

    y: int
    x0: int
    x1: int
    action: str


@dataclass(slots=True)
class Block:
    """Lines with what can be clicked on them. `offset` is the first row of a list that shows."""

    lines: list[Line] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    offset: int = 0

    def below(self, other: Block) -> None:
        """Put another block under this one."""
        top = len(self.lines)
        self.lines += other.lines
        self.hits += [Hit(h.y + top, h.x0, h.x1, h.action) for h in other.hits]


@dataclass(frozen=True, slots=True)
class Scene:
    """`picture` None: nothing has come yet. `now` is the daemon's clock, carried on by ours."""

    picture: Picture | None
    view: View
    history: History
    look: Look
    language: str
    zone: tzinfo
    now: float
    lost: Lost | None = None
    tried_s: float = 0.0

    def t(self, code: str, **numbers: object) -> str:
        """A text of the `top` catalogue, in ASCII where the terminal has no more."""
        text = say(self.language, f"top.{code}", **numbers)
        return text.translate(_TO_ASCII) if self.look.ascii_only else text

    def has(self, code: str) -> bool:
        try:
            say(self.language, f"top.{code}")
        except KeyError:
            return False
        return True

    def p(self, text: str) -> str:
        """Somebody else's text, fit to show."""
        return plain(text, self.look.ascii_only)

    @property
    def unknown(self) -> str:
        return self.look.glyphs.unknown

    def row(self) -> Row:
        return Row(mark=self.look.glyphs.more)

    def s(self, role: str) -> Style:
        return self.look.style(role)

    def marked(self, line: Line, focused: bool) -> Line:
        """The line under the cursor: another ground, where a part has none of its own."""
        mark = self.s("selected" if focused else "selected_off")
        ground = self.s("text").bgcolor
        if self.look.theme != "mono":
            return [
                Segment(
                    p.text, p.style + mark if p.style and p.style.bgcolor == ground else p.style
                )
                for p in line
            ]
        if not focused:
            return [Segment(p.text, (p.style or Style()) + mark) for p in line]
        return [
            Segment(p.text, (p.style or Style()) + Style(reverse=not (p.style and p.style.reverse)))
            for p in line
        ]
