"""Two accounts want the last free GPU at the same instant, a thousand times over fifty connections
kept open, on SQLite and PostgreSQL: exactly one gets it, also when the server is killed meanwhile.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from tests.real.rig import Account, Daemon, accounts, daemon, wait_for

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: real accounts"),
]

ROUNDS = 1000
PAIRS = 25
SPAN_S = 1800
RULES = """
[bookings]
horizon = "60d"
"""
OVERLAPS = text("""
    SELECT a.booking, b.booking FROM booked a JOIN booked b
    ON a.gpu_uuid = b.gpu_uuid AND a.booking < b.booking
    AND a.from_at < b.to_at AND b.from_at < a.to_at
""")
BOOKED = text('SELECT b.id, b."user", b.starts_at FROM bookings b WHERE NOT b.maintenance')
HELD = text("""
    SELECT k.booking FROM booked k JOIN bookings b ON b.id = k.booking WHERE NOT b.maintenance
""")


class LostError(Exception):
    """The server was gone before it had answered."""


class Line:
    """A connection of that account, kept open; made anew only when it broke."""

    def __init__(self, roost: Daemon, account: Account) -> None:
        self._path, self.account = roost.socket, account
        self._http: http.client.HTTPConnection | None = None
        self.opened = 0

    def open(self) -> None:
        """From one thread at a time: the kernel notes whose it is while it is opened."""
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.settimeout(60)
        os.setegid(self.account.gid)
        os.seteuid(self.account.uid)
        try:
            line.connect(str(self._path))
        finally:
            os.seteuid(0)
            os.setegid(0)
        self._http = http.client.HTTPConnection("roost")
        self._http.sock = line
        self._http.auto_open = 0
        self.opened += 1

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        assert self._http is not None
        try:
            data = None if body is None else json.dumps(body)
            self._http.request(method, path, data, {"Content-Type": "application/json"})
            got = self._http.getresponse()
            return got.status, json.loads(got.read())
        except (OSError, http.client.HTTPException) as error:
            raise LostError from error

    def close(self) -> None:
        if self._http is not None:
            self._http.close()


@dataclass
class Race:
    """What came of each round: the answers by account, and how many requests had none."""

    roost: Daemon
    first_at: int
    lines: list[tuple[Line, Line]]
    answers: dict[int, list[tuple[str, int, Any]]] = field(default_factory=dict)
    lost: int = 0
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def start_of(self, number: int) -> int:
        return self.first_at + number * SPAN_S

    def run(self, rounds: range) -> None:
        """Each pair its share of the rounds, both of a pair at the same instant."""
        with ThreadPoolExecutor(2 * PAIRS) as pool:
            work = []
            for place, pair in enumerate(self.lines):
                gate = threading.Barrier(2, timeout=90)
                mine = rounds[place::PAIRS]
                work += [pool.submit(self._side, line, mine, gate) for line in pair]
            for one in work:
                one.result()

    def _side(self, line: Line, rounds: range, gate: threading.Barrier) -> None:
        for number in rounds:
            try:
                gate.wait()
            except threading.BrokenBarrierError:
                return
            start = datetime.fromtimestamp(self.start_of(number), UTC).isoformat()
            try:
                status, said = line.ask(
                    "POST", "/v1/bookings", {"start": start, "duration_s": SPAN_S, "gpus": 1}
                )
            except LostError:
                with self._mutex:
                    self.lost += 1
                gate.abort()
                return
            with self._mutex:
                self.answers.setdefault(number, []).append((line.account.name, status, said))

    def winners(self) -> dict[int, str]:
        """Whom the server told that they have the round's time."""
        return {
            number: name
            for number, told in self.answers.items()
            for name, status, _ in told
            if status == 201
        }


@pytest.fixture(scope="module")
def people() -> Iterator[list[Account]]:
    with accounts("lin", "mei", prefix="race-") as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def race(request: pytest.FixtureRequest, people: list[Account]) -> Iterator[tuple[Race, str]]:
    words = ["--simulate", "2xA100"]
    url = ""
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql_url")
        words += ["--database", url]
    with daemon(*words, rules=RULES) as roost:
        lin, mei = people
        first_at = (int(time.time()) // SPAN_S + 4) * SPAN_S
        # One of the two GPUs is away all the time: what they fight for is the last.
        root = Line(roost, Account("root", 0, 0, Path("/root")))
        root.open()
        start, end = first_at - SPAN_S, first_at + (ROUNDS + 1) * SPAN_S
        status, said = root.ask(
            "POST", "/v1/bookings",
            {"start": datetime.fromtimestamp(start, UTC).isoformat(), "duration_s": end - start,
             "chosen": ["0"], "maintenance": True},
        )  # fmt: skip
        assert status == 201, said
        root.close()
        pairs = [(Line(roost, lin), Line(roost, mei)) for _ in range(PAIRS)]
        for line in (one for pair in pairs for one in pair):
            line.open()
        try:
            yield Race(roost, first_at, pairs), url or f"sqlite:///{roost.state}/roost.db"
        finally:
            for line in (one for pair in pairs for one in pair):
                line.close()


def _stored(url: str) -> tuple[list[Any], dict[int, str], int]:
    """By the database alone: overlaps on any GPU, who has which start, GPUs held."""
    engine = create_engine(url)
    with engine.connect() as connection:
        overlaps = list(connection.execute(OVERLAPS))
        rows = list(connection.execute(BOOKED))
        held = list(connection.execute(HELD))
    engine.dispose()
    starts = {row.starts_at: row.user for row in rows}
    assert len(starts) == len(rows), "a time that two have"
    return overlaps, starts, len(held)


def test_of_two_who_book_the_last_gpu_at_once_one_gets_it_a_thousand_times(
    race: tuple[Race, str],
) -> None:
    racing, url = race
    racing.run(range(ROUNDS))
    assert len(racing.answers) == ROUNDS
    assert {line.opened for pair in racing.lines for line in pair} == {1}
    for number, told in racing.answers.items():
        assert sorted(status for _, status, _ in told) == [201, 409], (number, told)
        refused = next(said for _, status, said in told if status == 409)
        assert refused["alternatives"], refused
        for other in refused["alternatives"]:
            begin, end = (datetime.fromisoformat(other[key]) for key in ("start", "end"))
            start = datetime.fromtimestamp(racing.start_of(number), UTC)
            assert end.timestamp() <= start.timestamp() or begin > start, "that is the taken time"
    assert len(set(racing.winners().values())) == 2, "the same one always wins"
    overlaps, starts, held = _stored(url)
    assert overlaps == []
    assert starts == {racing.start_of(n): name for n, name in racing.winners().items()}
    assert held == ROUNDS


def test_a_server_killed_in_the_middle_keeps_what_it_said_and_books_nothing_twice(
    race: tuple[Race, str],
) -> None:
    racing, url = race
    rounds = range(200)
    killer = threading.Thread(target=_kill_when, args=(racing, 60))
    killer.start()
    racing.run(rounds)
    killer.join(60)
    assert racing.lost, "it was killed too late to show anything"
    racing.roost.wait_ready()
    told = racing.winners()
    overlaps, starts, held = _stored(url)
    assert overlaps == []
    assert held == len(starts)
    for number, name in told.items():
        assert starts.get(racing.start_of(number)) == name, "said to be booked, and is not"

    for line in (one for pair in racing.lines for one in pair):
        line.close()
        line.open()
    racing.answers.clear()
    racing.run(rounds)
    overlaps, after, held = _stored(url)
    assert overlaps == []
    assert len(after) == held == len(rounds)
    assert starts.items() <= after.items(), "who had a time has it no more"
    for number, name in told.items():
        both = racing.answers[number]
        assert [status for _, status, _ in both] == [409, 409], (number, name, both)


def _kill_when(racing: Race, answered: int) -> None:
    wait_for(lambda: len(racing.winners()) >= answered, "some are booked", 60, 0.005)
    assert racing.roost.kill("server")
