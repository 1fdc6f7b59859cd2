"""Who may do what: every route with the least role it takes, and the scope a token needs for it.

One table, read at every request, by the tests of every role, and written out as docs/api-roles.md.
What is a person's own (a job, a session) is looked at by the route itself, behind this.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from roost.server.intents import Person

SCOPES = ("read", "jobs", "bookings", "operate")


class Role(IntEnum):
    """What somebody is to this Roost. LEAD is said of whoever leads some group of the rules."""

    STRANGER = 0
    VIEWER = 1
    MEMBER = 2
    LEAD = 3
    OPERATOR = 4

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Right:
    """`scope` None: no token may. `own`: whose things it is about: "" anybody's, "self" the
    caller's alone, "own" those, and to an operator all, "group" also those of a group that the
    caller leads, "job" what is in a job of the caller's own, and to an operator in all."""

    least: Role
    scope: str | None
    own: str = ""


# The one address with a part in it that a stranger may ask for, as feeds.py makes them.
_FEED = re.compile(r"/v1/feeds/[A-Za-z0-9_-]{43}/bookings\.ics")
_LOOK = Right(Role.VIEWER, "read")
_OPERATE = Right(Role.OPERATOR, "operate")
_OWN_JOB = Right(Role.MEMBER, "jobs", "group")
_OWN_BOOKING = Right(Role.MEMBER, "bookings", "group")
_ONES_OWN = Right(Role.VIEWER, None, "self")
_OWN_WAYS = Right(Role.VIEWER, None, "own")

RIGHTS: Mapping[str, Right] = {
    "GET /v1/ping": Right(Role.STRANGER, "read"),
    "POST /v1/session": Right(Role.STRANGER, None),
    "POST /v1/session/oidc": Right(Role.STRANGER, None),
    "GET /v1/session/oidc": Right(Role.STRANGER, None),
    "GET /v1/session": _ONES_OWN,
    "DELETE /v1/session": _ONES_OWN,
    "GET /v1/sessions": _OWN_WAYS,
    "DELETE /v1/sessions/{session}": _OWN_WAYS,
    "GET /v1/tokens": _OWN_WAYS,
    "POST /v1/tokens": _ONES_OWN,
    "DELETE /v1/tokens/{token}": _OWN_WAYS,
    "GET /v1/recent": _LOOK,
    "GET /v1/feeds": _OWN_WAYS,
    "POST /v1/feeds": _ONES_OWN,
    "DELETE /v1/feeds/{feed}": _OWN_WAYS,
    "GET /v1/feeds/{secret}/bookings.ics": Right(Role.STRANGER, None),
    "GET /v1/notifications": _ONES_OWN,
    "PUT /v1/notifications": _ONES_OWN,
    "POST /v1/notifications/channels": _ONES_OWN,
    "DELETE /v1/notifications/channels/{channel}": _ONES_OWN,
    "POST /v1/notifications/channels/{channel}/test": _ONES_OWN,
    "GET /v1/motd": Right(Role.VIEWER, "read", "self"),
    "GET /v1/notices": _ONES_OWN,
    "POST /v1/notices/read": _ONES_OWN,
    "GET /v1/status": _LOOK,
    "GET /v1/who": _LOOK,
    "GET /v1/jobs": _LOOK,
    "POST /v1/jobs": Right(Role.MEMBER, "jobs"),
    "GET /v1/jobs/{number}": _LOOK,
    "GET /v1/jobs/{number}/why": _LOOK,
    "GET /v1/jobs/{number}/wait": _LOOK,
    "GET /v1/jobs/{number}/output": Right(Role.VIEWER, "read", "job"),
    "POST /v1/jobs/{number}/cancel": _OWN_JOB,
    "POST /v1/jobs/{number}/hold": _OWN_JOB,
    "POST /v1/jobs/{number}/release": _OWN_JOB,
    "POST /v1/jobs/{number}/requeue": _OWN_JOB,
    "POST /v1/jobs/{number}/signal": _OWN_JOB,
    "GET /v1/bookings": _LOOK,
    "POST /v1/bookings": Right(Role.MEMBER, "bookings"),
    "POST /v1/bookings/batch": _OPERATE,
    "GET /v1/bookings/{number}": _LOOK,
    "POST /v1/bookings/{number}/cancel": _OWN_BOOKING,
    "POST /v1/bookings/{number}/change": _OWN_BOOKING,
    "POST /v1/bookings/{number}/give": _OWN_BOOKING,
    "POST /v1/bookings/{number}/swap": _OWN_BOOKING,
    "POST /v1/gpus/{gpu}/drain": _OPERATE,
    "POST /v1/gpus/{gpu}/undrain": _OPERATE,
    "GET /v1/gpus/{gpu}/free-plan": _LOOK,
    "POST /v1/gpus/{gpu}/free": Right(Role.MEMBER, "jobs", "own"),
    "POST /v1/driver/release": _OPERATE,
    "POST /v1/driver/hold": _OPERATE,
    "GET /v1/environments": _LOOK,
    "POST /v1/environments/missing": Right(Role.MEMBER, None),
    "POST /v1/environments/objects": Right(Role.MEMBER, None),
    "PUT /v1/environments/{name}": Right(Role.MEMBER, None, "self"),
    "DELETE /v1/environments/{owner}/{name}": Right(Role.MEMBER, None, "own"),
    "PUT /v1/environment-clones/{name}": Right(Role.MEMBER, None, "self"),
    "DELETE /v1/environment-clones/{name}": Right(Role.MEMBER, None, "self"),
    "GET /v1/usage": _LOOK,
    "GET /v1/team": _LOOK,
    "GET /v1/history": _LOOK,
    "GET /v1/audit": Right(Role.VIEWER, "read", "own"),
    "GET /v1/audit/checks": Right(Role.VIEWER, "read", "own"),
    "POST /v1/audit/fix": _OPERATE,
    "POST /v1/audit/undo": _OPERATE,
    "GET /v1/data": _LOOK,
    "GET /v1/data/{name}": _LOOK,
    "POST /v1/data": Right(Role.MEMBER, "jobs"),
    "DELETE /v1/data/{name}": Right(Role.MEMBER, "jobs", "own"),
    "GET /v1/users": _OPERATE,
    "GET /v1/accounts": _OPERATE,
    "POST /v1/accounts/plan": _OPERATE,
    "POST /v1/accounts/apply": Right(Role.OPERATOR, None),
    "GET /v1/drains": _OPERATE,
    "GET /v1/health": _OPERATE,
    "GET /v1/rules": _LOOK,
    "POST /v1/rules/check": _OPERATE,
    "GET /v1/rules/history": _LOOK,
    "GET /v1/rules/{version}": _LOOK,
    "GET /v1/events": _LOOK,
}


def right_of(method: str, path: str) -> Right:
    """Of a route by its template. One that the table lacks: looking is for all who are known,
    changing for members and by no token, until it is in the table."""
    found = RIGHTS.get(f"{method} {path}")
    if found is not None:
        return found
    return _LOOK if method in ("GET", "HEAD") else Right(Role.MEMBER, None)


def is_open(method: str, path: str) -> bool:
    """Whether a stranger may ask for that path (not a template) of the API over HTTP."""
    if method == "GET" and _FEED.fullmatch(path):
        return True  # the address is the secret
    right = RIGHTS.get(f"{method} {path}")
    return right is not None and right.least is Role.STRANGER


def role_of(person: Person) -> Role:
    if person.operator:
        return Role.OPERATOR
    if person.viewer:
        return Role.VIEWER
    return Role.LEAD if person.leads else Role.MEMBER
