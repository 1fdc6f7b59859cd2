"""Traces as comma-separated values, a header first:
job_id,user,vc,submit_s,gpus,duration_s,estimate_s,priority,state; an empty field says nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable

from roost.core.model import PriorityClass
from roost.core.replay.trace import Rows, Trace, TraceError, TraceJob, number

NEEDED = ("job_id", "submit_s", "gpus", "duration_s")
# Quality-of-service classes of Alibaba's traces, and our own.
CLASSES = {
    "urgent": PriorityClass.URGENT,
    "regular": PriorityClass.REGULAR,
    "background": PriorityClass.BACKGROUND,
    "LS": PriorityClass.REGULAR,
    "Guaranteed": PriorityClass.REGULAR,
    "Burstable": PriorityClass.BACKGROUND,
    "BE": PriorityClass.BACKGROUND,
}


def read_csv(lines: Iterable[str]) -> Trace:
    """Raises TraceError."""
    rows, reader = Rows(), csv.reader(lines)
    try:
        header = [name.strip() for name in next(reader)]
    except StopIteration:
        raise TraceError("empty") from None
    except csv.Error as error:
        raise TraceError("not_csv", line=1, detail=str(error)) from None
    where = {name: place for place, name in enumerate(header)}
    missing = [name for name in NEEDED if name not in where]
    if missing:
        raise TraceError("no_column", column=missing[0], columns=", ".join(NEEDED))

    def field(row: list[str], name: str) -> str:
        place = where.get(name)
        return "" if place is None or place >= len(row) else row[place].strip()

    try:
        for row in reader:
            if row:
                _add(rows, row, reader.line_num, field)
    except csv.Error as error:
        raise TraceError("not_csv", line=reader.line_num, detail=str(error)) from None
    return rows.trace()


def _add(rows: Rows, row: list[str], line: int, field: Callable[[list[str], str], str]) -> None:
    texts = {name: field(row, name) for name in NEEDED}
    if not texts["duration_s"]:
        rows.leave_out("no_duration")
        return
    gpus = number(texts["gpus"] or "0", line, "gpus")
    if gpus <= 0:
        rows.leave_out("no_gpus")
        return
    estimate = field(row, "estimate_s")
    rows.add(
        TraceJob(
            id=texts["job_id"] or str(line),
            user=field(row, "user"),
            group=field(row, "vc"),
            submit_s=number(texts["submit_s"], line, "submit_s"),
            gpus=gpus,
            duration_s=number(texts["duration_s"], line, "duration_s"),
            estimate_s=number(estimate, line, "estimate_s") if estimate else None,
            priority_class=CLASSES.get(field(row, "priority")),
            state=field(row, "state"),
        )
    )
