"""What a command, an option and an argument are. The table of all stands in commands.py."""

from __future__ import annotations


class Option:
    """`names` short first; `value` the word for its value in help, "" for a flag; `kind` names a
    reader of `values.READERS`; `repeat` collects a list. Its key is the long name without dashes.
    """

    __slots__ = ("choices", "key", "kind", "names", "repeat", "value")

    def __init__(
        self,
        names: str,
        value: str = "",
        kind: str = "text",
        choices: tuple[str, ...] = (),
        repeat: bool = False,
    ) -> None:
        self.names = names.split()
        self.key = self.names[-1][2:].replace("-", "_")
        self.value = value
        self.kind = kind
        self.choices = choices
        self.repeat = repeat


class Argument:
    """`many`: "1", "?" (none or one), "+" (one or more), "*"."""

    __slots__ = ("kind", "many", "name")

    def __init__(self, name: str, many: str = "1", kind: str = "text") -> None:
        self.name = name
        self.many = many
        self.kind = kind


class Command:
    """`module` and `function` of roost.cli; `stops` ends options at the first other word,
    `raw` hands every word on unread."""

    __slots__ = ("arguments", "function", "module", "name", "options", "raw", "stops")

    def __init__(
        self,
        where: str,
        arguments: tuple[Argument, ...] = (),
        options: tuple[Option, ...] = (),
        stops: bool = False,
        raw: bool = False,
    ) -> None:
        self.name = ""
        self.module, _, self.function = where.partition(":")
        self.arguments = arguments
        self.options = options
        self.stops = stops
        self.raw = raw
