"""`roost who`: the holders of each GPU, since when, how much, idle for how long, by what right."""

from __future__ import annotations

from roost.cli import format as fmt
from roost.cli.table import Cell, lines
from roost.cli.terminal import BOLD, GREY, YELLOW, Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from roost.cli.context import Context


def who(context: Context) -> int:
    option = context.option
    answer: Any = context.client().who(option("gpu"), option("user"), scan=bool(option("scan")))
    if context.json:
        context.out_json(answer)
        return 0
    context.out("\n".join(render(answer, context.terminal, context.say)))
    return 0


def render(answer: Any, terminal: Terminal, say: Callable[..., str]) -> list[str]:
    """A table of holders, then for what is unattributed its reason and what would free it."""
    holders = answer.get("holders") or []
    if not holders and not answer.get("unattributed"):
        return [say("nobody_holds")]
    now = answer.get("time") or fmt.now_iso(next((h.get("since") for h in holders), None))
    head = [say("col." + name) for name in ("gpu", "user", "held_by", "pid", "memory", "since")]
    head += [say("col.idle"), say("col.what")]
    shown = lines(
        terminal, head, [row(each, now, say) for each in holders], (0, 3, 4, 6), (3, 12, 18)
    )
    notes = [note(each, terminal, say) for each in answer.get("unattributed") or []]
    for each in answer.get("checks") or []:
        text = each.get("text") if isinstance(each, dict) else str(each)
        notes.append(terminal.paint(f"{text}", YELLOW))
    return shown + [line for line in notes if line]


def row(holder: Any, now: Any, say: Callable[..., str]) -> list[str | Cell]:
    unattributed = holder.get("kind") == "unattributed"
    user = str(holder.get("user") or fmt.UNKNOWN)
    idle = holder.get("idle_s")
    why = holder.get("reason_text") or holder.get("reason")
    text = str((why if unattributed else holder.get("command")) or fmt.UNKNOWN)
    if holder.get("pid") is None and holder.get("job") is not None:
        text = say("not_opened")
    unlawful = holder.get("lawful") is False or not (holder.get("right") or holder.get("job"))
    held = held_by(holder, say)
    if not unattributed and unlawful:
        held = say("without_right", what=held)
    return [
        str(holder.get("gpu_index", fmt.UNKNOWN)),
        Cell(user, person="" if unattributed else user, code=GREY),
        held,
        str(holder.get("pid") or fmt.UNKNOWN),
        fmt.size(holder.get("memory_bytes")),
        started(holder.get("since"), now),
        fmt.span(idle) if isinstance(idle, int | float) and idle >= 1 else "",
        text,
    ]


def held_by(holder: Any, say: Callable[..., str]) -> str:
    """ "job 42", "booking 7", "container web", "session"."""
    kind = str(holder.get("kind") or "")
    if kind == "job" and holder.get("job") is not None:
        return say("holder_job", job=holder["job"])
    if kind == "booking" and holder.get("booking") is not None:
        return say("holder_booking", booking=holder["booking"])
    if kind == "container" and holder.get("container"):
        return str(holder["container"])
    return say("kind." + kind, fallback=kind)


def started(iso: Any, now: Any) -> str:
    lasting = fmt.since(iso, now)
    return fmt.clock(iso, now) if lasting is None else fmt.span(lasting)


def note(part: Any, terminal: Terminal, say: Callable[..., str]) -> str:
    """One unattributed part: how much on which GPU, why, what would free it."""
    if not isinstance(part, dict):
        return ""
    bytes_ = part.get("memory_bytes")
    text = say(
        "unattributed_on",
        gpu=part.get("gpu_index", fmt.UNKNOWN),
        size=fmt.size(bytes_),
        reason=part.get("text") or part.get("reason") or fmt.UNKNOWN,
    )
    remedy = part.get("remedy")
    return terminal.paint(text, BOLD) + (f"\n  {remedy}" if remedy else "")
