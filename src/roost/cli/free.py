"""`roost free`: shows exactly which processes would be ended and why, asks, says what came back.

Only what was shown is ended: each process goes to the daemon by pid and start time.
"""

from __future__ import annotations

import os
import sys

from roost.cli import format as fmt
from roost.cli.failure import CommandError
from roost.cli.table import Cell, lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context

YES = ("y", "yes", "是", "好")


def free(context: Context) -> int:
    """Exit code 0 if all that was to end did, 1 if not or if the answer was no."""
    gpu = context.given.arguments[0]
    client = context.client()
    plan: Any = client.free_plan(gpu, context.option("user"))
    items = plan.get("items") or []
    if not context.json or not context.option("yes"):
        show_plan(context, gpu, plan, items)
    if not items:
        if context.json:
            context.out_json({"plan": plan, "processes": []})
        return 1 if plan.get("jobs") or plan.get("others") else 0
    if not context.option("yes"):
        if not os.isatty(0):
            raise CommandError("nothing_confirmed")
        if not confirmed(context, len(items)):
            context.err(context.say("free_not_done"))
            return 1
    result: Any = client.free(gpu, items, context.option("grace"))
    if context.json:
        context.out_json({"plan": plan, **result})
    else:
        show_result(context, result, items)
    outcomes = [each.get("outcome") for each in result.get("processes") or []]
    return 0 if all(outcome in ("ended", "gone") for outcome in outcomes) else 1


def show_plan(context: Context, gpu: str, plan: Any, items: list[Any]) -> None:
    """To standard error where --json has standard output."""
    tell = context.err if context.json else context.out
    say = context.say
    if not items:
        held = plan.get("jobs") or plan.get("others")
        tell(say("free_none_of_these" if held else "free_nothing", gpu=gpu))
    else:
        tell(say("free_would_end", gpu=gpu, count=len(items)))
        head = [say("col." + name) for name in ("pid", "user", "memory", "since", "what")]
        now = plan.get("time") or fmt.now_iso(items[0].get("since"))
        rows: list[list[str | Cell]] = []
        for item in items:
            user = str(item.get("user") or fmt.UNKNOWN)
            rows.append(
                [
                    str(item.get("pid")),
                    Cell(user, person=user),
                    fmt.size(item.get("memory_bytes")),
                    fmt.span(fmt.since(item.get("since"), now)),
                    str(item.get("command") or ""),
                ]
            )
        table = lines(context.terminal, head, rows, (0, 2), (0, 12))
        tell("  " + table[0])
        for line, item in zip(table[1:], items, strict=True):
            tell("  " + line)
            why = item.get("text") or item.get("evidence") or item.get("reason") or ""
            if why:
                tell("      " + str(why))
    for job in plan.get("jobs") or []:
        tell("  " + say("free_is_job", job=job.get("job"), user=job.get("user")))
    for other in plan.get("others") or []:
        user = other.get("user") or say("nobody")
        tell("  " + say("free_not", pid=other.get("pid"), user=user, text=other.get("text")))


def confirmed(context: Context, count: int) -> bool:
    context.err("")
    sys.stderr.write(context.terminal.plain(context.say("free_ask", count=count)) + " ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in YES


def show_result(context: Context, result: Any, items: list[Any]) -> None:
    say = context.say
    commands = {item.get("pid"): item.get("command") for item in items}
    for each in result.get("processes") or []:
        outcome = str(each.get("outcome"))
        text = say(
            "freed." + outcome,
            fallback=outcome,
            pid=each.get("pid"),
            command=commands.get(each.get("pid")) or "",
        )
        context.out(text + (f": {each['text']}" if each.get("text") else ""))
    before = total(result.get("memory_before_bytes"))
    after = total(result.get("memory_after_bytes"))
    if before is not None and after is not None:
        back = fmt.size(max(0, before - after))
        context.out(say("free_memory", back=back, before=fmt.size(before), after=fmt.size(after)))


def total(memory: Any) -> int | None:
    """Bytes; the daemon gives a number, or one for each GPU."""
    if isinstance(memory, dict):
        return sum(memory.values()) if memory else None
    return memory if isinstance(memory, int) else None
