"""`roost jobs`: what runs and what waits, a job on a line."""

from __future__ import annotations

from roost.cli import format as fmt
from roost.cli.commands import ENDED
from roost.cli.table import Cell, lines
from roost.cli.terminal import GREEN, RED, YELLOW, Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from roost.cli.context import Context

_COLOURS = {"RUNNING": GREEN, "PREEMPTING": YELLOW, "FAILED": RED, "OUT_OF_MEMORY": RED}


COLUMNS = ("job", "user", "name", "class", "state", "gpus", "time", "where")


def jobs(context: Context) -> int:
    option = context.option
    states = [state for several in option("state", []) for state in several]
    ended = bool(option("all")) or any(state in ENDED for state in states)
    user = option("user")
    if option("mine"):
        user = context.client().ping()["user"]
    answer: Any = context.client().jobs(states, user, ended, option("limit"))
    if context.json:
        context.out_json(answer)
        return 0
    found = answer.get("jobs") or []
    if not found:
        context.out(context.say("no_jobs"))
        return 0
    context.out("\n".join(render(found, context.terminal, context.say, answer.get("time"))))
    return 0


def render(
    found: list[Any], terminal: Terminal, say: Callable[..., str], now: Any = None
) -> list[str]:
    now = now or fmt.now_iso(found[0].get("submit_time"))
    head = [say("col." + name) for name in COLUMNS]
    rows = [row(job, now, say) for job in found]
    return lines(terminal, head, rows, (0, 5, 6), (0, 10, 16, 10, 12, 0, 0))


def row(job: Any, now: Any, say: Callable[..., str]) -> list[str | Cell]:
    state = str(job.get("state"))
    user = str(job.get("user") or fmt.UNKNOWN)
    return [
        str(job.get("job")),
        Cell(user, person=user),
        str(job.get("name") or ""),
        say("class." + str(job.get("class")), fallback=str(job.get("class"))),
        Cell(say("short_state." + state, fallback=state), _COLOURS.get(state, "")),
        gpus(job),
        lasted(job, now),
        where(job, now, say),
    ]


def gpus(job: Any) -> str:
    """What it asks for or holds: "2", or "10.0 GiB" or "10.0 GiB 30%" of a shared GPU."""
    request = job.get("request") or {}
    share = request.get("gpu_memory_bytes")
    if share:
        percent = request.get("gpu_compute_percent")
        return fmt.size(share) if percent is None else f"{fmt.size(share)} {percent}%"
    return str(request.get("gpus", len(job.get("gpus") or ())))


def lasted(job: Any, now: Any) -> str:
    """How long it ran or has been running; for a waiting job, how long it has waited."""
    start, end = job.get("start_time"), job.get("end_time")
    if start and job.get("state") != "PENDING":
        return fmt.span(fmt.since(start, end or now))
    return fmt.span(fmt.since(job.get("submit_time"), end or now))


def where(job: Any, now: Any, say: Callable[..., str]) -> str:
    """On which GPUs, why it waits, or how it ended: the words that matter in its state."""
    state = job.get("state")
    if state == "PENDING":
        if job.get("held"):
            return say("is_held")
        return str(job.get("wait") or "")
    if state == "SUSPENDED":
        return str(job.get("wait") or say("is_suspended"))
    if state in ENDED:
        return ending(job, say)
    indices = job.get("gpu_indices")
    held = ",".join(map(str, indices)) if indices else str(len(job.get("gpus") or ()))
    text = say("on_gpus", gpus=held) if indices else ""
    walltime = (job.get("request") or {}).get("walltime_s")
    start = fmt.epoch(job.get("start_time"))
    left = None
    if walltime and start is not None:
        left = start + walltime + (job.get("suspended_s") or 0.0) - (fmt.epoch(now) or start)
    left_text = say("ends_within", span=fmt.span(left)) if left is not None else ""
    return (text + left_text).lstrip(",， ")


def ending(job: Any, say: Callable[..., str]) -> str:
    if job.get("text"):
        return str(job["text"])
    if job.get("signal"):
        return say("by_signal", signal=job["signal"])
    if job.get("exit_code") is not None:
        return say("with_code", code=job["exit_code"])
    return ""
