"""What is true now, for the API to read: replaced piece by piece after each commit.

The control thread alone writes; readers in other threads take whole values (every record is
frozen) and copy a dict by one call, which the interpreter does at one stroke.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from roost.core.attribution.model import Attribution
from roost.core.model import Gpu
from roost.core.observation import Observation
from roost.core.rules.model import Rules
from roost.core.rules.read import RulesProblem
from roost.store.bookings import BookingRecord
from roost.store.records import JobRecord
from roost.wire.messages import HostFacts

RAW_S = 3600.0


@dataclass(frozen=True, slots=True)
class RulesInForce:
    """`problem`: the file now on disk is not in force because of this; "" where it is.

    `mistakes` are the single ones in it, to be said in any language.
    """

    rules: Rules
    version: int = 0
    at: float | None = None
    user: str = ""
    text: str = ""
    problem: str = ""
    mistakes: tuple[RulesProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One raw reading of one GPU. None: the card does not say."""

    at: float
    gpu_uuid: str
    utilisation_percent: int | None
    memory_used_bytes: int | None
    power_w: float | None
    temperature_c: int | None


@dataclass
class Board:
    """`samples`: the raw readings of the last hour, oldest first, each look together."""

    jobs: dict[int, JobRecord] = field(default_factory=dict)
    bookings: Mapping[int, BookingRecord] = field(default_factory=dict)
    observation: Observation | None = None
    attribution: Attribution | None = None
    host: HostFacts | None = None
    connected: bool = False
    rules: RulesInForce = field(default_factory=lambda: RulesInForce(Rules()))
    gpus: dict[str, Gpu] = field(default_factory=dict)
    drained: dict[str, str] = field(default_factory=dict)
    trouble: str = ""
    samples: deque[tuple[Sample, ...]] = field(default_factory=deque)
    listeners: list[Callable[[frozenset[str], tuple[JobRecord, ...]], None]] = field(
        default_factory=list
    )

    def seen(self, observation: Observation) -> None:
        """Keeps the raw readings of this look, and lets go of those older than an hour."""
        at = observation.taken_at
        self.samples.append(
            tuple(
                Sample(
                    at, gpu.uuid, gpu.utilisation_percent, gpu.memory_used_bytes, gpu.power_w,
                    gpu.temperature_c,
                )
                for gpu in observation.gpus
            )
        )  # fmt: skip
        while self.samples and (not self.samples[0] or self.samples[0][0].at < at - RAW_S):
            self.samples.popleft()

    def live(self) -> list[JobRecord]:
        """Live jobs, by number."""
        return sorted(self.jobs.values(), key=lambda job: job.id)

    def tell(self, topics: Iterable[str], ended: Iterable[JobRecord] = ()) -> None:
        """Says what changed ("jobs", "status", "who") and which jobs ended, to whoever listens."""
        for listener in self.listeners:
            listener(frozenset(topics), tuple(ended))
