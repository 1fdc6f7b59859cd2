"""What is said of a machine's posture: findings, their risk, and the changes that would mend them.

A change is one of a closed list, as data: whoever makes it must look anew at what it is made to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """`NOTE`: worth knowing, and no risk by itself."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class SetMode:
    """Takes the bits `clear` from the mode of a file or folder of account `uid`, and gives `add`;
    `mode` is what it had when this was said."""

    path: bytes
    uid: int
    mode: int
    clear: int = 0
    add: int = 0
    folder: bool = False

    @property
    def after(self) -> int:
        return self.mode & ~self.clear | self.add


@dataclass(frozen=True, slots=True)
class SetKernel:
    """A sysctl, now and at every start."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class SetSshd:
    keyword: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class SetToolkit:
    """A key at the top of nvidia-container-toolkit's configuration."""

    path: bytes
    key: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class HoldUpdates:
    """Keeps the driver's packages out of unattended upgrades (apt)."""

    packages: tuple[str, ...]


Change = SetMode | SetKernel | SetSshd | SetToolkit | HoldUpdates


@dataclass(frozen=True, slots=True)
class Finding:
    """`code`: what was found, a sentence of `core.text.audit` with `numbers`; `CODE.risk` is what
    can happen, `CODE.do` the remedy. `subject`: what it is about, as fixes and rules name it.
    `user`: whose it is, who is told besides operators; "" nobody's. `change`: what a fix does."""

    check: str
    code: str
    severity: Severity
    subject: str
    numbers: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Accept:
    """A finding that a team lives with: `subject` "" all of that check."""

    check: str
    reason: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """A fix that can be undone."""

    check: str
    subject: str
    at: float
    by: str


def acceptance(finding: Finding, accepts: Sequence[Accept]) -> Accept | None:
    """The first rule that accepts it."""
    for accept in accepts:
        if accept.check == finding.check and accept.subject in ("", finding.subject):
            return accept
    return None
