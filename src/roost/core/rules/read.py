"""Reading one table of a TOML document key by key, collecting what is wrong with each.

It knows types, units and nearest names; it must not know what the rules mean.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from roost.core.rules.lines import Path, line_of
from roost.core.rules.units import UnitError, format_duration, parse_duration, parse_size
from roost.core.text.catalogue import say

Value = object
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RulesProblem:
    """One mistake: the key, where it stands, and a message of the `rules` catalogue."""

    key: str
    code: str
    line: int | None = None
    numbers: tuple[tuple[str, str | int | float], ...] = ()

    def text(self, language: str = "en") -> str:
        """ "line 4: limits.regular.max_gpus = -1: must be …" in that language."""
        sentence = say(language, f"rules.{self.code}", key=self.key, **dict(self.numbers))
        if self.line is None:
            return sentence
        return say(language, "rules.at_line", line=self.line, sentence=sentence)


class RulesError(ValueError):
    """The rules file cannot be used; `problems` are all that was found, in the file's order."""

    def __init__(self, problems: Sequence[RulesProblem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.line or 0, p.key)))
        super().__init__("\n".join(problem.text() for problem in self.problems))


class Collected:
    """The problems found so far, and the lines of the text that they are looked up in."""

    def __init__(self, lines: dict[Path, int]) -> None:
        self.lines = lines
        self.problems: list[RulesProblem] = []

    def add(self, path: Path, code: str, **numbers: str | int | float) -> None:
        line = line_of(self.lines, path)
        self.problems.append(RulesProblem(dotted(path), code, line, tuple(numbers.items())))


def dotted(path: Path) -> str:
    """ "ignore[0].below": the key as the file's reader would name it."""
    words = ""
    for part in path:
        if isinstance(part, int):
            words += f"[{part}]"
        else:
            words += ("." if words else "") + part
    return words


def shown(value: Value) -> str:
    """A value as TOML writes it, cut to what fits in a sentence."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str):
        text = '"' + value.encode("unicode_escape").decode("ascii") + '"'
        text = '"' + value + '"' if value.isprintable() else text
    else:
        text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"


class Table:
    """One table while it is read; every key taken is known, `close` refuses the others."""

    def __init__(self, found: Collected, path: Path, data: dict[str, Value]) -> None:
        self._found, self.path, self._data = found, path, data
        self._known: set[str] = set()

    @property
    def names(self) -> list[str]:
        """The keys that stand in the table, in the order of the file."""
        return list(self._data)

    def wrong(self, key: str, code: str, **numbers: str | int | float) -> None:
        self._found.add((*self.path, key), code, **numbers)

    def _take(self, key: str) -> Value:
        self._known.add(key)
        return self._data.get(key)

    @staticmethod
    def fits(name: str) -> bool:
        """Whether a group, period or window may be called so."""
        return _NAME.fullmatch(name) is not None

    def flag(self, key: str, default: bool) -> bool:
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.wrong(key, "flag", value=shown(value))
            return default
        return value

    def is_text(self, key: str) -> bool:
        """Whether the key holds text."""
        return isinstance(self._data.get(key), str)

    def name_among(self, key: str, allowed: Sequence[str], code: str) -> str | None:
        """A name that must be one of `allowed`; None where the key is not there, or wrong."""
        name = self.text(key, "")
        if key not in self._data or not isinstance(self._data[key], str):
            return None
        if name in allowed:
            return name
        near = difflib.get_close_matches(name, allowed, 1, 0.6)
        which = f"{code}_near" if near else code
        words = ", ".join(allowed)
        self.wrong(key, which, name=name, near=near[0] if near else "", allowed=words)
        return None

    def text(self, key: str, default: str, allowed: Sequence[str] = ()) -> str:
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, str) or (allowed and value not in allowed):
            what = ", ".join(f'"{word}"' for word in allowed)
            code = "one_of" if allowed else "text"
            self.wrong(key, code, value=shown(value), allowed=what)
            return default
        return value

    def texts(self, key: str, default: tuple[str, ...] = (), empty: str = "") -> tuple[str, ...]:
        """`empty`: the message where the list is empty or not there, and may not be."""
        value = self._take(key)
        if empty and (value is None or value == []):
            self.wrong(key, empty)
        if value is None:
            return default
        if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
            self.wrong(key, "texts", value=shown(value))
            return default
        return self._no_doubles(key, tuple(value))

    def numbers_or_texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """Whole numbers from 0 and words, as words: [0, "GPU-1f…"]."""
        value = self._take(key)
        if value is None:
            return default
        fine = isinstance(value, list) and all(
            (isinstance(v, int) and not isinstance(v, bool) and v >= 0)
            or (isinstance(v, str) and v)
            for v in value
        )
        if not isinstance(value, list) or not fine:
            self.wrong(key, "gpus", value=shown(value))
            return default
        return self._no_doubles(key, tuple(str(v) for v in value))

    def _no_doubles(self, key: str, words: tuple[str, ...]) -> tuple[str, ...]:
        for word in sorted({word for word in words if words.count(word) > 1}):
            self.wrong(key, "double", value=shown(word))
        return words

    def whole(self, key: str, least: int, most: int = 10**9) -> int | None:
        value = self._take(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.wrong(key, "whole", value=shown(value), least=least, most=most)
            return None
        return value

    def number(self, key: str, default: float, least: float, strict: bool = False) -> float:
        """A number of at least `least` (above it where `strict`), at most a million."""
        value = self._take(key)
        if value is None:
            return default
        fine = (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and (value > least if strict else value >= least)
            and value <= 10**6
        )
        if not fine or not isinstance(value, int | float):
            code = "number_above" if strict else "number"
            self.wrong(key, code, value=shown(value), least=f"{least:g}")
            return default
        return float(value)

    def span(self, key: str, default: float | None, least_s: float = 0.0) -> float | None:
        """Seconds of a duration ("4h")."""
        seconds = self._unit(key, parse_duration, "duration")
        if seconds is None:
            return default
        if seconds < least_s:
            least = format_duration(least_s)
            self.wrong(key, "span_least", value=shown(self._data[key]), least=least)
            return default
        return float(seconds)

    def size(self, key: str) -> int | None:
        found = self._unit(key, parse_size, "size")
        return None if found is None else int(found)

    def _unit(self, key: str, parse: Callable[[str], float], code: str) -> float | None:
        value = self._take(key)
        if value is None:
            return None
        if not isinstance(value, str):
            bare = isinstance(value, int | float) and not isinstance(value, bool)
            self.wrong(key, f"{code}_without_unit" if bare else code, value=shown(value))
            return None
        try:
            return parse(value)
        except UnitError as error:
            self.wrong(key, error.code, value=shown(value))
            return None

    def table(self, key: str) -> Table:
        """The table under `key`, empty where there is none."""
        value = self._take(key)
        if value is not None and not isinstance(value, dict):
            self.wrong(key, "table", value=shown(value))
        data = value if isinstance(value, dict) else {}
        return Table(self._found, (*self.path, key), data)

    def tables(self, key: str) -> list[Table]:
        value = self._take(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.wrong(key, "tables", value=shown(value))
            return []
        return [Table(self._found, (*self.path, key, n), item) for n, item in enumerate(value)]

    def refuse_names(self, names: Sequence[str], code: str) -> None:
        """Refuses every key that is none of `names`, naming the nearest."""
        for key in self._data:
            if key in names:
                self._known.add(key)
                continue
            near = difflib.get_close_matches(key, names, 1, 0.6)
            which = f"{code}_near" if near else code
            allowed = ", ".join(names)
            self.wrong(key, which, near=near[0] if near else "", allowed=allowed, name=key)

    def close(self) -> None:
        """Refuses every key that was not taken."""
        self.refuse_names(sorted(self._known), "unknown")
