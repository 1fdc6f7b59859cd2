"""Accounts for launches, without the loop ever waiting for a name service.

Answers are kept for a short while; a service that hangs delays the jobs of whom it is asked for,
and nobody else's.
"""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor

from roost.machine.accounts import Account, RefusedAccountError, look_up

KEPT_S = 30.0
MOST_KEPT = 4096
THREADS = 4


class People:
    """`known(user)` answers from memory; `ask` looks up in a thread."""

    def __init__(self) -> None:
        self._own_uid = os.geteuid()
        self._kept: dict[str, tuple[float, Account]] = {}
        self._asked: dict[str, Future[Account]] = {}
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="accounts")

    def known(self, user: str) -> Account | None:
        kept = self._kept.get(user)
        if kept is None or time.monotonic() - kept[0] > KEPT_S:
            return None
        return kept[1]

    async def ask(self, user: str) -> Account:
        """Raises RefusedAccountError. One question at a time for one user."""
        known = self.known(user)
        if known is not None:
            return known
        question = self._asked.get(user)
        if question is None:
            question = self._threads.submit(look_up, user, self._own_uid)
            self._asked[user] = question
        try:
            account = await asyncio.wrap_future(question)
        except RefusedAccountError:
            raise
        finally:
            self._asked.pop(user, None)
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        self._kept[user] = (time.monotonic(), account)
        return account

    def forget(self) -> None:
        """Accounts have changed: each is looked up anew."""
        self._kept.clear()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
