"""How things look: styles by meaning, in a dark, a light and a colourless theme, and the glyphs.

All colours are of the xterm 256 palette, so that terminals with few and with many colours agree.
Green is free, red needs a hand, a person's colour is theirs alone; nothing is said by colour only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from rich.style import Style

from roost.core.colour import NOBODY, colour_of

_DARK = {
    "text": Style(color="#dadada", bgcolor="#121212"),
    "dim": Style(color="#8a8a8a", bgcolor="#121212"),
    "spark": Style(color="#808080", bgcolor="#121212"),
    "strong": Style(color="#ffffff", bgcolor="#121212", bold=True),
    "free": Style(color="#5fd787", bgcolor="#121212", bold=True),
    "alarm": Style(color="#ff5f5f", bgcolor="#121212", bold=True),
    "heading": Style(color="#a8a8a8", bgcolor="#262626"),
    "title": Style(color="#bcbcbc", bgcolor="#303030"),
    "title_strong": Style(color="#ffffff", bgcolor="#303030", bold=True),
    "title_free": Style(color="#5fd787", bgcolor="#303030", bold=True),
    "title_alarm": Style(color="#ffffff", bgcolor="#870000", bold=True),
    "selected": Style(bgcolor="#3a3a3a"),
    "selected_off": Style(bgcolor="#262626"),
    "key": Style(color="#000000", bgcolor="#a8a8a8"),
    "label": Style(color="#bcbcbc", bgcolor="#303030"),
    "track": Style(color="#585858", bgcolor="#262626"),
    "now": Style(color="#ffffff", bgcolor="#121212", bold=True),
    "box": Style(color="#dadada", bgcolor="#262626"),
    "button": Style(color="#dadada", bgcolor="#444444"),
    "button_on": Style(color="#000000", bgcolor="#dadada", bold=True),
}
_LIGHT = {
    "text": Style(color="#1c1c1c", bgcolor="#ffffff"),
    "dim": Style(color="#585858", bgcolor="#ffffff"),
    "spark": Style(color="#767676", bgcolor="#ffffff"),
    "strong": Style(color="#000000", bgcolor="#ffffff", bold=True),
    "free": Style(color="#005f00", bgcolor="#ffffff", bold=True),
    "alarm": Style(color="#af0000", bgcolor="#ffffff", bold=True),
    "heading": Style(color="#444444", bgcolor="#e4e4e4"),
    "title": Style(color="#303030", bgcolor="#dadada"),
    "title_strong": Style(color="#000000", bgcolor="#dadada", bold=True),
    "title_free": Style(color="#005f00", bgcolor="#dadada", bold=True),
    "title_alarm": Style(color="#ffffff", bgcolor="#af0000", bold=True),
    "selected": Style(bgcolor="#d0d0d0"),
    "selected_off": Style(bgcolor="#eeeeee"),
    "key": Style(color="#ffffff", bgcolor="#585858"),
    "label": Style(color="#303030", bgcolor="#dadada"),
    "track": Style(color="#8a8a8a", bgcolor="#e4e4e4"),
    "now": Style(color="#000000", bgcolor="#ffffff", bold=True),
    "box": Style(color="#1c1c1c", bgcolor="#eeeeee"),
    "button": Style(color="#1c1c1c", bgcolor="#c6c6c6"),
    "button_on": Style(color="#ffffff", bgcolor="#303030", bold=True),
}
_MONO = {
    "text": Style(),
    "dim": Style(),
    "spark": Style(),
    "strong": Style(bold=True),
    "free": Style(bold=True),
    "alarm": Style(bold=True, underline=True),
    "heading": Style(underline=True),
    "title": Style(reverse=True),
    "title_strong": Style(reverse=True, bold=True),
    "title_free": Style(reverse=True, bold=True),
    "title_alarm": Style(reverse=True, bold=True),
    "selected": Style(reverse=True),
    "selected_off": Style(underline=True),
    "key": Style(reverse=True),
    "label": Style(),
    "track": Style(),
    "now": Style(bold=True),
    "box": Style(),
    "button": Style(),
    "button_on": Style(reverse=True, bold=True),
}
_THEMES = {"dark": _DARK, "light": _LIGHT, "mono": _MONO}


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What is drawn with: one set for UTF-8, one for ASCII. All are one cell wide."""

    spark: str
    none: str
    used: str
    hatch: str
    empty: str
    room: str
    open_end: str
    now: str
    warn: str
    arrow: str
    dot: str
    rule: str
    more: str
    unknown: str
    up: str
    down: str


UNICODE = Glyphs(
    "▁▂▃▄▅▆▇█", " ", "█", "▒", " ", "·", "╌", "│", "!", "→", "·", "─", "…", "–", "▲", "▼"
)
ASCII = Glyphs(
    "0123456789", " ", "#", "%", ".", ".", "-", "|", "!", ">", "-", "-", "~", "-", "^", "v"
)


@lru_cache(maxsize=256)
def _person(theme: str, grey: bool, name: str, filled: bool) -> Style:
    if theme == "mono":
        return Style(reverse=True) if filled else Style()
    shade = "#6c6c6c" if grey else colour_of(name)[0]
    if filled:
        return Style(color="#000000", bgcolor=shade)
    if theme == "light":
        return _LIGHT["text"]
    return Style(color=shade, bgcolor="#121212")


@dataclass(frozen=True, slots=True)
class Look:
    """A theme ("dark", "light", "mono"), with or without UTF-8; `grey` when it shows the past."""

    theme: str = "dark"
    ascii_only: bool = False
    grey: bool = False

    @property
    def glyphs(self) -> Glyphs:
        return ASCII if self.ascii_only else UNICODE

    def style(self, role: str) -> Style:
        """The style of a role (a key of the themes); everything but grounds is dim while `grey`."""
        styles = _THEMES[self.theme]
        if self.grey and self.theme != "mono":
            if role in ("text", "strong", "free", "alarm", "now"):
                return styles["dim"]
            if role == "title_free":
                return styles["title"]
        return styles[role]

    def chip(self, name: str) -> Style:
        """Ground for a person's initials: their colour, black on it."""
        return _person(self.theme, self.grey, name, True)

    def ink(self, name: str) -> Style:
        """A person's colour as a line's colour; plain text where the ground is light."""
        return _person(self.theme, self.grey, name, False)

    def bar(self, name: str) -> Style:
        """A person's colour as a bar on the ground of what is not used."""
        if self.theme == "mono":
            return Style()
        shade = "#6c6c6c" if self.grey else colour_of(name)[0]
        return Style(color=shade, bgcolor=self.style("track").bgcolor)

    def hatched(self) -> Style:
        """What is attributed to nobody."""
        if self.theme == "mono":
            return Style()
        ground = self.style("track").bgcolor
        return Style(color=NOBODY[0] if self.theme == "dark" else "#6c6c6c", bgcolor=ground)

    def faded(self) -> Look:
        return replace(self, grey=True)
