"""What a person wants to book, and the GPUs that there are. Intervals are half-open everywhere:
who has until 12:00 and who has from 12:00 share no instant. Knows nothing of who may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from roost.core.model import Gpu


@dataclass(frozen=True, slots=True)
class Want:
    """`gpus` whole GPUs, or exactly those `chosen` (UUIDs), or `memory_bytes` of one that is marked
    shared; of a `model` ("A100") where it matters."""

    gpus: int = 1
    chosen: tuple[str, ...] = ()
    memory_bytes: int | None = None
    model: str | None = None

    @property
    def count(self) -> int:
        if self.chosen:
            return len(self.chosen)
        return 1 if self.memory_bytes is not None else self.gpus


@dataclass(frozen=True, slots=True)
class Site:
    """The GPUs of a server. `unfit`: drained or broken, assigned to nobody who did not choose them.
    `shared`: marked shared. `held`: until when somebody else's job is expected on one (infinity
    where that cannot be said): such a GPU is assigned last."""

    gpus: tuple[Gpu, ...]
    unfit: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    held: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Offer:
    """What could be had instead. `kind`: "other" GPUs at the same time, "fewer" of them, "later",
    "earlier", "shorter" (from the same start), or "part" (a free piece of the time wanted)."""

    kind: str
    starts_at: float
    ends_at: float
    gpu_uuids: tuple[str, ...]
