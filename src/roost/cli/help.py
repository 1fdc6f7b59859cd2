"""Help, drawn from the table of commands and the `cli_help` area. Loaded only when asked for."""

from __future__ import annotations

from roost.cli.command import Command, Option
from roost.cli.commands import COMMANDS, COMMON, GROUPS
from roost.cli.terminal import pad, width, wrap
from roost.cli.values import UsageError
from roost.core.text.catalogue import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from roost.cli.context import Context


def help_command(context: Context) -> int:
    """`roost help [COMMAND]`."""
    words = context.given.arguments
    if not words:
        context.out(overview(context.terminal.language))
        return 0
    from roost.cli.parse import find_command

    command, used = find_command(words)
    if len(words) > used:
        raise UsageError("extra_argument", command="help", word=words[used])
    show(context, command)
    return 0


def show(context: Context, command: Command) -> None:
    context.out(text_of(command, context.terminal.language))


def overview(language: str) -> str:
    """All commands by group, a line each."""
    lines = [_say(language, "intro"), "", _say(language, "usage_word") + "roost COMMAND [OPTIONS]"]
    for group, names in GROUPS:
        lines += ["", _say(language, f"group.{group}")]
        lines += [f"  {pad(name, 14)}  {_say(language, name)}" for name in names]
    return "\n".join([*lines, "", _say(language, "more"), _say(language, "exit_codes")])


def text_of(command: Command, language: str) -> str:
    """One command: what it does, how it is called, its options."""
    lines = [_say(language, "usage_word") + usage(command), "", _say(language, command.name)]
    more = _find(language, f"{command.name}.more")
    if more:
        lines.append("")
        for paragraph in more.split("\n"):
            lines += wrap(paragraph, 80)
    rows = [(_names(o), option_help(command, o, language)) for o in (*command.options, *COMMON)]
    left = min(28, max(width(names) for names, _ in rows))
    lines += ["", _say(language, "options")]
    for names, text in rows:
        first, *further = wrap(text, 80 - left - 4)
        if width(names) > left:
            lines += ["  " + names, " " * (left + 4) + first]
        else:
            lines.append("  " + pad(names, left) + "  " + first)
        lines += [" " * (left + 4) + line for line in further]
    return "\n".join(lines)


def usage(command: Command) -> str:
    """ "roost show [OPTIONS] JOB..."."""
    words = ["roost", command.name, "[OPTIONS]"]
    for argument in command.arguments:
        dots = "..." if argument.many in "+*" else ""
        word = argument.name + dots
        words.append(f"[{word}]" if argument.many in "?*" else word)
    if command.name == "run":
        words[-1] = "(-- COMMAND... | SCRIPT [ARG...])"
    return " ".join(words)


def option_help(command: Command, option: Option, language: str) -> str:
    long = option.names[-1]
    return _find(language, f"{command.name}.{long}") or _say(language, long)


def all_commands() -> list[Command]:
    """Those that people type, in the order of the help."""
    return [COMMANDS[name] for _, names in GROUPS for name in names]


def _names(option: Option) -> str:
    names = ", ".join(option.names)
    if option.names[0].startswith("--"):
        names = "    " + names
    value = f"[{option.value}]" if option.kind.startswith("optional_") else option.value
    return f"{names} {value}" if value else names


def _say(language: str, code: str) -> str:
    return say(language, "cli_help." + code)


def _find(language: str, code: str) -> str:
    try:
        return _say(language, code)
    except KeyError:
        return ""
