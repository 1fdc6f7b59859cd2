"""`roost top`: hands over to the live view, which loads Textual; nothing else here may."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context


def top(context: Context) -> int:
    """Shows the view until the person leaves it. Textual reads 0 and draws on 2."""
    if not (os.isatty(0) and os.isatty(2)):
        from roost.core.text.catalogue import say

        context.err(f"roost top: {say(context.terminal.language, 'top.needs_terminal')}")
        return 1
    context.client().ping()  # no daemon is said here, as every command says it
    terminal = context.terminal
    from roost.tui.start import light_terminal, run

    return run(
        context.client().socket_path,
        language=terminal.language,
        unicode=terminal.unicode,
        colour=terminal.colour,
        light=light_terminal(os.environ.get("COLORFGBG", "")),
        user=context.option("user", ""),
    )
