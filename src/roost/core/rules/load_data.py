"""From `[data]`: where the team's data sets lie, and who may add one. Part of `rules.load`."""

from __future__ import annotations

import posixpath

from roost.core.rules.model import DataRules
from roost.core.rules.read import Table, shown

ADD = ("all", "operators")


def data_of(table: Table, base: DataRules) -> DataRules:
    path = table.text("path", base.path)
    if not path.startswith("/") or path == "/" or posixpath.normpath(path) != path:
        table.wrong("path", "absolute_path", value=shown(path))
    rules = DataRules(path, table.text("add", base.add, ADD))
    table.close()
    return rules
