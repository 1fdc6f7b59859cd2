"""Fills a database with a year of a server with 8 GPUs and prints what each table takes.

docs/storage.md holds its table. Usage: python scripts/measure_storage.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from sqlalchemy import Table, insert

from roost.core.model import EndReason, Grant, JobState, PriorityClass, Request
from roost.store import tables
from roost.store.database import Store, open_sqlite
from roost.store.jobs import job_row
from roost.store.records import JobRecord

GPUS = [f"GPU-{n:08x}-1111-2222-3333-444455556666" for n in range(8)]
DAYS = 365
JOBS_A_DAY = 200
ROWS_A_GPU_HOUR = 3


def readings(step: str, size: int, count: int) -> Iterator[dict[str, object]]:
    for at in range(count):
        for gpu in GPUS:
            yield {
                step: at * size, "gpu_uuid": gpu, "observed_s": size * 0.999,
                "utilisation_s": size * 0.999, "busy_s": size * 0.731, "memory_byte_s": 1.234e12,
                "joules": 12345.678, "memory_max_bytes": 70 * 2**30, "power_max_w": 391.25,
                "temperature_max_c": 71,
            }  # fmt: skip


def usage() -> Iterator[dict[str, object]]:
    for hour in range(DAYS * 24):
        for gpu in GPUS:
            for row in range(ROWS_A_GPU_HOUR):
                yield {
                    "hour": hour * 3600, "gpu_uuid": gpu, "user": f"person{row}", "group": "vision",
                    "job": hour * 8 + row, "class": "regular", "correction": 0, "held_s": 1199.5,
                    "observed_s": 1199.25, "busy_s": 876.5, "gb_s": 83965.123, "joules": 467805.5,
                }  # fmt: skip


def jobs() -> Iterator[dict[str, object]]:
    for number in range(1, DAYS * JOBS_A_DAY + 1):
        yield job_row(
            JobRecord(
                id=number, user="person1", uid=1001, group="vision", name="train-resnet-50",
                priority_class=PriorityClass.REGULAR, state=JobState.COMPLETED,
                request=Request(gpus=1, cpus=8, walltime_s=14400), submitted_at=1.7e9 + number,
                started_at=1.7e9 + number, ended_at=1.7e9 + number, exit_code=0,
                end_reason=EndReason.EXITED, gpu_s=7200.123, busy_s=5000.5, observed_s=7190.1,
                energy_j=1.8e6, peak_memory_bytes=2**34, cpu_s=9000.25, attempt=1,
                directory=b"/home/person1/projects/resnet", output=b"roost-%j.out",
                command=(b"python", b"train.py", b"--config", b"configs/resnet50.yaml"),
                granted=(Grant(GPUS[0]),), input_id=number,
            )
        )  # fmt: skip


def attempts() -> Iterator[dict[str, object]]:
    for number in range(1, DAYS * JOBS_A_DAY + 1):
        yield {
            "job": number, "attempt": 1, "decided_at": 1.7e9, "started_at": 1.7e9,
            "ended_at": 1.7e9, "end_reason": "exited", "exit_code": 0, "done": False, "text": "",
        }  # fmt: skip


def allocations() -> Iterator[dict[str, object]]:
    for number in range(1, DAYS * JOBS_A_DAY * 2 + 1):
        yield {
            "gpu_uuid": GPUS[number % 8], "job": number // 2, "attempt": 1, "user": "person1",
            "group": "vision", "class": "regular", "share": 1.0, "from_at": 1.7e9, "to_at": 1.7e9,
            "held_through": 1.7e9,
        }  # fmt: skip


def audit() -> Iterator[dict[str, object]]:
    for number in range(DAYS * 50):
        yield {
            "at": 1.7e9 + number, "uid": 1001, "user": "person1", "action": "cancel",
            "subject": f"job {number}", "whom": "person1", "outcome": "done", "detail": "",
        }  # fmt: skip


def events() -> Iterator[dict[str, object]]:
    for number in range(DAYS * 50):
        yield {
            "at": 1.7e9 + number, "kind": "gpu", "subject": GPUS[0],
            "detail": '{"usable": false, "reason": "not_answering"}',
        }  # fmt: skip


def fill(store: Store, table: Table, rows: Iterable[dict[str, object]]) -> int:
    count = 0
    with store.write() as connection:
        left = iter(rows)
        while part := list(islice(left, 5000)):
            connection.execute(insert(table), part)
            count += len(part)
    return count


def size(store: Store) -> int:
    with store.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar() or 0
        return int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar() or 0)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = open_sqlite(Path(folder) / "roost.db")
        before = size(store)
        for table, rows in (
            (tables.minutes, readings("minute", 60, 30 * 1440)),
            (tables.hours, readings("hour", 3600, DAYS * 24)),
            (tables.usage, usage()),
            (tables.jobs, jobs()),
            (tables.attempts, attempts()),
            (tables.allocations, allocations()),
            (tables.audit, audit()),
            (tables.events, events()),
        ):
            count = fill(store, table, rows)
            now = size(store)
            print(f"| `{table.name}` | {count:,} | {(now - before) / 1e6:.1f} MB |", flush=True)
            before = now
        print(f"| together | | {before / 1e6:.1f} MB |")
        store.close()


if __name__ == "__main__":
    main()
