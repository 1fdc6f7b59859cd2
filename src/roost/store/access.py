"""Queries of who was let in: sessions of the page, tokens of the API. Secrets come as SHA-256."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, Table, delete, insert, select, update

from roost.store.tables import api_tokens, web_sessions


class SessionRecord(msgspec.Struct, frozen=True):
    """Someone signed in to the page. `method` is "password" or "oidc"."""

    id: str
    sha256: str
    uid: int
    user: str
    made_at: float
    seen_at: float
    expires_at: float
    address: str = ""
    browser: str = ""
    method: str = "password"


class TokenRecord(msgspec.Struct, frozen=True):
    """A token of the API. `scopes` are words, sorted, with spaces between."""

    id: str
    sha256: str
    uid: int
    user: str
    name: str
    scopes: str
    made_at: float
    used_at: float | None
    expires_at: float


def sessions(connection: Connection) -> list[SessionRecord]:
    rows = connection.execute(select(web_sessions)).all()
    return [SessionRecord(**row._mapping) for row in rows]


def tokens(connection: Connection) -> list[TokenRecord]:
    rows = connection.execute(select(api_tokens)).all()
    return [TokenRecord(**row._mapping) for row in rows]


def add_session(connection: Connection, record: SessionRecord) -> None:
    connection.execute(insert(web_sessions), [msgspec.structs.asdict(record)])


def add_token(connection: Connection, record: TokenRecord) -> None:
    connection.execute(insert(api_tokens), [msgspec.structs.asdict(record)])


def sessions_seen(connection: Connection, seen: dict[str, float]) -> None:
    """When each was last used; one that has ended meanwhile is left alone."""
    for number, at in seen.items():
        change = update(web_sessions).where(web_sessions.c.id == number)
        connection.execute(change.values(seen_at=at))


def tokens_used(connection: Connection, used: dict[str, float]) -> None:
    for number, at in used.items():
        change = update(api_tokens).where(api_tokens.c.id == number)
        connection.execute(change.values(used_at=at))


def drop_sessions(connection: Connection, ids: tuple[str, ...]) -> None:
    _drop(connection, web_sessions, ids)


def drop_tokens(connection: Connection, ids: tuple[str, ...]) -> None:
    _drop(connection, api_tokens, ids)


def _drop(connection: Connection, table: Table, ids: tuple[str, ...]) -> None:
    for number in ids:
        connection.execute(delete(table).where(table.c.id == number))
