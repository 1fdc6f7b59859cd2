"""The rows of holders as the API tells them: attribution, and what jobs were given beside it.

Must not know routes.
"""

from __future__ import annotations

from typing import Any

from roost.core.attribution.model import Attribution, Kind, phrase
from roost.core.attribution.show import ROW_KEYS, text_of, who_rows
from roost.core.text.catalogue import say
from roost.server.api.context import Call
from roost.server.api.render import iso


def holder_rows(call: Call, attribution: Attribution) -> list[dict[str, Any]]:
    """Who holds the GPUs: by a process, or by a job that was given one and has not opened it."""
    zone, jobs = call.context.time_zone, call.context.board.jobs
    bookings = call.context.board.bookings
    rows = who_rows(attribution, call.language)
    rows += _given_only(call, attribution, rows)
    rows.sort(key=lambda row: row["gpu_index"])
    for row in rows:
        row["command"] = command_for(call, row["uid"], row["command"])
        row["since"] = iso(row["since"], zone)
        job = jobs.get(row["job"]) if row["job"] is not None else None
        row["until"] = iso(job.latest_end, zone) if job is not None else None
        booking = bookings.get(row["booking"]) if job is None else None
        if booking is not None:
            row["until"] = iso(booking.ends_at, zone)
        row["reason_text"] = (
            say(call.language, f"attribution.reason_{row['reason']}") if row["reason"] else None
        )
    return rows


def command_for(call: Call, uid: int | None, command: str | None) -> str | None:
    """The command line of a process of that uid: whole for its owner and operators; for others its
    program alone, as of a job. Arguments are where people write passwords."""
    if command is None or uid is None or call.person.operator or uid == call.person.uid:
        return command
    return command if command.startswith("[") else command.split(" ", 1)[0]


def _given_only(
    call: Call, attribution: Attribution, rows: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """A row for each GPU that a job holds without any process of it there: it is not free."""
    seen = {(row["gpu_uuid"], row["job"]) for row in rows}
    known = {gpu.uuid: gpu for gpu in attribution.gpus}
    blank = dict.fromkeys(ROW_KEYS)
    return [
        {
            **blank,
            "gpu_index": known[grant.gpu_uuid].index,
            "gpu_uuid": grant.gpu_uuid,
            "user": job.user,
            "group": job.group,
            "kind": Kind.JOB.value,
            "job": job.id,
            # Of a card that does not answer nobody knows what is on it.
            "memory_bytes": None if known[grant.gpu_uuid].used_bytes is None else 0,
            "since": job.started_at,
            "right": text_of(phrase("right_job", job=job.id), call.language),
            "lawful": True,
            "uid": job.uid,
            "workers": [],
            "candidates": [],
            "checks": [],
            "ignored": False,
        }
        for job in call.context.board.live()
        if job.state.holds_gpus
        for grant in job.granted
        if grant.gpu_uuid in known and (grant.gpu_uuid, job.id) not in seen
    ]
