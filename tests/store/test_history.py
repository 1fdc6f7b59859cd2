"""What ran in a period, page by page, on SQLite and on PostgreSQL."""

from __future__ import annotations

from roost.core.model import EndReason, JobState, PriorityClass, Request
from roost.store import history, jobs, ledger
from roost.store.database import Store
from roost.store.records import AttemptRecord, JobRecord, UsageAmount, UsageKey


def job(number: int, submitted: float, ended: float | None, **more: object) -> JobRecord:
    fields: dict[str, object] = {
        "id": number, "user": "li", "uid": 1001, "group": "cv", "name": "x",
        "priority_class": PriorityClass.REGULAR, "request": Request(gpus=1),
        "state": JobState.RUNNING if ended is None else JobState.COMPLETED,
        "submitted_at": submitted, "ended_at": ended, "started_at": submitted, "attempt": 1,
    }  # fmt: skip
    return JobRecord(**{**fields, **more})  # type: ignore[arg-type]


def numbers(rows: list[history.Row]) -> list[int]:
    return [row["id"] for row in rows]


def test_a_period_is_read_by_ends_and_no_job_twice_or_never(store: Store) -> None:
    # Ends that are equal are told apart by number; job 1 ended before, job 9 was submitted later.
    ends = {1: 99.0, 2: 300.0, 3: 150.0, 4: 150.0, 5: 150.0, 6: 100.0, 9: 400.0}
    with store.write() as connection:
        jobs.add_jobs(
            connection,
            [
                *(job(n, 350.0 if n == 9 else 50.0, end) for n, end in ends.items()),
                job(7, 60.0, None),
                job(8, 350.0, None),
            ],
        )
    with store.read() as connection:
        for limit in (1, 2, 3, 100):
            found: list[int] = []
            after = None
            while rows := history.ended_rows(connection, 100.0, 350.0, after, limit):
                assert len(rows) <= limit
                found += numbers(rows)
                after = rows[-1]["ended_at"], rows[-1]["id"]
            assert found == [6, 3, 4, 5, 2]
        assert numbers(history.live_rows(connection, 350.0)) == [7]
        assert numbers(history.live_rows(connection, 351.0)) == [7, 8]


def test_attempts_come_in_their_order(store: Store) -> None:
    with store.write() as connection:
        jobs.add_jobs(connection, [job(n, 0.0, None, attempt=2) for n in (1, 2)])
        jobs.add_attempts(
            connection,
            [
                AttemptRecord(job=1, attempt=2, decided_at=9.0, started_at=10.0),
                AttemptRecord(
                    job=1, attempt=1, decided_at=0.0, started_at=1.0, ended_at=5.0,
                    end_reason=EndReason.PREEMPTED,
                ),
            ],
        )  # fmt: skip
    with store.read() as connection:
        found = history.attempts_of(connection, [2, 1])
        assert list(found) == [1]
        assert [(row["started_at"], row["ended_at"], row["end_reason"]) for row in found[1]] == [
            (1.0, 5.0, "preempted"), (10.0, None, None),
        ]  # fmt: skip
        assert history.attempts_of(connection, []) == {}


def test_what_was_held_is_summed_by_day_and_person(store: Store) -> None:
    day = 86400
    keys = [
        (day * 10, "g0", "li", "cv", 1), (day * 10 + 3600, "g1", "li", "cv", 2),
        (day * 11, "g0", "li", "cv", 1), (day * 11, "g1", "bo", "nlp", 3),
        (day * 11, "g2", "", "", 0),  # nobody's
        (day * 12, "g0", "li", "cv", 1),  # later
        (day * 9, "g0", "li", "cv", 1),  # earlier
    ]  # fmt: skip
    with store.write() as connection:
        ledger.add_usage(
            connection,
            {UsageKey(*key, "regular"): UsageAmount(held_s=n + 1.0) for n, key in enumerate(keys)},
        )
    with store.read() as connection:
        found = history.held_before(connection, day * 10, day * 12)
        ahead = history.held_before(connection, day * 10, day * 12, 23 * 3600)
    assert [(row["day"], row["user"], row["group"], row["held_s"]) for row in found] == [
        (day * 10, "li", "cv", 3.0), (day * 11, "bo", "nlp", 4.0), (day * 11, "li", "cv", 3.0),
    ]  # fmt: skip
    assert {row["class"] for row in found} == {"regular"}
    # Where it is an hour to midnight when it is midnight in Greenwich.
    assert [(row["day"], row["user"], row["held_s"]) for row in ahead] == [
        (day * 10 - 23 * 3600, "li", 1.0), (day * 11 - 23 * 3600, "bo", 4.0),
        (day * 11 - 23 * 3600, "li", 5.0),
    ]  # fmt: skip


def test_a_page_is_found_by_its_index_however_long_the_record_is(store: Store) -> None:
    if not store.sqlite:
        return
    with store.read() as connection:
        seen: list[str] = []
        cursor = connection.connection.cursor()
        cursor.execute(
            "EXPLAIN QUERY PLAN SELECT id FROM jobs WHERE ended_at >= 1 AND submitted_at < 9"
            " AND ended_at >= 2 AND (ended_at > 2 OR (ended_at = 2 AND id > 5))"
            " ORDER BY ended_at, id LIMIT 10"
        )
        seen = [str(row[-1]) for row in cursor.fetchall()]
    assert any("USING INDEX jobs_live" in line for line in seen), seen
    assert not any("TEMP B-TREE" in line for line in seen), seen
