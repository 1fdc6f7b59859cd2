"""Reads a text of the rules in a process of its own, with an end to its time and its memory.

What somebody pastes may be made to be slow to read; here it can slow nobody down. Run as
`python -m roost.server.checker`: JSON on standard input and output. It must know no file.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from contextlib import suppress
from typing import Any

from roost.core.rules.changes import as_dicts, changes
from roost.core.rules.load import load
from roost.core.rules.read import RulesError, RulesProblem

CPU_S, WALL_S = 3, 15.0
MEMORY_BYTES = 1 << 30
MOST_MISTAKES = 200


class CheckError(Exception):
    """The text could not be read to its end within the time or memory that it has."""


async def checked(text: str, force: str, language: str) -> dict[str, Any]:
    """{"ok", "mistakes", "changes"} of `text` against the text in force. Raises CheckError."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "roost.server.checker",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL, cwd="/",
    )  # fmt: skip
    given = json.dumps({"text": text, "force": force, "language": language}).encode()
    try:
        said, _ = await asyncio.wait_for(child.communicate(given), WALL_S)
    except TimeoutError:
        raise CheckError from None
    finally:
        # Also where the caller hung up in the middle of it.
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    if child.returncode != 0:
        raise CheckError
    found: dict[str, Any] = json.loads(said)
    return found


def mistake(problem: RulesProblem, language: str) -> dict[str, Any]:
    """One mistake as the API tells it. `value` is what stands there, `allowed` what may: None where
    the sentence has no such part."""
    numbers = dict(problem.numbers)
    value = numbers.get("value", numbers.get("name"))
    return {
        "key": problem.key,
        "line": problem.line,
        "code": problem.code,
        "value": None if value is None else str(value),
        "allowed": None if "allowed" not in numbers else str(numbers["allowed"]),
        "text": problem.text(language),
    }


def verdict(text: str, force: str, language: str) -> dict[str, Any]:
    """What `checked` answers, here and now."""
    try:
        found = load(text.encode("utf-8", "replace"))
    except RulesError as error:
        told = [mistake(problem, language) for problem in error.problems[:MOST_MISTAKES]]
        return {"ok": False, "mistakes": told, "changes": None}
    differ = changes(load(force.encode("utf-8", "replace")), found)
    return {"ok": True, "mistakes": [], "changes": as_dicts(differ, language)}


def main() -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    given = json.load(sys.stdin)
    json.dump(verdict(given["text"], given["force"], given["language"]), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
