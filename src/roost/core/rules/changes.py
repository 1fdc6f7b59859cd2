"""What one set of rules says otherwise than another: by key, in words, not by line.

Compares what is in force, defaults included, so that comments and order of a file do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roost.core.rules.model import Rules
from roost.core.rules.read import dotted
from roost.core.rules.settings import Setting, literal, settings_of
from roost.core.text.catalogue import say


@dataclass(frozen=True, slots=True)
class Change:
    """One key; a value as TOML writes it, None where the key has none (no limit, no such group)."""

    key: str
    old: str | None
    new: str | None

    def text(self, language: str = "en") -> str:
        """ "limits.per_user.max_gpus: 4 → 2" in that language."""
        if self.old is None:
            return say(language, "rules_changes.added", key=self.key, new=self.new)
        if self.new is None:
            return say(language, "rules_changes.removed", key=self.key, old=self.old)
        return say(language, "rules_changes.changed", key=self.key, old=self.old, new=self.new)


def changes(old: Rules, new: Rules) -> tuple[Change, ...]:
    """Every key whose value differs, in the order of the file that they would be written to."""
    before, after = settings_of(old), settings_of(new)
    found = [
        Change(dotted(path), _shown(before.get(path)), _shown(after.get(path)))
        for path in dict.fromkeys((*before, *after))
        if before.get(path) != after.get(path)
    ]
    # Who is in several groups charges the first: their order is a rule too.
    orders = [_common(rules, other) for rules, other in ((old, new), (new, old))]
    if orders[0] != orders[1]:
        found.append(Change("groups", *(literal(order) for order in orders)))
    return tuple(found)


def _shown(value: Setting | None) -> str | None:
    return None if value is None else literal(value)


def _common(rules: Rules, other: Rules) -> list[str]:
    return [name for name in rules.groups if name in other.groups]


def as_dicts(found: Sequence[Change], language: str) -> list[dict[str, str | None]]:
    """[{"key", "old", "new", "text"}], as the API and `--json` give them."""
    return [{"key": c.key, "old": c.old, "new": c.new, "text": c.text(language)} for c in found]
