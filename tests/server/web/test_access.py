"""Sessions and tokens over time and over restarts, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from roost.server.intents import Keep, Person
from roost.server.web.access import (
    IDLE_S,
    LONGEST_S,
    MOST_SESSIONS,
    Access,
    Signed,
    audit_by,
    csrf_of,
)
from roost.server.web.limits import Limit
from roost.store.access import sessions, tokens
from roost.store.database import Store, open_sqlite, open_url
from roost.store.records import AuditRecord

ANN = Person(4_000_001, "ann", frozenset(), operator=False)
BOB = Person(4_000_002, "bob", frozenset(), operator=False)


class Time:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        opened = open_sqlite(tmp_path / "roost.db")
    else:
        opened = open_url(request.getfixturevalue("postgresql_url"))
    yield opened
    opened.close()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def intend(store: Store) -> Callable[[Keep], object]:
    async def write(wanted: Keep) -> None:
        with store.write() as connection:
            wanted.write(connection)

    return write


def opened(access: Access, intend, person: Person = ANN) -> str:
    return asyncio.run(access.open_session(intend, person, "192.0.2.1", "b", "password"))[1]


def test_a_session_ends_when_unused_and_at_last_in_any_case(store, time, intend) -> None:
    access = Access(store, time)
    secret = opened(access, intend)
    for _ in range(3):
        time.now += IDLE_S - 1
        assert access.session_of(secret) is not None
    time.now += IDLE_S + 1
    assert access.session_of(secret) is None
    secret, end = opened(access, intend), time.now + LONGEST_S
    while time.now + IDLE_S / 2 < end:
        time.now += IDLE_S / 2
        assert access.session_of(secret) is not None
    time.now = end
    assert access.session_of(secret) is None
    asyncio.run(access.tidy(intend))
    with store.read() as connection:
        assert sessions(connection) == []


def test_a_restart_forgets_nothing_but_the_secret(store, time, intend) -> None:
    access = Access(store, time)
    secret = opened(access, intend)
    made, token = asyncio.run(access.make_token(intend, ANN, "ci", {"read"}, time.now + 100))
    time.now += 50
    access.session_of(secret)
    access.token_of(token)
    asyncio.run(access.tidy(intend))
    again = Access(store, time)
    assert [one.seen_at for one in again.sessions()] == [time.now]
    assert [one.used_at for one in again.tokens()] == [time.now]
    found = again.session_of(secret)
    assert found is not None
    assert again.token_of(token) is not None
    with store.read() as connection:
        stored = repr(sessions(connection)) + repr(tokens(connection))
    assert secret not in stored
    assert token not in stored
    assert csrf_of(secret) not in stored
    time.now += 50
    assert again.token_of(token) is None
    assert not again.stands(Signed(token=made))


def test_ended_is_ended_also_after_a_restart(store, time, intend) -> None:
    access = Access(store, time)
    kept, secret = opened(access, intend), opened(access, intend)
    session = access.session_of(secret)
    assert session is not None
    asyncio.run(access.end_sessions(intend, [session], ANN, "signed out"))
    for one in (access, Access(store, time)):
        assert one.session_of(secret) is None
        assert one.session_of(kept) is not None


def test_one_person_has_so_many_sessions_and_the_oldest_end(store, time, intend) -> None:
    access = Access(store, time)
    first, other = opened(access, intend), opened(access, intend, BOB)
    for _ in range(MOST_SESSIONS):
        time.now += 1
        opened(access, intend)
    assert len(access.sessions(ANN.uid)) == MOST_SESSIONS
    assert access.session_of(first) is None
    assert access.session_of(other) is not None


def test_all_that_lets_an_account_in_goes_with_it(store, time, intend) -> None:
    access = Access(store, time)
    ann, bob = opened(access, intend), opened(access, intend, BOB)
    _, token = asyncio.run(access.make_token(intend, ANN, "", {"read"}, time.now + 100))
    assert access.users() == {"ann": ANN.uid, "bob": BOB.uid}
    asyncio.run(access.drop_users(intend, {"ann": ANN.uid + 7}))  # another account of that name
    assert access.session_of(ann) is not None
    asyncio.run(access.drop_users(intend, {"ann": ANN.uid}))
    assert access.session_of(ann) is None
    assert access.token_of(token) is None
    assert access.session_of(bob) is not None


@pytest.mark.parametrize("wrong", ["", "x", "roost_", "roost_x", "\ud800", "é" * 5000])
def test_what_was_never_given_out_lets_nobody_in(store, time, intend, wrong: str) -> None:
    access = Access(store, time)
    opened(access, intend)
    assert access.session_of(wrong) is None
    assert access.token_of(wrong) is None


def test_tries_count_from_their_beginning_and_right_ones_are_given_back(time: Time) -> None:
    limit = Limit(3, 60.0, clock=time)
    marks = [limit.take("here") for _ in range(3)]
    assert limit.wait_s("here") == 60.0
    assert limit.wait_s("there") == 0.0
    limit.give_back("here", marks[0])
    assert limit.wait_s("here") == 0.0
    limit.take("here")
    time.now += 59
    assert limit.wait_s("here") == 1.0
    time.now += 1
    assert limit.wait_s("here") == 0.0


def test_names_without_end_fill_no_memory(time: Time) -> None:
    limit = Limit(3, 60.0, known=10, clock=time)
    for number in range(1000):
        limit.take(str(number))
    assert len(limit._taken) == 10


def whose(one: AuditRecord) -> tuple[int | None, str, str, str, str]:
    return one.uid, one.user, one.action, one.subject, one.origin


def test_the_log_says_who_did_it_and_from_where() -> None:
    far = whose(audit_by(replace(ANN, via="192.0.2.1, token t1"), "feed", subject="feed 1"))
    assert far == (ANN.uid, "ann", "feed", "feed 1", "192.0.2.1, token t1")
    assert whose(audit_by(None, "session ended")) == (None, "", "session ended", "", "")
