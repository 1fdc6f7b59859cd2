"""Whether the rules and this server allow a submission, and to whom it is charged."""

from __future__ import annotations

from roost.core.model import PriorityClass
from roost.core.rules import who
from roost.core.rules.model import Rules
from roost.server.intents import Person, Submit
from roost.server.refusal import RefusalError
from roost.server.work import Work
from roost.store.jobs import known_states


def group_for(rules: Rules, person: Person, wanted: str | None) -> str:
    """The group to charge. Raises RefusalError for one that is not there or not theirs."""
    own = who.groups_of(rules, person.name, person.groups)
    if wanted is None:
        return own[0]
    if wanted in own:
        return wanted
    names = ", ".join(own)
    if not who.known_group(rules, wanted):
        raise RefusalError(
            422, "problem.no_group", {"key": "group", "allowed": own},
            group=wanted, groups=names,
        )  # fmt: skip
    raise RefusalError(
        403, "problem.not_in_group", {"key": "group", "allowed": own},
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
