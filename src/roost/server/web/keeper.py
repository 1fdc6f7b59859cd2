"""Looks after who was let in: what was used is stored, and who may no longer is put out.

An account that is removed, locked or expired loses its sessions, tokens and calendar feeds within
a minute; one that Roost itself disables at once, and the socket too (`Context.disabled`).
"""

from __future__ import annotations

import asyncio

import structlog

from roost.server.api.context import Context
from roost.server.intents import Keep
from roost.server.refusal import RefusalError
from roost.server.web.access import audit
from roost.store.errors import StoreError
from roost.store.feeds import drop_feeds_of, feed_users
from roost.wire.accounts import DisabledListed, ListDisabled
from roost.wire.messages import AccountsChecked, CheckAccounts

log = structlog.get_logger()
EVERY_S = 30.0
WITHIN_S = 60.0


async def keep(context: Context, every_s: float = EVERY_S) -> None:
    """Goes on until it is cancelled."""
    known = False
    while True:
        if not known:  # the agent is there a moment after the server
            known = await _disabled_known(context)
        await asyncio.sleep(every_s if known else min(1.0, every_s))
        if not known:
            continue
        try:
            await look(context)
        except (RefusalError, StoreError) as error:
            # Nobody is put out because the agent or the database is away; the next look follows.
            log.warning("accounts of sessions were not looked at", why=str(error))


async def _disabled_known(context: Context) -> bool:
    """Asks which accounts are disabled; False while the agent is away."""
    try:
        found = await context.asked(context.engine.ask(ListDisabled()), WITHIN_S)
    except RefusalError as error:
        return error.code != "agent_away"
    if isinstance(found, DisabledListed):
        context.disabled = dict(found.users)
    return True


async def look(context: Context) -> None:
    """One look. Raises RefusalError, StoreError."""
    await _disabled_known(context)
    access = context.access
    await access.tidy(context.intend)
    fed = await context.in_thread(lambda: _fed(context))
    users = fed | access.users()
    if not users:
        return
    question = CheckAccounts(tuple(users), 0)
    found = await context.asked(context.engine.ask(question), WITHIN_S)
    if not isinstance(found, AccountsChecked):
        return
    gone = {user: uid for user, uid in users.items() if found.standing.get(user) != uid}
    if gone:
        log.info("accounts may not sign in any more", users=sorted(gone))
        await access.drop_users(context.intend, gone)
    await _drop_feeds(context, {user: uid for user, uid in fed.items() if user in gone})


async def put_out(context: Context, user: str, uid: int) -> None:
    """Ends all that lets this account in, at once. Raises StoreError."""
    gone = {user: uid}
    await context.access.drop_users(context.intend, gone)
    fed = await context.in_thread(lambda: _fed(context))
    await _drop_feeds(context, gone if user in fed else {})


def _fed(context: Context) -> dict[str, int]:
    with context.store.read() as connection:
        return feed_users(connection)


async def _drop_feeds(context: Context, gone: dict[str, int]) -> None:
    if not gone:
        return
    said = tuple(
        audit(None, "", "feed-revoke", subject="feeds", whom=user, detail="account")
        for user in gone
    )
    await context.intend(Keep(lambda connection: drop_feeds_of(connection, gone), said))
