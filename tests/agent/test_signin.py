"""How often the agent looks at one account, and what it never tells of a password."""

from __future__ import annotations

import asyncio

from roost.agent.signin import FAILURES_S, MOST_ACCOUNTS, MOST_FAILURES, SignIns, Tries
from roost.wire.messages import CheckAccounts, CheckSignIn


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_account_is_tried_so_often_by_any_way_of_writing_it() -> None:
    time = Time()
    tries = Tries(time)
    for number in range(MOST_FAILURES):
        assert tries.take("Ann" if number % 2 else "ann") is not None
    assert tries.take("ANN") is None
    assert tries.take("bob") is not None
    time.now = FAILURES_S
    assert tries.take("ann") is not None


def test_a_right_try_does_not_count_and_wrong_ones_before_it_still_do() -> None:
    tries = Tries(Time())
    for _ in range(MOST_FAILURES - 1):
        tries.take("ann")
    for _ in range(5):
        moment = tries.take("ann")
        assert moment is not None
        tries.give_back("ann", moment)
    assert tries.take("ann") is not None
    assert tries.take("ann") is None


def test_names_without_end_fill_no_memory() -> None:
    tries = Tries(Time())
    for number in range(MOST_ACCOUNTS + 100):
        tries.take(str(number))
    assert len(tries._failures) == MOST_ACCOUNTS


def test_no_text_of_the_message_shows_the_password() -> None:
    message = CheckSignIn("ann", "hush-hush", "192.0.2.1", 7)
    assert "hush" not in repr(message)
    assert "hush" not in f"{message} {message!r}"


def test_names_that_no_account_can_have_are_refused_without_asking() -> None:
    async def ask() -> list[str]:
        names = ("", "a\0b", "x" * 300, "\ud800")
        sign_ins = SignIns()
        checks = (sign_ins.check(CheckSignIn(name, "x", "", 1)) for name in names)
        answers = await asyncio.gather(*checks)
        standing = await sign_ins.standing(CheckAccounts(names, 2))
        assert standing.standing == {}
        return [answer.outcome for answer in answers]

    assert asyncio.run(ask()) == ["refused"] * 4
