"""Tokens for scripts that reach Roost over HTTP: made, listed, revoked."""

from __future__ import annotations

from roost.cli import format as fmt
from roost.cli.table import Cell, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def create(context: Context) -> int:
    """Writes the secret alone to standard output, so that it can go into a file or a variable."""
    made: Any = context.client().make_token(
        context.option("name", ""), context.option("scope") or ["read"], context.option("expires")
    )
    if context.json:
        context.out_json(made)
        return 0
    context.note(
        "token_made", token=made["token"], scopes=", ".join(made["scopes"]),
        expires=day(made["expires_time"]),
    )  # fmt: skip
    context.out(made["secret"])
    return 0


def listed(context: Context) -> int:
    answer: Any = context.client().tokens()
    if context.json:
        context.out_json(answer)
        return 0
    tokens = answer["tokens"]
    if not tokens:
        context.out(context.say("no_tokens"))
        return 0
    names = ("token", "user", "scopes", "used", "expires", "name")
    head = [context.say("col." + name) for name in names]
    rows: list[list[str | Cell]] = [
        [
            one["token"],
            Cell(one["user"], person=one["user"]),
            ",".join(one["scopes"]),
            day(one["used_time"]),
            day(one["expires_time"]),
            one["name"],
        ]
        for one in tokens
    ]
    context.out("\n".join(lines(context.terminal, head, rows)))
    return 0


def revoke(context: Context) -> int:
    """Each that is named; stops at the first that is not there."""
    tokens = context.given.arguments
    for token in tokens:
        context.client().revoke_token(token)
        if not context.json:
            context.out(context.say("token_revoked", token=token))
    if context.json:
        context.out_json({"revoked": tokens})
    return 0


def day(iso: str | None) -> str:
    """ "2026-12-02"; "–" for never."""
    return iso[:10] if iso else fmt.UNKNOWN
