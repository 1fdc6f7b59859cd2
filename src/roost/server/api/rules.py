"""Routes of the rules: those in force, each version that ever was, and what changed when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from roost.core.rules.changes import as_dicts, changes
from roost.core.rules.load import load
from roost.core.rules.model import Rules
from roost.core.rules.read import RulesError
from roost.server.api.context import Caller, answer
from roost.server.api.recorded import RulesHistoryOut, RulesOut, RulesVersionOut
from roost.server.api.render import iso
from roost.server.refusal import RefusalError
from roost.store import log

router = APIRouter(prefix="/v1/rules", tags=["rules"])
MOST_VERSION = 2**31 - 1


@router.get("", response_model=RulesOut)
async def rules(call: Caller) -> Response:
    """The rules in force, and what is wrong with the file where it is not in force."""
    force = call.context.board.rules
    mistakes = [
        {"key": each.key, "line": each.line, "text": each.text(call.language)}
        for each in force.mistakes
    ]
    return answer(
        {
            "version": force.version,
            "time": iso(force.at, call.context.time_zone),
            "user": force.user,
            "text": force.text,
            "path": call.context.rules_path,
            "rules": _as_json(force.rules),
            "problem": force.problem or None,
            "mistakes": mistakes,
        }
    )


@router.get("/history", response_model=RulesHistoryOut)
async def history(
    call: Caller,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[int | None, Query(ge=1, le=MOST_VERSION)] = None,
) -> Response:
    """The versions (below `before`), newest first: when, by whom, and every key that each changed.
    The first one is compared with the defaults."""
    context = call.context

    def look() -> list[dict[str, Any]]:
        with context.store.read() as connection:
            rows = log.rules_rows(connection, limit + 1, before)
        read = [_read(row["text"], call.language) for row in rows]
        first = (Rules(), None)
        return [
            {
                "version": row["version"],
                "time": iso(row["at"], context.time_zone),
                "user": row["user"],
                "uid": row["uid"],
                "sha256": row["sha256"],
                **_between(read[n + 1] if n + 1 < len(read) else first, read[n], call.language),
            }
            for n, row in enumerate(rows[:limit])
        ]

    return answer({"history": await context.in_thread(look)})


@router.get("/{version}", response_model=RulesVersionOut)
async def of_version(
    call: Caller, version: Annotated[int, Path(ge=1, le=MOST_VERSION)]
) -> Response:
    """The text of one version, as its author wrote it."""
    context = call.context

    def look() -> dict[str, Any] | None:
        with context.store.read() as connection:
            return log.rules_row(connection, version)

    row = await context.in_thread(look)
    if row is None:
        raise RefusalError(
            404, "problem.no_rules_version", {"version": version},
            version=version, newest=context.board.rules.version,
        )  # fmt: skip
    return answer(
        {
            "version": row["version"],
            "time": iso(row["at"], context.time_zone),
            "user": row["user"],
            "uid": row["uid"],
            "sha256": row["sha256"],
            "text": row["text"],
            "in_force": row["version"] == context.board.rules.version,
        }
    )


def _as_json(value: Any) -> Any:
    """The rules as data; what is by group and class has keys such as "vision.urgent"."""
    if is_dataclass(value):
        return {each.name: _as_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {
            ".".join(key) if isinstance(key, tuple) else str(key): _as_json(inner)
            for key, inner in value.items()
        }
    return [_as_json(item) for item in value] if isinstance(value, tuple) else value


Reading = tuple[Rules | None, str | None]


def _read(text: str, language: str) -> Reading:
    """The rules, or why this version of Roost cannot read them any more."""
    try:
        return load(text), None
    except RulesError as error:
        return None, "; ".join(problem.text(language) for problem in error.problems[:5])


def _between(old: Reading, new: Reading, language: str) -> dict[str, Any]:
    """`changes` None where one of the two cannot be read, and `problem` says why."""
    if old[0] is None or new[0] is None:
        return {"changes": None, "problem": new[1] or old[1]}
    return {"changes": as_dicts(changes(old[0], new[0]), language), "problem": None}
