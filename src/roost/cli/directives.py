"""#ROOST and #SBATCH lines of a script, as options of `roost run`. Knows words, not submissions.

As Slurm does, only lines before the first command are read. An #SBATCH option without a meaning
here is returned by name, so that the person is told what was not taken.
"""

from __future__ import annotations

from roost.cli.command import Option
from roost.cli.commands import RUN_OPTIONS
from roost.cli.parse import nearest, read_value
from roost.cli.slurm import FLAGS, READERS, SHORT
from roost.cli.values import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

PREFIXES = (b"#ROOST", b"#SBATCH")


class Directives:
    """`roost` and `sbatch` hold option values by key; `ignored` (line, option) of #SBATCH."""

    __slots__ = ("ignored", "roost", "sbatch")

    def __init__(self) -> None:
        self.roost: dict[str, Any] = {}
        self.sbatch: dict[str, Any] = {}
        self.ignored: list[tuple[int, str]] = []


class DirectiveError(Exception):
    """A line that cannot be read, with the usage error behind it."""

    def __init__(self, line: int, error: UsageError) -> None:
        super().__init__(line, error)
        self.line = line
        self.error = error


def read(script: bytes) -> Directives:
    """The directives of a script. Raises DirectiveError."""
    found = Directives()
    for number, raw in enumerate(script.split(b"\n"), 1):
        line = raw.rstrip(b"\r").strip()
        if line and not line.startswith(b"#"):
            break
        for prefix in PREFIXES:
            if line.startswith((prefix + b" ", prefix + b"\t")):
                try:
                    words = split(line[len(prefix) :].decode("utf-8", "surrogateescape"))
                    if prefix == b"#ROOST":
                        _roost(words, found)
                    else:
                        _sbatch(words, number, found)
                except UsageError as error:
                    raise DirectiveError(number, error) from None
    return found


def split(text: str) -> list[str]:
    """Words as a shell would cut them: quotes, backslashes, a comment after " #"."""
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if quote:
            if character == quote:
                quote = ""
            elif character == "\\" and quote == '"' and text[at : at + 1] in ('"', "\\"):
                word = [*(word or []), text[at]]
                at += 1
            else:
                word = [*(word or []), character]
        elif character in "'\"":
            quote, word = character, word or []
        elif character == "\\" and at < len(text):
            word = [*(word or []), text[at]]
            at += 1
        elif character in " \t":
            if word is not None:
                words.append("".join(word))
                word = None
        elif character == "#" and word is None:
            break
        else:
            word = [*(word or []), character]
    if quote:
        raise UsageError("bad_quotes")
    return words if word is None else [*words, "".join(word)]


def _roost(words: list[str], found: Directives) -> None:
    known = {name: option for option in RUN_OPTIONS for name in option.names}
    for name, value in pairs(words, lambda name: name in known and bool(known[name].value)):
        option = known.get(name)
        if option is None:
            raise UsageError("unknown_option", option=name, near=nearest(name, list(known)))
        if not option.value:
            if value is not None:
                raise UsageError("takes_no_value", option=name)
            found.roost[option.key] = True
        elif value is None:
            raise UsageError("needs_value", option=name, value=option.value)
        else:
            _put(found.roost, option, read_value(option, name, value))


def _sbatch(words: list[str], line: int, found: Directives) -> None:
    for short, value in pairs(words, lambda name: SHORT.get(name, name) not in FLAGS):
        name = SHORT.get(short, short)
        reader = READERS.get(name)
        taken = reader(name, value or "") if reader is not None else None
        if taken is None:
            found.ignored.append((line, name if value is None else f"{name}={value}"))
            continue
        for key, got in taken.items():  # CPUs are tasks times CPUs per task
            found.sbatch[key] = got * found.sbatch.get(key, 1) if key == "cpus" else got


def pairs(words: list[str], wants: Callable[[str], bool]) -> Iterator[tuple[str, str | None]]:
    """(name, value) of each option; the value may stand in the next word if the option `wants` one
    and has none attached."""
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.startswith("--"):
            name, equals, attached = word.partition("=")
            value = attached if equals else None
        elif word.startswith("-") and len(word) > 1:
            name, value = word[:2], word[2:].removeprefix("=") or None
        else:
            raise UsageError("extra_argument", word=word)
        if value is None and wants(name) and at < len(words):
            value = words[at]
            at += 1
        yield name, value


def _put(options: dict[str, Any], option: Option, value: Any) -> None:
    if option.repeat:
        options.setdefault(option.key, []).append(value)
    else:
        options[option.key] = value
