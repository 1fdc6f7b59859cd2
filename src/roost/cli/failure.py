"""Failures as sentences: what happened, to what, what to do next; and their exit codes."""

from __future__ import annotations

from roost.client.errors import AnswerLostError, NoDaemonError, NotAllowedError, RoostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context


class CommandError(Exception):
    """A command's own refusal: a code of the `cli_errors` area, its numbers, the exit code."""

    def __init__(self, code: str, exit_code: int = 1, **numbers: object) -> None:
        super().__init__(code, numbers)
        self.code = code
        self.exit_code = exit_code
        self.numbers = numbers


def tell(context: Context, error: Exception) -> int:
    """Says on standard error what failed and returns the exit code.

    What nobody expected is told with its traceback: a fault in Roost must be reportable.
    """
    name = f"roost {context.command}".rstrip()
    if isinstance(error, CommandError):
        context.err(f"{name}: {context.say('cli_errors.' + error.code, **error.numbers)}")
        return error.exit_code
    if isinstance(error, RoostError):
        text, code = sentence(context, error)
        context.err(f"{name}: {text}")
        return code
    if isinstance(error, OSError) and error.filename is not None:
        import os

        from roost.core.text.printable import printable

        path = printable(os.fsencode(error.filename))
        context.err(f"{name}: {path}: {error.strerror}")
        return 1
    import traceback

    context.err("".join(traceback.format_exception(error)).rstrip())
    context.err(f"{name}: {context.say('cli_errors.fault')}")
    return 1


def sentence(context: Context, error: RoostError) -> tuple[str, int]:
    """What to say for a refusal of the daemon's or the client's, and the exit code."""
    say = context.say
    if isinstance(error, NoDaemonError):
        code = "no_daemon" if error.missing else "daemon_gone"
        return say("cli_errors." + code, path=error.path), 3
    if isinstance(error, NotAllowedError):
        if error.code == "socket_permission":
            return say("cli_errors.socket_permission", path=context.client().socket_path), 4
        return error.text, 4
    if isinstance(error, AnswerLostError):
        return say("cli_errors.answer_lost"), 3
    if error.status == 0 and error.code in ("timeout", "not_http"):
        return say("cli_errors." + error.code, path=context.client().socket_path), 3
    return error.text, 1
