"""Routes of the machine's posture: what is at risk, mending it, undoing that.

Operators ask for the whole machine; everybody else for what is theirs, looked at with their own
rights. What is to be mended is named by check and subject: the agent finds it itself.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from roost.core.audit.facts import Facts
from roost.core.audit.judge import CHECKS, findings
from roost.core.audit.model import Finding, acceptance
from roost.core.audit.shown import change_of, remedy_of, risk_of, text_of
from roost.core.rules.model import Rules
from roost.core.text.catalogue import say
from roost.server.api.context import Call, Caller, answer, operators_only
from roost.server.api.render import iso
from roost.server.api.shapes import In, Out
from roost.server.engines.base import Result
from roost.server.intents import Note
from roost.server.posture import with_jobs, with_own_files
from roost.server.refusal import RefusalError
from roost.server.web.access import audit_by
from roost.wire.audit import Audited, AuditMachine, Mended, MendMachine, UndoMends

router = APIRouter(prefix="/v1/audit", tags=["operate"])
LOOK_S, MEND_S = 120.0, 180.0
MOST_WANTED = 500
CheckName = Annotated[str, Field(max_length=40, pattern=r"^[a-z-]+$")]


class AcceptedOut(Out):
    reason: str


class FindingOut(Out):
    check: str
    title: str
    code: str
    severity: str
    subject: str
    user: str | None
    text: str
    risk: str
    remedy: str
    change: str | None
    accepted: AcceptedOut | None


class UnseenOut(Out):
    check: str
    title: str
    why: str
    text: str


class KeptOut(Out):
    check: str
    subject: str


class PostureOut(Out):
    server: str
    time: str
    whose: str | None
    root: bool
    checks: list[str]
    findings: list[FindingOut]
    unseen: list[UnseenOut]
    undoable: list[KeptOut]


class WantedIn(In):
    check: CheckName
    subject: Annotated[str, Field(max_length=5000)]


class MendIn(In):
    """`wanted`: findings, by check and subject."""

    wanted: Annotated[list[WantedIn], Field(max_length=MOST_WANTED)]


class UndoIn(In):
    """`checks`: of these alone; empty: everything that was mended."""

    checks: Annotated[list[CheckName], Field(max_length=64, default_factory=list)]


class OutcomeOut(Out):
    check: str
    subject: str
    outcome: str
    text: str


class MendedOut(Out):
    outcomes: list[OutcomeOut]


@router.get("/checks", response_model=PostureOut)
async def checks(
    call: Caller,
    check: Annotated[list[CheckName] | None, Query(max_length=64)] = None,
) -> Response:
    """What is at risk on this machine, worst first, with what to do. Members: of what is theirs."""
    context, person = call.context, call.person
    wanted = _known(check or [])
    rules = context.board.rules.rules
    question = AuditMachine(checks=wanted, places=rules.audit.places)
    if not person.operator:
        question = AuditMachine(checks=wanted, user=person.name, uid=person.uid)
    said = await _asked(call, question, LOOK_S)
    if not isinstance(said, Audited):
        raise RefusalError(502, "problem.agent_refused", text="it gave no result")
    facts = with_jobs(said.facts, context.board.live(), person)
    if person.operator:
        secrets = [rules.oidc.secret_file] if rules.oidc and rules.oidc.secret_file else []
        path, state = context.rules_path, context.state
        facts = await context.in_thread(lambda: with_own_files(facts, path, state, secrets))
    return answer(_shown(call, facts, wanted, rules))


async def _asked(
    call: Call, question: AuditMachine | MendMachine | UndoMends, within_s: float
) -> Result:
    """The agent's answer. What it refuses for a reason of its own is no fault of either."""
    context = call.context
    try:
        return await context.asked(context.engine.ask(question), within_s)
    except RefusalError as error:
        code = error.extra.get("agent_code")
        if code == "audit_busy":
            raise RefusalError(429, "agent.audit_busy") from error
        if code == "audit_not_root":
            raise RefusalError(409, "agent.audit_not_root") from error
        if code in ("unknown_user", "system_user", "disabled_user", "root_group", "other_user"):
            raise RefusalError(403, error.message, error.extra, **error.numbers) from error
        raise


def _known(names: list[str]) -> tuple[str, ...]:
    for name in names:
        if name not in CHECKS:
            allowed = ", ".join(CHECKS)
            raise RefusalError(
                404, "problem.no_check", {"check": name}, check=name, allowed=allowed
            )
    return tuple(dict.fromkeys(names))


def _shown(call: Call, facts: Facts, wanted: tuple[str, ...], rules: Rules) -> dict[str, Any]:
    person, board = call.person, call.context.board
    found = findings(facts, wanted, rules.enforcement)
    if not person.operator:
        found = [one for one in found if one.user == person.name and CHECKS[one.check].own]
    made = [name for name, one in CHECKS.items() if person.operator or one.own]
    return {
        "server": board.host.server if board.host else "",
        "time": iso(call.context.clock(), call.context.time_zone),
        "whose": None if person.operator else person.name,
        "root": facts.as_root,
        "checks": [name for name in made if not wanted or name in wanted],
        "findings": [_finding(call, one, rules) for one in found],
        "unseen": [
            {
                "check": one.check,
                "title": say(call.language, f"audit.check.{one.check}"),
                "why": one.why,
                "text": say(call.language, f"audit.unseen.{one.why}", detail=one.detail),
            }
            for one in facts.unseen
        ],
        "undoable": [{"check": check, "subject": subject} for check, subject in facts.kept],
    }


def _finding(call: Call, finding: Finding, rules: Rules) -> dict[str, Any]:
    language, accept = call.language, acceptance(finding, rules.audit.accept)
    change = finding.change if call.person.operator else None
    return {
        "check": finding.check,
        "title": say(language, f"audit.check.{finding.check}"),
        "code": finding.code,
        "severity": finding.severity.value,
        "subject": finding.subject,
        "user": finding.user or None,
        "text": text_of(language, finding),
        "risk": risk_of(language, finding),
        "remedy": remedy_of(language, finding),
        "change": change_of(language, change) if change is not None else None,
        "accepted": {"reason": accept.reason} if accept is not None else None,
    }


@router.post("/fix", response_model=MendedOut)
async def fix(call: Caller, given: MendIn) -> Response:
    """Mend these findings, each only if the agent finds it itself. Operators only."""
    operators_only(call)
    rules = call.context.board.rules.rules
    _known([one.check for one in given.wanted])
    order = MendMachine(
        wanted=tuple(dict.fromkeys((one.check, one.subject) for one in given.wanted)),
        places=rules.audit.places,
        enforcement=rules.enforcement,
        by=call.person.name,
    )
    return await _ordered(call, order, "audit fix")


@router.post("/undo", response_model=MendedOut)
async def undo(call: Caller, given: UndoIn | None = None) -> Response:
    """Take back what was mended, what has not been changed since. Operators only."""
    operators_only(call)
    order = UndoMends(checks=_known(given.checks if given is not None else []))
    return await _ordered(call, order, "audit undo")


async def _ordered(call: Call, order: MendMachine | UndoMends, action: str) -> Response:
    context = call.context
    said = await _asked(call, order, MEND_S)
    if not isinstance(said, Mended):
        raise RefusalError(502, "problem.agent_refused", text="it gave no result")
    for one in said.outcomes:
        subject = f"{one.check} {one.subject}"[:1000]
        record = audit_by(
            call.person, action, subject=subject, outcome=one.outcome, detail=one.detail[:1000]
        )
        await context.intend(Note(record))
    return answer(
        {
            "outcomes": [
                {
                    "check": one.check,
                    "subject": one.subject,
                    "outcome": one.outcome,
                    "text": say(call.language, f"audit.fixed.{one.outcome}", detail=one.detail),
                }
                for one in said.outcomes
            ]
        }
    )
