"""The route that checks a text of the rules before it is put into the file: nothing is changed.

Says what `roost rules check` says of it, and what it would change of the rules in force.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from roost.server.api.context import Caller, answer, operators_only
from roost.server.api.recorded import RulesCheckOut
from roost.server.api.shapes import In
from roost.server.checker import CheckError, checked
from roost.server.refusal import RefusalError

router = APIRouter(prefix="/v1/rules", tags=["rules"])
MOST_TEXT = 256 * 1024
# Reading a text takes a core; two at once would only slow everybody down.
_ONE = asyncio.Semaphore(1)


class RulesCheckIn(In):
    """`text`: the whole file, TOML."""

    text: Annotated[str, Field(max_length=MOST_TEXT)]


@router.post("/check", response_model=RulesCheckOut)
async def check(call: Caller, given: RulesCheckIn) -> Response:
    """Every mistake (200 at most) with its key, line and value; where there is none, every key that
    would change. The rules stay as they are. Operators only."""
    operators_only(call)
    force = call.context.board.rules.text
    async with _ONE:
        try:
            return answer(await checked(given.text, force, call.language))
        except CheckError:
            raise RefusalError(422, "problem.rules_too_heavy", {"key": "text"}) from None
