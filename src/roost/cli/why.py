"""`roost why`: what a job waits for, what stands before it, when it is forecast to start."""

from __future__ import annotations

from roost.cli import format as fmt
from roost.cli.terminal import BOLD, DIM, width
from roost.core.text.forecast import forecast_sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def why(context: Context) -> int:
    answer: Any = context.client().why(context.given.arguments[0])
    if context.json:
        context.out_json(answer)
    else:
        context.out("\n".join(render(context, answer)))
    return 0


def render(context: Context, answer: Any) -> list[str]:
    """One screen: the state, each reason with its rule, the forecast, what would start now."""
    say, terminal = context.say, context.terminal
    state = str(answer.get("state"))
    title = say("why_title", job=answer.get("job"), state=say("state." + state))
    rows = [terminal.paint(title, BOLD)]
    for reason in answer.get("reasons") or []:
        rows += folded(str(reason.get("text") or reason.get("code")), terminal.columns, "  ")
        behind = []
        if reason.get("rule"):
            behind.append(say("why_rule", rule=reason["rule"]))
        if reason.get("blocking_jobs"):
            behind.append(say("why_jobs", jobs=some(reason["blocking_jobs"])))
        if reason.get("blocking_bookings"):
            behind.append(say("why_bookings", bookings=some(reason["blocking_bookings"])))
        if behind:
            rows.append("    " + terminal.paint(terminal.plain(" · ").join(behind), DIM))
    if state != "PENDING":
        return rows
    rows += folded(when(terminal.language, answer), terminal.columns, "")
    now_possible = answer.get("startable_now")
    if isinstance(now_possible, int):
        code = "why_startable" if now_possible else "why_nothing_startable"
        rows.append(say(code, gpus=fmt.count(say, "gpu", now_possible)))
    return rows


def when(language: str, answer: Any) -> str:
    """When it starts, or why that cannot be said; an older daemon says less."""
    at, latest = answer.get("forecast_start"), answer.get("forecast_latest")
    now = fmt.now_iso(at or latest)
    unknown = answer.get("forecast_unknown")
    return forecast_sentence(
        language,
        fmt.clock(at, now) if at else None,
        fmt.span(fmt.since(now, at)) if at else "",
        fmt.clock(latest, now) if latest else None,
        str(unknown.get("text")) if isinstance(unknown, dict) else None,
    )


def folded(text: str, columns: int | None, margin: str) -> list[str]:
    """The text in lines of at most `columns` cells (None: one line), broken between words."""
    lines = [margin]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1].strip() else lines[-1] + word
        if columns is None or width(longer) <= columns or not lines[-1].strip():
            lines[-1] = longer
        else:
            lines.append(margin + word)
    return lines


def some(numbers: list[Any], most: int = 8) -> str:
    text = ", ".join(str(each) for each in numbers[:most])
    return text + (f" +{len(numbers) - most}" if len(numbers) > most else "")
