"""The `Engine` protocol: what runs jobs, and what it tells the control loop.

A contract test (tests/server/engines/contract.py) holds every implementation to this text. An
engine knows no database, no rules and no scheduler.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from roost.core.model import EndReason
from roost.core.observation import Observation
from roost.wire.accounts import (
    AccountsChanged,
    AccountsSeen,
    ChangeAccounts,
    DisabledListed,
    ListDisabled,
    LookAtAccounts,
)
from roost.wire.audit import Audited, AuditMachine, Mended, MendMachine, UndoMends
from roost.wire.data import AddData, DataDone, DataSets, ListData, RemoveData
from roost.wire.messages import (
    AccountsChecked,
    AttemptState,
    CheckAccounts,
    CheckSignIn,
    Configure,
    FreeProcesses,
    FreeResult,
    HostFacts,
    LaunchSpec,
    Observed,
    OutputRead,
    ReadOutput,
    ReleaseDriver,
    Scan,
    SignInChecked,
)


@dataclass(frozen=True, slots=True)
class Connected:
    """The engine is there: what it runs, and what it saw since the ledger's end, oldest first."""

    host: HostFacts
    attempts: tuple[AttemptState, ...]
    samples: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The engine cannot be reached. Nothing is known to have ended; `text` says why, in English."""

    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """An attempt started, checkpointed, stood still or ended. Ends are repeated until `forget`."""

    attempt: AttemptState


@dataclass(frozen=True, slots=True)
class Saw:
    observation: Observation


@dataclass(frozen=True, slots=True)
class LaunchRefused:
    """The engine will not launch this attempt; nothing of it ever executed.

    `code` is the engine's own; of those, the ones in `NOT_THE_JOBS` are no fault of the job.
    """

    job: int
    attempt: int
    text: str
    code: str = ""


NOT_THE_JOBS = frozenset({"unknown_gpu", "gpu_without_node"})


EngineEvent = Connected | Disconnected | Changed | Saw | LaunchRefused
Question = (
    Scan | FreeProcesses | ReleaseDriver | CheckSignIn | CheckAccounts | ReadOutput
    | AuditMachine | MendMachine | UndoMends | AddData | ListData | RemoveData
    | LookAtAccounts | ChangeAccounts | ListDisabled
)  # fmt: skip
Result = (
    Observed
    | FreeResult
    | SignInChecked
    | AccountsChecked
    | OutputRead
    | Audited
    | Mended
    | DataSets
    | DataDone
    | AccountsSeen
    | AccountsChanged
    | DisabledListed
    | None
)


class Listener(Protocol):
    """Who listens to an engine. Both are called from the engine's own thread and return at once."""

    def engine_said(self, event: EngineEvent) -> None: ...

    def samples_wanted_since(self) -> float:
        """Time up to which the ledger is complete."""


class EngineError(Exception):
    """The engine refused, or is not there. `code` is stable; the text is for a person."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class Engine(Protocol):
    """Runs attempts of jobs. Every call returns at once and may be repeated.

    What is asked while the engine is away may be lost: after `Connected` the control loop asks
    again for whatever the database says should be.
    """

    def start(self, listener: Listener) -> None:
        """Begins to connect, for ever, in a thread of its own."""

    def close(self) -> None:
        """Stops for good. Jobs go on."""

    def configure(self, settings: Configure) -> None:
        """How to observe and launch, now and after every reconnect."""

    def launch(self, spec: LaunchSpec) -> None:
        """Starts (job, attempt) unless it was ever started."""

    def end(self, job: int, attempt: int, reason: EndReason, grace_s: float) -> None:
        """Signal, grace, kill; a later call with less grace shortens it."""

    def suspend(self, job: int, attempt: int, how: str) -> None:
        """Lets its processes stand still, "freeze" or "checkpoint"; the answer is its state."""

    def resume(self, job: int, attempt: int) -> None:
        """Lets them go on."""

    def forget(self, job: int, attempt: int) -> None:
        """The end is stored: the engine's record may go."""

    def signal(self, job: int, attempt: int, number: int) -> Future[None]:
        """Sends one signal to a running attempt. The future raises EngineError."""

    def ask(self, question: Question) -> Future[Result]:
        """A question by its answer (`request` is set here). The future raises EngineError."""
