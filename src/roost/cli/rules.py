"""`roost rules check`: a rules file before it is used."""

from __future__ import annotations

import os

from roost.cli.failure import CommandError
from roost.client.paths import SYSTEM_RULES, user_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from roost.cli.context import Context


def default_rules() -> str:
    own = user_rules()
    return own if os.geteuid() != 0 and os.path.exists(own) else SYSTEM_RULES


def check(context: Context) -> int:
    """Names each key that is wrong, its value and what is allowed. 0 without mistakes, else 1.

    Needs no daemon. Without FILE: the file that a daemon here would read.
    """
    words = context.given.arguments
    path = words[0] if words else default_rules()
    text = read_file(path)
    if wrong(context, path, text):
        return 1
    if context.json:
        context.out_json({"file": path, "ok": True, "mistakes": []})
    else:
        context.out(context.say("rules_are_well", path=path))
    return 0


def wrong(context: Context, path: str, text: bytes) -> bool:
    """Whether the rules in `text` have mistakes, which are then told."""
    mistakes = mistakes_in(text, context.terminal.language)
    if mistakes and context.json:
        context.out_json({"file": path, "ok": False, "mistakes": mistakes})
    elif mistakes:
        for mistake in mistakes:
            context.out(str(mistake["text"]))
        context.err(context.say("cli_errors.rules_wrong", path=path, count=len(mistakes)))
    return bool(mistakes)


def read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise CommandError("rules_file_missing", path=path) from None


def mistakes_in(text: bytes, language: str) -> list[dict[str, Any]]:
    """[{"key", "line", "code", "text"}] of a rules file; empty if it can be used."""
    from roost.core.rules.load import load
    from roost.core.rules.read import RulesError

    try:
        load(text)
    except RulesError as error:
        return [
            {
                "key": problem.key,
                "line": problem.line,
                "code": problem.code,
                "text": problem.text(language),
            }
            for problem in error.problems
        ]
    return []
