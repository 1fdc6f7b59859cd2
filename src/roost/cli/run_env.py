"""`roost run --env`: the environment is looked at before the job is queued."""

from __future__ import annotations

import os

from roost.cli.failure import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def checked(
    context: Context, options: dict[str, Any], variables: dict[bytes, bytes]
) -> dict[bytes, bytes]:
    """The variables with the environment's programs first, to look for the command in. Warns of
    what may go wrong with this server's driver. Raises CommandError for what cannot go well."""
    from roost.cli.env import found

    environment = found(context, options["env"])
    if not options.get("no_env_check"):
        _driver(context, environment.path)
    folder = os.fsencode(environment.path) + b"/bin"
    path = variables.get(b"PATH", b"/usr/local/bin:/usr/bin:/bin")
    return {**variables, b"PATH": folder + b":" + path}


def _driver(context: Context, path: str) -> None:
    from roost.cli.env_shown import said, server_of
    from roost.core.environments.drivers import on_server
    from roost.machine.environments.installed import installed

    inside = installed(path)
    frameworks = inside.frameworks
    if not any(one.cuda for one in frameworks):
        return
    driver, models = server_of(context)
    for finding in on_server(frameworks, driver, models, inside.compat):
        if finding.level == "error":
            raise CommandError("env_cannot_work", text=said(context, finding))
        context.err(f"roost run: {said(context, finding)}")
