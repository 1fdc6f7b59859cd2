"""`roost book`, `roost bookings`, `roost book cancel|end`: GPUs taken for a time."""

from __future__ import annotations

from roost.cli.table import Cell, lines
from roost.client.errors import RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def book(context: Context) -> int:
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
    for name in ("repeat", "except", "user", "group"):
        if context.option(name):
            body[name] = context.option(name)
    for name in ("public", "maintenance", "wait", "skip", "dry_run"):
        if context.option(name):
            body[name] = True
    try:
        answer = context.client().book(body)
    except RoostError as error:
        return instead(context, error, "roost book")
    if context.json:
        context.out_json(answer)
        return 0
    for one in answer["bookings"]:
        code = "booking_waits" if one["state"] == "waiting" else "booked"
        if context.option("dry_run"):
            code = "would_book"
        context.out(context.say(code, booking=one["booking"], gpus=gpus_of(one), **times_of(one)))
    return 0


def instead(context: Context, error: RoostError, command: str) -> int:
    """Says what is free instead, and the commands that take it; raises what is no such refusal."""
    from roost.cli.failure import sentence

    offers: Any = error.extra.get("alternatives") or []
    if not offers or context.json:
        raise error
    text, exit_code = sentence(context, error)
    context.err(f"roost {context.command}: {text}")
    context.err(context.say("instead", offers="; ".join(map(_offer, offers[:4]))))
    for one in offers[:4]:
        gpus = " ".join(f"--gpu {index}" for index in one["gpu_indices"])
        start, end = (f"{one[name][:16]}{one[name][-6:]}" for name in ("start", "end"))
        context.err(f"  {command} {gpus} --from {start} --until {end}")
    return exit_code


def _details(context: Context) -> int:
    found = [context.client().booking(number) for number in context.given.arguments]
    if context.json:
        context.out_json({"bookings": found})
        return 0
    say = context.say
    for one in found:
        state = say("booking." + ("maintenance" if one["maintenance"] else one["state"]))
        context.out(say("cli_book.one", **{**one, "state": state}))
        context.out(say("cli_book.when", gpus=gpus_of(one), **times_of(one)))
        if one["purpose"]:
            context.out(say("cli_book.what_for", purpose=one["purpose"]))
        if one["repeat"]:
            context.out(say("cli_book.repeats", series=one["series"], rule=one["repeat"]))
        made = str(one["made_time"])[:16].replace("T", " ")
        context.out(say("cli_book.made", time=made, user=one["made_by"]))
        if one["used_time"]:
            used = str(one["used_time"])[:16].replace("T", " ")
            context.out(say("cli_book.first_used", time=used))
    return 0


def bookings(context: Context) -> int:
    if context.given.arguments:
        return _details(context)
    answer = context.client().bookings(user=context.option("user"))
    if context.json:
        context.out_json(answer)
        return 0
    rows: list[list[str | Cell]] = []
    for one in answer["bookings"]:
        state = "maintenance" if one["maintenance"] else one["state"]
        times = times_of(one)
        rows.append(
            [
                str(one["booking"]), Cell(one["user"], person=one["user"]), gpus_of(one),
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
    whole = bool(context.option("series"))
    done = [context.client().cancel_booking(number, whole) for number in context.given.arguments]
    if context.json:
        context.out_json({"bookings": done})
        return 0
    for one in done:
        state = context.say("booking." + one["state"])
        numbers = ", ".join(map(str, one.get("closed") or [one["booking"]]))
        context.out(context.say("booking_closed", booking=numbers, state=state))
    return 0


def gpus_of(one: Any) -> str:
    return ",".join(map(str, one["gpu_indices"])) or f"×{one['wanted']}"


def times_of(one: Any) -> dict[str, str]:
    return {name: str(one[name])[:16].replace("T", " ") for name in ("start", "end")}


def _offer(one: Any) -> str:
    times = times_of(one)
    gpus = ",".join(map(str, one["gpu_indices"]))
    return f"GPU {gpus} {times['start']} – {times['end']}"
