"""Records as the API's JSON: names of docs/api.md, times in the rules' zone, bytes fit to show.

Everybody sees a job's program, as in `ps`; its arguments, folder, output and source are for its
owner and operators. A rendered job is kept until the record changes.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from roost.core.model import EndReason, Gpu
from roost.core.scheduler.decisions import Reason, Wait
from roost.core.text.catalogue import say
from roost.core.text.forecast import render_unknown
from roost.core.text.job import said_text
from roost.core.text.printable import printable
from roost.core.text.wait import render_reason, render_wait
from roost.server.intents import Person
from roost.store.records import JobRecord

_json = msgspec.json.Encoder()
MAX_KEPT = 20_000
LEAST_WAITS = 1_000
_OF_THE_OWNER = ("path", "command", "step")


@functools.cache
def zone(name: str) -> ZoneInfo | Any:
    """The time zone by name, UTC where this machine does not know it (the rules say so)."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


@functools.lru_cache(4_096)
def iso(at: float | None, time_zone: str) -> str | None:
    """ISO 8601 with offset, to the millisecond. A time that no calendar has is None."""
    if at is None:
        return None
    try:
        return datetime.fromtimestamp(at, zone(time_zone)).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return None


def offset_of(at: float, time_zone: str) -> int:
    """Seconds that the clock on the wall there is ahead of UTC; 0 for a time without a date."""
    try:
        ahead = datetime.fromtimestamp(at, zone(time_zone)).utcoffset()
    except (OverflowError, ValueError, OSError):
        return 0
    return 0 if ahead is None else int(ahead.total_seconds())


def clock_of(now: float, time_zone: str) -> Callable[[float], str]:
    """Writes times as people read them: the hour today, else the day as well."""
    today = datetime.fromtimestamp(now, zone(time_zone)).date()

    def clock(at: float) -> str:
        try:
            when = datetime.fromtimestamp(at, zone(time_zone))
        except (OverflowError, ValueError, OSError):
            return "–"
        return f"{when:%H:%M}" if when.date() == today else f"{when:%Y-%m-%d %H:%M}"

    return clock


def said_of(job: JobRecord, language: str, time_zone: str) -> str:
    """The sentence about a job's end or course, in the language where it has one."""

    def clock(at: float) -> str:
        return (iso(at, time_zone) or "–")[:16].replace("T", " ")

    if job.said is not None:
        try:
            return said_text(language, job.said.message, job.said.numbers, clock)
        except (KeyError, ImportError, IndexError, ValueError):
            return job.text
    return job.text


def _tells_paths(job: JobRecord) -> bool:
    """Whether the sentence names its owner's files, or what was to be run."""
    if job.said is None:
        return job.end_reason is EndReason.LAUNCH_FAILED
    return not job.said.numbers.keys().isdisjoint(_OF_THE_OWNER)


class Jobs:
    """Renders jobs, each once per language and kind of reader while it stays the same.

    Why it waits changes more often than the rest, and is put in last.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str, bool, str], tuple[JobRecord, JobRecord, bytes, bytes]] = {}
        self._waits: dict[tuple[object, ...], bytes] = {}

    def raw(
        self, job: JobRecord, person: Person, language: str, time_zone: str, gpus: dict[str, Gpu]
    ) -> msgspec.Raw:
        """The job's JSON as this person may see it."""
        private = person.operator or person.uid == job.uid
        key = (job.id, language, private, time_zone)
        kept = self._kept.get(key)
        if kept is not None and kept[0] is job:
            return msgspec.Raw(kept[3])
        plain = job if job.wait is None else msgspec.structs.replace(job, wait=None)
        if kept is not None and kept[1] == plain:
            body = kept[2]
        else:
            if len(self._kept) > MAX_KEPT:
                self._kept.clear()
            body = _json.encode(job_json(plain, private, language, time_zone, gpus))[:-1]
        start_at = None if job.wait is None else job.wait.forecast_start_at
        last = _json.encode({"forecast_start": iso(start_at, time_zone)})[1:]
        whole = body + b',"wait":' + self._wait(job, language, time_zone) + b"," + last
        self._kept[key] = (job, plain, body, whole)
        return msgspec.Raw(whole)

    def _wait(self, job: JobRecord, language: str, time_zone: str) -> bytes:
        if not job.state.waits:
            return b"null"
        now = time.time()
        reasons = job.wait.reasons if job.wait is not None else ()
        start_at = None if job.wait is None else job.wait.forecast_start_at
        minute = None if start_at is None else start_at // 60  # no more of it is said
        key = (reasons, minute, language, time_zone, int(now // 3600))
        text = self._waits.get(key)
        if text is None:
            # Forecasts change all the time: what was said before is not kept for long.
            if len(self._waits) > max(LEAST_WAITS, 2 * len(self._kept)):
                self._waits.clear()
            wait = job.wait or Wait(job.id)
            clock = clock_of(now, time_zone)
            said = render_wait(language, wait, clock, 1)
            if start_at is not None:
                said = say(language, "forecast.listed", said=said, at=clock(start_at))
            text = _json.encode(said)
            self._waits[key] = text
        return text


def job_json(
    job: JobRecord, private: bool, language: str, time_zone: str, gpus: dict[str, Gpu]
) -> dict[str, Any]:
    """One job, whole but for `wait`. `private`: for its owner or an operator."""
    request = job.request
    mean = round(100.0 * job.busy_s / job.observed_s, 1) if job.observed_s > 0 else None
    output = job.output_file() if private else None
    command = [printable(word) for word in (job.command if private else job.command[:1])]
    return {
        "job": job.id,
        "name": job.name,
        "user": job.user,
        "group": job.group,
        "class": job.priority_class.value,
        "state": job.state.value,
        "gpus": [grant.gpu_uuid for grant in job.granted],
        "gpu_indices": [gpus[g.gpu_uuid].index for g in job.granted if g.gpu_uuid in gpus],
        "cpus": request.cpus,
        "memory_bytes": request.memory_bytes,
        "gpu_memory_bytes": request.gpu_memory_bytes,
        "gpu_compute_percent": request.gpu_compute_percent,
        "request": {
            "gpus": request.gpus,
            "gpus_most": request.gpus_most,
            "gpu_memory_bytes": request.gpu_memory_bytes,
            "gpu_compute_percent": request.gpu_compute_percent,
            "gpu_model": request.gpu_model,
            "cpus": request.cpus,
            "memory_bytes": request.memory_bytes,
            "walltime_s": request.walltime_s,
        },
        "submit_time": iso(job.submitted_at, time_zone),
        "begin_time": iso(job.begin_at, time_zone),
        "start_time": iso(job.started_at, time_zone),
        "suspended_time": iso(job.suspended_at, time_zone),
        "suspended_s": round(job.suspended_s, 3),
        "latest_end": iso(job.latest_end, time_zone),
        "end_time": iso(job.ended_at, time_zone),
        "exit_code": job.exit_code,
        "signal": job.signal,
        "end_reason": job.end_reason.value if job.end_reason else None,
        "text": said_of(job, language, time_zone)
        if private or not _tells_paths(job)
        else say(language, "job.not_started"),
        "gpu_s": round(job.gpu_s, 3),
        "energy_j": None if job.energy_j is None else round(job.energy_j, 3),
        "mean_utilisation_percent": mean,
        "peak_memory_bytes": job.peak_memory_bytes,
        "cpu_s": job.cpu_s,
        "restarts": job.restarts,
        "attempt": job.attempt,
        "after": job.after,
        "array_id": job.array_id,
        "array_index": job.array_index,
        "held": job.held,
        "directory": printable(job.directory) if private else None,
        "output": None if output is None else printable(output),
        "command": command,
        "pty": job.pty,
        "env": job.env if private else None,
        "source": msgspec.to_builtins(job.source) if private and job.source else None,
    }


def why_json(
    job: JobRecord, wait: Wait | None, language: str, time_zone: str, now: float
) -> dict[str, Any]:
    """What a waiting job waits for, first reason first."""
    clock = clock_of(now, time_zone)
    return {
        "job": job.id,
        "state": job.state.value,
        "reasons": [
            {
                "code": reason.code,
                "text": render_reason(language, reason, clock),
                "rule": reason.rule,
                "blocking_jobs": reason.blocking_jobs,
                "blocking_bookings": reason.blocking_bookings,
            }
            for reason in (wait.reasons if wait else ())
        ],
        "forecast_start": iso(wait.forecast_start_at, time_zone) if wait else None,
        "forecast_latest": iso(wait.forecast_latest_at, time_zone) if wait else None,
        "forecast_unknown": _unknown(language, wait.forecast_unknown) if wait else None,
        "startable_now": wait.startable_now if wait else None,
    }


def _unknown(language: str, reason: Reason | None) -> dict[str, Any] | None:
    """Why a start cannot be said."""
    if reason is None:
        return None
    text = render_unknown(language, reason)
    return {"code": reason.code, "text": text, "blocking_jobs": reason.blocking_jobs}
