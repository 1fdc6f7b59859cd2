"""The elements of an array, stored by one statement: the database copies the first of them.

Binding forty values for each of ten thousand jobs that differ in two costs more than all else that
a submission does. Knows rows, not what they mean.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Dialect

from roost.store.jobs import add_jobs
from roost.store.records import JobRecord
from roost.store.tables import jobs


def add_array(connection: Connection, records: Sequence[JobRecord]) -> None:
    """Stores jobs with numbers that follow each other, alike in all but number and array index."""
    add_jobs(connection, records[:1])
    if len(records) < 2:
        return
    first, sqlite = records[0].id, connection.dialect.name == "sqlite"
    indices: Any = [record.array_index for record in records]
    given = {"first": first, "indices": json.dumps(indices) if sqlite else indices}
    connection.exec_driver_sql(_copies(connection.dialect), given)


@functools.cache
def _copies(dialect: Dialect) -> str:
    """Element N of `indices`, counted from 0, becomes job `first` + N; the 0th is there already."""
    quote = dialect.identifier_preparer.quote
    names = [quote(column.name) for column in jobs.c]
    if dialect.name == "sqlite":
        first, place = ":first", "each.key"
        elements = "json_each(:indices) AS each"
    else:
        first, place = "%(first)s", "each.place - 1"
        elements = "unnest(%(indices)s::int[]) WITH ORDINALITY AS each(value, place)"
    made = {"id": f"{first} + {place}", "array_index": "each.value"}
    values = [made.get(name.strip('"'), f"jobs.{name}") for name in names]
    # Made of this module's own words and the table's column names alone.
    return (
        f"INSERT INTO jobs ({', '.join(names)}) SELECT {', '.join(values)} "  # noqa: S608
        f"FROM jobs, {elements} WHERE jobs.id = {first} AND {place} > 0"
    )
