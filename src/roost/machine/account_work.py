"""The process that looks at accounts and changes them: `python -m roost.machine.account_work`.

Started by the agent for one question, as root, and ends with its answer; one at a time holds the
lock. It forks into people's own rights, for which it must have one thread.
"""

from __future__ import annotations

import dataclasses
import fcntl
import os
import sys
from collections.abc import Sequence

import msgspec

from roost.core.accounts.checks import known_name
from roost.core.accounts.model import SERVERS, AccountSeen, HostSeen, Step
from roost.machine import account_look
from roost.machine.account_book import Book
from roost.machine.account_steps import StepError, Steps
from roost.wire.accounts import StepOutcome

MOST_NAMES = 2000


class Question(msgspec.Struct, frozen=True):
    """With `steps` they are done; else it is looked at `users` (all people of this machine, where
    `everybody`) and `groups`. `bases`: the cgroups of its jobs."""

    folder: str
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    everybody: bool = False
    steps: tuple[Step, ...] = ()
    bases: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    accounts: tuple[AccountSeen, ...] = ()
    host: HostSeen | None = None
    outcomes: tuple[StepOutcome, ...] = ()


def answer(question: Question) -> Answer:
    """Raises OSError where the agent's folder cannot be used."""
    book = Book(question.folder)
    book.open()
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    lock = os.open(f"{book.entries}/.lock", flags, 0o600)
    shared = fcntl.LOCK_EX if question.steps else fcntl.LOCK_SH
    fcntl.flock(lock, shared)
    if question.steps:
        return Answer(outcomes=_done(question.steps, Steps(book, question.bases)))
    return _look(question, book)


def _look(question: Question, book: Book) -> Answer:
    powers = account_look.Powers()
    names = [name for name in question.users if known_name(name)]
    names += account_look.people() if question.everybody else []
    entries = {name: account_look.entry_of(name) for name in dict.fromkeys(names[:MOST_NAMES])}
    there = {name: entry for name, entry in entries.items() if entry is not None}
    busy = account_look.processes({entry.pw_uid for entry in there.values()}, question.bases)
    accounts = tuple(
        # Under the name that was asked for: a directory may know one account by several.
        dataclasses.replace(account_look.account(entry, book, powers, busy), name=name)
        for name, entry in there.items()
    )
    absent = [name for name, entry in entries.items() if entry is None]
    groups = [name for name in question.groups if known_name(name)]
    return Answer(accounts, account_look.host(book, absent, groups, powers))


def _done(steps: Sequence[Step], work: Steps) -> tuple[StepOutcome, ...]:
    """In order; nothing after one that failed."""
    outcomes: list[StepOutcome] = []
    failed = False
    for step in steps:
        if failed or step.do in SERVERS:
            outcomes.append(StepOutcome("not_done"))
            continue
        try:
            work.do(step)
            outcomes.append(StepOutcome("done"))
        except StepError as error:
            failed = True
            outcomes.append(StepOutcome("failed", str(error)[:1000]))
    return tuple(outcomes)


def main(_arguments: Sequence[str] = ()) -> int:
    os.umask(0o022)
    ours = os.dup(1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    question = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Question)
    data = msgspec.msgpack.encode(answer(question))
    while data:
        data = data[os.write(ours, data) :]
    return 0


if __name__ == "__main__":
    sys.exit(main())
