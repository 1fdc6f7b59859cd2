"""Steps on accounts carried out: the agent's in one piece, the server's own between them.

Knows how a step is done, not who may ask, nor why it is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from roost.core.accounts.model import SERVERS, Do, Rights, Step
from roost.core.accounts.show import step_text
from roost.server.bookings.intents import Close
from roost.server.intents import Cancel, Hold, Note, Person
from roost.server.refusal import RefusalError
from roost.server.web.access import audit_by
from roost.server.web.keeper import put_out
from roost.store.feeds import feeds
from roost.wire.accounts import AccountsChanged, ChangeAccounts

if TYPE_CHECKING:
    from roost.server.api.context import Context

CHANGE_S = 86400.0
ENDED_LOOKS, LOOK_EVERY_S = 1500, 0.2


@dataclass(frozen=True, slots=True)
class Outcome:
    """ "done", "failed" and why, or "not_done"."""

    outcome: str
    why: str = ""


async def rights_of(context: Context, name: str, uid: int | None) -> Rights:
    """What that account has of Roost now."""
    now = context.clock()
    jobs = sorted((j for j in context.board.live() if j.user == name), key=lambda j: j.id)
    pending = [job for job in jobs if job.state.value == "PENDING"]
    bookings = [
        one.id
        for one in list(context.board.bookings.values())
        if one.user == name and one.live and one.ends_at > now
    ]

    def fed() -> int:
        with context.store.read() as connection:
            return len(feeds(connection, uid))

    return Rights(
        sessions=0 if uid is None else len(context.access.sessions(uid)),
        tokens=0 if uid is None else len(context.access.tokens(uid)),
        feeds=0 if uid is None else await context.in_thread(fed),
        waiting=tuple(job.id for job in pending if not job.held),
        held=tuple(job.id for job in pending if job.held),
        running=tuple(job.id for job in jobs if job.state.value != "PENDING"),
        bookings=tuple(sorted(bookings)),
    )


async def carry_out(context: Context, person: Person, steps: Sequence[Step]) -> list[Outcome]:
    """In order, and nothing after the first that fails. Every one that was tried is in the audit
    log."""
    outcomes: list[Outcome] = []
    for ours, group in groupby(steps, lambda step: step.do in SERVERS):
        part = list(group)
        if outcomes and outcomes[-1].outcome != "done":
            outcomes += [Outcome("not_done")] * len(part)
        elif ours:
            outcomes += await _ours(context, person, part)
        else:
            outcomes += await _agents(context, part)
        await _took_effect(context, part, outcomes[-len(part) :])
    for step, outcome in zip(steps, outcomes, strict=True):
        if outcome.outcome != "not_done":
            said = audit_by(
                person, f"account {step.do.value}", subject=f"account {step.user or step.group}",
                whom=step.user, outcome=outcome.outcome,
                detail=f"{step_text(step, 'en')} {outcome.why}".strip()[:1000],
            )  # fmt: skip
            await context.intend(Note(said))
    return outcomes


async def _agents(context: Context, steps: Sequence[Step]) -> list[Outcome]:
    try:
        found = await context.asked(context.engine.ask(ChangeAccounts(tuple(steps))), CHANGE_S)
    except RefusalError as error:
        # Nothing was begun, or it is not known how far it came: the next plan will show.
        return [Outcome("failed", error.said("en"))] + [Outcome("not_done")] * (len(steps) - 1)
    assert isinstance(found, AccountsChanged)
    return [Outcome(each.outcome, each.why) for each in found.outcomes]


async def _took_effect(
    context: Context, steps: Sequence[Step], outcomes: Sequence[Outcome]
) -> None:
    """What the server believes of accounts is made true, before the next step."""
    for step, outcome in zip(steps, outcomes, strict=True):
        if outcome.outcome != "done" or step.do in SERVERS:
            continue
        if step.uid is not None:
            context.people.forget(step.uid)
        if step.do is Do.DISABLE and step.uid is not None:
            context.disabled[step.user] = step.uid
            await put_out(context, step.user, step.uid)
        elif step.do in (Do.ENABLE, Do.REMOVE):
            context.disabled.pop(step.user, None)
        elif step.do is Do.JOIN:
            context.people.forget_all()


async def _ours(context: Context, person: Person, steps: Sequence[Step]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for step in steps:
        if outcomes and outcomes[-1].outcome != "done":
            outcomes.append(Outcome("not_done"))
            continue
        try:
            await _one(context, person, step)
            outcomes.append(Outcome("done"))
        except (RefusalError, TimeoutError) as error:
            why = error.said("en") if isinstance(error, RefusalError) else "its jobs did not end"
            outcomes.append(Outcome("failed", why))
    return outcomes


async def _one(context: Context, person: Person, step: Step) -> None:
    """Raises RefusalError, TimeoutError, StoreError."""
    if step.do is Do.PUT_OUT and step.uid is not None:
        await put_out(context, step.user, step.uid)
    for number in step.numbers:
        try:
            if step.do in (Do.HOLD, Do.RELEASE):
                await context.intend(Hold(person, number, step.do is Do.HOLD))
            elif step.do is Do.END:
                await context.intend(Cancel(person, number))
            elif step.do is Do.UNBOOK:
                await context.intend(Close(person, number))
        except RefusalError as error:
            if error.status not in (404, 409):  # it has started or ended meanwhile
                raise
    for _ in range(ENDED_LOOKS if step.do is Do.END else 0):
        if not {job.id for job in context.board.live()} & set(step.numbers):
            return
        await asyncio.sleep(LOOK_EVERY_S)
    if step.do is Do.END:
        raise TimeoutError
