"""What the view asks of the world outside it, and what row it means. Pure data."""

from __future__ import annotations

from dataclasses import dataclass

from roost.tui.overlay import Act
from roost.tui.picture import Picture
from roost.tui.view import ListedRow, View, listed


@dataclass(frozen=True, slots=True)
class AskFree:
    """Ask the daemon what freeing the GPU would end; keep only `pid` where one is given."""

    gpu: int
    user: str | None
    pid: int | None


@dataclass(frozen=True, slots=True)
class Do:
    """Carry out what the person agreed to."""

    act: Act


@dataclass(frozen=True, slots=True)
class Quit:
    pass


@dataclass(frozen=True, slots=True)
class Theme:
    """Turn from dark to light and back."""


Request = AskFree | Do | Quit | Theme
Step = tuple[View, Request | None]


def under_cursor(view: View, picture: Picture) -> ListedRow | None:
    """The row that the cursor of the chosen pane is on."""
    rows = listed(view, picture, view.pane)
    key = view.cursor(view.pane)
    return next((row for row in rows if row.key == key), rows[0] if rows else None)
