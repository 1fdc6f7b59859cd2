"""History of a Slurm cluster, as `sacct --parsable2` prints it with at least
JobID,Submit,Start,End,AllocTRES (and User,Account,ReqTRES,Timelimit,State where they are).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from roost.core.replay.trace import Rows, Trace, TraceError, TraceJob

NEEDED = ("JobID", "Submit", "Start", "End")
_GPU = re.compile(r"(?:^|,)gres/gpu(?::[^=,]+)?=(\d+)")
_LIMIT = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")


def read_sacct(lines: Iterable[str]) -> Trace:
    """Jobs on GPUs that have ended; steps ("12.batch") are part of their job. Raises TraceError."""
    rows = Rows()
    where: dict[str, int] = {}
    for line, text in enumerate(lines, 1):
        words = text.rstrip("\r\n").split("|")
        if not where:
            where = {name: place for place, name in enumerate(words)}
            missing = [name for name in NEEDED if name not in where]
            if missing:
                raise TraceError("no_column", column=missing[0], columns=", ".join(NEEDED))
            continue
        if words != [""]:
            _add(rows, line, {name: words[n] for name, n in where.items() if n < len(words)})
    if not where:
        raise TraceError("empty")
    return rows.trace()


def _add(rows: Rows, line: int, row: dict[str, str]) -> None:
    if "." in row["JobID"]:
        return
    gpus = _gpus(row.get("AllocTRES", "")) or _gpus(row.get("ReqTRES", ""))
    start, end = row.get("Start", ""), row.get("End", "")
    if not gpus:
        rows.leave_out("no_gpus")
    elif start in ("Unknown", "None", "") or end in ("Unknown", "None", ""):
        rows.leave_out("no_duration")
    else:
        begun = _time(start, line, "Start")
        rows.add(
            TraceJob(
                id=row["JobID"],
                user=row.get("User", ""),
                group=row.get("Account", ""),
                submit_s=_time(row.get("Submit", ""), line, "Submit"),
                gpus=gpus,
                duration_s=max(0.0, _time(end, line, "End") - begun),
                estimate_s=_limit(row.get("Timelimit", "")),
                state=row.get("State", "").split(" ")[0],
            )
        )


def _gpus(tres: str) -> int:
    """GPUs of "billing=8,cpu=8,gres/gpu=2,gres/gpu:a100=2": the total, else the sum of types."""
    total = re.search(r"(?:^|,)gres/gpu=(\d+)", tres)
    return int(total[1]) if total else sum(int(count) for count in _GPU.findall(tres))


def _time(text: str, line: int, column: str) -> float:
    """Local time of the cluster, without an offset: only differences matter here."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise TraceError("not_a_time", line=line, column=column, value=text) from None


def _limit(text: str) -> float | None:
    """ "1-02:00:00", "02:00:00", "30:00"; None for UNLIMITED and what is not said."""
    match = _LIMIT.fullmatch(text)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
