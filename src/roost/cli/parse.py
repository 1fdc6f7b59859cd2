"""Command-line words to options and arguments, by the table in `commands`. No meaning beyond that.

Long options may be written `--name=value` or `--name value`, short ones `-n5` or `-n 5`, flags
together (`-wf`). `--` ends options.
"""

from __future__ import annotations

from roost.cli.command import Command, Option
from roost.cli.commands import COMMANDS, COMMON, HELP
from roost.cli.values import READERS, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class Parsed:
    """`options` holds what was given, by key, values read; `dashes` says that `--` was there."""

    __slots__ = ("arguments", "dashes", "options")

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.arguments: list[Any] = []
        self.dashes = False


def find_command(words: Sequence[str]) -> tuple[Command, int]:
    """The command that the words begin with, and of how many words its name is."""
    if len(words) > 1 and f"{words[0]} {words[1]}" in COMMANDS:
        return COMMANDS[f"{words[0]} {words[1]}"], 2
    if words[0] in COMMANDS:
        return COMMANDS[words[0]], 1
    inner = [name.split()[1] for name in COMMANDS if name.startswith(words[0] + " ")]
    if inner:
        word = words[1] if len(words) > 1 else ""
        code = "unknown_subcommand" if word else "missing_subcommand"
        raise UsageError(code, command=words[0], word=word, choices=", ".join(inner))
    raise UsageError("unknown_command", word=words[0], near=nearest(words[0], list(COMMANDS)))


def parse(command: Command, words: Sequence[str]) -> Parsed:
    """What was given. With --help nothing else is checked. Raises UsageError."""
    parsed = Parsed()
    if command.raw:
        parsed.arguments = list(words)
        return parsed
    known = {name: option for option in (*command.options, *COMMON) for name in option.names}
    rest: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            parsed.dashes = True
            rest += words[at:]
            break
        if len(word) < 2 or word[0] != "-" or _negative(word, command):
            rest.append(word)
            if command.stops:
                rest += words[at:]
                break
            continue
        at = _option(command, known, word, words, at, parsed)
        if HELP.key in parsed.options:
            return parsed
    parsed.arguments = _arguments(command, rest)
    return parsed


def _option(
    command: Command,
    known: dict[str, Option],
    word: str,
    words: Sequence[str],
    at: int,
    parsed: Parsed,
) -> int:
    """Takes one option (or several short flags) and returns where the next word is."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        option = known.get(name)
        if option is None:
            raise _unknown(command, name, known)
        given = value if equals else None
    else:
        name, value = word[:2], word[2:]
        option = known.get(name)
        if option is None:
            raise _unknown(command, name, known)
        if not option.value and value:  # more short flags follow
            parsed.options[option.key] = True
            return _option(command, known, "-" + value, words, at, parsed)
        given = value.removeprefix("=") or None
    if not option.value:
        if given is not None:
            raise UsageError("takes_no_value", option=name)
        parsed.options[option.key] = True
        return at
    if given is None:
        if option.kind.startswith("optional_"):
            if at < len(words) and words[at][:1].isdigit():
                given, at = words[at], at + 1
            else:
                given = ""
        elif at < len(words):
            given, at = words[at], at + 1
        else:
            raise UsageError("needs_value", option=name, value=option.value)
    read = read_value(option, name, given)
    if option.repeat:
        parsed.options.setdefault(option.key, []).append(read)
    else:
        parsed.options[option.key] = read
    return at


def read_value(option: Option, name: str, text: str) -> Any:
    """The option's value as its kind reads it; UsageErrors name the option."""
    if option.choices and option.kind == "text":
        if text not in option.choices:
            near = nearest(text, option.choices)
            choices = ", ".join(option.choices)
            raise UsageError("not_a_choice", what=name, given=text, choices=choices, near=near)
        return text
    reader = READERS.get(option.kind)
    return text if reader is None else reader(name, text)


def _arguments(command: Command, rest: list[str]) -> list[Any]:
    values: list[Any] = []
    left = list(rest)
    for argument in command.arguments:
        if argument.many in "1+" and not left:
            raise UsageError("missing_argument", command=command.name, argument=argument.name)
        take = len(left) if argument.many in "+*" else min(1, len(left))
        reader = READERS.get(argument.kind)
        for word in left[:take]:
            value = reader(argument.name, word) if reader else word
            values += value if isinstance(value, list) else [value]
        left = left[take:]
    if left:
        raise UsageError("extra_argument", command=command.name, word=left[0])
    return values


def _negative(word: str, command: Command) -> bool:
    """-1 stands for a number where the command has no option of digits."""
    return word[1:].isdigit() and not command.stops


def _unknown(command: Command, name: str, known: dict[str, Option]) -> UsageError:
    near = nearest(name, list(known))
    return UsageError("unknown_option", command=command.name, option=name, near=near)


def nearest(word: str, among: Sequence[str]) -> str:
    """Up to three names like the word, as "a, b", or ""."""
    import difflib

    found = difflib.get_close_matches(word, among, n=3, cutoff=0.6)
    if not found and len(word.strip("-")) > 1:
        found = [name for name in among if name.startswith(word)][:3]
    return ", ".join(found)
