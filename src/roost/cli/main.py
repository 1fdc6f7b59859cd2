"""The command line's entry: words to a command, errors to sentences and exit codes.

0 done, 1 refused or failed, 2 usage, 3 no daemon, 4 not allowed. Nothing is imported here that a
command does not need: Python's start-up is most of what a command costs.
"""

from __future__ import annotations

import os
import sys

from roost.cli.commands import HELP, SOCKET
from roost.cli.context import Context
from roost.cli.parse import Parsed, find_command, parse
from roost.cli.terminal import of_environment
from roost.cli.values import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

DONE, REFUSED, USAGE, NO_DAEMON, NOT_ALLOWED = range(5)


def main() -> None:
    """The program `roost`. Leaves at once: taking the interpreter down is not worth waiting for."""
    code = call(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
    os._exit(code)


def call(words: Sequence[str]) -> int:
    """Runs one command and returns its exit code; every expected failure has been told."""
    context = Context("", Parsed(), of_environment())
    try:
        return _call(context, list(words))
    except UsageError as error:
        return _usage(context, error)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - told, not swallowed: see _failure
        return _failure(context, error)


def _call(context: Context, words: list[str]) -> int:
    socket = None
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in HELP.names:
            words = ["help"]
        elif word in ("--version", "-V"):
            words = ["version"]
        elif word.startswith("--socket="):
            socket = word.partition("=")[2]
        elif word == "--socket" and words:
            socket = words.pop(0)
        else:
            raise UsageError("unknown_option", command="", option=word, near="")
    command, used = find_command(words or ["help"])
    context.command = command.name
    context.given = parse(command, words[used:])
    if socket is not None:
        context.given.options.setdefault(SOCKET.key, socket)
    if HELP.key in context.given.options:
        from roost.cli.help import show

        show(context, command)
        return DONE
    module = __import__(f"roost.cli.{command.module}", fromlist=[command.function])
    code: int = getattr(module, command.function)(context)
    return code


def _usage(context: Context, error: UsageError) -> int:
    numbers = dict(error.numbers)
    near = numbers.get("near")
    name = f"roost {context.command}".rstrip()
    context.err(f"{name}: {context.say('cli_errors.' + error.code, **numbers)}")
    if near:
        context.err(context.say("cli_errors.did_you_mean", near=near))
    context.err(context.say("cli_errors.see_help", command=name))
    return USAGE


def _failure(context: Context, error: Exception) -> int:
    from roost.cli.failure import tell

    return tell(context, error)
