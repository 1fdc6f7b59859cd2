"""Routes of shared data sets and models: what there is, taken in, taken out. The agent's answers;
who may is said here first, and held by the agent again."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from pydantic import Field

from roost.core.data.manifest import sound_name
from roost.core.text.catalogue import say
from roost.core.text.printable import printable
from roost.server.api.context import Call, Caller, answer, operators_only
from roost.server.api.render import iso
from roost.server.api.shapes import In, Out
from roost.server.engines.base import Result
from roost.server.intents import Note
from roost.server.refusal import RefusalError
from roost.server.web.access import audit_by
from roost.wire.data import AddData, DataDone, DataSet, DataSets, ListData, RemoveData

router = APIRouter(prefix="/v1/data", tags=["data"])
AGENT_S = 60.0
Name = Annotated[str, Path(max_length=100, description="A data set's name")]


class DataIn(In):
    name: str = Field(min_length=1, max_length=100, description="Letters, digits, dots, dashes")
    path: str = Field(min_length=1, max_length=4096, description="The caller's folder or file")
    licence: str = Field("", max_length=500, description="Who may use it for what, in words")


class DataSetOut(Out):
    """`state`: "ready"; "adding", `bytes` of `all_bytes` so far; "failed", and `detail` says why.

    `sha256` is that of its manifest, which lies at `manifest`. `pickled`: files in formats that may
    run code when they are loaded. `used_time`: last read, where the file system keeps that.
    """

    name: str
    owner: str
    licence: str
    state: str
    detail: str | None
    path: str
    manifest: str
    bytes: int
    all_bytes: int
    files: int
    pickled: int
    sha256: str | None
    made_time: str | None
    used_time: str | None


class DataOut(Out):
    """`path`: the shared place."""

    data: list[DataSetOut]
    path: str


@router.get("", response_model=DataOut)
async def listed(call: Caller) -> Response:
    """Every registered set, those on their way in, and those that lately did not come."""
    sets = await _sets(call)
    return answer({"data": [_row(call, one) for one in sets], "path": _place(call)})


@router.get("/{name}", response_model=DataSetOut)
async def one(name: Name, call: Caller) -> Response:
    """One set."""
    for each in await _sets(call):
        if each.name == name:
            return answer(_row(call, each))
    raise _no_set(name)


@router.post("", response_model=DataSetOut, status_code=202)
async def add(given: DataIn, call: Caller) -> Response:
    """Takes a folder or file of the caller's into the shared place, read with the caller's rights.
    Answers when it has begun; the set is there once its state is "ready"."""
    person, context = call.person, call.context
    if context.board.rules.rules.data.add == "operators":
        operators_only(call)
    if not sound_name(given.name):
        raise RefusalError(422, "data.bad_set_name", {"key": "name"}, name=_shown(given.name))
    if not given.path.startswith("/") or "\0" in given.path:
        raise RefusalError(422, "data.bad_path", {"key": "path"})
    licence = "".join(c if c.isprintable() else " " for c in given.licence).strip()
    message = AddData(
        place=_place(call), name=given.name, user=person.name, uid=person.uid,
        path=given.path.encode("utf-8", "surrogateescape"), licence=licence,
    )  # fmt: skip
    _done(await context.asked(context.engine.ask(message), AGENT_S))
    await context.intend(Note(audit_by(person, "data_add", subject=f"data {given.name}")))
    begun = DataSet(given.name, person.name, person.uid, licence, "adding", 0, 0)
    return answer(_row(call, begun), 202)


@router.delete("/{name}", response_model=DataSetOut)
async def remove(name: Name, call: Caller) -> Response:
    """Takes a set out of the shared place, or stops one on its way in: its owner and operators.
    Refused while a process uses it; what was taken out is kept for a week where root finds it."""
    person, context = call.person, call.context
    found = next((each for each in await _sets(call) if each.name == name), None)
    if found is None or found.state == "failed":
        raise _no_set(name)
    if not person.operator and person.uid != found.uid:
        raise RefusalError(403, "data.not_your_set", name=name, owner=found.owner)
    only_uid = None if person.operator else person.uid
    message = RemoveData(place=_place(call), name=name, only_uid=only_uid)
    _done(await context.asked(context.engine.ask(message), AGENT_S))
    said = audit_by(person, "data_remove", subject=f"data {name}", whom=found.owner)
    await context.intend(Note(said))
    return answer(_row(call, found))


def _place(call: Call) -> str:
    return call.context.board.rules.rules.data.path


async def _sets(call: Call) -> tuple[DataSet, ...]:
    context = call.context
    found = await context.asked(context.engine.ask(ListData(place=_place(call))), AGENT_S)
    if not isinstance(found, DataSets):
        raise RefusalError(502, "problem.agent_refused", text="no data sets were answered")
    return found.sets


def _done(found: Result) -> None:
    """Raises RefusalError for what the agent would not do."""
    if not isinstance(found, DataDone):
        raise RefusalError(502, "problem.agent_refused", text="it was not told what became of it")
    if found.code:
        status = {"not_your_set": 403, "no_set": 404, "too_many": 429}.get(found.code, 409)
        raise RefusalError(status, f"data.{found.code}", None, **found.numbers)


def _no_set(name: str) -> RefusalError:
    return RefusalError(404, "data.no_set", {"name": _shown(name)}, name=_shown(name))


def _shown(name: str) -> str:
    return printable(name.encode("utf-8", "replace"))


def _row(call: Call, one: DataSet) -> dict[str, Any]:
    place, zone, detail = _place(call), call.context.time_zone, None
    if one.state == "failed":
        # Names of files are their owner's, until the set is there for all.
        mine = call.person.operator or call.person.uid == one.uid
        path = printable(one.path.encode()) if mine and one.path else "–"
        why = printable(one.why.encode()) or "–"
        detail = say(call.language, f"data.{one.code}", name=one.name, path=path, why=why)
    return {
        "name": one.name, "owner": one.owner, "licence": one.licence, "state": one.state,
        "detail": detail, "path": f"{place}/{one.name}",
        "manifest": f"{place}/.roost/manifests/{one.name}", "bytes": one.bytes,
        "all_bytes": one.all_bytes, "files": one.files, "pickled": one.pickled,
        "sha256": one.sha256 or None, "made_time": iso(one.made_at, zone),
        "used_time": iso(one.used_at, zone),
    }  # fmt: skip
