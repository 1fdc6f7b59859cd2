"""The route that checks a text of the rules before it is put into the file: nothing is changed.

Says what `roost rules check` says of it, and what it would change of the rules in force.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from roost.core.rules.changes import as_dicts, changes
from roost.core.rules.load import load
from roost.core.rules.read import RulesError
from roost.server.api.context import Caller, answer, operators_only
from roost.server.api.recorded import RulesCheckOut
from roost.server.api.shapes import In

router = APIRouter(prefix="/v1/rules", tags=["rules"])
MOST_TEXT = 256 * 1024
# Reading a text takes the interpreter; two at once would only slow everybody down.
_ONE = asyncio.Semaphore(1)


class RulesCheckIn(In):
    """`text`: the whole file, TOML."""

    text: Annotated[str, Field(max_length=MOST_TEXT)]


@router.post("/check", response_model=RulesCheckOut)
async def check(call: Caller, given: RulesCheckIn) -> Response:
    """Every mistake with its key and line; where there is none, every key that would change. The
    rules stay as they are. Operators only."""
    operators_only(call)
    force, language = call.context.board.rules.rules, call.language

    def look() -> dict[str, Any]:
        try:
            found = load(given.text.encode("utf-8", "replace"))
        except RulesError as error:
            mistakes = [
                {"key": p.key, "line": p.line, "code": p.code, "text": p.text(language)}
                for p in error.problems
            ]
            return {"ok": False, "mistakes": mistakes, "changes": None}
        differ = as_dicts(changes(force, found), language)
        return {"ok": True, "mistakes": [], "changes": differ}

    async with _ONE:
        return answer(await call.context.in_thread(look))
