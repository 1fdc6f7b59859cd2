"""Looks at accounts and changes them for the server, each time in a process of its own.

The process is root with one thread, so that it can take a person's rights to touch a home; this one
goes on meanwhile, whatever a name service or a home on another machine does.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable

import msgspec
import structlog

from roost.agent.aside import answered
from roost.agent.validate import RefusedError
from roost.core.accounts.model import SERVERS, Step
from roost.machine.account_book import Book
from roost.machine.account_work import MOST_NAMES, Answer, Question
from roost.wire.accounts import (
    AccountsChanged,
    AccountsSeen,
    ChangeAccounts,
    DisabledListed,
    ListDisabled,
    LookAtAccounts,
)

log = structlog.get_logger()
LOOK_S = 300.0
CHANGE_S = 86400.0  # a home of terabytes may have to be packed
MOST_STEPS = 20_000
MOST_TEXT = 16_384


class Accounts:
    """One an agent, in its event loop. `changed` is called after each change."""

    def __init__(self, folder: str, bases: tuple[str, ...], changed: Callable[[], None]) -> None:
        self._folder = folder
        self._bases = bases
        self._changed = changed

    async def look(self, message: LookAtAccounts) -> AccountsSeen:
        """Raises RefusedError."""
        question = Question(
            self._folder, message.users[:MOST_NAMES], message.groups[:MOST_NAMES],
            message.everybody, bases=self._bases,
        )  # fmt: skip
        answer = await _asked(question, LOOK_S)
        if answer.host is None:
            raise RefusedError("accounts_failed", detail="no answer")
        return AccountsSeen(message.request, answer.accounts, answer.host)

    async def change(self, message: ChangeAccounts) -> AccountsChanged:
        """Raises RefusedError where nothing was begun."""
        for step in message.steps:
            _check(step)
        if not message.steps or len(message.steps) > MOST_STEPS:
            raise RefusedError("accounts_failed", detail=f"{len(message.steps)} steps")
        log.info("accounts are changed", steps=[f"{s.do.value} {s.user}" for s in message.steps])
        try:
            answer = await _asked(
                Question(self._folder, steps=message.steps, bases=self._bases), CHANGE_S
            )
        finally:
            self._changed()
        for step, outcome in zip(message.steps, answer.outcomes, strict=True):
            if outcome.why:
                log.warning("a step failed", step=step.do.value, user=step.user, why=outcome.why)
        return AccountsChanged(message.request, answer.outcomes)

    async def disabled(self, message: ListDisabled) -> DisabledListed:
        """Costs no process: the server asks every half minute."""
        book = Book(self._folder)
        return DisabledListed(message.request, await asyncio.to_thread(book.disabled))


def _check(step: Step) -> None:
    """Whether the step is the agent's, and of a size that one has. What it says is looked at by
    who does it. Raises RefusedError."""
    texts = (step.user, step.group, step.text, step.home, step.before)
    if step.do in SERVERS or any(len(text) > MOST_TEXT or "\0" in text for text in texts):
        raise RefusedError("accounts_failed", detail=f"no step of the agent's: {step.do.value}")


async def _asked(question: Question, within_s: float) -> Answer:
    """Raises RefusedError."""
    if os.geteuid() != 0:
        raise RefusedError("accounts_not_root")
    return await asyncio.to_thread(_ask, question, within_s)


def _ask(question: Question, within_s: float) -> Answer:
    """Blocks. Raises RefusedError, OSError."""
    order = msgspec.msgpack.encode(question)
    try:
        said, wrong, code = answered("roost.machine.account_work", order, within_s, subprocess.PIPE)
    except subprocess.TimeoutExpired:
        raise RefusedError("accounts_failed", detail="it took too long") from None
    try:
        return msgspec.msgpack.decode(said, type=Answer)
    except msgspec.MsgspecError:
        log.error("accounts", said=wrong.decode("utf-8", "replace")[-2000:])
        last = (wrong.decode("utf-8", "replace").strip().splitlines() or [""])[-1]
        detail = last[:300] or f"exit code {code}"
        raise RefusedError("accounts_failed", detail=detail) from None
