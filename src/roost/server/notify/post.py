"""The thread that brings notices to people by mail. It decides no event and holds up nobody.

Each message is put down as being sent before it is handed over. What was being sent when the
server ended, and what the mail server never confirmed, is unknown and not sent again.
"""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import structlog
from sqlalchemy import Connection

from roost.core.notices.kinds import ON, is_urgent, topic_of
from roost.core.notices.message import message_of
from roost.core.notices.quiet import allowed_at
from roost.server.intents import Keep
from roost.server.notify import mail
from roost.server.notify.settings import MailSettings, MailSettingsError, Recipient, read_settings
from roost.server.refusal import RefusalError
from roost.store import outbox
from roost.store.bookings import notices_after
from roost.store.database import Store
from roost.store.errors import StoreError
from roost.store.outbox import Parcel

log = structlog.get_logger()
MAIL = "mail"
EVERY_S = 1.0
FIRST_RETRY_S, LONGEST_RETRY_S = 5.0, 900.0
LATE_S = 86400.0
OLD_S = 3600.0
MOST_AN_HOUR = 30
_replace = msgspec.structs.replace


class Post:
    """One a server. `write` stores by the control thread and returns after the commit; `zone` is
    that of the rules in force; `server` makes Message-IDs its own."""

    def __init__(
        self,
        store: Store,
        write: Callable[[Keep], object],
        zone: Callable[[], str],
        path: Path,
        server: str,
        clock: Callable[[], float],
    ) -> None:
        self._store, self._write, self._zone_name = store, write, zone
        self._path, self._server, self._clock = path, server, clock
        self._leave = threading.Event()
        self._thread = threading.Thread(target=self._run, name="post", daemon=True)
        self._begun = False
        self._problem = ""
        self._server_again_at = 0.0
        self._server_failed = 0
        self._sent: dict[str, list[float]] = {}

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Asks it to end; a message that is being handed over has a moment for it."""
        self._leave.set()
        self._thread.join(3.0)

    def _run(self) -> None:
        while not self._leave.wait(EVERY_S):
            try:
                self.round()
            except (StoreError, RefusalError, FutureTimeoutError, CancelledError) as error:
                log.warning("notices could not be looked at", why=str(error))
            except Exception:
                log.exception("post")

    def round(self) -> None:
        """One look: what was left in the middle, what is new, what is due."""
        settings = self._settings()
        if settings is None:
            return
        if not self._begun:
            self._left_in_the_middle()
            self._begun = True
        self._take_up(settings)
        now = self._clock()
        if now < self._server_again_at:
            return
        with self._store.read() as connection:
            found = outbox.parcels_in(connection, outbox.WAITING, now)
        for parcel, notice in found:
            if self._leave.is_set() or self._clock() < self._server_again_at:
                return
            self._one(settings, parcel, notice)

    def _settings(self) -> MailSettings | None:
        try:
            found = read_settings(self._path)
        except MailSettingsError as error:
            if str(error) != self._problem:
                log.error("no mail is sent", why=str(error))
            self._problem = str(error)
            return None
        self._problem = ""
        return found

    def _zone(self) -> tzinfo:
        name = self._zone_name()
        return UTC if name == "UTC" else ZoneInfo(name)

    def _left_in_the_middle(self) -> None:
        with self._store.read() as connection:
            found = outbox.parcels_in(connection, outbox.SENDING, float("inf"))
        for parcel, notice in found:
            log.warning("a notice may or may not have arrived", notice=parcel.notice,
                        user=notice["user"])  # fmt: skip
            self._put(_replace(parcel, state=outbox.UNKNOWN, error="the server ended"))

    def _take_up(self, settings: MailSettings) -> None:
        with self._store.read() as connection:
            last = outbox.through(connection)
            new = notices_after(connection, last)
        if not new:
            return
        now = self._clock()
        made = []
        for notice in new:
            to = settings.recipient(notice["user"])
            # What lies far back was made while no mail was set up.
            if to is None or not _wanted(to, notice) or notice["at"] < now - OLD_S:
                continue
            made.append(
                Parcel(notice=notice["id"], channel=MAIL, next_at=self._when(to, notice, now))
            )
        through = new[-1]["id"]

        def write(connection: Connection) -> None:
            outbox.add_parcels(connection, made, through)

        self._write(Keep(write))

    def _when(self, to: Recipient, notice: Mapping[str, Any], now: float) -> float:
        if is_urgent(notice["kind"], notice["detail"]):
            return now
        return allowed_at(now, to.quiet, self._zone())

    def _one(self, settings: MailSettings, parcel: Parcel, notice: Mapping[str, Any]) -> None:
        now = self._clock()
        to = settings.recipient(notice["user"])
        if to is None or not _wanted(to, notice) or now > _useful_until(notice):
            self._put(_replace(parcel, state=outbox.LATE))
            return
        at = self._when(to, notice, now)
        recent = [one for one in self._sent.get(to.address, ()) if one > now - 3600.0]
        self._sent[to.address] = recent
        if len(recent) >= MOST_AN_HOUR:
            at = max(at, recent[0] + 3600.0)
        if at > now:
            self._put(_replace(parcel, next_at=at))
            return
        subject, lines = message_of(
            notice["kind"], notice["detail"], to.language, self._zone(), self._zone_name()
        )
        key = hashlib.sha256(f"{self._server}:{notice['key']}".encode()).hexdigest()[:32]
        raw = mail.compose(settings, to.address, key, subject, lines, now)
        sending = _replace(parcel, state=outbox.SENDING, tries=parcel.tries + 1)
        self._put(sending)
        self._put(self._sent_or_not(settings, to, sending, raw))

    def _sent_or_not(
        self, settings: MailSettings, to: Recipient, parcel: Parcel, raw: bytes
    ) -> Parcel:
        try:
            mail.send(settings, to.address, raw)
        except mail.LaterError as error:
            again = self._clock() + _pause(parcel.tries)
            if error.whole:
                self._server_failed += 1
                self._server_again_at = self._clock() + _pause(self._server_failed)
                again = self._server_again_at
                log.warning("the mail server does not take mail", host=settings.host,
                            why=str(error))  # fmt: skip
            return _replace(parcel, state=outbox.WAITING, next_at=again, error=str(error))
        except mail.RefusedError as error:
            log.warning("a notice was refused", notice=parcel.notice, why=str(error))
            return _replace(parcel, state=outbox.FAILED, error=str(error))
        except mail.UnknownError as error:
            log.warning("a notice may or may not have arrived", notice=parcel.notice,
                        why=str(error))  # fmt: skip
            return _replace(parcel, state=outbox.UNKNOWN, error=str(error))
        self._server_failed = 0
        self._sent[to.address].append(self._clock())
        return _replace(parcel, state=outbox.SENT, error="")

    def _put(self, parcel: Parcel) -> None:
        def write(connection: Connection) -> None:
            outbox.put_parcel(connection, parcel)

        self._write(Keep(write))


def _wanted(to: Recipient, notice: Mapping[str, Any]) -> bool:
    topic = topic_of(notice["kind"])
    return topic in ON and not to.off & {"all", notice["kind"], topic}


def _useful_until(notice: Mapping[str, Any]) -> float:
    """A reminder is of no use when its time is over."""
    detail = notice["detail"]
    if notice["kind"] in ("booking_starts", "booking_ends", "job_time_limit"):
        return float(detail["end_at"])
    return float(notice["at"]) + LATE_S


def _pause(tries: int) -> float:
    """Twice as long each time, and never at one time with others."""
    whole = min(LONGEST_RETRY_S, FIRST_RETRY_S * 2.0 ** min(tries - 1, 10))
    return whole * random.uniform(0.8, 1.2)  # noqa: S311 - no secret
