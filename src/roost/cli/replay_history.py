"""The team's own history, from the daemon: read page by page, and made into what is replayed.

Knows the API's words; what a job's past means for a replay is `core.replay.history`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from roost.cli import format as fmt
from roost.cli.failure import CommandError
from roost.cli.rules import mistakes_in
from roost.cli.values import UsageError, duration
from roost.client.errors import RoostError
from roost.core.model import Booking, EndReason, Gpu, Grant, PriorityClass, Request
from roost.core.replay.drive import CPUS, MEMORY_BYTES, Costs, World
from roost.core.replay.history import (
    Charged,
    Past,
    PastAttempt,
    PastBooking,
    PastJob,
    PastUse,
    charged,
    read_history,
    used_before,
    used_in_month,
)
from roost.core.replay.trace import Trace, TraceError
from roost.core.rules.load import load
from roost.core.rules.model import Rules
from roost.core.text.catalogue import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context

SINCE = "30d"
MANY = 5000


@dataclass(frozen=True, slots=True)
class History:
    """What the daemon tells: `start` and `end` of the period as it writes them, what there is to
    run on, the Linux groups of the people, what was used before, and the rules in force with their
    version."""

    server: str
    start: str
    end: str
    gpus: tuple[Gpu, ...]
    cpus: int
    memory_bytes: int
    people: Mapping[str, Sequence[str]]
    used: Sequence[PastUse]
    rules: Rules
    version: int
    past: Past

    def charged(self, rules: Rules) -> Charged:
        """Which group these rules charge."""
        return charged(self.rules, rules, self.people)

    def world(self, rules: Rules, own_servers: bool) -> World:
        """What a replay by these rules is told besides the jobs."""
        users, groups = used_before(
            self.used, self.past.trace.began_at, rules.fair_share.half_life_s, self.charged(rules)
        )
        cpus, memory_bytes = (self.cpus, self.memory_bytes) if own_servers else (CPUS, MEMORY_BYTES)
        month = used_in_month(self.used, self.past.trace.began_at, rules)
        return World(cpus, memory_bytes, self.people, users, groups, month)


def fetch(context: Context, since: str, costs: Costs) -> History:
    """Asks the daemon. Raises CommandError, UsageError, RoostError; TraceError "no_history" where
    nothing ran."""
    client = context.client()
    told = client.ping()
    in_force = client.rules()
    text = str(in_force.get("text") or "").encode("utf-8", "replace")
    if mistakes_in(text, context.terminal.language):
        raise CommandError("rules_newer", version=in_force.get("version"))
    jobs: dict[int, PastJob] = {}
    people: dict[str, Sequence[str]] = {}
    used: list[PastUse] = []
    booked: list[Mapping[str, Any]] = []
    page: dict[str, Any] = {}
    try:
        for page in client.history(since_of(context, since)):
            jobs.update((row["job"], past_job(row)) for row in page["history"])
            people.update(page["people"])
            booked += page.get("bookings") or ()
            used += [past_use(row) for row in page.get("usage") or ()]
            _progress(context, len(jobs), page["next"] is None)
    except RoostError as error:
        if error.status == 404:
            raise CommandError("daemon_too_old", daemon=told["roost"]) from None
        raise
    gpus = tuple(gpu_of(each) for each in page["gpus"])
    bounds = [fmt.epoch(page[name]) or 0.0 for name in ("from", "to")]
    past = read_history(
        list(jobs.values()), bounds[0], bounds[1], {gpu.uuid: gpu.memory_bytes for gpu in gpus},
        costs, past_bookings(booked, {gpu.uuid for gpu in gpus}),
    )  # fmt: skip
    return History(
        told["server"], page["from"], page["to"], gpus, page["cpus"] or CPUS,
        page["memory_bytes"] or MEMORY_BYTES, people, used, load(text),
        int(in_force.get("version") or 0), past,
    )  # fmt: skip


def since_of(context: Context, text: str) -> str:
    """ "30d" back from now, or a point in time, as ISO 8601. Raises UsageError."""
    try:
        at = time.time() - duration("--since", text)
    except UsageError:
        from roost.cli.run import point_in_rules_zone

        try:
            found = point_in_rules_zone(context, "--since", text)
        except UsageError:
            raise UsageError("not_a_past", option="--since", given=text) from None
        if found.timestamp() >= time.time():
            raise UsageError("not_a_past", option="--since", given=text) from None
        return found.isoformat(timespec="seconds")
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def past_job(row: Mapping[str, Any]) -> PastJob:
    """A job as `GET /v1/history` tells it."""
    asked = row["request"]
    request = {each.name: asked[each.name] for each in fields(Request) if each.name in asked}
    return PastJob(
        id=row["job"],
        user=row["user"],
        group=row["group"],
        priority_class=PriorityClass(row["class"]),
        request=Request(**request),
        submitted_at=fmt.epoch(row["submit_time"]) or 0.0,
        begin_at=fmt.epoch(row["begin_time"]),
        ended_at=fmt.epoch(row["end_time"]),
        state=row["state"],
        after=tuple(row["after"]),
        array_id=row["array_id"],
        array_limit=row["array_limit"],
        requeue=row["requeue"],
        grants=tuple(Grant(each["gpu_uuid"], each["memory_bytes"]) for each in row["granted"]),
        attempts=tuple(
            PastAttempt(
                fmt.epoch(each["start_time"]), fmt.epoch(each["end_time"]),
                _reason(each["end_reason"]),
            )
            for each in row["attempts"]
        ),
    )  # fmt: skip


def past_bookings(rows: Sequence[Mapping[str, Any]], there: Set[str]) -> list[PastBooking]:
    """Bookings as `GET /v1/history` tells them, on the GPUs that there still are."""
    found = []
    for row in rows:
        uuids = tuple(uuid for uuid in row["gpus"] if uuid in there)
        if uuids:
            start, end, made = (
                fmt.epoch(row[name]) or 0.0 for name in ("start", "end", "made_time")
            )
            booking = Booking(
                row["booking"], row["user"], uuids, start, end, row["maintenance"],
                row["gpu_memory_bytes"],
            )  # fmt: skip
            found.append(PastBooking(booking, made, fmt.epoch(row["closed_time"])))
    return found


def past_use(row: Mapping[str, Any]) -> PastUse:
    """A day's use, as of its middle."""
    at = (fmt.epoch(row["day"]) or 0.0) + 43200.0
    which = PriorityClass(row["class"])
    return PastUse(row["user"], row["group"], at, row["held_s"], which)


def _reason(text: str | None) -> EndReason | None:
    """None too for a reason that only a newer daemon knows."""
    try:
        return EndReason(text) if text else None
    except ValueError:
        return None


def gpu_of(value: Mapping[str, Any]) -> Gpu:
    known = {each.name: value[each.name] for each in fields(Gpu) if each.name in value}
    return Gpu(**{**known, "links": tuple(known.get("links") or ())})


def elsewhere(trace: Trace) -> Trace:
    """The trace for other servers than those that it ran on: no job holds GPUs of these, and
    nobody has booked any."""
    jobs = tuple(replace(job, holds=()) if job.holds else job for job in trace.jobs)
    return replace(trace, jobs=jobs, bookings=())


def usable(gpus: Sequence[Gpu]) -> int:
    """How many there are to give: of a GPU that is divided, its parts."""
    parents = {gpu.parent for gpu in gpus}
    return sum(gpu.uuid not in parents for gpu in gpus)


def _progress(context: Context, count: int, last: bool) -> None:
    """A line on standard error that is written over, where that is a terminal and jobs are many."""
    if not os.isatty(2) or count < MANY:
        return
    text = "" if last else say(context.terminal.language, "tried.reading", count=f"{count:,}")
    sys.stderr.buffer.write(context.terminal.encode(f"\r\x1b[K{text}"))
    sys.stderr.buffer.flush()


def empty(context: Context, since: str, error: TraceError) -> CommandError:
    """Nothing ran, or nothing that can be replayed, as a refusal."""
    if error.code == "no_history":
        return CommandError("no_history", since=since)
    text = say(context.terminal.language, "replay." + error.code, **error.numbers)
    return CommandError("replay_said", text=text)
