"""`roost book`, `roost bookings`, `roost book cancel`: GPUs taken for a time."""

from __future__ import annotations

from roost.cli.table import Cell, lines
from roost.client.errors import RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def book(context: Context) -> int:
    from roost.cli.failure import sentence
    from roost.cli.run import point_in_rules_zone
    from roost.cli.values import UsageError

    until, span = context.option("until"), context.option("for")
    if (until is None) == (span is None):
        raise UsageError("book_how_long")
    start = point_in_rules_zone(context, "--from", context.option("from") or "now")
    body: dict[str, Any] = {
        "start": start.isoformat(timespec="seconds"),
        "purpose": context.option("purpose") or "",
    }
    if until is not None:
        end = point_in_rules_zone(context, "--until", until)
        body["end"] = end.isoformat(timespec="seconds")
    else:
        body["duration_s"] = int(span)
    for option, name in (("gpus", "gpus"), ("gpu", "chosen"), ("gpu_mem", "gpu_memory_bytes")):
        if context.option(option):
            body[name] = context.option(option)
    for name in ("public", "maintenance", "wait", "dry_run"):
        if context.option(name):
            body[name] = True
    try:
        answer = context.client().book(body)
    except RoostError as error:
        offers: Any = error.extra.get("alternatives") or []
        if not offers or context.json:
            raise
        text, exit_code = sentence(context, error)
        context.err(f"roost book: {text}")
        context.err(context.say("instead", offers="; ".join(map(_offer, offers[:4]))))
        return exit_code
    if context.json:
        context.out_json(answer)
        return 0
    for one in answer["bookings"]:
        code = "booking_waits" if one["state"] == "waiting" else "booked"
        if context.option("dry_run"):
            code = "would_book"
        context.out(context.say(code, booking=one["booking"], gpus=_gpus(one), **_times(one)))
    return 0


def bookings(context: Context) -> int:
    answer = context.client().bookings(user=context.option("user"))
    if context.json:
        context.out_json(answer)
        return 0
    rows: list[list[str | Cell]] = []
    for one in answer["bookings"]:
        state = "maintenance" if one["maintenance"] else one["state"]
        times = _times(one)
        rows.append(
            [
                str(one["booking"]), Cell(one["user"], person=one["user"]), _gpus(one),
                times["start"], times["end"], context.say("booking." + state),
                one["purpose"] or "",
            ]
        )  # fmt: skip
    if not rows:
        context.out(context.say("no_bookings"))
        return 0
    names = ("booking", "user", "gpus", "from", "until", "state", "purpose")
    head = [context.say("col." + name) for name in names]
    context.out("\n".join(lines(context.terminal, head, rows, ())))
    return 0


def cancel(context: Context) -> int:
    done = [context.client().cancel_booking(number) for number in context.given.arguments]
    if context.json:
        context.out_json({"bookings": done})
        return 0
    for one in done:
        state = context.say("booking." + one["state"])
        context.out(context.say("booking_closed", booking=one["booking"], state=state))
    return 0


def _gpus(one: Any) -> str:
    return ",".join(map(str, one["gpu_indices"])) or f"×{one['wanted']}"


def _times(one: Any) -> dict[str, str]:
    return {name: str(one[name])[:16].replace("T", " ") for name in ("start", "end")}


def _offer(one: Any) -> str:
    times = _times(one)
    gpus = ",".join(map(str, one["gpu_indices"]))
    return f"GPU {gpus} {times['start']} – {times['end']}"
