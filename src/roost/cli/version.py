"""`roost version`: of this program, and of the daemon where one answers."""

from __future__ import annotations

from roost import __version__
from roost.client.errors import RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def version(context: Context) -> int:
    daemon: Any
    try:
        daemon = context.client().ping()
    except RoostError:  # no failure here: the question is about this program
        daemon = None
    if context.json:
        context.out_json({"roost": __version__, "daemon": daemon})
        return 0
    context.out(f"roost {__version__}")
    if daemon is not None:
        say = context.say
        context.out(
            say(
                "daemon_version",
                version=daemon.get("roost"),
                server=daemon.get("server"),
                path=context.client().socket_path,
            )
        )
    return 0
