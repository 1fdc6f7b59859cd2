"""One message by whichever channel. Must not know of the outbox."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

from roost.core.notices.address import AddressError, read_address
from roost.server.notify import mail
from roost.server.notify.outcomes import RefusedError
from roost.server.notify.people import MAIL, Person
from roost.server.notify.settings import MailSettings

FIRST_RETRY_S, LONGEST_RETRY_S = 5.0, 900.0


def send(
    settings: MailSettings,
    person: Person,
    channel: str,
    key: str,
    subject: str,
    lines: tuple[str, ...],
    now: float,
) -> None:
    """Returns when the other side has it. Raises LaterError, RefusedError, UnknownError."""
    if channel == MAIL:
        if person.mail is None:
            raise RefusedError("no mail address")
        to = person.mail.address
        mail.send(settings, to, mail.compose(settings, to, key, subject, lines, now))
        return
    # Loaded when the first message goes out: Apprise is heavy.
    from roost.server.notify.channels import deliver

    own = person.own.get(channel)
    try:
        address = None if own is None else read_address(own.address)
    except AddressError:
        address = None
    if address is None or not settings.channels.allow(address):
        raise RefusedError("the operators do not allow this address any more")
    deliver(address, settings.channels.guard(address), subject, lines)


def key_of(server: str, keys: Sequence[str]) -> str:
    """The same for the same notices of the same server, for ever."""
    return hashlib.sha256(f"{server}:{' '.join(keys)}".encode()).hexdigest()[:32]


def pause_s(tries: int) -> float:
    """Twice as long each time, and never at one time with others."""
    whole = min(LONGEST_RETRY_S, FIRST_RETRY_S * 2.0 ** min(tries - 1, 10))
    return whole * random.uniform(0.8, 1.2)  # noqa: S311 - no secret
