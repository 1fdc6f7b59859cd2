"""What is true now, for the API to read: replaced piece by piece after each commit.

The control thread alone writes; readers in other threads take whole values (every record is
frozen) and copy a dict by one call, which the interpreter does at one stroke.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from roost.core.attribution.model import Attribution
from roost.core.model import Gpu
from roost.core.observation import Observation
from roost.core.rules.model import Rules
from roost.core.rules.read import RulesProblem
from roost.server.readings import Readings
from roost.store.bookings import BookingRecord
from roost.store.records import JobRecord
from roost.wire.messages import HostFacts


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


@dataclass
class Board:
    """`readings`: those of the last hour. `ledger_writes`: by day since the epoch (UTC), how many
    commits since the start changed the usage of it."""

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
    readings: Readings = field(default_factory=Readings)
    ledger_writes: dict[int, int] = field(default_factory=dict)
    listeners: list[Callable[[frozenset[str], tuple[JobRecord, ...]], None]] = field(
        default_factory=list
    )

    def seen(self, observation: Observation) -> None:
        """Keeps the raw readings of this look for an hour."""
        self.readings.add(observation.taken_at, observation.gpus)

    def live(self) -> list[JobRecord]:
        """Live jobs, by number."""
        return sorted(self.jobs.values(), key=lambda job: job.id)

    def tell(self, topics: Iterable[str], ended: Iterable[JobRecord] = ()) -> None:
        """Says what changed ("jobs", "status", "who") and which jobs ended, to whoever listens."""
        for listener in self.listeners:
            listener(frozenset(topics), tuple(ended))
