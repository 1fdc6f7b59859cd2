"""Who was let in: sessions of the page and tokens of the API, in memory and in the store alike.

Secrets are made here, given out once, and kept as SHA-256 alone. Belongs to the event loop; every
change is written by the control thread before it counts.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection

from roost.server.intents import Keep, Person
from roost.store import access as rows
from roost.store.access import SessionRecord, TokenRecord
from roost.store.database import Store
from roost.store.records import AuditRecord

IDLE_S = 3 * 86400.0
LONGEST_S = 14 * 86400.0
MOST_SESSIONS = 20
SIGNED = "roost.signed"
ADDRESS = "roost.address"
SECURE = "roost.secure"
PREFIX = "roost.prefix"
ORIGIN = "roost.origin"
COOKIE = "roost_session"
TOKEN_START = "roost_"  # noqa: S105 - what every token begins with, so that scanners know one
Intend = Callable[[Keep], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Signed:
    """By what a request over HTTP comes in: one of the two is there."""

    session: SessionRecord | None = None
    token: TokenRecord | None = None

    @property
    def record(self) -> SessionRecord | TokenRecord:
        found = self.session or self.token
        assert found is not None
        return found


def sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def csrf_of(secret: str) -> str:
    """What a session's page sends with every change: only who has the cookie can know it, and
    the cookie cannot be told from it."""
    return hashlib.sha256(b"csrf:" + secret.encode("utf-8", "surrogatepass")).hexdigest()[:40]


class Access:
    """One a server. `intend` stores; `clock` is the time of day."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        """Raises StoreError."""
        self._clock = clock
        with store.read() as connection:
            self._sessions = {one.sha256: one for one in rows.sessions(connection)}
            self._tokens = {one.sha256: one for one in rows.tokens(connection)}
        self._seen: dict[str, float] = {}
        self._used: dict[str, float] = {}

    # -- sessions --------------------------------------------------------------------------------

    def session_of(self, secret: str) -> SessionRecord | None:
        """The live session that this secret opens; it counts as used now."""
        found = self._sessions.get(sha256(secret))
        if found is None or not self._live(found):
            return None
        self._seen[found.id] = self._clock()
        return found

    def _live(self, session: SessionRecord) -> bool:
        now, seen = self._clock(), max(session.seen_at, self._seen.get(session.id, 0.0))
        return now < session.expires_at and now < seen + IDLE_S

    def sessions(self, uid: int | None = None) -> list[SessionRecord]:
        """The live ones, of one account or of all, the last used first."""
        found = [
            msgspec.structs.replace(one, seen_at=max(one.seen_at, self._seen.get(one.id, 0.0)))
            for one in self._sessions.values()
            if (uid is None or one.uid == uid) and self._live(one)
        ]
        return sorted(found, key=lambda one: -one.seen_at)

    async def open_session(
        self, intend: Intend, person: Person, address: str, browser: str, method: str
    ) -> tuple[SessionRecord, str]:
        """A new session and its secret. The person's oldest end beyond `MOST_SESSIONS`."""
        now, secret = self._clock(), secrets.token_urlsafe(32)
        made = SessionRecord(
            secrets.token_hex(6), sha256(secret), person.uid, person.name, now, now,
            now + LONGEST_S, address, browser, method,
        )  # fmt: skip
        old = tuple(one.id for one in self.sessions(person.uid)[MOST_SESSIONS - 1 :])

        def write(connection: Connection) -> None:
            rows.add_session(connection, made)
            rows.drop_sessions(connection, old)

        said = audit(person.uid, person.name, "sign-in", subject=f"session {made.id}",
                     detail=f"{method}, {address}", origin=address)  # fmt: skip
        await intend(Keep(write, (said,)))
        self._forget_sessions(old)
        self._sessions[made.sha256] = made
        return made, secret

    async def end_sessions(
        self, intend: Intend, ended: Iterable[SessionRecord], by: Person | None, why: str
    ) -> None:
        """`by` None: it came to its end by itself, or its account did."""
        gone = tuple(ended)
        ids = tuple(one.id for one in gone)
        if not ids:
            return
        said = tuple(
            audit_by(by, "session ended", subject=f"session {one.id}", whom=one.user, detail=why)
            for one in gone
        )
        self._forget_sessions(ids)  # whatever becomes of the row, nobody comes in by it any more
        await intend(Keep(lambda connection: rows.drop_sessions(connection, ids), said))

    def _forget_sessions(self, ids: tuple[str, ...]) -> None:
        gone = set(ids)
        self._sessions = {k: one for k, one in self._sessions.items() if one.id not in gone}
        for number in gone:
            self._seen.pop(number, None)

    # -- tokens ----------------------------------------------------------------------------------

    def token_of(self, secret: str) -> TokenRecord | None:
        """The token in force that this is; it counts as used now."""
        found = self._tokens.get(sha256(secret)) if secret.startswith(TOKEN_START) else None
        if found is None or self._clock() >= found.expires_at:
            return None
        self._used[found.id] = self._clock()
        return found

    def tokens(self, uid: int | None = None) -> list[TokenRecord]:
        """Those in force, of one account or of all, the newest first."""
        now = self._clock()
        found = [
            msgspec.structs.replace(one, used_at=self._used.get(one.id, one.used_at))
            for one in self._tokens.values()
            if (uid is None or one.uid == uid) and now < one.expires_at
        ]
        return sorted(found, key=lambda one: -one.made_at)

    async def make_token(
        self, intend: Intend, person: Person, name: str, scopes: Iterable[str], expires_at: float
    ) -> tuple[TokenRecord, str]:
        secret = TOKEN_START + secrets.token_urlsafe(32)
        made = TokenRecord(
            secrets.token_hex(6), sha256(secret), person.uid, person.name, name,
            " ".join(sorted(scopes)), self._clock(), None, expires_at,
        )  # fmt: skip
        said = audit_by(person, "token made", subject=f"token {made.id}",
                        detail=f"{made.scopes}: {name}".rstrip(": "))  # fmt: skip
        await intend(Keep(lambda connection: rows.add_token(connection, made), (said,)))
        self._tokens[made.sha256] = made
        return made, secret

    async def revoke_tokens(
        self, intend: Intend, revoked: Iterable[TokenRecord], by: Person | None, why: str
    ) -> None:
        gone = tuple(revoked)
        ids = tuple(one.id for one in gone)
        if not ids:
            return
        said = tuple(
            audit_by(by, "token revoked", subject=f"token {one.id}", whom=one.user, detail=why)
            for one in gone
        )
        self._forget_tokens(ids)
        await intend(Keep(lambda connection: rows.drop_tokens(connection, ids), said))

    def _forget_tokens(self, ids: tuple[str, ...]) -> None:
        gone = set(ids)
        self._tokens = {k: one for k, one in self._tokens.items() if one.id not in gone}
        for number in gone:
            self._used.pop(number, None)

    # -- both ------------------------------------------------------------------------------------

    def stands(self, signed: Signed) -> bool:
        """Whether what a stream came in by still holds. It does not count as use."""
        if signed.session is not None:
            found = self._sessions.get(signed.session.sha256)
            return found is not None and self._live(found)
        token = self._tokens.get(signed.record.sha256)
        return token is not None and self._clock() < token.expires_at

    def users(self) -> dict[str, int]:
        """Accounts that something lets in, with their uids."""
        found = {one.user: one.uid for one in self._sessions.values()}
        return found | {one.user: one.uid for one in self._tokens.values()}

    async def drop_users(self, intend: Intend, gone: Mapping[str, int]) -> None:
        """Ends all of these accounts: they were removed, locked, or may not sign in any more."""

        def theirs(one: SessionRecord | TokenRecord) -> bool:
            return gone.get(one.user) == one.uid

        why = "account"
        await self.end_sessions(intend, filter(theirs, self.sessions()), None, why)
        await self.revoke_tokens(intend, filter(theirs, self.tokens()), None, why)

    async def tidy(self, intend: Intend) -> None:
        """Stores what was used when, and drops what is over by its time."""
        seen, used = dict(self._seen), dict(self._used)
        over = tuple(one.id for one in self._sessions.values() if not self._live(one))
        now = self._clock()
        expired = tuple(one.id for one in self._tokens.values() if now >= one.expires_at)
        if not (seen or used or over or expired):
            return

        def write(connection: Connection) -> None:
            rows.sessions_seen(connection, seen)
            rows.tokens_used(connection, used)
            rows.drop_sessions(connection, over)
            rows.drop_tokens(connection, expired)

        await intend(Keep(write))
        for key, one in list(self._sessions.items()):
            if one.id in seen:
                self._sessions[key] = msgspec.structs.replace(one, seen_at=seen[one.id])
        for key, token in list(self._tokens.items()):
            if token.id in used:
                self._tokens[key] = msgspec.structs.replace(token, used_at=used[token.id])
        self._seen = {k: at for k, at in self._seen.items() if at != seen.get(k)}
        self._used = {k: at for k, at in self._used.items() if at != used.get(k)}
        self._forget_sessions(over)
        self._forget_tokens(expired)


def audit(uid: int | None, user: str, action: str, **more: str) -> AuditRecord:
    """A line of the audit log; its time is the commit's."""
    return AuditRecord(at=0.0, uid=uid, user=user, action=action, **more)


def audit_by(person: Person | None, action: str, **more: str) -> AuditRecord:
    """A line of what that person did, and from where; None: Roost itself."""
    if person is None:
        return audit(None, "", action, **more)
    return audit(person.uid, person.name, action, origin=person.via, **more)
