"""What becomes of a booking: moved, longer or shorter, handed over, swapped."""

from __future__ import annotations

from datetime import datetime, timedelta

from roost.cli.book import gpus_of, instead, times_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def extend(context: Context) -> int:
    """`--by` from its end, or `--until`, which may be earlier: it is shorter then."""
    from roost.cli.run import point_in_rules_zone
    from roost.cli.values import UsageError

    (number,) = context.given.arguments
    until, by = context.option("until"), context.option("by")
    if (until is None) == (by is None):
        raise UsageError("book_by_or_until")
    if until is not None:
        end = point_in_rules_zone(context, "--until", until).isoformat(timespec="seconds")
    else:
        one = context.client().booking(number)
        # Elapsed time: an offset stays as it is, the daemon shows the rules' zone.
        later = datetime.fromisoformat(str(one["end"])) + timedelta(seconds=by)
        end = later.isoformat(timespec="seconds")
    return _change(context, number, {"end": end})


def move(context: Context) -> int:
    from roost.cli.run import point_in_rules_zone
    from roost.cli.values import UsageError

    (number,) = context.given.arguments
    body: dict[str, Any] = {}
    for option, name in (("from", "start"), ("until", "end")):
        if context.option(option):
            at = point_in_rules_zone(context, f"--{option}", context.option(option))
            body[name] = at.isoformat(timespec="seconds")
    if context.option("for"):
        body["duration_s"] = int(context.option("for"))
    for option, name in (("gpus", "gpus"), ("gpu", "chosen"), ("purpose", "purpose")):
        if context.option(option):
            body[name] = context.option(option)
    if not body:
        raise UsageError("book_move_what")
    if context.option("dry_run"):
        body["dry_run"] = True
    return _change(context, number, body)


def _change(context: Context, number: int, body: dict[str, Any]) -> int:
    from roost.client.errors import RoostError

    try:
        one = context.client().change_booking(number, body)
    except RoostError as error:
        return instead(context, error, f"roost book move {number}")
    if context.json:
        context.out_json({"bookings": [one]})
        return 0
    context.out(context.say("cli_book.changed", booking=number, gpus=gpus_of(one), **times_of(one)))
    return 0


def give(context: Context) -> int:
    number, user = context.given.arguments
    one = context.client().give_booking(int(number), user)
    if context.json:
        context.out_json({"bookings": [one]})
        return 0
    context.out(context.say("cli_book.given", booking=number, user=one["user"]))
    return 0


def swap(context: Context) -> int:
    number, other = context.given.arguments
    answer = context.client().swap_bookings(number, other)
    if context.json:
        context.out_json(answer)
        return 0
    first, second = answer["bookings"]
    code = "swapped" if answer["swapped"] else "swap_asked"
    user = first["user"] if answer["swapped"] else second["user"]
    context.out(
        context.say("cli_book." + code, one=number, other=other, user=user, second=second["user"])
    )
    return 0
