"""Routes of signing in by an OpenID Connect provider: the way there, and the way back.

Both end at a view of the page; a refusal comes back as a code that the page has words for.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any
from urllib.parse import urlencode

import structlog
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from starlette.responses import RedirectResponse

from roost.core.oidc import OidcError, account_of
from roost.core.rules.model import OidcRules
from roost.core.text.printable import printable
from roost.core.web import account_of_address, is_loopback
from roost.server.api.context import Context, answer
from roost.server.api.session import open_for
from roost.server.api.shapes import In, Out
from roost.server.intents import Note, Person
from roost.server.refusal import RefusalError
from roost.server.web.access import ADDRESS, ORIGIN, PREFIX, SECURE, audit
from roost.store.errors import StoreError
from roost.wire.messages import AccountsChecked, CheckAccounts

log = structlog.get_logger()
router = APIRouter(prefix="/v1", tags=["sign-in"])
COOKIE = "roost_oidc_"
PATH = "/v1/session/oidc"
WITHIN_S = 60.0
LASTS_S = 600
_STATE = re.compile(r"[A-Za-z0-9_-]{12,}")


class BeginIn(In):
    """`to`: the path of the page to end at, below its prefix."""

    to: Annotated[str, Field(max_length=1000)] = "/"


class BeginOut(Out):
    """Where the browser is to go."""

    address: str


@router.post("/session/oidc", response_model=BeginOut)
async def begin(request: Request, given: BeginIn) -> Response:
    """Begins a sign-in with the provider of the rules; a cookie binds it to the browser."""
    context: Context = request.app.state.context
    scope = request.scope
    rules = _rules(context, scope)
    limit, place = _limit(context, scope[ADDRESS])
    wait_s = math.ceil(limit.wait_s(place))
    if wait_s > 0:
        raise RefusalError(429, "signin.too_many_tries", {"wait_s": wait_s}, wait_s=wait_s)
    limit.take(place)
    back = f"{scope[ORIGIN]}{scope[PREFIX]}{PATH}"
    try:
        address, state, browser = await context.provider.begin(rules, back, inside(given.to))
    except OidcError as error:
        log.warning("the OpenID Connect provider cannot be used", why=error.why)
        raise RefusalError(503, f"signin.{error.code}") from None
    made = answer({"address": address})
    made.set_cookie(
        COOKIE + state[:12], browser, max_age=LASTS_S, path=f"{scope[PREFIX]}{PATH}",
        secure=scope[SECURE], httponly=True, samesite="lax",
    )  # fmt: skip
    return made


@router.get("/session/oidc", response_class=RedirectResponse, status_code=303)
async def come_back(
    request: Request,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=4096)] = "",
    iss: Annotated[str | None, Query(max_length=500)] = None,
    error: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Where the provider sends the browser back to: opens a session, and goes on to the page."""
    context: Context = request.app.state.context
    scope = request.scope
    rules = _rules(context, scope)
    # What is no state of ours names no cookie either: a header could not hold all of it.
    to, name = "/", COOKIE + state[:12] if _STATE.fullmatch(state) else ""
    try:
        way = context.provider.take(state, request.cookies.get(name, ""))
        to = way.to
        if way.rules != rules:
            raise OidcError("oidc_stale", "the rules have changed")
        if error or not code:
            raise OidcError("oidc_denied", f"the provider says {error!a}")
        claims = await context.provider.claims(way, code, iss)
        person = await _person(context, account_of(claims, rules))
    except OidcError as no:
        await _refused(context, scope[ADDRESS], no)
        made = _to(scope, f"{to.partition('#')[0]}#{urlencode({'signin': no.code})}")
    else:
        made = _to(scope, to)
        await open_for(request, made, person, "oidc")
    if name:
        made.delete_cookie(name, path=f"{scope[PREFIX]}{PATH}")
    return made


def _to(scope: Any, to: str) -> Response:
    return RedirectResponse(f"{scope[PREFIX]}{to}", 303, headers={"Cache-Control": "no-store"})


def inside(to: str) -> str:
    """A path of the page itself; "/" for whatever could lead elsewhere."""
    plain = to.isascii() and to.isprintable() and "\\" not in to and " " not in to
    return to if plain and to.startswith("/") and not to.startswith(("//", "/v1/")) else "/"


def _rules(context: Context, scope: Any) -> OidcRules:
    """Raises RefusalError where there is no provider, or the browser comes in the clear."""
    if PREFIX not in scope:
        raise RefusalError(403, "signin.only_web")
    rules = context.board.rules.rules.oidc
    if rules is None:
        raise RefusalError(404, "signin.no_oidc")
    host = scope[ORIGIN].partition("://")[2].rpartition(":")
    if not scope[SECURE] and not is_loopback((host[0] or host[2]).strip("[]")):
        raise RefusalError(409, "signin.oidc_plain")
    return rules


def _limit(context: Context, address: str) -> Any:
    limit = context.oidc_here if is_loopback(address) else context.oidc_tries
    return limit, account_of_address(address)


async def _person(context: Context, user: str) -> Person:
    """Whose account that is, if it may sign in as by password. Raises OidcError."""
    try:
        found = await context.asked(context.engine.ask(CheckAccounts((user,), 0)), WITHIN_S)
    except RefusalError as error:
        raise OidcError("oidc_agent", str(error.code)) from None
    uid = found.standing.get(user) if isinstance(found, AccountsChecked) else None
    if uid is None or uid == 0:
        raise OidcError("oidc_no_account", f"{user!a} is no account that may sign in")
    context.people.forget(uid)
    person: Person = await context.people.person(uid, context.board.rules.rules)
    if not person.known or person.name != user:
        raise OidcError("oidc_no_account", f"{user!a} is not uid {uid} any more")
    return person


async def _refused(context: Context, address: str, no: OidcError) -> None:
    """Notes it: an operator finds there which claim it was."""
    log.warning("sign-in by the provider refused", address=address, code=no.code, why=no.why)
    if context.refusals_noted.wait_s("") > 0:
        return
    context.refusals_noted.take("")
    why = printable(no.why.encode("utf-8", "replace"))[:200]
    said = audit(
        None, "", "sign-in", subject=address, outcome="refused", detail=f"oidc: {why}",
        origin=address,
    )  # fmt: skip
    try:
        await context.intend(Note(said))
    except StoreError as error:
        log.error("a refused sign-in is on no record", why=str(error))
