"""The Standard Workload Format of the Parallel Workloads Archive (Feitelson et al., version 2.2):
eighteen numbers a line, -1 for what is not known, comments from ";".
"""

from __future__ import annotations

from collections.abc import Iterable

from roost.core.replay.trace import Rows, Trace, TraceError, TraceJob

# Status of the format: 0 failed, 1 completed, 5 cancelled; 2 to 4 are parts of a checkpointed job.
STATES = {0: "FAILED", 1: "COMPLETED", 5: "CANCELLED"}
PARTS = (2, 3, 4)
MOST = 1e15


def read_swf(lines: Iterable[str]) -> Trace:
    """Each processor counts as a GPU. Raises TraceError."""
    rows = Rows()
    for line, text in enumerate(lines, 1):
        words = text.partition(";")[0].split()
        if not words:
            continue
        if len(words) < 5:
            raise TraceError("short_line", line=line, count=len(words), least=5)
        try:
            values = [float(word) for word in words]
        except ValueError:
            raise TraceError("not_numbers", line=line) from None
        if not all(abs(value) < MOST for value in values):  # nan is not below anything
            raise TraceError("not_numbers", line=line)
        _add(rows, values + [-1.0] * (18 - len(values)))
    return rows.trace()


def _add(rows: Rows, values: list[float]) -> None:
    job, submit_s, run_s, used, asked = values[0], values[1], values[3], values[4], values[7]
    estimate_s, status, user, group = values[8], int(values[10]), int(values[11]), int(values[12])
    processors = asked if asked > 0 else used
    if status in PARTS:
        rows.leave_out("part_of_job")
    elif run_s < 0 or submit_s < 0:
        rows.leave_out("no_duration")
    elif processors <= 0:
        rows.leave_out("no_gpus")
    else:
        rows.add(
            TraceJob(
                id=str(int(job)),
                user=f"u{user}" if user >= 0 else "",
                group=f"g{group}" if group >= 0 else "",
                submit_s=submit_s,
                gpus=processors,
                duration_s=run_s,
                estimate_s=estimate_s if estimate_s > 0 else None,
                state=STATES.get(status, ""),
            )
        )
