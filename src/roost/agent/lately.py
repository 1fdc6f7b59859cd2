"""The looks of the last minutes, packed: for a server that was away and asks what was seen.

A look at many GPUs is tens of kilobytes as objects and a tenth of that packed. Knows no server.
"""

from __future__ import annotations

import zlib
from collections import deque

import msgspec

from roost.core.observation import Observation

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(Observation).decode


class Lately:
    """Keeps looks for `kept_s` seconds, by their own time."""

    def __init__(self, kept_s: float) -> None:
        self._kept_s = kept_s
        self._packed: deque[tuple[float, bytes]] = deque()
        self.newest: Observation | None = None

    def add(self, observation: Observation) -> None:
        at = observation.taken_at
        self.newest = observation
        self._packed.append((at, zlib.compress(_pack(observation), 1)))
        while self._packed and self._packed[0][0] < at - self._kept_s:
            self._packed.popleft()

    def since(self, at: float) -> tuple[Observation, ...]:
        """Those that were taken after `at`, oldest first."""
        return tuple(_unpack(zlib.decompress(one)) for when, one in self._packed if when > at)
