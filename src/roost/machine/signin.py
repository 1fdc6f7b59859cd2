"""The process that asks PAM: `python -m roost.machine.signin`. One question in, one answer out.

Started by the agent for one sign-in, or one look at some accounts, and ended by it when that takes
too long. The password comes by a pipe: no argument, environment, log or file ever holds it.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence

import msgspec

from roost.machine.accounts import RefusedAccountError, look_up

MOST_NAME_BYTES = 256
MOST_PASSWORD_BYTES = 1024


class Question(msgspec.Struct, frozen=True):
    """With `password` None it is asked which of `users` still stand."""

    users: tuple[str, ...]
    own_uid: int
    password: str | None = None
    address: str = ""


class Answer(msgspec.Struct, frozen=True):
    """`outcome` "accepted", "refused" or "unavailable"; `why` is for the agent's log."""

    outcome: str
    standing: dict[str, int] = {}
    why: str = ""


def answer(question: Question) -> Answer:
    """Blocks for as long as PAM and the name services do."""
    from roost.machine import pam

    service = pam.service_of()
    if question.password is not None:
        if service is None:
            return Answer("unavailable", why="no PAM service roost or login")
        return _signed_in(question, service)
    standing = {}
    for user in question.users:
        try:
            account = look_up(user, question.own_uid)
        except RefusedAccountError:
            continue
        if pam.account_stands(service, account.name):
            standing[user] = account.uid
    return Answer("accepted", standing)


def _signed_in(question: Question, service: str) -> Answer:
    from roost.machine import pam

    (user,) = question.users
    password = question.password or ""
    if not sound(password, MOST_PASSWORD_BYTES):
        return Answer("refused", why="no password that an account can have")
    try:
        account = look_up(user, question.own_uid)
    except RefusedAccountError as error:
        return Answer("refused", why=error.code)
    right, why = pam.password_right(service, account.name, password, question.address)
    if not right:
        return Answer("refused", why=why)
    if pam.locked(account.name):  # a service that does not ask the shadow file may not know
        return Answer("refused", why="locked")
    return Answer("accepted", {account.name: account.uid}, why)


def sound(text: str, most: int) -> bool:
    """Whether it can be given to PAM whole: UTF-8, no NUL, not empty, not endless."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return 0 < len(data) <= most and b"\0" not in data


def main(_arguments: Sequence[str] = ()) -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ours = os.dup(1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # a PAM module may print
    question = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Question)
    os.write(ours, msgspec.msgpack.encode(answer(question)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
