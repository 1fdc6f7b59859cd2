"""Routes of the environments that people share: listed, uploaded by content, named, taken back.

Sharing is for who is there in person. The files come first, by their hashes; then a list of them
gets a name. See docs/design/008-environments.md.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from roost.core.environments.names import is_name, split
from roost.core.text.printable import printable
from roost.server.api.context import Call, Caller, answer
from roost.server.api.environment_models import (
    CloneIn,
    EnvironmentsOut,
    MissingIn,
    MissingOut,
    NameIn,
    SharedOut,
    UploadedOut,
)
from roost.server.api.models import DoneOut
from roost.server.api.render import iso
from roost.server.environments import manifest as manifests
from roost.server.environments.pool import PoolError
from roost.server.environments.shares import Share, SharesError
from roost.server.intents import Keep
from roost.server.refusal import RefusalError
from roost.store.records import AuditRecord

router = APIRouter(prefix="/v1", tags=["environments"])
MAX_MANIFEST_BYTES = 256 * 2**20
MOST_CLONES = 500
RESERVE_PARTS = 20
PIECE_BYTES = 1 << 20
Name = Annotated[str, Path(max_length=64)]


async def environment_path(call: Call, env: str) -> bytes:
    """Where an environment lies that a job asks for: one's own by the rules, a shared one in its
    version of now. Raises RefusalError."""
    if not env:
        return b""
    parts = split(env)
    if parts is None:
        shown = printable(env.encode("utf-8", "replace"))
        raise RefusalError(422, "problem.env_bad_name", {"key": "env"}, name=shown)
    owner, name = parts
    if not owner:
        pattern = call.context.board.rules.rules.environments.directory
        return os.fsencode(f"{pattern.replace('{user}', call.person.name)}/{name}")
    shares = call.context.shares
    share = await call.context.in_thread(lambda: shares.find(owner, name))
    if share is None:
        raise RefusalError(422, "problem.env_not_shared", {"key": "env"}, name=env)
    return os.fsencode(shares.version_path(share.digest))


def _row(call: Call, share: Share) -> dict[str, Any]:
    return {
        "owner": share.owner,
        "name": share.name,
        "kind": share.kind,
        "python": share.python,
        "digest": share.digest,
        "size_bytes": share.size_bytes,
        "shared_time": iso(share.shared_at, call.context.time_zone),
        "source": share.source,
        "path": call.context.shares.version_path(share.digest),
    }


@router.get("/environments", response_model=EnvironmentsOut)
async def listed(call: Caller) -> Response:
    """Where people's own environments lie by the rules, and those that are shared."""
    rows = await call.context.in_thread(call.context.shares.all)
    directory = call.context.board.rules.rules.environments.directory
    return answer({"directory": directory, "environments": [_row(call, one) for one in rows]})


@router.post("/environments/missing", response_model=MissingOut)
async def missing(call: Caller, given: MissingIn) -> Response:
    """Which of these files are not here yet: SHA-256, with ".x" behind it for an executable one."""
    pool = call.context.shares.pool
    wanted = [(word[:64], word.endswith(".x")) for word in given.files]
    found = await call.context.in_thread(lambda: pool.missing(wanted))
    return answer({"missing": [sha + (".x" if run else "") for sha, run in found]})


@router.post("/environments/objects", response_model=UploadedOut)
async def upload(call: Caller, request: Request) -> Response:
    """Files by what is in them: for each 32 bytes of SHA-256, one byte (1: executable), 8 bytes of
    length, big-endian, and the file. The body is read as it comes (application/octet-stream)."""
    context = call.context
    _room(context.shares.folder)
    coming = context.shares.pool.upload(context.board.rules.rules.environments.share_bytes)
    try:
        gathered = bytearray()
        async for piece in request.stream():
            gathered += piece
            if len(gathered) >= PIECE_BYTES:
                await asyncio.to_thread(coming.feed, bytes(gathered))
                gathered.clear()
        await asyncio.to_thread(coming.feed, bytes(gathered))
        coming.finish()
    except PoolError as error:
        raise RefusalError(422, "problem.env_upload", text=error.code) from error
    finally:
        coming.close()
    return answer({"added": coming.added, "bytes": coming.bytes})


@router.put("/environments/{name}", response_model=SharedOut)
async def share(call: Caller, name: Name, given: NameIn) -> Response:
    """Give one's environment that name, for everybody to use: `manifest` is the SHA-256 of its list
    of files, which was uploaded as they were. It replaces what had the name before."""
    context, person = call.context, call.person
    _check_name(name)
    shares = context.shares
    most = context.board.rules.rules.environments.share_bytes

    def work() -> Share:
        size = shares.pool.size(given.manifest, False)
        if size is None or size > MAX_MANIFEST_BYTES:
            raise SharesError("missing_file", path="manifest")
        with open(shares.pool.path(given.manifest, False), "rb") as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != given.manifest:
            raise SharesError("missing_file", path="manifest")
        found = manifests.read(data)
        return shares.share(person.name, person.uid, name, given.manifest, found, most)

    try:
        made = await context.in_thread(work)
    except manifests.ManifestError as error:
        raise RefusalError(422, "problem.env_manifest", text=str(error)) from error
    except SharesError as error:
        raise RefusalError(422, "problem.env_" + error.code, **error.numbers) from error
    await _noted(call, "env_share", made, made.digest[:16])
    return answer(_row(call, made))


@router.delete("/environments/{owner}/{name}", response_model=DoneOut)
async def unshare(call: Caller, owner: Name, name: Name) -> Response:
    """End the sharing of one's environment; an operator, of anybody's. What runs with it, and
    clones of it, keep their files."""
    context, person = call.context, call.person
    found = await context.in_thread(lambda: context.shares.find(owner, name))
    if found is None:
        raise RefusalError(404, "problem.env_not_shared", name=f"{owner}/{name}"[:130])
    if found.uid != person.uid and not person.operator:
        raise RefusalError(403, "problem.env_not_yours", name=f"{owner}/{name}", owner=owner)
    await _shares_do(call, lambda: context.shares.remove(owner, name))
    await _noted(call, "env_unshare", found)
    return answer({"done": True})


@router.put("/environment-clones/{name}", response_model=SharedOut)
async def hold(call: Caller, name: Name, given: CloneIn) -> Response:
    """Keep the version that a shared environment is now for a clone of the caller's of that name,
    whatever becomes of the sharing."""
    context, person = call.context, call.person
    _check_name(name)
    shares = context.shares
    found = await context.in_thread(lambda: shares.find(given.owner, given.name))
    if found is None:
        raise RefusalError(404, "problem.env_not_shared", name=f"{given.owner}/{given.name}")
    if await context.in_thread(lambda: shares.clones_of(person.uid)) >= MOST_CLONES:
        raise RefusalError(409, "problem.env_clones", limit=MOST_CLONES)
    await _shares_do(call, lambda: shares.hold(found, person.uid, name))
    return answer(_row(call, found))


@router.delete("/environment-clones/{name}", response_model=DoneOut)
async def let_go(call: Caller, name: Name) -> Response:
    """The caller's clone of that name is no more."""
    context, person = call.context, call.person
    _check_name(name)
    if not await context.in_thread(lambda: context.shares.let_go(person.uid, name)):
        raise RefusalError(404, "problem.env_no_clone", name=name)
    return answer({"done": True})


async def _shares_do(call: Call, work: Any) -> None:
    try:
        await call.context.in_thread(work)
    except SharesError as error:
        raise RefusalError(404, "problem.env_" + error.code, **error.numbers) from error


def _check_name(name: str) -> None:
    if not is_name(name):
        shown = printable(name.encode("utf-8", "replace"))
        raise RefusalError(422, "problem.env_bad_name", {"key": "name"}, name=shown)


def _room(folder: str) -> None:
    """Raises RefusalError where the disk is nearly full: the database lies on it too."""
    try:
        status = os.statvfs(os.path.dirname(folder))
    except OSError as error:
        raise RefusalError(507, "problem.env_disk", free=0) from error
    free = status.f_bavail * status.f_frsize
    if free < status.f_blocks * status.f_frsize // RESERVE_PARTS:
        raise RefusalError(507, "problem.env_disk", free=free)


async def _noted(call: Call, action: str, share: Share, detail: str = "") -> None:
    person = call.person
    await call.context.intend(
        Keep(
            lambda _: None,
            (
                AuditRecord(
                    at=call.context.clock(), uid=person.uid, user=person.name, action=action,
                    subject=f"{share.owner}/{share.name}", whom=share.owner, detail=detail,
                    origin=person.via,
                ),
            ),
        )
    )  # fmt: skip
