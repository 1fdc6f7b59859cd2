"""Whether a password is an account's: asked of PAM in a process of its own, and not without end.

The agent must be no oracle, whoever asks: every refusal is the same and comes after the same time,
an account is looked at only so often, and no reason leaves this process but to its own log. It
keeps no password.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress

import msgspec
import structlog

from roost.agent.aside import answered
from roost.machine.signin import MOST_NAME_BYTES, Answer, Question, sound
from roost.wire.messages import AccountsChecked, CheckAccounts, CheckSignIn, SignInChecked

log = structlog.get_logger()
WITHIN_S = 20.0
REFUSED_AFTER_S = 2.5
MOST_AT_ONCE = 8
MOST_WAITING = 64
MOST_FAILURES = 10
FAILURES_S = 600.0
MOST_ACCOUNTS = 10_000
MOST_ASKED = 1_000


class AgentTroubleError(Exception):
    """The accounts could not be looked at now."""


class Tries:
    """How often each account was tried in vain. A try counts until it is known to be right, so that
    many at once get no further than one after another."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, user: str) -> float | None:
        """The moment to give back when the try was right; None where there were too many."""
        now, key = self._clock(), user.casefold()
        failures = self._failures.setdefault(key, deque())
        self._failures.move_to_end(key)
        while failures and failures[0] <= now - FAILURES_S:
            failures.popleft()
        if len(failures) >= MOST_FAILURES:
            return None
        failures.append(now)
        if len(self._failures) > MOST_ACCOUNTS:
            self._failures.popitem(last=False)
        return now

    def give_back(self, user: str, moment: float) -> None:
        failures = self._failures.get(user.casefold())
        if failures is not None:
            with suppress(ValueError):
                failures.remove(moment)


class SignIns:
    """One an agent, in its event loop."""

    def __init__(self) -> None:
        self._own_uid = os.geteuid()
        self._tries = Tries()
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._waiting = 0

    async def check(self, message: CheckSignIn) -> SignInChecked:
        """Never raises; takes `REFUSED_AFTER_S` for everything that it refuses."""
        began, request = time.monotonic(), message.request
        user = message.user
        if not sound(user, MOST_NAME_BYTES):
            return await self._refused(request, began)
        moment = self._tries.take(user)
        if moment is None or self._waiting >= MOST_WAITING:
            log.warning("sign-in not looked at: too many tries", address=message.address)
            return SignInChecked(request, "limited")
        question = Question((user,), self._own_uid, message.password, message.address)
        answer = await self._ask(question)
        if answer.outcome == "accepted":
            self._tries.give_back(user, moment)
            ((name, uid),) = answer.standing.items()
            log.info("signed in", user=name, address=message.address)
            return SignInChecked(request, "accepted", name, uid)
        # A name that is no account's may be a password, typed in the wrong place.
        name = "" if answer.why == "unknown_user" else user
        log.warning("sign-in refused", user=name, address=message.address, why=answer.why)
        if answer.outcome == "unavailable":
            return SignInChecked(request, "unavailable")
        return await self._refused(request, began)

    async def standing(self, message: CheckAccounts) -> AccountsChecked:
        """Raises AgentTroubleError."""
        users = tuple(u for u in message.users[:MOST_ASKED] if sound(u, MOST_NAME_BYTES))
        answer = await self._ask(Question(users, self._own_uid)) if users else Answer("accepted")
        if answer.outcome != "accepted":
            raise AgentTroubleError(answer.why)
        return AccountsChecked(message.request, answer.standing)

    async def _refused(self, request: int, began: float) -> SignInChecked:
        await asyncio.sleep(max(0.0, began + REFUSED_AFTER_S - time.monotonic()))
        return SignInChecked(request, "refused")

    async def _ask(self, question: Question) -> Answer:
        self._waiting += 1
        try:
            async with self._places:
                return await asyncio.to_thread(asked, question)
        finally:
            self._waiting -= 1


def asked(question: Question, within_s: float = WITHIN_S) -> Answer:
    """The answer of a process that lives for this question. Blocks."""
    order = msgspec.msgpack.encode(question)
    try:
        said, _, code = answered("roost.machine.signin", order, within_s, subprocess.DEVNULL)
    except OSError as error:
        return Answer("unavailable", why=f"no process: {error.strerror}")
    except subprocess.TimeoutExpired:
        return Answer("unavailable", why=f"PAM did not answer within {within_s:g} s")
    try:
        return msgspec.msgpack.decode(said, type=Answer)
    except msgspec.MsgspecError:
        return Answer("unavailable", why=f"the process that asks PAM ended with {code}")
