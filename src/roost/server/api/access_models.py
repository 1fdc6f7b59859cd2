"""Shapes of what signing in, sessions and tokens take and give."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SecretStr

from roost.server.api.shapes import In, Out

MOST_NAME = 100


class SignInIn(In):
    """Account and password; in no text of this is the password shown."""

    user: str = Field(min_length=1, max_length=256)
    password: SecretStr = Field(min_length=1, max_length=1024)


class SessionOut(Out):
    """Who is signed in. `csrf` goes into the header `X-Roost-CSRF` of whatever is to change."""

    user: str
    uid: int
    name: str
    role: str
    csrf: str
    expires_time: str


class SessionsOut(Out):
    sessions: list[dict[str, Any]]


class Stranger(Out):
    """All that is told to who is not signed in: in which ways one can."""

    signed_in: Literal[False]
    sign_in: list[str]
    oidc_name: str | None = None


class TokenIn(In):
    """`expires_s`: for how long it is to hold, a year at most."""

    name: str = Field(default="", max_length=MOST_NAME)
    scopes: list[Literal["read", "jobs", "bookings", "operate"]] = Field(
        default=["read"], min_length=1, max_length=4
    )
    expires_s: int = Field(default=90 * 86_400, ge=60, le=366 * 86_400)


class TokensOut(Out):
    tokens: list[dict[str, Any]]


class TokenMadeOut(Out):
    token: str
    user: str
    name: str
    scopes: list[str]
    made_time: str
    used_time: str | None
    expires_time: str
    secret: str
