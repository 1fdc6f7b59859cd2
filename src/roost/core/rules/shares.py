"""What each group is owed: shares divided among those who want GPUs now, level by level.

Pure. It must not know what was used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from roost.core.rules.model import GroupRules

_OWN_SHARE = 1.0


def portions(groups: Mapping[str, GroupRules], live: Collection[str]) -> dict[str, float]:
    """The part of the whole that each group of `live` (those with jobs) is owed; together 1.

    A parent's part is divided among its children that are live or have live ones below, by their
    shares; jobs of the parent's own count as one more child with share 1. Who is not asking is
    owed nothing meanwhile. A group that is not in the rules has share 1 at the top.
    """
    children: dict[str | None, set[str]] = {}
    for name in live:
        at = name
        seen = {name}
        while True:
            parent = groups[at].parent if at in groups else None
            children.setdefault(parent, set()).add(at)
            if parent is None or parent in seen:
                break
            seen.add(parent)
            at = parent
    found: dict[str, float] = {}
    todo: list[tuple[str | None, float]] = [(None, 1.0)]
    while todo:
        above, part = todo.pop()
        # In name order, so that no set order shows in the sums.
        names = sorted(children.get(above, ()))
        weights = {name: groups[name].share if name in groups else 1.0 for name in names}
        own = _OWN_SHARE if above is not None and above in live else 0.0
        total = sum(weights.values()) + own
        if above is not None and own:
            found[above] = part * own / total
        for name in names:
            if name in children:
                todo.append((name, part * weights[name] / total))
            else:
                found[name] = part * weights[name] / total
    return dict(sorted(found.items()))
