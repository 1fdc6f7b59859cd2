"""Days that were added up once: always what the ledger says now, and read again only if written."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.server.team_days import DAY_S, MOST_KEPT, Period, TeamDays
from roost.store import ledger, team
from roost.store.database import Store, open_sqlite
from roost.store.records import Reading, UsageAmount, UsageKey


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = open_sqlite(tmp_path / "roost.db")
    yield made
    made.close()


class Team:
    """`writes` is counted as the control thread does it: after the commit."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.writes: dict[int, int] = {}
        self.days = TeamDays(self.writes)

    def write(self, hour: int, user: str, held_s: float, job: int = 1) -> None:
        key = UsageKey(hour, "GPU-1", user, "cv" if user else "", job, "regular")
        with self.store.write() as connection:
            amount = UsageAmount(held_s=held_s, busy_s=held_s / 2, joules=held_s * 3)
            ledger.add_usage(connection, {key: amount})
            ledger.add_readings(connection, {}, {(hour, "GPU-1"): Reading(observed_s=held_s)})
        day = hour // DAY_S
        self.writes[day] = self.writes.get(day, 0) + 1

    def look(self, start: float, end: float) -> Period:
        writes = self.days.writes()
        with self.store.read() as connection:
            return self.days.look(connection, start, end, writes)

    def plain(self, start: float, end: float) -> tuple[object, ...]:
        with self.store.read() as connection:
            return (
                [_exact(row) for row in team.used_by(connection, start, end)],
                team.used_in(connection, start, end),
                team.looked_in(connection, start, end),
            )


def _exact(row: object) -> dict[str, object]:
    assert isinstance(row, dict)
    return {name: round(v, 6) if isinstance(v, float) else v for name, v in row.items()}


def test_at_any_time_for_any_period_it_is_what_the_ledger_says(store: Store) -> None:
    made, drawn = Team(store), random.Random(5)
    days, shared = 12, 0
    for _ in range(60):
        for _ in range(drawn.randrange(4)):
            hour = drawn.randrange(days * 24) * 3600
            user = drawn.choice(("li", "mei", ""))
            made.write(hour, user, drawn.randrange(1, 3600), drawn.randrange(3))
        start = drawn.choice((0.0, drawn.random() * days * DAY_S))
        end = start + drawn.choice((0.1, 1.0, 2.5, 12.0)) * DAY_S * drawn.random()
        if drawn.random() < 0.3:
            start, end = start // DAY_S * DAY_S, -(-end // DAY_S) * DAY_S
        found = made.look(start, end)
        people = [_exact(row) for row in found.rows()]
        used = sorted(found.used, key=lambda row: row["hour"])
        assert (people, used, found.looked) == made.plain(start, end)
        shared += len(made.days._days)
    assert shared > 200, "days were kept, and used"


def test_a_day_is_read_again_only_where_it_was_written(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Team(store)
    for day in range(10):
        made.write(day * DAY_S, "li", 100.0)
    read: list[tuple[float, float]] = []
    real = team.used_by_day

    def counted(connection: object, start: float, end: float) -> object:
        read.append((start / DAY_S, end / DAY_S))
        return real(connection, start, end)  # type: ignore[arg-type]

    monkeypatch.setattr(team, "used_by_day", counted)
    made.look(0, 10 * DAY_S)
    made.look(0, 10 * DAY_S)
    made.look(3 * DAY_S, 9.5 * DAY_S)
    assert read == [(0, 10)]
    made.write(4 * DAY_S + 3600, "mei", 7.0)
    made.write(5 * DAY_S + 3600, "mei", 7.0)
    made.write(8 * DAY_S, "mei", 7.0)
    found = made.look(0, 10 * DAY_S)
    assert read[1:] == [(4, 6), (8, 9)]
    assert {row["user"]: row["held_s"] for row in found.rows()} == {"li": 1000.0, "mei": 21.0}
    assert [row["user"] for row in found.rows()] == ["li", "mei"]


def test_what_is_committed_while_it_is_read_is_seen_the_next_time(store: Store) -> None:
    made = Team(store)
    made.write(0, "li", 100.0)
    before = made.days.writes()
    with store.read() as connection:
        connection.exec_driver_sql("select count(*) from usage").scalar()  # its view is fixed now
        made.write(3600, "li", 100.0)
        made.days.look(connection, 0, DAY_S, before)
    assert made.look(0, DAY_S).rows()[0]["held_s"] == 200.0


def test_no_more_days_are_kept_than_two_years_or_so(store: Store) -> None:
    made = Team(store)
    made.look(0, 390 * DAY_S)
    made.look(400 * DAY_S, 790 * DAY_S)
    made.look(900 * DAY_S, 1290 * DAY_S)
    assert len(made.days._days) == MOST_KEPT
    assert max(made.days._days) == 1289
