"""A second one of something that lives, in the same state, which may go its own way.

Knows nothing of what it copies: whatever is added to a state comes along. Data that never change
(numbers, names, enums, frozen dataclasses and tuples of these) belong to both.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import is_dataclass
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType, NoneType
from typing import Any, TypeVar

from roost.core.rules.calendar import Calendar

T = TypeVar("T")
PACKAGE = __name__.partition(".")[0]
# A calendar keeps only what it has worked out, of which years may be there: both may use it.
SHARED: set[type] = {
    int, float, str, bool, bytes, complex, NoneType, type, BuiltinFunctionType, Calendar,
}  # fmt: skip
_own: dict[type, tuple[str, ...]] = {}


def twin_of(value: T, leave: Iterable[object] = ()) -> T:
    """A copy that shares nothing that can change with `value`; where that holds one of `leave`, the
    copy holds None.

    Raises TypeError for what cannot be copied: a function that remembers something of its own.
    """
    made: T = _Copier(leave).of(value)
    return made


def _shared(kind: type) -> bool:
    """Values of that type never change; what is found out is remembered."""
    if kind in SHARED:
        return True
    frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    if frozen or issubclass(kind, Enum):
        SHARED.add(kind)
        return True
    return False


def _plain(values: Collection[Any]) -> bool:
    """None of them can change, nor what tuples among them hold."""
    tuples = False
    for kind in set(map(type, values)):
        if kind is tuple:
            tuples = True
        elif not _shared(kind):
            return False
    return not tuples or all(_plain(one) for one in values if type(one) is tuple)


class _Copier:
    """Whatever is met twice is copied once. The originals outlive it, so that ids name them."""

    def __init__(self, leave: Iterable[object]) -> None:
        self._made: dict[int, Any] = {id(one): None for one in leave if one is not None}

    def of(self, value: Any) -> Any:
        kind = type(value)
        if kind in SHARED or _shared(kind):
            return value
        known = id(value)
        if known in self._made:
            return self._made[known]
        if kind is tuple:
            made: Any = value if _plain(value) else tuple([self.of(one) for one in value])
        elif kind is dict:
            return self._dict(value)
        elif kind is list:
            return self._list(value)
        elif kind is MethodType:
            made = MethodType(value.__func__, self.of(value.__self__))
        elif kind in _own or kind.__module__.partition(".")[0] == PACKAGE:
            return self._object(value, kind)
        else:
            made = self._other(value, kind)
        self._made[known] = made
        return made

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        if not _plain(value):
            made: dict[Any, Any] = {}
            self._made[id(value)] = made
            for key, one in value.items():
                made[self.of(key)] = self.of(one)
            return made
        made = value.copy()
        self._made[id(value)] = made
        if not _plain(value.values()):
            for key, one in value.items():
                made[key] = self.of(one)
        return made

    def _list(self, value: list[Any]) -> list[Any]:
        made = value.copy()
        self._made[id(value)] = made
        if not _plain(value):
            made[:] = [self.of(one) for one in value]
        return made

    def _object(self, value: Any, kind: type) -> Any:
        names = _own.get(kind)
        if names is None:
            names = _own[kind] = _slots(kind)
        made: Any = object.__new__(kind)
        self._made[id(value)] = made
        of, shared = self.of, SHARED
        for name in names:
            try:
                one = getattr(value, name)
            except AttributeError:  # A slot that was never filled stays so.
                continue
            setattr(made, name, one if type(one) in shared else of(one))
        if hasattr(value, "__dict__"):
            for name, one in vars(value).items():
                made.__dict__[name] = of(one)
        return made

    def _other(self, value: Any, kind: type) -> Any:
        if kind is FunctionType:
            if value.__closure__:
                raise TypeError(f"{value.__qualname__} remembers what it was made with")
            return value
        if kind is deque:
            return deque(map(self.of, value), value.maxlen)
        if kind in (set, frozenset):
            return kind(map(self.of, value))
        # Of the standard library: time zones and the like.
        return copy.deepcopy(value)


def _slots(kind: type) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for one in kind.__mro__:
        own = one.__dict__.get("__slots__", ())
        found.update(dict.fromkeys((own,) if isinstance(own, str) else own))
    return tuple(name for name in found if name not in ("__dict__", "__weakref__"))
