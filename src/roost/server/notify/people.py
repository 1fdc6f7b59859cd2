"""Whom a notice is for: what they chose, over what the operators set for all. Must not send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time as clock

from sqlalchemy import Connection

from roost.core.notices.address import AddressError, read_address
from roost.core.notices.choices import Choices
from roost.core.notices.kinds import topic_of
from roost.server.notify.settings import MailSettings, Recipient
from roost.store.notify import ChannelRecord, channels_of, choices_of

MAIL = "mail"


@dataclass(frozen=True, slots=True)
class Person:
    """`channels`: "mail" where there is an address, and the ids of those `own` that the operators
    allow. `quiet` and `language` are those that hold."""

    user: str
    mail: Recipient | None
    choices: Choices
    own: Mapping[str, ChannelRecord]
    channels: tuple[str, ...]
    language: str
    quiet: tuple[clock, clock] | None

    @classmethod
    def read(
        cls, connection: Connection, settings: MailSettings | None, uid: int | None, user: str
    ) -> Person:
        choices, own = Choices(), {}
        if uid is not None:
            choices = choices_of(connection, uid, user)
            own = {one.id: one for one in channels_of(connection, uid, user)}
        mail = None if settings is None else settings.recipient(user)
        base = None if settings is None else settings.people.get(user, settings.default)
        usable = tuple(number for number, one in own.items() if _allowed(settings, one))
        return cls(
            user, mail, choices, own, ((MAIL,) if mail is not None else ()) + usable,
            choices.language or (base.language if base else "en"),
            choices.quiet_or(base.quiet if base else None),
        )  # fmt: skip


def _allowed(settings: MailSettings | None, channel: ChannelRecord) -> bool:
    """The operators may have changed their mind since it was made."""
    try:
        return settings is not None and settings.channels.allow(read_address(channel.address))
    except AddressError:
        return False


def way_of(person: Person, channel: str, kind: str) -> str | None:
    """How a notice of that kind goes to that channel: "now", "digest" or not. What the operators
    switched off for mail stays off until the person chooses for themselves."""
    return way_of_topic(person, channel, topic_of(kind), kind)


def way_of_topic(person: Person, channel: str, topic: str, *kinds: str) -> str | None:
    """The same of a topic, and of those of its kinds that are asked about."""
    if channel == MAIL and MAIL not in person.choices.wanted:
        off = frozenset() if person.mail is None else person.mail.off
        if off & {"all", topic, *kinds}:
            return None
    return person.choices.way(channel, topic)
