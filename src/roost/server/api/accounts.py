"""Routes of the machine's accounts: what there is, the steps that a wish would take, and doing
exactly those. Operators only; the agent looks at each step again.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Response

from roost.core.accounts.leaving import plan_leaving
from roost.core.accounts.model import AccountSeen, Asked, HostSeen, Plan
from roost.core.accounts.planning import RULES_PATH, plan_people
from roost.core.accounts.show import as_dict, fingerprint, problem_text, step_dict
from roost.core.rules import who
from roost.server.accounts import carry_out, rights_of
from roost.server.api.account_models import (
    AccountsApplyIn,
    AccountsDoneOut,
    AccountsIn,
    AccountsOut,
    AccountsPlanOut,
)
from roost.server.api.context import Call, Caller, Context, answer, operators_only
from roost.server.api.render import iso
from roost.server.refusal import RefusalError
from roost.wire.accounts import AccountsSeen, LookAtAccounts

router = APIRouter(prefix="/v1/accounts", tags=["operate"])
LOOK_S = 330.0
# Two that plan and change at once would each make the other's plan untrue.
_ONE = asyncio.Lock()


@router.get("", response_model=AccountsOut)
async def accounts(call: Caller) -> Response:
    """The accounts of people in this machine's own file of accounts, with their state, "active" or
    "disabled", and the archives of removed ones. Operators only."""
    operators_only(call)
    seen = await _seen(call.context, (), True)
    rules, zone = call.context.board.rules.rules, call.context.time_zone
    return answer(
        {
            "accounts": [
                {
                    "user": one.name,
                    "uid": one.uid,
                    "full_name": one.full_name,
                    "state": "disabled" if one.disabled else "active",
                    "local": one.local,
                    "made": one.made,
                    "home": one.home,
                    "home_mode": f"{one.home_mode:04o}" if one.home_mode else None,
                    "groups": list(one.groups),
                    "charges": list(who.groups_of(rules, one.name, one.groups)),
                    "keys": len(one.keys),
                    "quota_bytes": one.quota_bytes or None,
                    "powerful": one.powerful or None,
                }
                for one in seen.accounts
                if not one.system
            ],
            "archives": [
                {
                    "user": one.name,
                    "uid": one.uid,
                    "full_name": one.full_name,
                    "time": iso(one.at, zone),
                    "path": one.path,
                    "size_bytes": one.size_bytes,
                    "sha256": one.sha256,
                }
                for one in sorted(seen.host.archives, key=lambda one: -one.at)
            ],
            "quota": seen.host.quota,
        }
    )


@router.post("/plan", response_model=AccountsPlanOut)
async def plan(call: Caller, given: AccountsIn) -> Response:
    """The steps from what there is to what is wanted, or what is wrong, row by row; `plan` is their
    fingerprint. Nothing is changed. Operators only."""
    operators_only(call)
    return answer(as_dict(await _plan(call, given), call.language))


@router.post("/apply", response_model=AccountsDoneOut)
async def apply(call: Caller, given: AccountsApplyIn) -> Response:
    """Does the steps of that plan, if they are the same as they were shown; else nothing (409).
    Stops at the first that fails, and says of each what became of it. Operators only, in person."""
    operators_only(call)
    async with _ONE:
        found = await _plan(call, given)
        if found.problems:
            first = found.problems[0]
            raise RefusalError(
                422, "problem.accounts_wrong", {"key": first.column},
                text=f"{first.user}: {problem_text(first, call.language)}",
            )  # fmt: skip
        if fingerprint(found) != given.plan:
            raise RefusalError(409, "problem.accounts_changed")
        outcomes = await carry_out(call.context, call.person, found.steps)
    return answer(
        {
            "done": all(one.outcome == "done" for one in outcomes),
            "steps": [
                {
                    **step_dict(step, call.language),
                    "outcome": one.outcome,
                    "why": one.why or None,
                }
                for step, one in zip(found.steps, outcomes, strict=True)
            ],
        }
    )


async def _seen(context: Context, users: tuple[str, ...], everybody: bool = False) -> AccountsSeen:
    """Raises RefusalError."""
    listed = [one for group in context.board.rules.rules.groups.values() for one in group.members]
    linux = tuple(dict.fromkeys(one[1:] for one in listed if one.startswith("@")))
    question = LookAtAccounts(users, linux, everybody)
    found = await context.asked(context.engine.ask(question), LOOK_S)
    if not isinstance(found, AccountsSeen):
        raise RefusalError(502, "problem.agent_refused", text="it gave no accounts")
    return found


async def _plan(call: Call, given: AccountsIn) -> Plan:
    context = call.context
    names = tuple(dict.fromkeys(one.name.strip() for one in given.people))
    found = await _seen(context, names)
    seen: dict[str, AccountSeen] = {one.name: one for one in found.accounts}
    host: HostSeen = found.host
    if given.action == "add":
        rows = [
            Asked(
                one.name, one.full_name, one.group, tuple(one.keys), one.quota, one.share.strip(),
                one.row,
            )
            for one in given.people
        ]  # fmt: skip
        path = context.rules_path or RULES_PATH
        return plan_people(rows, seen, host, context.board.rules.rules, path)
    rights: dict[str, Any] = {
        name: await rights_of(context, name, account.uid) for name, account in seen.items()
    }
    return plan_leaving(given.action, names, seen, host, rights, given.end_jobs)
