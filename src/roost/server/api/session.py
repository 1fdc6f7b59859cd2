"""Routes of signing in to the page, and of the sessions that this opens.

A password goes through here to the agent and nowhere else: it is in no log, no answer, no row.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from roost.core.text.printable import printable
from roost.core.web import account_of_address, is_loopback
from roost.server.api.access_models import SessionOut, SessionsOut, SignInIn
from roost.server.api.context import Call, Caller, Context, answer, encoded
from roost.server.api.models import DoneOut
from roost.server.api.peer import has_account
from roost.server.api.render import iso
from roost.server.api.rights import role_of
from roost.server.intents import Note, Person
from roost.server.refusal import RefusalError
from roost.server.web.access import (
    ADDRESS,
    COOKIE,
    PREFIX,
    SECURE,
    SIGNED,
    Signed,
    audit,
    csrf_of,
)
from roost.store.access import SessionRecord
from roost.wire.messages import CheckSignIn, SignInChecked

router = APIRouter(prefix="/v1", tags=["sign-in"])
WITHIN_S = 60.0
MOST_BROWSER = 200


@router.post("/session", response_model=SessionOut)
async def sign_in(request: Request, given: SignInIn) -> Response:
    """Opens a session by an account's password, as PAM says, and sets its cookie."""
    context, scope = request.app.state.context, request.scope
    if PREFIX not in scope:
        raise RefusalError(403, "signin.only_web")
    address = scope[ADDRESS]
    person = await _let_in(context, given, address)
    made = Response(media_type="application/json")
    session, secret = await open_for(request, made, person, "password")
    made.body = encoded(_shown(context, person, session, secret))
    made.headers["Content-Length"] = str(len(made.body))
    return made


async def open_for(
    request: Request, made: Response, person: Person, method: str
) -> tuple[SessionRecord, str]:
    """A session of this browser's, instead of the one it had, in the cookie of `made`."""
    context, scope = request.app.state.context, request.scope
    before: Signed | None = scope.get(SIGNED)
    if before is not None and before.session is not None:
        await context.access.end_sessions(context.intend, (before.session,), person, "signed in")
    browser = request.headers.get("user-agent", "").encode("utf-8", "replace")
    session, secret = await context.access.open_session(
        context.intend, person, scope[ADDRESS], printable(browser)[:MOST_BROWSER], method
    )
    made.set_cookie(
        COOKIE, secret, max_age=int(session.expires_at - session.made_at),
        path=f"{scope[PREFIX]}/", secure=scope[SECURE], httponly=True, samesite="strict",
    )  # fmt: skip
    return session, secret


async def _let_in(context: Context, given: SignInIn, address: str) -> Person:
    """Whose password it is. Raises RefusalError."""
    place = account_of_address(address)
    limit = context.sign_ins_here if is_loopback(address) else context.sign_ins
    wait_s = math.ceil(limit.wait_s(place))
    if wait_s > 0:
        raise RefusalError(429, "signin.too_many_tries", {"wait_s": wait_s}, wait_s=wait_s)
    mark = limit.take(place)
    question = CheckSignIn(given.user, given.password.get_secret_value(), address, 0)
    try:
        checked = await context.asked(context.engine.ask(question), WITHIN_S)
    except RefusalError:
        limit.give_back(place, mark)
        raise
    if not isinstance(checked, SignInChecked) or checked.outcome == "unavailable":
        limit.give_back(place, mark)
        raise RefusalError(503, "signin.sign_in_unavailable")
    if checked.outcome != "accepted":
        await _refused(context, given.user, address, checked.outcome)
    limit.give_back(place, mark)
    context.people.forget(checked.uid)
    found: Person = await context.people.person(checked.uid, context.board.rules.rules)
    if not found.known or found.name != checked.user:
        raise RefusalError(503, "signin.sign_in_unavailable")
    return found


async def _refused(context: Context, user: str, address: str, outcome: str) -> None:
    """Notes it and raises RefusalError. A name that is no account's may be a password, typed in the
    wrong place: it goes on no record."""
    known = await context.in_thread(lambda: has_account(user))
    said = audit(
        None, "", "sign-in", subject=address, whom=user if known else "", outcome="refused",
        detail="too many tries" if outcome == "limited" else "", origin=address,
    )  # fmt: skip
    if context.refusals_noted.wait_s("") <= 0:
        context.refusals_noted.take("")
        await context.intend(Note(said))
    if outcome == "limited":
        raise RefusalError(429, "signin.too_many_tries", {"wait_s": 600}, wait_s=600)
    raise RefusalError(401, "signin.sign_in_refused")


def _shown(context: Context, person: Person, session: SessionRecord, secret: str) -> Any:
    return {
        "user": person.name,
        "uid": person.uid,
        "name": person.full_name or person.name,
        "role": role_of(person).word,
        "csrf": csrf_of(secret),
        "expires_time": iso(session.expires_at, context.time_zone),
    }


def _session_of(call: Call) -> SessionRecord:
    """The session that the caller came in by. Raises RefusalError."""
    if call.signed is None or call.signed.session is None:
        raise RefusalError(404, "signin.not_a_session")
    return call.signed.session


@router.get("/session", response_model=SessionOut)
async def session(call: Caller, request: Request) -> Response:
    """Who is signed in here, and until when."""
    found = _session_of(call)
    secret = request.cookies.get(COOKIE, "")
    return answer(_shown(call.context, call.person, found, secret))


@router.delete("/session", response_model=DoneOut)
async def sign_out(call: Caller, request: Request) -> Response:
    """Ends this session."""
    found = _session_of(call)
    await call.context.access.end_sessions(call.context.intend, (found,), call.person, "signed out")
    made = answer({"done": True})
    made.delete_cookie(COOKIE, path=f"{request.scope[PREFIX]}/")
    return made


@router.get("/sessions", response_model=SessionsOut)
async def sessions(call: Caller) -> Response:
    """The caller's own sessions, the last used first; an operator's answer has everybody's."""
    context, person = call.context, call.person
    here = call.signed.session.id if call.signed and call.signed.session else None
    zone = context.time_zone
    return answer(
        {
            "sessions": [
                {
                    "session": one.id,
                    "user": one.user,
                    "this": one.id == here,
                    "method": one.method,
                    "address": one.address,
                    "browser": one.browser,
                    "made_time": iso(one.made_at, zone),
                    "seen_time": iso(one.seen_at, zone),
                    "expires_time": iso(one.expires_at, zone),
                }
                for one in context.access.sessions(None if person.operator else person.uid)
            ]
        }
    )


@router.delete("/sessions/{session}", response_model=DoneOut)
async def end_session(call: Caller, session: Annotated[str, Path(max_length=64)]) -> Response:
    """Ends a session of the caller's; an operator ends anybody's."""
    context, person = call.context, call.person
    mine = context.access.sessions(None if person.operator else person.uid)
    found = [one for one in mine if one.id == session]
    if not found:
        raise RefusalError(404, "signin.no_session", id=session)
    await context.access.end_sessions(context.intend, found, person, "ended")
    return answer({"done": True})
