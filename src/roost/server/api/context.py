"""What every route needs: the control loop, the board, and who is calling in which language."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import Depends, Request, Response

from roost.core.text.printable import printable
from roost.server.api.live import Live
from roost.server.api.peer import (
    CROWDED,
    MOST_CONNECTIONS,
    PEER,
    People,
    has_account,
    uid_of,
)
from roost.server.api.pieces import Pieces
from roost.server.api.problems import language_of
from roost.server.api.render import Jobs
from roost.server.api.rights import Right, Role, right_of, role_of
from roost.server.board import Board
from roost.server.control import Control
from roost.server.engines.base import Engine, EngineError
from roost.server.environments.shares import Shares
from roost.server.intents import Intent, Person
from roost.server.notify.post import Post
from roost.server.refusal import RefusalError
from roost.server.team_days import TeamDays
from roost.server.web.access import ADDRESS, PREFIX, SIGNED, Access, Signed
from roost.server.web.limits import Limit
from roost.server.web.provider import Provider
from roost.store.database import Store

T = TypeVar("T")
# Refused sign-ins of one address, beside what the agent allows of one account.
MOST_SIGN_INS, SIGN_INS_S = 10, 300.0
# Loopback stands for everybody who comes by a tunnel, and any account here can use it up.
MOST_SIGN_INS_HERE = 200
# Reads of one calendar feed, and reads of feeds that are not there by one address.
MOST_FEED_READS, MOST_FEEDS_GUESSED, FEEDS_S = 60, 60, 300.0
# Ways begun to the provider, all of them: each may cost a question to it.
MOST_OIDC = 30
# Tests of one person's channels.
MOST_TESTS = 10
# Refused sign-ins in the audit log; more of them are in the agent's log alone.
MOST_NOTED, NOTED_S = 300, 3600.0
_json = msgspec.json.Encoder()


@dataclass
class Context:
    """One a server. `rules_path`: the rules file, to be named to people; `state`: the folder that
    the server writes to, None where nobody said. `disabled`: uids of the accounts that Roost has
    disabled, by name."""

    control: Control
    board: Board
    store: Store
    engine: Engine
    live: Live
    people: People
    jobs: Jobs
    clock: Callable[[], float]
    rules_path: str = ""
    state: Path | None = None
    post: Post | None = None
    disabled: dict[str, int] = field(default_factory=dict)
    started_at: float = field(init=False)
    access: Access = field(init=False)
    sign_ins: Limit = field(init=False)
    sign_ins_here: Limit = field(init=False)
    refusals_noted: Limit = field(init=False)
    feeds_read: Limit = field(init=False)
    feeds_guessed: Limit = field(init=False)
    oidc_tries: Limit = field(init=False)
    oidc_here: Limit = field(init=False)
    provider: Provider = field(init=False)
    notify_tests: Limit = field(init=False)
    pieces: Pieces = field(default_factory=Pieces)
    team_days: TeamDays = field(init=False)
    shares: Shares = field(init=False)

    def __post_init__(self) -> None:
        """Raises StoreError."""
        self.started_at = self.clock()
        self.access = Access(self.store, self.clock)
        self.sign_ins = Limit(MOST_SIGN_INS, SIGN_INS_S)
        self.sign_ins_here = Limit(MOST_SIGN_INS_HERE, SIGN_INS_S)
        self.refusals_noted = Limit(MOST_NOTED, NOTED_S)
        self.feeds_read = Limit(MOST_FEED_READS, FEEDS_S)
        self.feeds_guessed = Limit(MOST_FEEDS_GUESSED, FEEDS_S)
        self.oidc_tries = Limit(MOST_OIDC, SIGN_INS_S)
        self.oidc_here = Limit(MOST_SIGN_INS_HERE, SIGN_INS_S)
        self.notify_tests = Limit(MOST_TESTS, SIGN_INS_S)
        self.provider = Provider(self.clock)
        self.shares = Shares(str((self.state or Path("/nonexistent")) / "environments"))
        self.team_days = TeamDays(self.board.ledger_writes)

    async def intend(self, intent: Intent) -> Any:
        """What the control thread answers. Raises RefusalError, StoreError."""
        if not self.control.alive:
            raise RefusalError(503, "problem.agent_away")
        return await asyncio.wrap_future(self.control.submit(intent))

    async def asked(self, future: Future[T], timeout_s: float) -> T:
        """An engine's answer. Raises RefusalError."""
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), timeout_s)
        except TimeoutError:
            raise RefusalError(504, "problem.agent_slow", seconds=timeout_s) from None
        except EngineError as error:
            if error.code == "agent_away":
                raise RefusalError(503, "problem.agent_away") from error
            raise RefusalError(
                502, "problem.agent_refused", {"agent_code": error.code}, text=str(error)
            ) from error

    async def in_thread(self, work: Callable[[], T]) -> T:
        """A query beside the event loop."""
        return await asyncio.to_thread(work)

    async def somebody(self, user: str | None, found: bool) -> None:
        """Nothing found of a person who does not exist is a slip of the pen, not an empty list.

        Raises RefusalError 404. People whose account is gone are found by what is on record.
        """
        if user is not None and not found and not await self.in_thread(lambda: has_account(user)):
            name = printable(user.encode("utf-8", "replace"))
            raise RefusalError(404, "problem.no_user", {"user": name}, user=name)

    async def account(self, name: str) -> Person:
        """The account of that name. Raises RefusalError 404."""
        uid = await self.in_thread(lambda: uid_of(name))
        if uid is None:
            shown = printable(name.encode("utf-8", "replace"))
            raise RefusalError(404, "problem.no_user", {"user": shown}, user=shown)
        return await self.people.person(uid, self.board.rules.rules)

    @property
    def time_zone(self) -> str:
        return self.board.rules.rules.time_zone


@dataclass(frozen=True, slots=True)
class Call:
    """One request's caller; `signed` is None where the kernel says who it is."""

    context: Context
    person: Person
    language: str
    signed: Signed | None = None

    @property
    def stands(self) -> bool:
        """False once the session or token that this came in by is over."""
        return self.signed is None or self.context.access.stands(self.signed)

    async def still(self) -> bool:
        """Whether a stream may go on: it stands, and the caller may see what it could at first."""
        if not self.stands:
            return False
        was, context = self.person, self.context
        now = await context.people.person(was.uid, context.board.rules.rules)
        if self.signed is not None and self.signed.token is not None:
            now = _as_far_as(now, self.signed.token.scopes.split())
        return (now.name, now.known, now.operator) == (was.name, was.known, was.operator)


async def call_of(request: Request) -> Call:
    return await caller(
        request.app.state.context, request.scope, language_of(request), request.scope["route"].path
    )


async def caller(context: Context, scope: Any, language: str, route: str) -> Call:
    """Who sent the request of that ASGI scope to `route` (a template), if they may ask that.

    Raises RefusalError.
    """
    peer, signed = scope.get(PEER), scope.get(SIGNED)
    if peer is not None:
        person, signed = await context.people.person(peer[1], context.board.rules.rules), None
    elif signed is not None:
        person = await context.people.person(signed.record.uid, context.board.rules.rules)
        if not person.known or person.name != signed.record.user:
            await context.access.drop_users(context.intend, {signed.record.user: signed.record.uid})
            raise RefusalError(401, "signin.session_over")
    elif PREFIX in scope:
        raise RefusalError(401, "signin.not_signed_in")
    else:
        raise RefusalError(403, "problem.no_peer")
    if context.disabled.get(person.name) == person.uid and person.uid != 0:
        raise RefusalError(403, "signin.account_disabled", user=person.name)
    if signed is not None:
        person = replace(person, via=_via(scope, signed))
    right = right_of(scope["method"], route)
    if signed is not None and signed.token is not None:
        person = _by_token(person, right, signed.token.scopes.split())
    _may(person, right)
    if scope.get(CROWDED):
        raise RefusalError(
            429, "door.too_many_connections", {"limit": MOST_CONNECTIONS},
            user=person.name, limit=MOST_CONNECTIONS,
        )  # fmt: skip
    return Call(context, person, language, signed)


def _via(scope: Any, signed: Signed) -> str:
    """For the audit log: from which address, and by which token."""
    address = str(scope.get(ADDRESS, ""))
    return address if signed.token is None else f"{address}, token {signed.token.id}"


def _by_token(person: Person, right: Right, scopes: list[str]) -> Person:
    """The person as far as the token reaches: only with "operate" is an operator's one of one."""
    if right.scope is None:
        raise RefusalError(403, "signin.not_by_token")
    if right.scope not in scopes and not (right.scope == "read" and right.least is Role.STRANGER):
        raise RefusalError(
            403, "signin.scope_missing", {"scope": right.scope},
            scope=right.scope, scopes=", ".join(scopes),
        )  # fmt: skip
    return _as_far_as(person, scopes)


def _as_far_as(person: Person, scopes: list[str]) -> Person:
    return person if "operate" in scopes else replace(person, operator=False)


def _may(person: Person, right: Right) -> None:
    role = role_of(person)
    if role >= right.least:
        return
    if right.least is Role.OPERATOR:
        raise RefusalError(403, "problem.operators_only")
    raise RefusalError(403, "signin.viewers_only_look", user=person.name)


Caller = Annotated[Call, Depends(call_of)]


def encoded(value: Any) -> bytes:
    return _json.encode(value)


def answer(value: Any, status: int = 200) -> Response:
    """JSON by msgspec."""
    return Response(encoded(value), status, media_type="application/json")


def operators_only(call: Call) -> None:
    if not call.person.operator:
        raise RefusalError(403, "problem.operators_only")
