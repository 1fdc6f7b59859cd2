"""Routes of calendar feeds: made at a secret address, read there by any calendar program, revoked.

Whoever knows an address reads what its owner may read, and nothing else; it opens no other route.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from functools import lru_cache
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from roost.core.rules import who
from roost.core.text.catalogue import say
from roost.server.api.context import Call, Caller, Context, answer
from roost.server.api.models import DoneOut
from roost.server.api.render import iso
from roost.server.api.shapes import In, Out
from roost.server.feeds.document import Entry, document
from roost.server.feeds.entries import Reader, entries
from roost.server.intents import Keep, Person
from roost.server.refusal import RefusalError
from roost.server.web.access import ADDRESS, audit_by, sha256
from roost.server.web.limits import Limit
from roost.store import feeds as rows
from roost.store.bookings import bookings_between
from roost.store.feeds import FeedRecord
from roost.store.log import get_meta

router = APIRouter(prefix="/v1/feeds", tags=["bookings"])
MOST_FEEDS = 20
PAST_S, AHEAD_S = 35 * 86400.0, 400 * 86400.0
MOST_ROWS = 20_000
MOST_BOOKINGS = 5000
USED_EVERY_S = 3600.0
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


class FeedIn(In):
    """`of` "mine": the caller's bookings; "gpu": everybody's of one GPU; "group": everybody's who
    is charged to it; "all": everybody's."""

    of: Literal["mine", "gpu", "group", "all"] = "mine"
    gpu: Annotated[str, Field(max_length=100)] | None = None
    group: Annotated[str, Field(max_length=64)] | None = None


class FeedOut(Out):
    feed: str
    user: str
    of: str
    target: str | None
    made_time: str | None
    used_time: str | None


class FeedMadeOut(FeedOut):
    path: str


class FeedsOut(Out):
    feeds: list[FeedOut]


def _row(call: Call, one: FeedRecord) -> dict[str, object]:
    zone = call.context.time_zone
    return {
        "feed": one.id,
        "user": one.user,
        "of": one.of,
        "target": one.target or None,
        "made_time": iso(one.made_at, zone),
        "used_time": iso(one.used_at, zone),
    }


async def _theirs(call: Call) -> list[FeedRecord]:
    uid = None if call.person.operator else call.person.uid

    def look() -> list[FeedRecord]:
        with call.context.store.read() as connection:
            return rows.feeds(connection, uid)

    return await call.context.in_thread(look)


@router.get("", response_model=FeedsOut)
async def feeds(call: Caller) -> Response:
    """The caller's feeds, without their addresses; an operator's answer has everybody's."""
    return answer({"feeds": [_row(call, one) for one in await _theirs(call)]})


@router.post("", response_model=FeedMadeOut, status_code=201)
async def make(call: Caller, given: FeedIn) -> Response:
    """A new feed of the caller's. `path` is its secret address, told this once alone."""
    context, person = call.context, call.person
    target = _target(context, given)
    mine = [one for one in await _theirs(call) if one.uid == person.uid]
    if len(mine) >= MOST_FEEDS:
        raise RefusalError(
            409, "feed.too_many_feeds", {"limit": MOST_FEEDS}, user=person.name, limit=MOST_FEEDS
        )
    secret = secrets.token_urlsafe(32)
    made = FeedRecord(
        secrets.token_hex(6), sha256(secret), person.uid, person.name, given.of, target,
        call.language, context.clock(),
    )  # fmt: skip
    said = audit_by(person, "feed", subject=f"feed {made.id}",
                    detail=f"{made.of} {made.target}".strip())  # fmt: skip
    await context.intend(Keep(lambda connection: rows.add_feed(connection, made), (said,)))
    return answer({**_row(call, made), "path": f"/v1/feeds/{secret}/bookings.ics"}, 201)


def _target(context: Context, given: FeedIn) -> str:
    """The UUID or the group. Raises RefusalError."""
    if given.of == "gpu":
        if not given.gpu:
            raise RefusalError(422, "feed.no_gpu_named", {"key": "gpu"})
        for gpu in context.board.gpus.copy().values():
            if given.gpu in (gpu.uuid, str(gpu.index)):
                return gpu.uuid
        raise RefusalError(404, "feed.no_gpu", {"gpu": given.gpu}, gpu=given.gpu)
    if given.of == "group":
        group = given.group or ""
        if not who.known_group(context.board.rules.rules, group):
            raise RefusalError(404, "feed.no_group", {"group": group}, group=group)
        return group
    return ""


@router.delete("/{feed}", response_model=DoneOut)
async def revoke(call: Caller, feed: Annotated[str, Path(max_length=64)]) -> Response:
    """Ends a feed of the caller's at once; an operator ends anybody's."""
    found = [one for one in await _theirs(call) if one.id == feed]
    if not found:
        raise RefusalError(404, "feed.no_such_feed", id=feed)
    said = audit_by(call.person, "feed-revoke", subject=f"feed {feed}", whom=found[0].user)
    await call.context.intend(Keep(lambda connection: rows.drop_feed(connection, feed), (said,)))
    return answer({"done": True})


@router.get(
    "/{secret}/bookings.ics",
    response_class=Response,
    responses={
        200: {"content": {"text/calendar": {"schema": {"type": "string"}}}},
        304: {"description": "As it was"},
    },
)
async def read(request: Request, secret: Annotated[str, Path(max_length=200)]) -> Response:
    """The calendar at a secret address, as text/calendar; nobody signs in for it."""
    context: Context = request.app.state.context
    address = str(request.scope.get(ADDRESS, ""))
    _not_too_often(context.feeds_guessed, address)
    found = await _known(context, secret)
    person = None if found is None else await _owner(context, found)
    if found is None or person is None:
        if address:
            context.feeds_guessed.take(address)
        raise RefusalError(404, "feed.no_feed")
    _not_too_often(context.feeds_read, found.id)
    context.feeds_read.take(found.id)
    await _used(context, found)
    data = await context.in_thread(lambda: _document(context, found, person))
    tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    # Asked for anew each time, so that a revoked address is empty at once.
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(None, 304, headers)
    headers["Content-Disposition"] = 'inline; filename="bookings.ics"'
    return Response(data, 200, headers, media_type="text/calendar; charset=utf-8")


def _not_too_often(limit: Limit, key: str) -> None:
    """Raises RefusalError 429."""
    wait_s = math.ceil(limit.wait_s(key))
    if wait_s > 0:
        raise RefusalError(429, "feed.too_often", {"wait_s": wait_s}, wait_s=wait_s)


async def _known(context: Context, secret: str) -> FeedRecord | None:
    if not _SECRET.fullmatch(secret):
        return None

    def look() -> FeedRecord | None:
        with context.store.read() as connection:
            return rows.feed_by_secret(connection, sha256(secret))

    return await context.in_thread(look)


async def _owner(context: Context, feed: FeedRecord) -> Person | None:
    """The account that made it, if it is still there under its name."""
    person: Person = await context.people.person(feed.uid, context.board.rules.rules)
    return person if person.known and person.name == feed.user else None


async def _used(context: Context, feed: FeedRecord) -> None:
    now = context.clock()
    if feed.used_at is None or now - feed.used_at > USED_EVERY_S:
        await context.intend(Keep(lambda connection: rows.feed_used(connection, feed.id, now)))


def _document(context: Context, feed: FeedRecord, person: Person) -> bytes:
    now = context.clock()
    with context.store.read() as connection:
        user = feed.user if feed.of == "mine" else None
        found = bookings_between(connection, now - PAST_S, now + AHEAD_S, user, MOST_ROWS)
        domain = str(get_meta(connection, "server_id") or "server")[:16]
    if feed.of == "mine":
        found = [one for one in found if one.uid == feed.uid]
    elif feed.of == "gpu":
        found = [one for one in found if feed.target in one.gpu_uuids]
    elif feed.of == "group":
        found = [one for one in found if one.group == feed.target]
    board, host = context.board, context.board.host
    server = host.server if host else ""
    indices = {gpu.uuid: gpu.index for gpu in board.gpus.copy().values()}
    reader = Reader(feed.uid, feed.language, server, f"{domain}.roost", person.may_handle)
    name = say(
        feed.language, f"feed.name_{feed.of}", user=feed.user, server=server,
        group=feed.target, gpu=indices.get(feed.target, feed.target[:12]),
    )  # fmt: skip
    kept = tuple(entries(found, reader, indices)[-MOST_BOOKINGS:])
    return _written(kept, context.time_zone, name)


@lru_cache(maxsize=32)
def _written(kept: tuple[Entry, ...], time_zone: str, name: str) -> bytes:
    """Programs ask far more often than anything changes, and writing takes a while."""
    return document(kept, time_zone, name)
