"""From `[environments]`: where people's environments lie, how much of them may be shared. Part of
`roost.core.rules.load`."""

from __future__ import annotations

import re

from roost.core.rules.model import EnvironmentRules
from roost.core.rules.read import Table, shown

_DIRECTORY = re.compile(r"(~|/[^\0\r\n]*)(/[^\0\r\n]+)?")


def environments_of(table: Table, base: EnvironmentRules) -> EnvironmentRules:
    directory = table.text("directory", base.directory).rstrip("/")
    parts = directory.split("/")
    own = directory.startswith("~/") or "{user}" in parts
    if not _DIRECTORY.fullmatch(directory) or ".." in parts or not own or len(directory) > 500:
        table.wrong("directory", "environment_directory", value=shown(directory))
        directory = base.directory
    share_bytes = table.size("share_limit")
    table.close()
    return EnvironmentRules(directory, base.share_bytes if share_bytes is None else share_bytes)
