"""`roost usage` and `roost audit log`: rows of the ledger summed up, and who did what to whom."""

from __future__ import annotations

from roost.cli import format as fmt
from roost.cli.table import Cell, lines
from roost.cli.terminal import GREY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def usage(context: Context) -> int:
    """GPU hours held and busy, memory and energy by person; --json has every hourly row."""
    start, end = (period(context, name) for name in ("from", "to"))
    answer: Any = context.client().usage(start, end, context.option("user"))
    if context.json:
        context.out_json(answer)
        return 0
    rows = answer.get("usage") or answer.get("rows") or []
    gaps = [gap(context, each) for each in answer.get("gaps") or []]
    if not rows:
        context.out("\n".join([context.say("no_usage"), *gaps]))
        return 0
    sums: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        key = (str(row.get("user") or ""), str(row.get("group") or fmt.UNKNOWN))
        of_person = sums.setdefault(key, [0.0, 0.0, 0.0])
        for at, name in enumerate(("held_s", "busy_s", "joules")):
            of_person[at] += row.get(name) or 0.0
    head = [context.say("col." + name) for name in ("user", "group", "held_h", "busy_h", "energy")]
    table: list[list[str | Cell]] = [
        [
            Cell(user, person=user) if user else Cell(context.say("kind.unattributed"), GREY),
            group,
            f"{held / 3600:.2f}",
            f"{busy / 3600:.2f}",
            f"{joules / 3.6e6:.3f} kWh",
        ]
        for (user, group), (held, busy, joules) in sorted(
            sums.items(), key=lambda item: (-item[1][0], item[0])
        )
    ]
    shown = lines(context.terminal, head, table, (2, 3))
    context.out("\n".join([*shown, *gaps, context.say("usage_split")]))
    return 0


def gap(context: Context, span: Any) -> str:
    """When nobody looked, and what is therefore not known."""
    start, end = (str(span.get(name)) for name in ("start", "end"))
    text = fmt.span(fmt.since(start, end))
    return context.say("usage_gap", start=day_and_time(start), end=day_and_time(end), span=text)


def day_and_time(iso: str) -> str:
    """ "2026-12-02 10:05:09": the day too, since a period may hold many."""
    return iso[:19].replace("T", " ")


def period(context: Context, name: str) -> str | None:
    """A bound of the period as ISO 8601: a day (2026-12-01), or what --begin takes."""
    text = context.option(name)
    if text is None:
        return None
    from roost.cli.run import point_in_rules_zone

    return point_in_rules_zone(context, f"--{name}", text).isoformat(timespec="seconds")


def audit_log(context: Context) -> int:
    answer: Any = context.client().audit(context.option("limit", 50))
    if context.json:
        context.out_json(answer)
        return 0
    entries = answer.get("audit") or answer.get("entries") or []
    if not entries:
        context.out(context.say("no_audit"))
        return 0
    head = [context.say("col." + name) for name in ("at", "user", "did", "what")]
    now = fmt.now_iso(entries[0].get("time") or entries[0].get("at"))
    rows: list[list[str | Cell]] = []
    for entry in entries:
        user = str(entry.get("user") or entry.get("actor") or fmt.UNKNOWN)
        what = entry.get("text") or entry.get("detail") or entry.get("target") or ""
        if isinstance(what, dict):
            what = ", ".join(f"{key}={value}" for key, value in what.items())
        rows.append(
            [
                fmt.clock(entry.get("time") or entry.get("at"), now),
                Cell(user, person=user),
                str(entry.get("action") or entry.get("what") or ""),
                str(what),
            ]
        )
    context.out("\n".join(lines(context.terminal, head, rows, (), (0, 12, 20))))
    return 0
