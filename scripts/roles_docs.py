"""Writes docs/api-roles.md from the routes: `python scripts/roles_docs.py > docs/api-roles.md`.

A test fails when the file is not what this writes, and when a route has no right of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from roost.server.api.app import routes
from roost.server.api.rights import RIGHTS, Right, Role

HEAD = """# Who may ask what

Written by `scripts/roles_docs.py` from the routes and the table that the server itself reads
(`roost/server/api/rights.py`). [Signing in](signin.md) tells what the roles are.

●: anybody's. ◐: the caller's own. ◑: the caller's own, and those of a group that the caller leads.
–: refused. Over HTTP a stranger gets 401, a role that is too low 403; a token also needs the scope.

| | stranger | viewer | member | lead | operator | token's scope |
| --- | --- | --- | --- | --- | --- | --- |
"""
SEEN = {
    "GET /v1/feeds/{secret}/bookings.ics": "who knows the address reads what its owner may",
    "GET /v1/session": "of the cookie that comes with it",
    "DELETE /v1/session": "of the cookie that comes with it",
    "GET /v1/session/oidc": "the way back from the provider, for the browser that went there",
    "GET /v1/ping": "a stranger is told the ways to sign in, and nothing else",
}


def mark(right: Right, role: Role) -> str:
    if role < right.least:
        return "–"
    if not right.own or (role is Role.OPERATOR and right.own != "self"):
        return "●"
    return "◑" if right.own == "group" and role is Role.LEAD else "◐"


def rows() -> Iterator[str]:
    for method, path in routes():
        right = RIGHTS[f"{method} {path}"]
        marks = " | ".join(mark(right, role) for role in Role)
        note = SEEN.get(f"{method} {path}")
        name = f"{method} `{path}`" + (f" ({note})" if note else "")
        yield f"| {name} | {marks} | {right.scope or 'none'} |"


def document() -> str:
    return HEAD + "\n".join(rows()) + "\n"


if __name__ == "__main__":
    print(document(), end="")
