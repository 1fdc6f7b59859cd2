"""Looks after who was let in: what was used is stored, and who may no longer is put out.

An account that is removed, locked or expired loses its sessions and tokens within a minute.
"""

from __future__ import annotations

import asyncio

import structlog

from roost.server.api.context import Context
from roost.server.refusal import RefusalError
from roost.store.errors import StoreError
from roost.wire.messages import AccountsChecked, CheckAccounts

log = structlog.get_logger()
EVERY_S = 30.0
WITHIN_S = 60.0


async def keep(context: Context, every_s: float = EVERY_S) -> None:
    """Goes on until it is cancelled."""
    while True:
        await asyncio.sleep(every_s)
        try:
            await look(context)
        except (RefusalError, StoreError) as error:
            # Nobody is put out because the agent or the database is away; the next look follows.
            log.warning("accounts of sessions were not looked at", why=str(error))


async def look(context: Context) -> None:
    """One look. Raises RefusalError, StoreError."""
    access = context.access
    await access.tidy(context.intend)
    users = access.users()
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
