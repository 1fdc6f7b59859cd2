"""Routes of the API's tokens: made by who is there in person, shown once, listed, revoked."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from roost.core.text.printable import printable
from roost.server.api.access_models import TokenIn, TokenMadeOut, TokensOut
from roost.server.api.context import Call, Caller, answer
from roost.server.api.models import DoneOut
from roost.server.api.render import iso
from roost.server.refusal import RefusalError
from roost.store.access import TokenRecord
from roost.wire.messages import AccountsChecked, CheckAccounts

router = APIRouter(prefix="/v1/tokens", tags=["sign-in"])
MOST_TOKENS = 50
WITHIN_S = 60.0


def _row(call: Call, one: TokenRecord) -> dict[str, object]:
    zone = call.context.time_zone
    return {
        "token": one.id,
        "user": one.user,
        "name": one.name,
        "scopes": one.scopes.split(),
        "made_time": iso(one.made_at, zone),
        "used_time": iso(one.used_at, zone),
        "expires_time": iso(one.expires_at, zone),
    }


def _theirs(call: Call) -> list[TokenRecord]:
    person = call.person
    return call.context.access.tokens(None if person.operator else person.uid)


@router.get("", response_model=TokensOut)
async def tokens(call: Caller) -> Response:
    """The caller's tokens in force, without their secrets; an operator's answer has everybody's."""
    return answer({"tokens": [_row(call, one) for one in _theirs(call)]})


@router.post("", response_model=TokenMadeOut, status_code=201)
async def make(call: Caller, given: TokenIn) -> Response:
    """A new token of the caller's. `secret` is what to send, and is told this once alone."""
    context, person = call.context, call.person
    if len(context.access.tokens(person.uid)) >= MOST_TOKENS:
        raise RefusalError(
            409, "signin.too_many_tokens", {"limit": MOST_TOKENS},
            user=person.name, limit=MOST_TOKENS,
        )  # fmt: skip
    question = CheckAccounts((person.name,), 0)
    found = await context.asked(context.engine.ask(question), WITHIN_S)
    if not isinstance(found, AccountsChecked) or found.standing.get(person.name) != person.uid:
        raise RefusalError(403, "signin.no_tokens_for", user=person.name)
    name = printable(given.name.encode("utf-8", "replace"))
    expires_at = context.clock() + given.expires_s
    made, secret = await context.access.make_token(
        context.intend, person, name, set(given.scopes), expires_at
    )
    return answer({**_row(call, made), "secret": secret}, 201)


@router.delete("/{token}", response_model=DoneOut)
async def revoke(call: Caller, token: Annotated[str, Path(max_length=64)]) -> Response:
    """Ends a token of the caller's at once; an operator ends anybody's."""
    found = [one for one in _theirs(call) if one.id == token]
    if not found:
        raise RefusalError(404, "signin.no_token", id=token)
    await call.context.access.revoke_tokens(call.context.intend, found, call.person, "revoked")
    return answer({"done": True})
