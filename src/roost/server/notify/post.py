"""Brings notices to people: decides what goes where and when, and has it delivered. It decides no
event and holds up nobody: each channel of each person is served by a thread of its own.

Each message is put down as being sent before it is handed over. What was being sent when the
server ended, and what the other side never confirmed, is unknown and not sent again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import structlog
from sqlalchemy import Connection

from roost.core.notices.choices import DIGEST, next_digest
from roost.core.notices.kinds import is_urgent, topic_of
from roost.core.notices.message import digest_of, message_of
from roost.core.notices.quiet import allowed_at
from roost.server.intents import Keep
from roost.server.notify.outcomes import LaterError, RefusedError, UnknownError
from roost.server.notify.people import MAIL, Person, way_of
from roost.server.notify.sending import key_of, pause_s, send
from roost.server.notify.settings import MailSettings, MailSettingsError, read_settings
from roost.server.refusal import RefusalError
from roost.store import outbox
from roost.store.bookings import notices_after
from roost.store.database import Store
from roost.store.errors import StoreError
from roost.store.notify import channel_trouble
from roost.store.outbox import Parcel

log = structlog.get_logger()
EVERY_S = 1.0
LATE_S = 86400.0
OLD_S = 3600.0
MOST_AN_HOUR = 30
MOST_SINGLE = 3
MOST_AT_ONCE = 8
_replace = msgspec.structs.replace
Key = tuple[str, str]


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
        self._again_at: dict[str, float] = {}
        self._failed: dict[str, int] = {}
        self._sent: dict[Key, list[float]] = {}
        self._busy: dict[Key, threading.Thread] = {}

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Asks it to end; a message that is being handed over has a moment for it."""
        self._leave.set()
        self._thread.join(3.0)
        for thread in list(self._busy.values()):
            thread.join(3.0)

    def settings(self) -> MailSettings | None:
        """Of the file as it is now. None where there is none, or it cannot be used: that is said
        in the log, once."""
        try:
            found = read_settings(self._path)
        except MailSettingsError as error:
            if str(error) != self._problem:
                log.error("no notice is sent", why=str(error))
            self._problem = str(error)
            return None
        self._problem = ""
        return found

    def zone(self) -> tzinfo:
        name = self._zone_name()
        return UTC if name == "UTC" else ZoneInfo(name)

    def _run(self) -> None:
        while not self._leave.wait(EVERY_S):
            self._safely(self.round)

    def _safely(self, work: Callable[[], object]) -> None:
        try:
            work()
        except (StoreError, RefusalError, FutureTimeoutError, CancelledError) as error:
            log.warning("notices could not be looked at", why=str(error))
        except Exception:
            log.exception("post")

    def round(self, *, wait: bool = False) -> None:
        """One look: what was left in the middle, what is new, what is due. `wait`: until what is
        due was tried."""
        settings = self.settings()
        if settings is None:
            return
        if not self._begun:
            self._left_in_the_middle()
            self._begun = True
        self._take_up(settings)
        with self._store.read() as connection:
            due = outbox.due_to(connection, self._clock())
        for key in due:
            if len(self._busy) >= MOST_AT_ONCE or self._leave.is_set():
                break
            if key not in self._busy and self._clock() >= self._again_at.get(key[0], 0.0):
                self._serve(settings, key)
        if wait:
            for thread in list(self._busy.values()):
                thread.join()

    def _serve(self, settings: MailSettings, key: Key) -> None:
        def work() -> None:
            try:
                self._safely(lambda: self._deliver(settings, key))
            finally:
                self._busy.pop(key, None)

        thread = threading.Thread(target=work, name="post-channel", daemon=True)
        self._busy[key] = thread
        thread.start()

    def _left_in_the_middle(self) -> None:
        with self._store.read() as connection:
            found = outbox.parcels_in(connection, outbox.SENDING, float("inf"), 10_000)
        for parcel, notice in found:
            log.warning("a notice may or may not have arrived", notice=parcel.notice,
                        user=notice["user"])  # fmt: skip
        self._put([_replace(one, state=outbox.UNKNOWN, error="the server ended")
                   for one, _ in found])  # fmt: skip

    def _take_up(self, settings: MailSettings) -> None:
        """What is new becomes a parcel for each channel that its person wants it at."""
        people: dict[tuple[int | None, str], Person] = {}
        with self._store.read() as connection:
            new = notices_after(connection, outbox.through(connection))
            for notice in new:
                whose = notice["uid"], notice["user"]
                if whose not in people:
                    people[whose] = Person.read(connection, settings, *whose)
        if not new:
            return
        now, made = self._clock(), []
        for notice in new:
            if notice["at"] < now - OLD_S:  # made while nothing was set up
                continue
            person = people[notice["uid"], notice["user"]]
            for channel in person.channels:
                way = way_of(person, channel, notice["kind"])
                if way is not None:
                    at = self._when(person, notice, now, way)
                    made.append(Parcel(notice=notice["id"], channel=channel, next_at=at))
        through = new[-1]["id"]

        def write(connection: Connection) -> None:
            outbox.add_parcels(connection, made, through)

        self._write(Keep(write))

    def _when(self, person: Person, notice: Mapping[str, Any], now: float, way: str) -> float:
        if is_urgent(notice["kind"], notice["detail"]):
            return now
        if way == DIGEST:
            return next_digest(now, person.choices.digest_hour, self.zone())
        return allowed_at(now, person.quiet, self.zone())

    # -- of one channel --------------------------------------------------------------------------

    def _deliver(self, settings: MailSettings, key: Key) -> None:
        channel, user = key
        now = self._clock()
        with self._store.read() as connection:
            found = outbox.parcels_in(connection, outbox.WAITING, now, 200, key)
            uid = found[0][1]["uid"] if found else None
            person = Person.read(connection, settings, uid, user)
        good = []
        for parcel, notice in found:
            wanted = channel in person.channels and way_of(person, channel, notice["kind"])
            if not wanted or now > _useful_until(notice):
                self._put([_replace(parcel, state=outbox.LATE)])
                continue
            at = now
            if not is_urgent(notice["kind"], notice["detail"]):
                at = allowed_at(now, person.quiet, self.zone())
            recent = self._sent[key] = [t for t in self._sent.get(key, ()) if t > now - 3600.0]
            if len(recent) >= MOST_AN_HOUR:
                at = max(at, recent[0] + 3600.0)
            if at > now:
                self._put([_replace(parcel, next_at=at)])
            else:
                good.append((parcel, notice))
        together = [good] if len(good) > MOST_SINGLE else [[one] for one in good]
        for some in together:
            if self._leave.is_set() or not self._hand_over(settings, person, key, some):
                return

    def _hand_over(
        self, settings: MailSettings, person: Person, key: Key, some: Sequence[tuple[Parcel, Any]]
    ) -> bool:
        """False where the channel is to be left alone for now."""
        try:
            said = self._said(person, some)
        except (KeyError, TypeError, ValueError):
            log.exception("a notice cannot be said", notices=[one.notice for one, _ in some])
            self._put([_replace(one, state=outbox.FAILED, error="not said") for one, _ in some])
            return True
        subject, lines = said[0] if len(said) == 1 else digest_of(person.language, said)
        of = key_of(self._server, [notice["key"] for _, notice in some])
        sending = [_replace(one, state=outbox.SENDING, tries=one.tries + 1) for one, _ in some]
        self._put(sending)
        try:
            send(settings, person, key[0], of, subject, lines, self._clock())
        except LaterError as error:
            self._later(key[0], sending, error)
            return False
        except RefusedError as error:
            log.warning("a notice was refused", channel=key[0], user=key[1], why=str(error))
            self._put([_replace(one, state=outbox.FAILED, error=str(error)) for one in sending])
            self._trouble(person, key[0], str(error))
            return True
        except UnknownError as error:
            log.warning("a notice may or may not have arrived", notice=sending[0].notice,
                        why=str(error))  # fmt: skip
            self._put([_replace(one, state=outbox.UNKNOWN, error=str(error)) for one in sending])
            return True
        self._failed.pop(key[0], None)
        self._sent.setdefault(key, []).append(self._clock())
        self._put([_replace(one, state=outbox.SENT, error="") for one in sending])
        self._trouble(person, key[0], "")
        return True

    def _said(
        self, person: Person, some: Sequence[tuple[Parcel, Any]]
    ) -> list[tuple[str, tuple[str, ...]]]:
        zone, name = self.zone(), self._zone_name()
        return [
            message_of(notice["kind"], notice["detail"], person.language, zone, name)
            for _, notice in some
        ]

    def _later(self, channel: str, sending: Sequence[Parcel], error: LaterError) -> None:
        """Mail to one address that has to wait, waits by itself; else the whole channel does."""
        whole = error.whole or channel != MAIL
        failed = sending[0].tries
        if whole:
            failed = self._failed[channel] = self._failed.get(channel, 0) + 1
            log.warning("a channel does not take notices", channel=channel, why=str(error))
        again = self._clock() + pause_s(failed)
        waiting = [
            _replace(one, state=outbox.WAITING, next_at=again, error=str(error)) for one in sending
        ]
        if whole:
            self._again_at[channel] = again

        def write(connection: Connection) -> None:
            for one in waiting:
                outbox.put_parcel(connection, one)
            if whole:
                outbox.put_off(connection, channel, again)

        self._write(Keep(write))

    def _trouble(self, person: Person, channel: str, trouble: str) -> None:
        """What the owner is shown of a channel that refuses, until it takes something again."""
        own = person.own.get(channel)
        if own is not None and own.trouble != trouble:
            self._write(Keep(lambda connection: channel_trouble(connection, channel, trouble)))

    def _put(self, parcels: Sequence[Parcel]) -> None:
        def write(connection: Connection) -> None:
            for parcel in parcels:
                outbox.put_parcel(connection, parcel)

        if parcels:
            self._write(Keep(write))


def _useful_until(notice: Mapping[str, Any]) -> float:
    """A reminder is of no use when its time is over; a digest may be a day late by itself."""
    detail = notice["detail"]
    if topic_of(notice["kind"]) == "booking_reminder" or notice["kind"] == "job_time_limit":
        return float(detail["end_at"])
    return float(notice["at"]) + 2 * LATE_S
