"""Starts `roost top`: the look from what the terminal can show, the daemon as the source."""

from __future__ import annotations

from roost.tui.app import TopApp
from roost.tui.look import Look
from roost.tui.source import ClientSource
from roost.tui.view import View


def run(
    socket: str | None,
    *,
    language: str = "en",
    unicode: bool = True,
    colour: bool = True,
    light: bool = False,
    user: str = "",
) -> int:
    """Show the view until the person leaves it; returns the exit code.

    `unicode` False draws in ASCII, `colour` False without any colour (NO_COLOR), `user` shows one
    person from the start. `socket` None is the default daemon.
    """
    look = Look("mono" if not colour else "light" if light else "dark", ascii_only=not unicode)
    app = TopApp(ClientSource(socket, language), look, language)
    app.view = View(user=user)
    return app.run() or 0


def light_terminal(colorfgbg: str) -> bool:
    """Whether COLORFGBG ("0;15", set by rxvt, Konsole and others) speaks of a light ground."""
    ground = colorfgbg.rpartition(";")[2]
    return ground in ("7", "15")
