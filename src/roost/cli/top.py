"""`roost top`: opens the live view (roost.tui) once the daemon has answered."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context


def top(context: Context) -> int:
    """Shows the view until the person leaves it. Without a daemon it says so at once (exit 3)."""
    if not (os.isatty(0) and os.isatty(2)):
        context.note("top.needs_terminal")
        return 1
    context.client().ping()
    from roost.tui.start import light_terminal, run

    terminal = context.terminal
    return run(
        context.option("socket"),
        language=terminal.language,
        unicode=terminal.unicode,
        colour=terminal.colour,
        light=light_terminal(os.environ.get("COLORFGBG", "")),
        user=context.option("user", ""),
    )
