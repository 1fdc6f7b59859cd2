"""What I am told of my bookings and jobs, how and where."""

from __future__ import annotations

import sys

from roost.cli.failure import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def show(context: Context) -> int:
    return _shown(context, context.client().notifications())


def _shown(context: Context, answer: Any) -> int:
    if context.json:
        context.out_json(answer)
        return 0
    say = context.say
    for one in answer["channels"]:
        context.out(_channel(context, one))
        for topic in answer["topics"]:
            way = say("cli_notify.way_" + one["wanted"].get(topic, "off"))
            words = say("cli_notify.topic_" + topic, fallback=topic)
            context.out(f"  {topic:<18}{way}  {words}")
    if not answer["channels"]:
        context.out(say("cli_notify.no_channels"))
    quiet = answer["quiet_now"] or say("cli_notify.never")
    context.out(say("cli_notify.quiet", quiet=quiet, zone=answer["time_zone"]))
    context.out(say("cli_notify.digest", hour=answer["digest_hour"]))
    may = ", ".join([*answer["services"], *answer["webhooks"]]) or say("cli_notify.nothing")
    context.out(say("cli_notify.may", may=may))
    if answer["unread"]:
        context.out(say("cli_notify.unread", count=answer["unread"]))
    return 0


def _channel(context: Context, one: Any) -> str:
    name = f" ({one['name']})" if one["name"] else ""
    head = f"{one['channel']}  {one['address']}{name}"
    if not one["allowed"]:
        return f"{head}  {context.say('cli_notify.not_allowed')}"
    if one["trouble"]:
        return f"{head}  {context.say('cli_notify.trouble', trouble=one['trouble'])}"
    return head


def change(context: Context) -> int:
    """Changes what is named, and leaves the rest as it is."""
    client = context.client()
    now: Any = client.notifications()
    option = context.option
    topics, way, channel = option("topic") or [], option("as"), option("channel")
    if bool(topics) != bool(way):
        raise CommandError("topic_and_as", 2)
    known = {one["channel"]: one for one in now["channels"]}
    if channel is not None and channel not in known:
        raise CommandError("no_channel", 1, channel=channel)
    wanted = {number: dict(one["wanted"]) for number, one in known.items()}
    for number in [channel] if channel else list(known):
        for topic in now["topics"] if topics == ["all"] else topics:
            wanted[number].pop(topic, None)
            if way in ("now", "digest"):
                wanted[number][topic] = way
    body: dict[str, Any] = {
        "language": option("language") or now["language"],
        "quiet": now["quiet"],
        "digest_hour": now["digest_hour"] if option("digest_hour") is None
        else option("digest_hour"),
    }  # fmt: skip
    if option("quiet") is not None:
        body["quiet"] = "" if option("quiet") in ("none", "") else option("quiet")
    # Who changes no topic keeps following what is on for everybody.
    body["wanted"] = wanted if topics else _chosen(now, wanted)
    return _shown(context, client.choose_notifications(body))


def _chosen(now: Any, wanted: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return {number: topics for number, topics in wanted.items() if number in now["chosen"]}


def add(context: Context) -> int:
    """The address is a secret, so it is read from standard input and stands in no list of
    processes nor in the shell's history."""
    if sys.stdin.isatty():
        import getpass

        address = getpass.getpass(context.say("cli_notify.ask_address"))
    else:
        address = sys.stdin.readline(1000)
    made: Any = context.client().add_channel(address.strip(), context.option("name", ""))
    if context.json:
        context.out_json(made)
        return 0
    context.out(context.say("cli_notify.added", channel=made["channel"], address=made["address"]))
    return 0


def remove(context: Context) -> int:
    channels = context.given.arguments
    for channel in channels:
        context.client().remove_channel(channel)
        if not context.json:
            context.out(context.say("cli_notify.removed", channel=channel))
    if context.json:
        context.out_json({"removed": channels})
    return 0


def test(context: Context) -> int:
    """Exit code 1 where it was not taken."""
    channel = context.given.arguments[0]
    tested: Any = context.client().test_channel(channel)
    if context.json:
        context.out_json(tested)
    elif tested["sent"]:
        context.out(context.say("cli_notify.tested", channel=channel))
    else:
        context.out(
            context.say("cli_notify.not_tested", channel=channel, problem=tested["problem"])
        )
    return 0 if tested["sent"] else 1


def listed(context: Context) -> int:
    """The newest notices, which are read thereby."""
    answer: Any = context.client().notices(context.option("limit") or 20)
    found = answer["notices"]
    if found:
        context.client().read_notices(found[0]["notice"])
    if context.json:
        context.out_json(answer)
        return 0
    if not found:
        context.out(context.say("cli_notify.no_notices"))
    for one in reversed(found):
        context.out(f"{str(one['time'])[:16].replace('T', ' ')}  {one['subject']}")
    return 0
