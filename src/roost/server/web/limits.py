"""How often something may happen within a time: tries of an address, in memory, never many of them.

A try counts when it begins, so that many at once get no further; one that was right is given back.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress


class Limit:
    """At most `most` in `within_s` for each key; `known` keys are remembered, the oldest go."""

    def __init__(
        self,
        most: int,
        within_s: float,
        known: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._within_s = within_s
        self._known = known
        self._clock = clock
        self._taken: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_s(self, key: str) -> float:
        """Seconds until there is room for one; 0 where there is now."""
        taken = self._recent(key)
        return 0.0 if len(taken) < self._most else taken[0] + self._within_s - self._clock()

    def take(self, key: str) -> float:
        """Counts one; what it returns gives it back."""
        at = self._clock()
        self._taken.setdefault(key, deque()).append(at)
        self._taken.move_to_end(key)
        while len(self._taken) > self._known:
            self._taken.popitem(last=False)
        return at

    def give_back(self, key: str, at: float) -> None:
        with suppress(KeyError, ValueError):
            self._taken[key].remove(at)

    def _recent(self, key: str) -> deque[float]:
        taken = self._taken.get(key, deque())
        while taken and taken[0] <= self._clock() - self._within_s:
            taken.popleft()
        if not taken:
            self._taken.pop(key, None)
        return taken
