"""The event log: every step of a scheduler as a line of JSON, and the check that a scheduler of
today decides the same. Pure: lines in, lines out; files are opened elsewhere.

A header {"roost_events": 1, "roost": VERSION}, {"scheduler": {…}} for each scheduler that was made
anew, then {"events": [[NAME, {…}], …], "decisions": […]} for each of its steps. A field that has
its default is left out; floats are written so that they read back to the bit.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

from roost.core.scheduler.decisions import Decision, Wait
from roost.core.scheduler.events import Event
from roost.core.scheduler.scheduler import Scheduler

VERSION = 1
EVENTS: dict[str, type] = {one.__name__: one for one in typing.get_args(Event)}
# `step` never returns the waits that belong to them.
DECISIONS: dict[str, type] = {
    one.__name__: one for one in typing.get_args(Decision) if one is not Wait
}


class LogError(Exception):
    """A line that cannot be read: a code of the `replay` catalogue with its numbers."""

    def __init__(self, code: str, **numbers: str | int) -> None:
        super().__init__(code, numbers)
        self.code = code
        self.numbers = numbers


def header(roost: str) -> str:
    return _line({"roost_events": VERSION, "roost": roost})


def fresh(look_first: bool) -> str:
    """A scheduler that knows nothing yet."""
    return _line({"scheduler": {"look_first": look_first}})


def step(events: Sequence[Event], decisions: Sequence[Decision]) -> str:
    return _line({"events": _named(events), "decisions": _named(decisions)})


def _named(many: Sequence[Event] | Sequence[Decision]) -> list[list[Any]]:
    return [[type(one).__name__, _plain(one)] for one in many]


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(one)] for key, one in value.items()]
    if is_dataclass(value):
        return {
            each.name: _plain(own)
            for each in fields(value)
            if (own := getattr(value, each.name)) is not each.default
        }
    return value


# -- back ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """The first step that is decided otherwise: its line, its events, what was recorded and what
    is decided now, as the log writes them; `roost` is the version that recorded it."""

    line: int
    at: float
    events: str
    recorded: str
    decided: str
    roost: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """`broken`: lines cut short by the end of the process that wrote them, which were skipped."""

    steps: int
    events: int
    decisions: int
    schedulers: int
    broken: int
    difference: Difference | None


def rerun(lines: Iterable[str], progress: Callable[[int], None] | None = None) -> Outcome:
    """Feeds every step to a scheduler and compares what it decides, up to the first difference.

    Raises LogError for what is no event log, or one of a later version.
    """
    scheduler: Scheduler | None = None
    steps = events = decisions = schedulers = broken = 0
    cut, roost = 0, ""
    for number, line in enumerate(lines, 1):
        found = _parsed(line)
        if found is None:
            if not roost or cut:
                raise LogError("log_not_json", line=cut or number)
            cut = number
            continue
        if "roost_events" in found:
            if found["roost_events"] != VERSION:
                raise LogError("log_version", line=number, version=str(found["roost_events"])[:20])
            roost, scheduler = str(found.get("roost", ""))[:40] or "?", None
            broken, cut = broken + bool(cut), 0
            continue
        if not roost:
            raise LogError("log_no_header", line=number)
        if cut:
            raise LogError("log_not_json", line=cut)
        if "scheduler" in found:
            own = found["scheduler"]
            look_first = isinstance(own, dict) and own.get("look_first") is True
            scheduler, schedulers = Scheduler(look_first=look_first), schedulers + 1
            continue
        if scheduler is None:
            raise LogError("log_no_scheduler", line=number)
        told = _read(found.get("events"), EVENTS, number)
        recorded = _read(found.get("decisions"), DECISIONS, number)
        decided = scheduler.step(told)
        steps, events, decisions = steps + 1, events + len(told), decisions + len(decided)
        if decided != recorded:
            difference = Difference(
                number, scheduler.now, _text(_named(told)), _text(_named(recorded)),
                _text(_named(decided)), roost,
            )  # fmt: skip
            return Outcome(steps, events, decisions, schedulers, broken, difference)
        if progress is not None and steps % 1000 == 0:
            progress(steps)
    if not roost:
        raise LogError("log_empty")
    return Outcome(steps, events, decisions, schedulers, broken + bool(cut), None)


def _text(value: Any) -> str:
    return json.dumps(value, separators=(", ", ": "), ensure_ascii=True)


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _read(found: Any, kinds: Mapping[str, type], line: int) -> list[Any]:
    if not isinstance(found, list):
        raise LogError("log_bad_step", line=line, what="events, decisions")
    result = []
    for one in found:
        kind = kinds.get(one[0]) if isinstance(one, list) and len(one) == 2 else None
        if kind is None:
            what = one[0] if isinstance(one, list) and one else one
            raise LogError("log_unknown", line=line, what=str(what)[:60])
        try:
            result.append(_reader(kind)(one[1]))
        except (ValueError, TypeError) as error:
            raise LogError("log_bad_step", line=line, what=f"{kind.__name__} ({error})") from None
    return result


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:
    """From plain data to a value of that type; raises ValueError or TypeError where it is none."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return _union(inner)
    if origin is tuple:
        return _tuple(inner)
    if origin is not None and issubclass(origin, Mapping):
        key, value = _reader(inner[0]), _reader(inner[1])
        return lambda found: {key(k): value(v) for k, v in _list(found)}
    if hint is float:
        return _float
    if is_dataclass(hint):
        return _dataclass(typing.cast(type, hint))
    if issubclass(hint, Enum):
        return typing.cast(Callable[[Any], Any], hint)

    def exactly(found: Any) -> Any:
        if type(found) is not hint:
            raise ValueError(f"{str(found)[:40]} is no {hint.__name__}")
        return found

    return exactly


def _union(inner: tuple[Any, ...]) -> Callable[[Any], Any]:
    others = [_reader(one) for one in inner if one is not types.NoneType]
    optional = len(others) < len(inner)

    def read(found: Any) -> Any:
        if found is None and optional:
            return None
        for index, reader in enumerate(others):
            try:
                return reader(found)
            except (ValueError, TypeError):
                if index == len(others) - 1:
                    raise
        raise ValueError("nothing fits")

    return read


def _tuple(inner: tuple[Any, ...]) -> Callable[[Any], Any]:
    if len(inner) == 2 and inner[1] is Ellipsis:
        each = _reader(inner[0])
        return lambda found: tuple(each(one) for one in _list(found))
    readers = [_reader(one) for one in inner]
    return lambda found: tuple(
        reader(one) for reader, one in zip(readers, _list(found), strict=True)
    )


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise ValueError(f"{str(found)[:40]} is no list")
    return found


def _float(found: Any) -> float | int:
    """A whole number stays one: equal to the float that it was, and written alike."""
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ValueError(f"{str(found)[:40]} is no number")
    return found


def _dataclass(kind: type) -> Callable[[Any], Any]:
    hints = typing.get_type_hints(kind)
    names = {each.name for each in fields(kind)}
    needed = {
        each.name
        for each in fields(kind)
        if each.default is MISSING and each.default_factory is MISSING
    }

    def read(found: Any) -> Any:
        if not isinstance(found, dict) or not found.keys() <= names:
            raise ValueError(f"{kind.__name__} is not known like this")
        if not needed <= found.keys():
            raise ValueError(f"{', '.join(sorted(needed - found.keys()))} missing")
        return kind(**{name: _reader(hints[name])(value) for name, value in found.items()})

    return read
