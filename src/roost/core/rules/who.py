"""Who a person is to the rules: the groups they may charge, and whether they are an operator.

`linux_groups` are names of the account's Linux groups, looked up by the caller.
"""

from __future__ import annotations

from collections.abc import Collection

from roost.core.rules.model import Rules


def listed(names: Collection[str], user: str, linux_groups: Collection[str]) -> bool:
    """Whether `names` holds the user, or "@group" of one of the Linux groups."""
    return user in names or any("@" + group in names for group in linux_groups)


def groups_of(rules: Rules, user: str, linux_groups: Collection[str]) -> tuple[str, ...]:
    """The groups that the user may charge, the usual one first: those that list the user, in the
    order of the file. Who is listed nowhere charges `default_group`."""
    found = tuple(
        name for name, group in rules.groups.items() if listed(group.members, user, linux_groups)
    )
    return found or (rules.default_group,)


def group_of(rules: Rules, user: str, linux_groups: Collection[str]) -> str:
    """The group that is charged where the user names none."""
    return groups_of(rules, user, linux_groups)[0]


def may_charge(rules: Rules, user: str, linux_groups: Collection[str], group: str) -> bool:
    return group in groups_of(rules, user, linux_groups)


def known_group(rules: Rules, group: str) -> bool:
    return group in rules.groups or group == rules.default_group


def lineage(rules: Rules, group: str) -> tuple[str, ...]:
    """The group, its parent, the parent of that, up to the top."""
    found: list[str] = []
    at: str | None = group
    while at is not None and at not in found:
        found.append(at)
        at = rules.groups[at].parent if at in rules.groups else None
    return tuple(found)


def is_operator(rules: Rules, user: str, linux_groups: Collection[str]) -> bool:
    """Root always is, whatever the file says."""
    return user == "root" or listed(rules.operators, user, linux_groups)


def is_viewer(rules: Rules, user: str, linux_groups: Collection[str]) -> bool:
    """Whether the user may only look; whoever also is an operator may more."""
    return listed(rules.viewers, user, linux_groups)


def led_by(rules: Rules, user: str, linux_groups: Collection[str]) -> frozenset[str]:
    """The groups whose jobs the user may handle: those that name them a lead, and all below."""
    named = {n for n, group in rules.groups.items() if listed(group.leads, user, linux_groups)}
    if not named:
        return frozenset()
    return frozenset(name for name in rules.groups if named & set(lineage(rules, name)))
