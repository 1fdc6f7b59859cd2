"""Opening, migrating, locking: the same on SQLite and PostgreSQL, and clear refusals."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from roost.core.model import EndReason, Grant, JobState, PriorityClass, Request
from roost.store import arrays, jobs, ledger, log
from roost.store.database import APPLICATION_ID, HEAD, Store, open_sqlite, open_url
from roost.store.errors import StoreError
from roost.store.records import (
    AllocationRecord,
    AttemptRecord,
    AuditRecord,
    JobInput,
    JobRecord,
    Reading,
    Said,
    Source,
    UsageAmount,
    UsageKey,
)
from roost.store.tables import metadata

Opener = Callable[[], Store]


def job(number: int = 1, **changes: object) -> JobRecord:
    values: dict[str, object] = {
        "id": number, "user": "li", "uid": 1001, "group": "cv", "name": "trainiere 训练 🚀",
        "priority_class": PriorityClass.REGULAR, "state": JobState.RUNNING,
        "request": Request(gpus=2, cpus=4, walltime_s=3600), "submitted_at": 1000.25,
        "directory": b"/home/li/\xff", "output": b"out-%j", "command": (b"python", b"\xfe.py"),
        "granted": (Grant("GPU-1"), Grant("GPU-2", 5)), "after": (3, 4), "input_id": number,
        "source": Source("/a.py", "0" * 64, None, True), "said": Said("job.x", {"a": "b"}),
    }  # fmt: skip
    return JobRecord(**{**values, **changes})  # type: ignore[arg-type]


def test_migrations_make_exactly_the_tables(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with store.read() as connection:
        difference = compare_metadata(MigrationContext.configure(connection), metadata)
    assert difference == []


def test_a_second_daemon_on_the_same_database_is_refused(opener: Opener, store: Store) -> None:
    assert store is not None
    with pytest.raises(StoreError) as refused:
        opener()
    assert refused.value.code in ("locked", "locked_database")
    assert "another Roost" in str(refused.value)
    assert "另一个 Roost" in refused.value.said("zh")


def test_a_killed_holder_does_not_keep_the_lock(tmp_path: Path) -> None:
    code = (
        "import sys,time; from pathlib import Path; from roost.store.database import open_sqlite;"
        "s = open_sqlite(Path(sys.argv[1])); print('open', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "roost.db")], stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"open\n"
    holder.kill()
    holder.wait()
    open_sqlite(tmp_path / "roost.db").close()


def test_a_database_of_a_newer_version_is_refused_untouched(opener: Opener) -> None:
    first = opener()
    with first.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    first.close()
    with pytest.raises(StoreError) as refused:
        opener()
    assert refused.value.code == "newer"
    assert HEAD in str(refused.value)


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "roost.db"
    path.write_text("my thesis")
    with pytest.raises(StoreError) as refused:
        open_sqlite(path)
    assert refused.value.code == "foreign"
    assert path.read_text() == "my thesis"


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "roost.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE jobs (id)")
    other.close()
    with pytest.raises(StoreError) as refused:
        open_sqlite(path)
    assert refused.value.code == "foreign"


@pytest.mark.parametrize("place", [100, 4096, 20_000])
def test_a_damaged_database_is_said_to_be_damaged(tmp_path: Path, place: int) -> None:
    path = tmp_path / "roost.db"
    store = open_sqlite(path)
    with store.write() as connection:
        jobs.add_jobs(connection, [job(n) for n in range(1, 200)])
    store.close()
    with path.open("r+b") as file:
        file.seek(place)
        file.write(b"\xa5" * 3000)
    with pytest.raises(StoreError) as refused:
        open_sqlite(path)
    assert refused.value.code == "corrupt"
    assert str(path) in str(refused.value)


def test_a_kill_during_the_first_migration_leaves_an_empty_database_that_opens(
    tmp_path: Path,
) -> None:
    code = (
        "import os,sys; from pathlib import Path; import alembic.command as c;"
        "real = c.upgrade\n"
        "def upgrade(*a): real(*a); os._exit(9)\n"
        "c.upgrade = upgrade\n"
        "from roost.store.database import open_sqlite; open_sqlite(Path(sys.argv[1]))"
    )
    path = tmp_path / "roost.db"
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == 9
    open_sqlite(path).close()


def test_an_address_that_is_no_database_is_refused() -> None:
    for address in ("mysql://a@b/c", "nonsense", "postgresql+psycopg://nobody@/x?host=/nowhere"):
        with pytest.raises(StoreError) as refused:
            open_url(address)
        assert refused.value.code in ("bad_url", "unreachable")


def test_a_job_comes_back_as_it_was_stored(store: Store) -> None:
    first, second = job(1), job(2, state=JobState.FAILED, ended_at=2000.5, exit_code=3,
                                end_reason=EndReason.EXITED, source=None, said=None)  # fmt: skip
    with store.write() as connection:
        jobs.add_jobs(connection, [first, second])
        jobs.add_inputs(connection, {1: JobInput(argv=(b"a\xff",), environment=((b"K", b"\xfe"),))})
    with store.read() as connection:
        assert jobs.live_jobs(connection) == [first]
        assert jobs.find_job(connection, 2) == second
        assert jobs.find_job(connection, 2**63) is None
        assert jobs.ended_jobs(connection, 10) == [second]
        assert jobs.ended_jobs(connection, 10, before=2) == []
        found = jobs.find_input(connection, 1)
        assert found is not None
        assert found.environment == ((b"K", b"\xfe"),)
        assert jobs.known_states(connection, [1, 2, 3]) == {
            1: JobState.RUNNING, 2: JobState.FAILED,
        }  # fmt: skip


def test_changes_of_jobs_attempts_and_allocations_are_kept(store: Store) -> None:
    attempt = AttemptRecord(job=1, attempt=1, decided_at=5.0)
    allocation = AllocationRecord(
        id=1, gpu_uuid="GPU-1", job=1, attempt=1, user="li", group="cv", priority_class="regular",
        memory_bytes=None, share=1.0, from_at=5.0, held_through=5.0,
    )  # fmt: skip
    with store.write() as connection:
        jobs.add_jobs(connection, [job(1)])
        jobs.add_attempts(connection, [attempt])
        jobs.add_allocations(connection, [allocation])
    import msgspec

    ended = msgspec.structs.replace(attempt, ended_at=9.0, end_reason=EndReason.TIMEOUT)
    with store.write() as connection:
        jobs.save_jobs(connection, [job(1, state=JobState.TIMEOUT, ended_at=9.0, restarts=2)])
        jobs.save_attempts(connection, [ended])
        jobs.save_allocations(connection, [msgspec.structs.replace(allocation, to_at=9.0)])
    with store.read() as connection:
        found = jobs.find_job(connection, 1)
        assert found is not None
        assert (found.state, found.restarts) == (JobState.TIMEOUT, 2)
        assert jobs.find_attempt(connection, 1, 1) == ended
        assert jobs.open_attempts(connection) == []
        assert jobs.open_allocations(connection) == []
        assert jobs.highest_allocation(connection) == 1


def test_a_transaction_that_fails_changes_nothing(store: Store) -> None:
    with pytest.raises(StoreError), store.write() as connection:
        jobs.add_jobs(connection, [job(1), job(1)])
    with store.read() as connection:
        assert jobs.live_jobs(connection) == []


def test_usage_adds_up_within_its_hour(store: Store) -> None:
    key = UsageKey(3600, "GPU-1", "li", "cv", 7, "regular")
    for held_s in (10.0, 5.0, -1.0):
        with store.write() as connection:
            ledger.add_usage(connection, {key: UsageAmount(held_s=held_s, joules=1.0)})
    with store.read() as connection:
        (row,) = ledger.usage_rows(connection, 0, 10_000)
        assert (row["held_s"], row["joules"], row["correction"]) == (14.0, 3.0, 0)
        assert ledger.usage_rows(connection, 0, 3600) == []
        assert ledger.held_by(connection, "user", 5400.0, 3600.0) == (("li", 14.0),)
        ((_, halved),) = ledger.held_by(connection, "group", 5400.0 + 3600.0, 3600.0)
        assert halved == pytest.approx(7.0)


def test_the_highest_reading_stays_and_unknown_does_not_hide_it(store: Store) -> None:
    for power in (None, 100.0, None, 300.0, 200.0):
        reading = Reading(observed_s=1.0, power_max_w=power, joules=2.0)
        with store.write() as connection:
            ledger.add_readings(connection, {(60, "GPU-1"): reading}, {(0, "GPU-1"): reading})
    with store.read() as connection:
        (row,) = ledger.minutes_of(connection, "GPU-1", 0)
        assert (row["power_max_w"], row["observed_s"], row["joules"]) == (300.0, 5.0, 10.0)
        assert row["temperature_max_c"] is None
    with store.write() as connection:
        assert ledger.drop_minutes(connection, 61) == 1


def test_members_see_of_the_audit_log_what_concerns_them(store: Store) -> None:
    rows = [
        AuditRecord(at=1.0, uid=1, user="li", action="cancel", whom="li"),
        AuditRecord(at=2.0, uid=0, user="root", action="free", whom="wang"),
        AuditRecord(at=3.0, uid=None, user="roost", action="preempt", whom="li"),
    ]
    with store.write() as connection:
        log.add_audit(connection, rows)
    with store.read() as connection:
        assert [r["at"] for r in log.audit_rows(connection, 10)] == [3.0, 2.0, 1.0]
        assert [r["at"] for r in log.audit_rows(connection, 10, "li")] == [3.0, 1.0]


def test_inputs_go_once_every_job_that_shares_them_is_over(store: Store) -> None:
    with store.write() as connection:
        jobs.add_inputs(connection, {1: JobInput()})
        jobs.add_inputs(connection, {5: JobInput()})
        jobs.add_jobs(
            connection,
            [job(1, ended_at=10.0), job(2, input_id=1), job(5, ended_at=10.0)],
        )
        assert jobs.drop_inputs(connection, 20.0) == 1
        assert jobs.find_input(connection, 1) is not None
        assert jobs.find_input(connection, 5) is None


def test_a_share_of_a_gpu_comes_back_with_its_compute(store: Store) -> None:
    shared = job(1, request=Request(gpus=0, gpu_memory_bytes=10 << 30, gpu_compute_percent=30))
    with store.write() as connection:
        jobs.add_jobs(connection, [shared, job(2)])
    with store.read() as connection:
        assert jobs.live_jobs(connection) == [shared, job(2)]


def migrations() -> Config:
    config = Config()
    config.set_main_option("script_location", "roost.store:migrations")
    return config


def test_the_newest_schema_is_the_one_that_is_named() -> None:
    assert ScriptDirectory.from_config(migrations()).get_current_head() == HEAD


@pytest.mark.parametrize("version", [f"{n:04}" for n in range(1, int(HEAD))])
def test_a_database_of_each_older_schema_keeps_its_jobs(tmp_path: Path, version: str) -> None:
    path = tmp_path / "roost.db"
    config, engine = migrations(), create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
        config.attributes["connection"] = connection
        command.upgrade(config, version)
        rows = connection.exec_driver_sql("PRAGMA table_info(jobs)")
        columns = [row[1] for row in rows]
        written = {name: value for name, value in jobs.job_row(job(1)).items() if name in columns}
        names = ", ".join(f'"{name}"' for name in written)
        marks = ", ".join("?" for _ in written)
        connection.exec_driver_sql(
            f"INSERT INTO jobs ({names}) VALUES ({marks})", tuple(written.values())
        )
    engine.dispose()
    store = open_sqlite(path)
    with store.read() as connection:
        assert jobs.live_jobs(connection) == [job(1)]
    store.close()


def test_a_full_disk_is_said_and_nothing_is_half_done(tmp_path: Path) -> None:
    store = open_sqlite(tmp_path / "roost.db")
    with store._writer.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 4}")
    with pytest.raises(StoreError) as refused, store.write() as connection:
        jobs.add_jobs(connection, [job(n) for n in range(1, 500)])
    assert refused.value.code == "full"
    with store._writer.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")
    with store.write() as connection:
        jobs.add_jobs(connection, [job(1)])
    with store.read() as connection:
        assert len(jobs.live_jobs(connection)) == 1
    store.close()


def test_elements_of_an_array_come_back_each_with_its_number_and_index(store: Store) -> None:
    indices = [7, 0, 3, *range(10, 500, 2)]
    elements = [
        job(
            20 + place,
            array_id=20,
            array_index=index,
            input_id=20,
            name="a%s 'b'",
            output=b"%x \xff.out",
        )
        for place, index in enumerate(indices)
    ]
    with store.write() as connection:
        jobs.add_jobs(connection, [job(1)])
        arrays.add_array(connection, elements)
        arrays.add_array(connection, [job(1000, array_id=1000, array_index=4)])
    with store.read() as connection:
        assert jobs.live_jobs(connection) == [
            job(1), *elements, job(1000, array_id=1000, array_index=4)
        ]  # fmt: skip
