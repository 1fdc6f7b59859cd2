"""What people want done, as data, on its way from the API to the control thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection

from roost.core.model import PriorityClass, Request
from roost.core.rules.model import Rules
from roost.core.rules.read import RulesProblem
from roost.server.bookings.intents import BookingIntent
from roost.store.records import AuditRecord, JobInput, Source


@dataclass(frozen=True, slots=True)
class Person:
    """Who is calling, by the kernel's word or signed in. `groups` are names of Linux groups.

    `viewer`: may look, and change nothing. `leads`: groups of the rules whose jobs it may handle.
    `via`: the address and the token that this call came by; "" by the socket here.
    """

    uid: int
    name: str
    groups: frozenset[str]
    operator: bool
    known: bool = True
    viewer: bool = False
    leads: frozenset[str] = frozenset()
    full_name: str = ""
    via: str = ""

    def may_handle(self, uid: int, group: str) -> bool:
        """Whether this person may act on what is that account's, charged to that group."""
        return self.operator or self.uid == uid or group in self.leads


@dataclass(frozen=True, slots=True)
class Submit:
    """A submission that was checked by itself; whether the rules allow it is checked later.

    `indices` None: one job; else one job an index. `group` and `priority_class` None: by the rules.
    `reason` is for the audit log.
    `key`: asked again with the same one, the person is given the jobs of the first time.
    """

    person: Person
    name: str
    request: Request
    given: JobInput
    command: tuple[bytes, ...]
    directory: bytes
    group: str | None = None
    priority_class: PriorityClass | None = None
    output: bytes | None = None
    indices: tuple[int, ...] | None = None
    array_limit: int | None = None
    after: tuple[int, ...] = ()
    begin_at: float | None = None
    held: bool = False
    requeue: bool = True
    pty: bool = False
    source: Source | None = None
    key: str | None = None
    reason: str = ""
    env: str = ""


@dataclass(frozen=True, slots=True)
class Cancel:
    person: Person
    job: int


@dataclass(frozen=True, slots=True)
class Hold:
    """`held` False releases it."""

    person: Person
    job: int
    held: bool


@dataclass(frozen=True, slots=True)
class Requeue:
    person: Person
    job: int


@dataclass(frozen=True, slots=True)
class Drain:
    """`drained` False takes the GPU up again."""

    person: Person
    gpu_uuid: str
    drained: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something for the audit log that is done elsewhere."""

    record: AuditRecord


@dataclass(frozen=True, slots=True)
class Keep:
    """Rows that nothing here reads (who was let in, say), written with the next commit.

    `write` may be called again after a failed commit. `records` go to the audit log, with the time.
    """

    write: Callable[[Connection], object]
    records: tuple[AuditRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class AdoptRules:
    """Rules that were read and found right. `uid` and `user` of who wrote the file, if known."""

    rules: Rules
    text: str
    sha256: str
    uid: int | None
    user: str


@dataclass(frozen=True, slots=True)
class RulesWrong:
    """The file on disk cannot be the rules; those in force stay. "" and none: it is well again."""

    problem: str
    mistakes: tuple[RulesProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Explain:
    """Why a job waits, as of now, and the future to ask when it starts (`Foresight`): changes
    nothing."""

    job: int


Intent = (
    Submit
    | Cancel
    | Hold
    | Requeue
    | Drain
    | Note
    | Keep
    | AdoptRules
    | RulesWrong
    | Explain
    | BookingIntent
)
