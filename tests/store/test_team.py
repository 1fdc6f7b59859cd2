"""A team's period added up by the database, on SQLite and on PostgreSQL."""

from __future__ import annotations

from roost.core.model import PriorityClass
from roost.store import jobs, ledger, team
from roost.store.database import Store
from roost.store.records import AttemptRecord, Reading, UsageAmount, UsageKey
from tests.store.test_history import job


def test_use_is_added_up_by_person_and_by_hour_and_what_is_nobodys_is_told(store: Store) -> None:
    def key(hour: int, user: str, number: int = 1) -> UsageKey:
        return UsageKey(hour, f"GPU-{number}", user, "cv" if user else "", number, "regular")

    with store.write() as connection:
        ledger.add_usage(
            connection,
            {
                key(0, "li"): UsageAmount(held_s=3600.0, busy_s=100.0),
                key(3600, "li"): UsageAmount(held_s=1800.0, busy_s=50.0),
                key(3600, "li", 2): UsageAmount(held_s=1.0),
                key(3600, ""): UsageAmount(busy_s=7.0),
                key(7200, "li"): UsageAmount(held_s=9.0),
            },
        )
        ledger.add_readings(connection, {}, {(0, "GPU-1"): Reading(observed_s=3000.0)})
    with store.read() as connection:
        people = {row["user"]: row for row in team.used_by(connection, 0, 7200)}
        assert (people["li"]["held_s"], people["li"]["busy_s"]) == (5401.0, 150.0)
        assert people[""]["busy_s"] == 7.0
        by_hour = {row["hour"]: dict(row) for row in team.used_in(connection, 0, 7200)}
        assert by_hour[3600] == {"hour": 3600, "held_s": 1801.0, "busy_s": 57.0, "lost_s": 7.0}
        assert team.looked_in(connection, 0, 7200) == {0: 3000.0}


def test_waits_are_nearest_ranks_of_first_starts(store: Store) -> None:
    # Ten jobs of one class waited 1 … 10 s; one asked to begin later and waited 2 s from then.
    made = [job(n, 100.0, None) for n in range(1, 11)]
    later = job(11, 0.0, None, begin_at=500.0, priority_class=PriorityClass.URGENT, group="nlp")
    with store.write() as connection:
        jobs.add_jobs(connection, [*made, later])
        jobs.add_attempts(
            connection,
            [
                *(AttemptRecord(job=n, attempt=1, decided_at=0.0, started_at=100.0 + n)
                  for n in range(1, 11)),
                AttemptRecord(job=1, attempt=2, decided_at=0.0, started_at=900.0),
                AttemptRecord(job=11, attempt=1, decided_at=0.0, started_at=502.0),
            ],
        )  # fmt: skip
    with store.read() as connection:
        found = team.waits(connection, 0, 1000)
        assert team.waits(connection, 0, 50) == {"class": [], "group": []}
    by_class = {row["name"]: dict(row) for row in found["class"]}
    by_group = {row["name"]: row["jobs"] for row in found["group"]}
    assert by_class["regular"] == {"name": "regular", "jobs": 10, "median_s": 5.0, "p90_s": 9.0}
    assert by_class["urgent"]["p90_s"] == 2.0
    assert by_group == {"cv": 10, "nlp": 1}
