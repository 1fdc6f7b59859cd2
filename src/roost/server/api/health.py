"""The route of health: store, disk, agent, record, clock, rules, mail, driver, GPUs, each with what
to do. Gathers the facts; what they mean is `core.health`. Operators only.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

from fastapi import APIRouter, Response

from roost import __version__
from roost.core.health.checks import Check, Facts, State, checks
from roost.core.text.agent import say_limit
from roost.core.text.catalogue import say
from roost.core.text.health import MESSAGES
from roost.server.api.context import Call, Caller, Context, answer, operators_only
from roost.server.api.operate_models import HealthOut
from roost.server.api.render import iso
from roost.store import log, operate
from roost.store.errors import StoreError

router = APIRouter(prefix="/v1", tags=["operate"])
WEEK_S = 7 * 86400.0
TIME_ERROR = 5
# struct timex is 208 bytes on 64-bit Linux; modes 0 asks and sets nothing (adjtimex(2)).
TIMEX_BYTES = 512


@router.get("/health", response_model=HealthOut)
async def health(call: Caller) -> Response:
    """What is well and what is not, what needs a hand first: `state` is "bad", "warn", "unknown",
    "note" or "ok", and that of the whole is the worst of them. Operators only."""
    operators_only(call)
    context, zone = call.context, call.context.time_zone
    facts = await context.in_thread(lambda: _facts(context))
    found = [_told(call, check) for check in checks(facts)]
    host = context.board.host
    for limit in host.limits if host is not None else ():
        text = say_limit(call.language, limit)
        found.append(
            {"part": "limits", "subject": "", "code": limit.split(" ")[0], "state": "note",
             "text": text, "remedy": None}
        )  # fmt: skip
    found.sort(key=lambda one: list(State).index(State(one["state"])))
    worst = State.OK if found[0]["state"] == State.NOTE else found[0]["state"]
    seen = context.board.observation
    return answer(
        {
            "state": worst,
            "checks": found,
            "roost": __version__,
            "server": host.server if host is not None else "",
            "started_time": iso(context.started_at, zone),
            "observed_time": iso(seen.taken_at, zone) if seen is not None else None,
            "recorded_time": iso(facts.recorded_at, zone),
            "time": iso(facts.now, zone),
        }
    )


def _facts(context: Context) -> Facts:
    """Blocks."""
    board, now = context.board, context.clock()
    took: float | None = None
    size = through = first = None
    gaps: list[tuple[float, float]] = []
    mail = 0, 0, ""
    began = time.monotonic()
    try:
        with context.store.read() as connection:
            through = log.get_meta(connection, "ledger_through")
            took = time.monotonic() - began
            size = operate.database_bytes(connection)
            first = operate.record_from(connection)
            gaps = log.gaps(connection, now - WEEK_S, now)
            mail = operate.mail_trouble(connection, now - WEEK_S)
    except StoreError:
        took = None
    free, total = _room(context)
    return Facts(
        now=now,
        store="SQLite" if context.store.sqlite else "PostgreSQL",
        store_bytes=size,
        store_s=took,
        trouble=board.trouble,
        disk_free_bytes=free,
        disk_total_bytes=total,
        agent=board.connected,
        observation=board.observation,
        recorded_at=float(through) if through else None,
        record_from_at=first,
        gaps=(len(gaps), sum(end - start for start, end in gaps)),
        clock_synced=clock_synced(),
        rules_version=board.rules.version,
        rules_problem=board.rules.problem,
        mail=mail,
    )


def _room(context: Context) -> tuple[int | None, int | None]:
    """Free for the server, and in all, in bytes, where it keeps its files."""
    if context.state is None:
        return None, None
    try:
        found = os.statvfs(context.state)
    except OSError:
        return None, None
    return found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize


def clock_synced() -> bool | None:
    """Whether the kernel's clock is kept by a time server (adjtimex(2): TIME_ERROR is the state of
    one that is not). None where the kernel does not say."""
    try:
        adjtimex = ctypes.CDLL(None, use_errno=True).adjtimex
    except (OSError, AttributeError):
        return None
    state = int(adjtimex(ctypes.create_string_buffer(TIMEX_BYTES)))
    return None if state < 0 else state != TIME_ERROR


def _told(call: Call, check: Check) -> dict[str, Any]:
    do = check.code + "_do"
    if check.remedy is not None:
        remedy: str | None = _anywhere(call.language, check.remedy)
    else:
        remedy = say(call.language, f"health.{do}") if do in MESSAGES else None
    return {
        "part": check.part,
        "subject": check.subject,
        "code": check.code,
        "state": check.state.value,
        "text": say(call.language, f"health.{check.code}", **dict(check.numbers)),
        "remedy": remedy,
    }


def _anywhere(language: str, code: str) -> str:
    """A remedy that the driver names; a code that the catalogue lacks is said as words."""
    try:
        return say(language, code)
    except (KeyError, ImportError, IndexError):
        return code.partition(".")[2].replace("_", " ")
