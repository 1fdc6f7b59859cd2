"""Routes of what each person is told, how and where: their own alone, an operator's too.

The address of a channel goes in and never comes out: it is shown masked, and put in no log.
"""

from __future__ import annotations

import math
import secrets
from typing import Annotated, Literal, NoReturn
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from roost.core.notices.address import Address, AddressError, read_address
from roost.core.notices.choices import Choices
from roost.core.notices.kinds import TOPICS, topic_of
from roost.core.notices.message import message_of
from roost.core.notices.quiet import read_quiet
from roost.core.text.catalogue import say
from roost.server.api.context import Call, Caller, answer
from roost.server.api.models import DoneOut
from roost.server.api.render import iso
from roost.server.api.shapes import In, Out
from roost.server.intents import Keep
from roost.server.notify.outcomes import LaterError, RefusedError, UnknownError
from roost.server.notify.people import MAIL, Person, way_of_topic
from roost.server.notify.sending import send
from roost.server.notify.settings import MailSettings
from roost.server.refusal import RefusalError
from roost.server.web.access import audit_by
from roost.store import notify as rows
from roost.store.bookings import notices_of
from roost.store.notify import ChannelRecord

router = APIRouter(prefix="/v1", tags=["notifications"])
MOST_CHANNELS = 10
Way = Literal["now", "digest"]
_Word = Annotated[str, Field(max_length=64)]
_Number = Annotated[str, Path(max_length=64)]


class ChoicesIn(In):
    """All of it, in place of what was: see `GET /v1/notifications`. `wanted` by channel and topic;
    a channel that is not in it has the topics that are on for everybody."""

    language: Literal["en", "zh"] | None = None
    quiet: Annotated[str, Field(max_length=20)] | None = None
    digest_hour: Annotated[int, Field(ge=0, le=23)] = 8
    wanted: Annotated[dict[_Word, dict[_Word, Way]], Field(max_length=20)] = Field(default={})


class ChannelIn(In):
    address: Annotated[str, Field(max_length=500)]
    name: Annotated[str, Field(max_length=64)] = ""


class ChannelOut(Out):
    channel: str
    kind: str
    name: str
    address: str
    allowed: bool
    trouble: str | None
    wanted: dict[str, Way]


class NotificationsOut(Out):
    language: str | None
    quiet: str | None
    quiet_now: str | None
    digest_hour: int
    time_zone: str
    topics: list[str]
    chosen: list[str]
    channels: list[ChannelOut]
    services: list[str]
    webhooks: list[str]
    unread: int


class TestedOut(Out):
    sent: bool
    problem: str | None


class NoticeOut(Out):
    notice: int
    time: str | None
    kind: str
    topic: str
    subject: str
    lines: list[str]


class NoticesOut(Out):
    notices: list[NoticeOut]
    unread: int


class ReadIn(In):
    through: Annotated[int, Field(ge=0, lt=2**63)]


async def _settings(call: Call) -> MailSettings | None:
    post = call.context.post
    return None if post is None else await call.context.in_thread(post.settings)


async def _person(call: Call, settings: MailSettings | None) -> tuple[Person, int]:
    """What holds for the caller, and how many notices are unread."""
    uid, user = call.person.uid, call.person.name

    def look() -> tuple[Person, int]:
        with call.context.store.read() as connection:
            person = Person.read(connection, settings, uid, user)
            return person, rows.unread(connection, uid, user)

    return await call.context.in_thread(look)


def _shown(person: Person) -> list[dict[str, object]]:
    """The person's channels, without what is secret in them."""
    found: list[dict[str, object]] = []
    if person.mail is not None:
        found.append({"channel": MAIL, "kind": MAIL, "name": "", "allowed": True, "trouble": None,
                      "address": person.mail.address, "wanted": _wanted(person, MAIL)})  # fmt: skip
    for one in person.own.values():
        allowed = one.id in person.channels
        found.append(_own(person, one, read_address(one.address), allowed))
    return found


def _own(person: Person, one: ChannelRecord, address: Address, allowed: bool) -> dict[str, object]:
    return {"channel": one.id, "kind": address.kind, "name": one.name, "address": address.masked,
            "allowed": allowed, "trouble": one.trouble or None,
            "wanted": _wanted(person, one.id)}  # fmt: skip


def _wanted(person: Person, channel: str) -> dict[str, str]:
    ways = {topic: way_of_topic(person, channel, topic) for topic in TOPICS}
    return {topic: way for topic, way in ways.items() if way is not None}


def _unknown(channel: str) -> NoReturn:
    raise RefusalError(404, "notify.no_channel", {"channel": channel}, channel=channel)


@router.get("/notifications", response_model=NotificationsOut)
async def notifications(call: Caller) -> Response:
    """What the caller is told, how and where. `quiet_now`: the hours that hold, the caller's or
    else the operators'; `chosen`: the channels whose topics the caller chose."""
    settings = await _settings(call)
    person, unread = await _person(call, settings)
    quiet = person.quiet
    return answer(
        {
            "language": person.choices.language,
            "quiet": person.choices.quiet,
            "quiet_now": None if quiet is None else f"{quiet[0]:%H:%M}-{quiet[1]:%H:%M}",
            "digest_hour": person.choices.digest_hour,
            "time_zone": call.context.time_zone,
            "topics": list(TOPICS),
            "chosen": list(person.choices.wanted),
            "channels": _shown(person),
            "services": list(settings.channels.services) if settings else [],
            "webhooks": list(settings.channels.webhooks) if settings else [],
            "unread": unread,
        }
    )


@router.put("/notifications", response_model=NotificationsOut)
async def choose(call: Caller, given: ChoicesIn) -> Response:
    """Replaces the caller's choices."""
    person, _ = await _person(call, await _settings(call))
    try:
        read_quiet(given.quiet or "")
    except ValueError:
        raise RefusalError(422, "notify.quiet_unreadable", {"key": "quiet"}) from None
    for channel, topics in given.wanted.items():
        if channel != MAIL and channel not in person.own:
            _unknown(channel)
        for topic in topics:
            if topic not in TOPICS:
                raise RefusalError(
                    422, "notify.no_topic", {"key": "wanted"}, topic=topic, topics=", ".join(TOPICS)
                )
    uid, user = call.person.uid, call.person.name
    chosen = Choices(given.language, given.quiet, given.digest_hour, given.wanted)
    await call.context.intend(
        Keep(lambda connection: rows.put_choices(connection, uid, user, chosen))
    )
    return await notifications(call)


@router.post("/notifications/channels", response_model=ChannelOut, status_code=201)
async def add(call: Caller, given: ChannelIn) -> Response:
    """A channel of the caller's: the address as the service gives it, or Apprise's short form."""
    settings = await _settings(call)
    try:
        address = read_address(given.address)
    except AddressError as error:
        raise RefusalError(
            422, f"notify.{error.code}", {"key": "address"}, **error.numbers
        ) from None
    if settings is None:
        raise RefusalError(409, "notify.not_set_up")
    if not settings.channels.allow(address):
        which = "webhook" if address.kind == "webhook" else "service"
        raise RefusalError(
            403, f"notify.{which}_not_allowed", kind=address.kind, origin=address.origin
        )
    person, _ = await _person(call, settings)
    user = call.person.name
    if len(person.own) >= MOST_CHANNELS:
        raise RefusalError(
            409, "notify.too_many_channels", {"limit": MOST_CHANNELS}, user=user,
            limit=MOST_CHANNELS,
        )  # fmt: skip
    made = ChannelRecord(
        secrets.token_hex(6), call.person.uid, user, given.name, given.address.strip(),
        call.context.clock(),
    )  # fmt: skip
    said = audit_by(call.person, "notify-add", subject=f"channel {made.id}", detail=address.kind)
    await call.context.intend(Keep(lambda connection: rows.add_channel(connection, made), (said,)))
    return answer(_own(person, made, address, True), 201)


@router.delete("/notifications/channels/{channel}", response_model=DoneOut)
async def remove(call: Caller, channel: _Number) -> Response:
    """Forgets a channel of the caller's, and what was on its way to it."""
    person, _ = await _person(call, await _settings(call))
    if channel not in person.own:
        _unknown(channel)
    said = audit_by(call.person, "notify-remove", subject=f"channel {channel}")
    await call.context.intend(
        Keep(lambda connection: rows.drop_channel(connection, channel), (said,))
    )
    return answer({"done": True})


@router.post("/notifications/channels/{channel}/test", response_model=TestedOut)
async def test(call: Caller, channel: _Number) -> Response:
    """Sends a test there now, and tells what came of it."""
    context, settings = call.context, await _settings(call)
    person, _ = await _person(call, settings)
    if channel not in person.own and not (channel == MAIL and person.mail is not None):
        _unknown(channel)
    if settings is None:
        raise RefusalError(409, "notify.not_set_up")
    wait_s = math.ceil(context.notify_tests.wait_s(call.person.name))
    if wait_s > 0:
        raise RefusalError(429, "notify.tests_too_often", {"wait_s": wait_s}, wait_s=wait_s)
    context.notify_tests.take(call.person.name)
    subject = say(person.language, "notice.test", user=call.person.name)
    key, now = secrets.token_hex(16), context.clock()
    usable = settings

    def attempt() -> str | None:
        try:
            send(usable, person, channel, key, subject, (subject,), now)
        except (LaterError, RefusedError, UnknownError) as error:
            return str(error)
        return None

    problem = await context.in_thread(attempt)
    return answer({"sent": problem is None, "problem": problem})


@router.get("/notices", response_model=NoticesOut)
async def notices(call: Caller, limit: Annotated[int, Query(ge=1, le=200)] = 50) -> Response:
    """The caller's newest notices, newest first, in words."""
    uid, user, context = call.person.uid, call.person.name, call.context
    zone = ZoneInfo(context.time_zone)

    def look() -> dict[str, object]:
        with context.store.read() as connection:
            found = [
                one for one in notices_of(connection, user, limit) if one["uid"] in (uid, None)
            ]
            unread = rows.unread(connection, uid, user)
        told = []
        for one in found:
            subject, lines = message_of(
                one["kind"], one["detail"], call.language, zone, context.time_zone
            )
            told.append(
                {"notice": one["id"], "time": iso(one["at"], context.time_zone),
                 "kind": one["kind"], "topic": topic_of(one["kind"]), "subject": subject,
                 "lines": list(lines[1:])}
            )  # fmt: skip
        return {"notices": told, "unread": unread}

    return answer(await context.in_thread(look))


@router.post("/notices/read", response_model=DoneOut)
async def read(call: Caller, given: ReadIn) -> Response:
    """Notices up to that number were seen by the caller."""
    uid, user = call.person.uid, call.person.name
    await call.context.intend(
        Keep(lambda connection: rows.mark_read(connection, uid, user, given.through))
    )
    return answer({"done": True})
