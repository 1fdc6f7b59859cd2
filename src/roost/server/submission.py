"""Whether the rules and this server allow a submission, and to whom it is charged."""

from __future__ import annotations

from typing import Any

from roost.core.model import Job, JobState, PriorityClass
from roost.core.rules import who
from roost.core.scheduler.submission import Problem
from roost.core.text.submit import problem_text
from roost.server.intents import Submit
from roost.server.refusal import RefusalError
from roost.server.work import Work
from roost.store.jobs import known_states


class SubmissionError(RefusalError):
    """Refused by rules or machine; every problem is said, the gravest first."""

    def __init__(self, problems: list[Problem]) -> None:
        first = problems[0]
        numbers = dict(first.numbers)
        extra: dict[str, Any] = {
            "key": first.key,
            "rule": first.rule,
            "codes": [p.code for p in problems],
        }
        for name, member in (("most", "limit"), ("total", "available")):
            if name in numbers:
                extra[member] = numbers[name]
        status = 403 if first.code == "group_not_yours" else 422
        super().__init__(status, f"submit.{first.code}", extra)
        self._problems = problems

    def said(self, language: str) -> str:
        return "; ".join(problem_text(language, p) for p in self._problems)


def checked(work: Work, wanted: Submit) -> tuple[str, PriorityClass, tuple[int, ...] | None]:
    """Group, class, and which jobs are still to be waited for, of what may be queued.

    None instead of jobs: one of them has ended without completing. Raises RefusalError, StoreError.
    """
    person, rules, host = wanted.person, work.rules.rules, work.host
    if not person.known:
        raise RefusalError(422, "problem.no_account", {"uid": person.uid}, uid=person.uid)
    if host is None:
        raise RefusalError(503, "problem.agent_away")
    if host.uid not in (0, person.uid):
        raise RefusalError(403, "problem.one_user", user=person.name)
    groups = tuple(sorted(person.groups))
    group = wanted.group or who.group_of(rules, person.name, groups)
    priority_class = wanted.priority_class or rules.default_class
    if rules.classes[priority_class].require_reason and not wanted.reason:
        rule = f"classes.{priority_class.value}.require_reason"
        raise RefusalError(
            422, "problem.reason_required", {"key": "reason", "rule": rule},
            which=priority_class.value, rule=rule,
        )  # fmt: skip
    states = _states(work, wanted.after)
    job = Job(
        id=work.next_job,
        user=person.name,
        group=group,
        priority_class=priority_class,
        request=wanted.request,
        submitted_at=work.now,
        after=wanted.after,
        array_limit=wanted.array_limit,
    )
    size = 1 if wanted.indices is None else len(wanted.indices)
    problems = work.scheduler.check_submission(job, groups, size, frozenset(states))
    if problems:
        raise SubmissionError(problems)
    waiting = [number for number, state in states.items() if not state.ended]
    failed = any(s.ended and s is not JobState.COMPLETED for s in states.values())
    return group, priority_class, None if failed else tuple(sorted(waiting))


def _states(work: Work, after: tuple[int, ...]) -> dict[int, JobState]:
    """State of each of these jobs that exists."""
    found = {number: work.jobs[number].state for number in after if number in work.jobs}
    missing = [number for number in after if number not in found]
    if missing:
        with work.store.read() as connection:
            found.update(known_states(connection, missing))
    return found
