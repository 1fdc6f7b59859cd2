"""Looks at the posture of this machine, and mends it, in a process that lives for one order.

One at a time: a look reads a good deal of the machine. What is to be mended is found anew there.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from dataclasses import replace
from typing import TypeVar

import msgspec
import structlog

from roost.agent.aside import answered
from roost.agent.config import AgentConfig
from roost.agent.people import People
from roost.agent.validate import RefusedError
from roost.core.audit.facts import Facts
from roost.core.audit.judge import CHECKS
from roost.machine.accounts import RefusedAccountError
from roost.machine.audit import kept
from roost.machine.audit.folders import may_search
from roost.machine.audit.look import WITHIN_S, Question
from roost.machine.audit.mend import Mend, Undo
from roost.wire.audit import Audited, AuditMachine, Mended, MendMachine, MendOutcome, UndoMends
from roost.wire.messages import AgentMessage, Refused

log = structlog.get_logger()
T = TypeVar("T")
MOST_WAITING = 8
MOST_PLACES = 64
MOST_WANTED = 1000
MEND_S = 70.0
SLACK_S = 10.0


class AuditFailedError(Exception):
    """The process that looks gave no answer."""


class Audits:
    """One an agent, in its event loop."""

    def __init__(self, config: AgentConfig, people: People) -> None:
        self._config = config
        self._people = people
        self._one = asyncio.Lock()
        self._waiting = 0
        self._store = f"{config.state}/audit-fixes"

    async def answer(self, message: AuditMachine | MendMachine | UndoMends) -> AgentMessage:
        """Raises AuditFailedError."""
        try:
            match message:
                case AuditMachine():
                    return await self.look(message)
                case MendMachine():
                    return await self.mend(message)
                case UndoMends():
                    return await self.undo(message)
        except RefusedAccountError as error:
            refused = RefusedError(error.code, **error.numbers)
            return Refused(message.request, refused.code, refused.text)
        except RefusedError as error:
            return Refused(message.request, error.code, error.text)

    async def look(self, message: AuditMachine) -> Audited:
        """Raises RefusedError, RefusedAccountError, AuditFailedError."""
        question = self._question(message.checks, message.places)
        if message.user:
            account = await self._people.ask(message.user)
            if account.uid != message.uid:
                raise RefusedError("unknown_user", user=message.user)
            groups = account.groups or (account.gid,)
            question = msgspec.structs.replace(
                question, user=account.name, uid=account.uid, gid=account.gid, groups=groups
            )
        facts = await self._ask(question, Facts, WITHIN_S + SLACK_S)
        if not message.user:
            facts = replace(facts, kept=await asyncio.to_thread(self._kept))
        return Audited(message.request, facts)

    async def mend(self, message: MendMachine) -> Mended:
        """Raises RefusedError, AuditFailedError."""
        self._as_root()
        question = self._question((), message.places)
        order = Mend(
            question, message.wanted[:MOST_WANTED], message.enforcement, self._store, message.by
        )
        log.info("mending", by=message.by, wanted=len(order.wanted))
        outcomes = await self._ask(order, tuple[MendOutcome, ...], MEND_S)
        return Mended(message.request, outcomes)

    async def undo(self, message: UndoMends) -> Mended:
        """Raises RefusedError, AuditFailedError."""
        self._as_root()
        checks = tuple(name for name in message.checks if name in CHECKS)
        if message.checks and not checks:
            return Mended(message.request, ())
        outcomes = await self._ask(Undo(self._store, checks), tuple[MendOutcome, ...], MEND_S)
        return Mended(message.request, outcomes)

    def _as_root(self) -> None:
        if os.geteuid() != 0:
            raise RefusedError("audit_not_root")

    def _question(self, checks: tuple[str, ...], places: tuple[str, ...]) -> Question:
        own = {self._config.state: "folder", os.path.dirname(self._config.socket): "folder"}
        return Question(
            checks=tuple(name for name in checks if name in CHECKS),
            places=tuple(place for place in places[:MOST_PLACES] if may_search(place)),
            own=own,
        )

    def _kept(self) -> tuple[tuple[str, str], ...]:
        try:
            return tuple((one.check, one.subject) for one in kept.load(self._store))
        except (OSError, msgspec.MsgspecError) as error:
            log.warning("what was mended cannot be read", why=str(error))
            return ()

    async def _ask(self, order: Question | Mend | Undo, kind: type[T], within_s: float) -> T:
        if self._waiting >= MOST_WAITING:
            raise RefusedError("audit_busy")
        self._waiting += 1
        try:
            async with self._one:
                said = await asyncio.to_thread(_said, msgspec.msgpack.encode(order), within_s)
        finally:
            self._waiting -= 1
        try:
            return msgspec.msgpack.decode(said, type=kind)
        except msgspec.MsgspecError as error:
            raise AuditFailedError(f"the look gave no answer: {error}") from error


def _said(order: bytes, within_s: float) -> bytes:
    """What a process of its own answers; "" where it does not in time. Blocks."""
    try:
        return answered("roost.machine.audit", order, within_s)[0]
    except subprocess.TimeoutExpired:
        return b""
