"""Whether the rules and this server allow a submission, and to whom it is charged."""

from __future__ import annotations

from roost.core.model import PriorityClass
from roost.core.rules.model import Rules
from roost.server.intents import Person, Submit
from roost.server.refusal import RefusalError
from roost.server.work import Work
from roost.store.jobs import known_states


def groups_of(rules: Rules, person: Person) -> list[str]:
    """Groups of the rules that the person belongs to, by name or by Linux group, in their order."""
    return [
        name
        for name, group in rules.groups.items()
        if any(
            member[1:] in person.groups if member.startswith("@") else member == person.name
            for member in group.members
        )
    ]


def group_for(rules: Rules, person: Person, wanted: str | None) -> str:
    """The group to charge. Raises RefusalError for one that is not there or not theirs."""
    own = groups_of(rules, person)
    if wanted is None:
        return own[0] if own else rules.default_group
    if wanted in own or (wanted == rules.default_group and not own):
        return wanted
    names = ", ".join(own) or rules.default_group
    if wanted not in rules.groups and wanted != rules.default_group:
        raise RefusalError(
            422, "problem.no_group", {"key": "group", "allowed": own or [rules.default_group]},
            group=wanted, groups=names,
        )  # fmt: skip
    raise RefusalError(
        403, "problem.not_in_group", {"key": "group", "allowed": own or [rules.default_group]},
        user=person.name, group=wanted, groups=names,
    )  # fmt: skip


def checked(work: Work, wanted: Submit) -> tuple[str, PriorityClass, list[str]]:
    """Group, class and notes, for what may be queued. Raises RefusalError, StoreError."""
    person, rules, host = wanted.person, work.rules.rules, work.host
    if not person.known:
        raise RefusalError(422, "problem.no_account", {"uid": person.uid}, uid=person.uid)
    if host is None:
        raise RefusalError(503, "problem.agent_away")
    if host.uid not in (0, person.uid):
        raise RefusalError(403, "problem.one_user", user=person.name)
    group = group_for(rules, person, wanted.group)
    priority_class = wanted.priority_class or rules.default_class
    if wanted.indices is not None and len(wanted.indices) > rules.max_array:
        raise RefusalError(
            422, "problem.array_too_large", {"key": "array", "limit": rules.max_array},
            count=len(wanted.indices), limit=rules.max_array,
        )  # fmt: skip
    missing = [number for number in wanted.after if number not in work.jobs]
    if missing:
        with work.store.read() as connection:
            known = known_states(connection, missing)
        for number in missing:
            if number not in known:
                raise RefusalError(
                    422, "problem.no_such_after", {"key": "after", "job": number}, job=number
                )
    return group, priority_class, []
