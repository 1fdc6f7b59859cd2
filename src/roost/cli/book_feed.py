"""`roost book feed`: secret addresses at which a calendar program subscribes to bookings."""

from __future__ import annotations

from roost.cli import format as fmt
from roost.cli.table import Cell, lines
from roost.cli.values import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def feed(context: Context) -> int:
    """Makes one and prints its address, lists them, or revokes one."""
    client = context.client()
    number = context.option("revoke")
    if number is not None:
        from roost.client.http import quote

        done: Any = client.call("DELETE", f"/v1/feeds/{quote(number)}")
        if context.json:
            context.out_json(done)
        else:
            context.out(context.say("cli_sheet.feed_revoked", feed=number))
        return 0
    if context.option("list"):
        return _list(context, client.call("GET", "/v1/feeds"))
    made: Any = client.call("POST", "/v1/feeds", _wanted(context))
    if context.json:
        context.out_json(made)
        return 0
    context.out(made.get("url") or made["path"])
    context.err(context.say("cli_sheet.feed_made", feed=made["feed"]))
    if not made.get("url"):
        context.err(context.say("cli_sheet.feed_no_url"))
    return 0


def _wanted(context: Context) -> dict[str, str]:
    chosen = [key for key in ("gpu", "group", "all") if context.option(key) is not None]
    if len(chosen) > 1:
        words = ", ".join("--" + key for key in chosen)
        raise UsageError("one_of_these", options=words)
    if not chosen:
        return {"of": "mine"}
    key = chosen[0]
    return {"of": key} if key == "all" else {"of": key, key: str(context.option(key))}


def _list(context: Context, answer: Any) -> int:
    if context.json:
        context.out_json(answer)
        return 0
    found = answer["feeds"]
    if not found:
        context.out(context.say("cli_sheet.no_feeds"))
        return 0
    say = context.say
    head = [say("cli_sheet.col." + name) for name in ("feed", "user", "of", "made", "used")]
    rows: list[list[str | Cell]] = [
        [
            each["feed"],
            Cell(each["user"], person=each["user"]),
            say("cli_sheet.of_" + each["of"], target=each["target"] or ""),
            (each["made_time"] or fmt.UNKNOWN)[:16].replace("T", " "),
            (each["used_time"] or fmt.UNKNOWN)[:16].replace("T", " "),
        ]
        for each in found
    ]
    context.out("\n".join(lines(context.terminal, head, rows)))
    return 0
